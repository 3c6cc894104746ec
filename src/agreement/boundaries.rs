//! Segmentations as boundaries between words, and WindowDiff over them.

use crate::segment::Segmentation;

/// Which gaps between the words of a text hold a boundary: one for each word but the
/// last. Words are what white space parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundaries {
    gaps: Vec<bool>,
}

impl Boundaries {
    /// The boundaries of a text that was cut. A cut stands in the gap after the word that
    /// it follows or falls inside of; one before the first word or after the last is none.
    pub fn of(text: &str, cut: &Segmentation) -> Self {
        let mut word_starts = Vec::new();
        let mut is_in_word = false;
        for (at, ch) in text.char_indices() {
            if !ch.is_whitespace() && !is_in_word {
                word_starts.push(at);
            }
            is_in_word = !ch.is_whitespace();
        }
        let mut gaps = vec![false; word_starts.len().saturating_sub(1)];
        for &end in cut.ends() {
            // Words that begin before the cut.
            let n_before = word_starts.partition_point(|&start| start < end);
            if let Some(gap) = n_before.checked_sub(1).and_then(|at| gaps.get_mut(at)) {
                *gap = true;
            }
        }
        Self { gaps }
    }

    /// As they are given, gap by gap.
    pub fn from_gaps(gaps: Vec<bool>) -> Self {
        Self { gaps }
    }

    /// The words of the text.
    pub fn n_words(&self) -> usize {
        self.gaps.len() + 1
    }

    /// Gap by gap.
    pub fn gaps(&self) -> &[bool] {
        &self.gaps
    }

    /// The units as ranges of words, in order.
    pub fn units(&self) -> Vec<std::ops::Range<usize>> {
        let mut units = Vec::new();
        let mut start = 0;
        for (gap, &is_boundary) in self.gaps.iter().enumerate() {
            if is_boundary {
                units.push(start..gap + 1);
                start = gap + 1;
            }
        }
        units.push(start..self.n_words());
        units
    }
}

/// The windows of a text, and those in which two segmentations differ in the number of
/// boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowDiff {
    /// All windows.
    pub n_windows: usize,
    /// Those in which they differ.
    pub n_different: usize,
}

impl WindowDiff {
    /// The share of windows in which they differ; `None` without a window.
    pub fn share(self) -> Option<f64> {
        (0 < self.n_windows).then(|| self.n_different as f64 / self.n_windows as f64)
    }
}

/// WindowDiff (Pevzner and Hearst 2002): for n words there are n - k windows, each over
/// the k gaps between word i and word i + k; it counts those in which reference and
/// hypothesis have different numbers of boundaries. As nltk's `windowdiff`.
///
/// A text of two to k words has one window over all of its gaps, so that short texts
/// count; one of a single word has none.
///
/// # Panics
///
/// If the two are not over the same words, or k is zero.
pub fn window_diff(reference: &Boundaries, hypothesis: &Boundaries, k: usize) -> WindowDiff {
    let (reference, hypothesis) = (reference.gaps(), hypothesis.gaps());
    assert_eq!(reference.len(), hypothesis.len(), "two segmentations of different texts");
    assert!(0 < k, "a window over no gap");
    let count = |window: &[bool]| window.iter().filter(|&&is_boundary| is_boundary).count();
    let width = k.min(reference.len());
    if width == 0 {
        return WindowDiff::default();
    }
    let windows = reference.windows(width).zip(hypothesis.windows(width));
    let n_different = windows.clone().filter(|(a, b)| count(a) != count(b)).count();
    WindowDiff { n_windows: windows.count(), n_different }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_stands_in_the_gap_after_its_word() {
        let text = " Vivid, but long.  Cut it. ";
        let of =
            |ends: &[usize]| Boundaries::of(text, &Segmentation::new(text, ends.to_vec()).unwrap());
        let cut = of(&[7, 17, 27]);
        assert_eq!(cut.gaps(), [true, false, true, false]);
        assert_eq!(cut.units(), [0..1, 1..3, 3..5]);
        // Before or after the white space is the same, and at the ends nothing.
        assert_eq!(cut, of(&[1, 8, 19, 26, 27]));
        let word = Boundaries::of("Good.", &Segmentation::whole("Good."));
        assert_eq!((word.n_words(), word.units().len()), (1, 1));
    }

    #[test]
    fn a_short_text_has_one_window() {
        let a = Boundaries::from_gaps(vec![true, false]);
        let b = Boundaries::from_gaps(vec![false, true]);
        assert_eq!(window_diff(&a, &b, 10), WindowDiff { n_windows: 1, n_different: 0 });
        assert_eq!(window_diff(&a, &b, 1), WindowDiff { n_windows: 2, n_different: 2 });
        let one = Boundaries::from_gaps(Vec::new());
        assert_eq!(window_diff(&one, &one, 10).share(), None);
    }
}
