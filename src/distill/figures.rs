//! How well a model does on data that it did not learn from.

use std::collections::BTreeMap;

use super::{MarkedText, RatedPair};
use crate::{
    agreement::{Boundaries, segmentation_figures},
    segment::Segmentation,
    stats::pearson,
};

/// Figures by name; one that has no value, as a correlation of ratings that do not vary,
/// is not among them.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// By which models are compared, the greater the better; `None` where there is
    /// nothing to compare by.
    pub chosen: Option<f64>,
    /// All of them.
    pub by_name: BTreeMap<String, f64>,
}

impl Figures {
    fn of<const N: usize>(chosen: Option<f64>, figures: [(&str, Option<f64>); N]) -> Self {
        let there = figures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Self { chosen, by_name: there.collect() }
    }
}

/// The figures of mean ratings: Pearson over all pairs, without the kinds that begin
/// with `variant`, and over those of the kind `natural`; the mean absolute error. The
/// mean of the first two is chosen.
pub(super) fn of_ratings(pairs: &[&RatedPair], ratings: &[f64]) -> Figures {
    let correlation = |is_in: &dyn Fn(&str) -> bool| {
        let some = pairs.iter().zip(ratings).filter(|(pair, _)| is_in(&pair.kind));
        let (gold, rated): (Vec<f64>, Vec<f64>) =
            some.map(|(pair, rating)| (pair.rating, *rating)).unzip();
        pearson(&gold, &rated)
    };
    let all = correlation(&|_| true);
    let without = correlation(&|kind| !kind.starts_with("variant"));
    let errors: f64 =
        pairs.iter().zip(ratings).map(|(pair, rating)| (pair.rating - rating).abs()).sum();
    let n_pairs = (!pairs.is_empty()).then_some(pairs.len() as f64);
    let figures = [
        ("pearson", all),
        ("pearson_without_variants", without),
        ("pearson_natural", correlation(&|kind| kind == "natural")),
        ("mean_absolute_error", n_pairs.map(|n_pairs| errors / n_pairs)),
        ("n_pairs", n_pairs),
    ];
    Figures::of(all.map(|all| f64::midpoint(all, without.unwrap_or(all))), figures)
}

/// The window of WindowDiff, in words.
const WINDOW: usize = 10;

/// The figures of cuts, as `unimatch validate segmentation` has them. Boundary F1 is
/// chosen.
pub(super) fn of_cuts(texts: &[&MarkedText], found: &[Segmentation]) -> Figures {
    let both = texts.iter().zip(found).map(|(text, found)| {
        (Boundaries::of(&text.text, &text.cut), Boundaries::of(&text.text, found))
    });
    let figures = segmentation_figures(&both.collect::<Vec<_>>(), WINDOW);
    let is_any = !texts.is_empty();
    let by_name = [
        ("boundary_precision", figures.boundary_precision),
        ("boundary_recall", figures.boundary_recall),
        ("boundary_f1", figures.boundary_f1),
        ("window_diff", figures.window_diff),
        ("n_texts", is_any.then_some(figures.n as f64)),
        ("n_boundaries", is_any.then_some(figures.n_boundaries as f64)),
    ];
    Figures::of(figures.boundary_f1, by_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_value_is_left_out_and_nothing_is_chosen_by_it() {
        let pair = |rating| RatedPair {
            student: "s".to_owned(),
            paragraph: "p".to_owned(),
            kind: "variant".to_owned(),
            a: "a".to_owned(),
            b: "b".to_owned(),
            rating,
        };
        let (low, high) = (pair(1.0), pair(3.0));
        let constant = of_ratings(&[&low, &high], &[2.0, 2.0]);
        assert_eq!(constant.chosen, None);
        assert_eq!(constant.by_name.keys().collect::<Vec<_>>(), ["mean_absolute_error", "n_pairs"]);
        let rising = of_ratings(&[&low, &high], &[0.0, 4.0]);
        assert!((rising.chosen.unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(of_ratings(&[], &[]), Figures::default());
        assert_eq!(of_cuts(&[], &[]), Figures::default());
    }
}
