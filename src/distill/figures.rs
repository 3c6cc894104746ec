//! How well a model does on data that it did not learn from.

use std::collections::BTreeMap;

use super::{MarkedText, RatedPair};

/// Figures by name, and the one by which models are compared.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Figures {
    /// The greater the better.
    pub chosen: f64,
    /// All of them.
    pub by_name: BTreeMap<String, f64>,
}

/// Pearson's correlation; nothing where one side does not vary.
pub(super) fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (left, right) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut both, mut lefts, mut rights) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        both += (x - left) * (y - right);
        lefts += (x - left) * (x - left);
        rights += (y - right) * (y - right);
    }
    let correlation = both / (lefts * rights).sqrt();
    correlation.is_finite().then_some(correlation)
}

/// The figures of mean ratings: Pearson over all pairs, without the kinds that begin
/// with `variant`, and over those of the kind `natural`; the mean absolute error. The
/// mean of the first two is chosen.
pub(super) fn of_ratings(pairs: &[&RatedPair], ratings: &[f64]) -> Figures {
    let mut by_name = BTreeMap::new();
    let mut correlate = |name: &str, is_in: &dyn Fn(&str) -> bool| {
        let rated = pairs.iter().zip(ratings).filter(|(pair, _)| is_in(&pair.kind));
        let rated: Vec<(f64, f64)> = rated.map(|(pair, rating)| (pair.rating, *rating)).collect();
        let correlation = pearson(&rated);
        if let Some(correlation) = correlation {
            by_name.insert(name.to_owned(), correlation);
        }
        correlation
    };
    let all = correlate("pearson", &|_| true);
    let without = correlate("pearson_without_variants", &|kind| !kind.starts_with("variant"));
    correlate("pearson_natural", &|kind| kind == "natural");
    let errors = pairs.iter().zip(ratings).map(|(pair, rating)| (pair.rating - rating).abs());
    by_name.insert("mean_absolute_error".to_owned(), errors.sum::<f64>() / pairs.len() as f64);
    by_name.insert("n_pairs".to_owned(), pairs.len() as f64);
    let all = all.unwrap_or(0.0);
    Figures { chosen: f64::midpoint(all, without.unwrap_or(all)), by_name }
}

/// The window of the `WindowDiff`, in words.
const WINDOW: usize = 10;

/// The figures of cuts: precision, recall and F1 of cuts between words over all texts
/// together, and `WindowDiff` (Pevzner and Hearst 2002) over words with windows of ten.
/// A cut within a word, or at its end where no white space follows, cannot be found. F1
/// is chosen.
pub(super) fn of_cuts(texts: &[&MarkedText], found: &[Vec<usize>]) -> Figures {
    let (mut n_right, mut n_found, mut n_true) = (0.0, 0.0, 0.0);
    let (mut n_apart, mut n_windows) = (0.0, 0.0);
    for (text, found) in texts.iter().zip(found) {
        let gaps = gaps(&text.text);
        let marks = |cuts: &[usize]| -> Vec<bool> {
            gaps.iter().map(|gap| cuts.iter().any(|cut| gap.contains(cut))).collect()
        };
        let (truth, ours) = (marks(&text.cuts), marks(found));
        let count = |marks: &[bool]| marks.iter().filter(|mark| **mark).count();
        n_true += text.cuts.len() as f64;
        n_found += count(&ours) as f64;
        n_right += truth.iter().zip(&ours).filter(|(a, b)| **a && **b).count() as f64;
        for (truth, ours) in truth.windows(WINDOW).zip(ours.windows(WINDOW)) {
            n_windows += 1.0;
            n_apart += f64::from(u8::from(count(truth) != count(ours)));
        }
    }
    let ratio = |a: f64, b: f64| if 0.0 < b { a / b } else { 0.0 };
    let (precision, recall) = (ratio(n_right, n_found), ratio(n_right, n_true));
    let f1 = ratio(2.0 * precision * recall, precision + recall);
    let by_name = [
        ("boundary_precision", precision),
        ("boundary_recall", recall),
        ("boundary_f1", f1),
        ("window_diff", ratio(n_apart, n_windows)),
        ("n_texts", texts.len() as f64),
        ("n_cuts", n_true),
    ];
    let by_name = by_name.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Figures { chosen: f1, by_name }
}

/// The stretches between words: from the end of one to the beginning of the next.
fn gaps(text: &str) -> Vec<std::ops::RangeInclusive<usize>> {
    let mut gaps = Vec::new();
    let mut end = None;
    let mut was_space = true;
    for (at, ch) in text.char_indices() {
        match (was_space, ch.is_whitespace()) {
            (false, true) => end = Some(at),
            (true, false) => gaps.extend(end.map(|end| end..=at)),
            _ => (),
        }
        was_space = ch.is_whitespace();
    }
    gaps
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the numbers are exact")]
mod tests {
    use super::*;

    #[test]
    fn a_correlation_needs_two_sides_that_vary() {
        let pairs = [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)];
        assert!((pearson(&pairs).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(pearson(&[(0.0, 1.0), (1.0, 1.0)]), None);
        // From scipy 1.15: scipy.stats.pearsonr([0, 1, 4], [1, 0, 2]).
        let some = pearson(&[(0.0, 1.0), (1.0, 0.0), (4.0, 2.0)]).unwrap();
        assert!((some - 0.720_576_7).abs() < 1e-6, "{some}");
    }

    #[test]
    fn a_cut_is_right_on_either_side_of_the_white_space() {
        let text = MarkedText {
            student: "s".to_owned(),
            source: String::new(),
            text: "Good. But  why? Say.".to_owned(),
            cuts: vec![5, 16],
        };
        let figures = of_cuts(&[&text], &[vec![6, 9]]);
        assert_eq!(figures.by_name["boundary_precision"], 0.5);
        assert_eq!(figures.by_name["boundary_recall"], 0.5);
        let figures = of_cuts(&[&text], &[vec![5, 15]]);
        assert_eq!((figures.chosen, figures.by_name["window_diff"]), (1.0, 0.0));
    }
}
