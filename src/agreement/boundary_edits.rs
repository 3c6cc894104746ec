//! Boundary similarity: near misses count half.

use super::Boundaries;

/// The edits that turn one segmentation into another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoundaryEdits {
    /// Boundaries of both.
    pub n_matches: usize,
    /// Boundaries of one that the other has in the next gap.
    pub n_transpositions: usize,
    /// Boundaries of one alone.
    pub n_additions: usize,
}

impl BoundaryEdits {
    /// Boundary similarity B (Fournier 2013): 1 less the edits, each transposition
    /// counting one half, over all edits and matches. `None` without a boundary.
    pub fn similarity(self) -> Option<f64> {
        let n = self.n_matches + self.n_transpositions + self.n_additions;
        let edits = self.n_additions as f64 + self.n_transpositions as f64 / 2.0;
        (0 < n).then(|| 1.0 - edits / n as f64)
    }

    /// The sum over two texts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            n_matches: self.n_matches + other.n_matches,
            n_transpositions: self.n_transpositions + other.n_transpositions,
            n_additions: self.n_additions + other.n_additions,
        }
    }
}

/// The boundary edit distance (Fournier 2013) with one type of boundary and
/// transpositions over neighbouring gaps (n = 2), found from left to right and never
/// overlapping, as segeval does it.
///
/// # Panics
///
/// If the two are not over the same words.
pub fn boundary_edits(a: &Boundaries, b: &Boundaries) -> BoundaryEdits {
    let (a, b) = (a.gaps(), b.gaps());
    assert_eq!(a.len(), b.len(), "two segmentations of different texts");
    let mut edits = BoundaryEdits::default();
    let mut at = 0;
    while at < a.len() {
        let is_swap =
            at + 1 < a.len() && a[at] != b[at] && a[at + 1] != b[at + 1] && a[at] != a[at + 1];
        if is_swap {
            edits.n_transpositions += 1;
            at += 2;
            continue;
        }
        edits.n_matches += usize::from(a[at] && b[at]);
        edits.n_additions += usize::from(a[at] != b[at]);
        at += 1;
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_costs_half() {
        let gaps = |text: &str| Boundaries::from_gaps(text.chars().map(|ch| ch == '1').collect());
        let edits = boundary_edits(&gaps("0100100"), &gaps("0010100"));
        let expected = BoundaryEdits { n_matches: 1, n_transpositions: 1, n_additions: 0 };
        assert_eq!(edits, expected);
        assert_eq!(edits.similarity(), Some(0.75));
        assert_eq!(boundary_edits(&gaps("000"), &gaps("000")).similarity(), None);
    }
}
