//! The card of a whole chain: whether its F1 rises with what experts hold of texts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Ranking;
use crate::{
    agreement::{AnnotationsNote, BootstrapNote},
    stats::{Draws, Interval, grouped_bootstrap, kendall_tau_b, mean, pearson, spearman},
};

/// How far F1 and ranks agree. A rank is turned round, so that agreement is positive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankingFigures {
    /// The texts.
    pub n: usize,
    /// Pearson's correlation over all texts.
    pub pearson: Option<f64>,
    /// Spearman's.
    pub spearman: Option<f64>,
    /// Kendall's tau-b, which counts ties.
    pub kendall_tau_b: Option<f64>,
    /// Of the pairs of texts of one set that the expert tells apart, the share that F1 puts
    /// in the same order; equal F1 counts half.
    pub pair_accuracy: Option<f64>,
    /// The share of sets in which every such pair is in the expert's order.
    pub whole_sets: Option<f64>,
}

/// How far raters agree with each other, mean over their pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankerFigures {
    /// How many there are.
    pub n_raters: usize,
    /// The mean Spearman correlation of two raters, over the texts that both ranked.
    pub spearman: Option<f64>,
}

/// How far the F1 of a segmenter and a scorer agrees with experts; written as `card.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankingCard {
    /// The version of this structure.
    pub format_version: u32,
    /// `end-to-end`.
    pub measure: String,
    /// The version of this program.
    pub unimatch: String,
    /// All that the cuts depend on.
    pub segmenter_spec: Value,
    /// All that the ratings depend on.
    pub scorer_spec: Value,
    /// What it was measured on.
    pub annotations: AnnotationsNote,
    /// The sets that the figures are taken of.
    pub n_sets: usize,
    /// The texts without an F1; they are in no figure.
    pub n_unscored: usize,
    /// Why, and how many for that reason.
    pub score_errors: BTreeMap<String, usize>,
    /// Against the mean place of all raters.
    #[serde(flatten)]
    pub figures: RankingFigures,
    /// How the intervals were drawn: set by set.
    pub bootstrap: BootstrapNote,
    /// What the correlations lie between.
    pub intervals: BTreeMap<String, Option<Interval>>,
    /// Against each rater, where there are several.
    pub raters: BTreeMap<String, RankingFigures>,
    /// The raters with each other, where there are several.
    pub agreement_of_raters: Option<RankerFigures>,
    /// The mean F1 of the texts at each mean place.
    pub mean_f1_by_rank: BTreeMap<String, f64>,
}

/// A text with its F1 and a rank.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    set: usize,
    f1: f64,
    rank: f64,
}

/// Makes the card from the F1 of each text of each set, or why it has none. Ranks are
/// taken as [places](Ranking::placed).
///
/// # Panics
///
/// If the figures are not as many as the texts.
pub fn ranking_card(
    sets: &[Ranking],
    f1: &[Vec<Result<f64, String>>],
    annotations: AnnotationsNote,
    [segmenter_spec, scorer_spec]: [Value; 2],
    draws: Draws,
) -> RankingCard {
    assert_eq!(sets.len(), f1.len(), "figures and sets differ in number");
    let sets: &[Ranking] = &sets.iter().map(Ranking::placed).collect::<Vec<_>>();
    let mut score_errors: BTreeMap<String, usize> = BTreeMap::new();
    for error in f1.iter().flatten().filter_map(|f1| f1.as_ref().err()) {
        *score_errors.entry(error.clone()).or_default() += 1;
    }
    let all = ranked(sets, f1, mean_rank);
    let names = rater_names(sets);
    let of_rater =
        |rater: usize| ranked(sets, f1, |set, text| Some(set.ranks.get(rater)?.as_ref()?[text]));
    let interval = |figure: fn(&[Ranked]) -> Option<f64>| {
        grouped_bootstrap(&all, |text| text.set, draws, figure)
    };
    let intervals = [
        ("pearson", interval(|texts| of_both(texts, pearson))),
        ("spearman", interval(|texts| of_both(texts, spearman))),
        ("kendall_tau_b", interval(|texts| of_both(texts, kendall_tau_b))),
    ];
    let n_sets = all.chunk_by(|a, b| a.set == b.set).count();
    RankingCard {
        format_version: 1,
        measure: "end-to-end".to_owned(),
        unimatch: env!("CARGO_PKG_VERSION").to_owned(),
        segmenter_spec,
        scorer_spec,
        annotations,
        n_sets,
        n_unscored: score_errors.values().sum(),
        score_errors,
        figures: figures(&all),
        bootstrap: BootstrapNote {
            n_draws: draws.n,
            seed: draws.seed,
            level: draws.level,
            n_groups: n_sets,
        },
        intervals: intervals.map(|(name, interval)| (name.to_owned(), interval)).into(),
        raters: if 1 < names.len() {
            let of_raters = names.iter().enumerate();
            of_raters.map(|(at, name)| (name.clone(), figures(&of_rater(at)))).collect()
        } else {
            BTreeMap::new()
        },
        agreement_of_raters: (1 < names.len()).then(|| raters(sets, names.len())),
        mean_f1_by_rank: by_rank(&all),
    }
}

/// The texts with an F1 and a rank, set by set.
fn ranked(
    sets: &[Ranking],
    f1: &[Vec<Result<f64, String>>],
    rank: impl Fn(&Ranking, usize) -> Option<f64>,
) -> Vec<Ranked> {
    let mut texts = Vec::new();
    for (set, (ranking, f1)) in sets.iter().zip(f1).enumerate() {
        for (text, f1) in f1.iter().enumerate() {
            if let (Ok(f1), Some(rank)) = (f1, rank(ranking, text)) {
                texts.push(Ranked { set, f1: *f1, rank });
            }
        }
    }
    texts
}

/// The mean rank that all raters of a set gave a text.
fn mean_rank(set: &Ranking, text: usize) -> Option<f64> {
    let ranks: Vec<f64> = set.ranks.iter().flatten().map(|ranks| ranks[text]).collect();
    mean(&ranks)
}

/// The raters by name, or by number where they have none.
fn rater_names(sets: &[Ranking]) -> Vec<String> {
    let n_raters = sets.iter().map(|set| set.ranks.len()).max().unwrap_or(0);
    let name = |rater: usize| {
        let named = sets.iter().find_map(|set| set.raters.get(rater).cloned());
        named.unwrap_or_else(|| (rater + 1).to_string())
    };
    (0..n_raters).map(name).collect()
}

/// A correlation of F1 with what the rater holds of the texts: the rank turned round.
fn of_both(texts: &[Ranked], figure: fn(&[f64], &[f64]) -> Option<f64>) -> Option<f64> {
    let f1: Vec<f64> = texts.iter().map(|text| text.f1).collect();
    let opinion: Vec<f64> = texts.iter().map(|text| -text.rank).collect();
    figure(&f1, &opinion)
}

fn figures(texts: &[Ranked]) -> RankingFigures {
    let (mut n_pairs, mut n_right) = (0_usize, 0.0);
    let (mut n_sets, mut n_whole) = (0_usize, 0_usize);
    for set in texts.chunk_by(|a, b| a.set == b.set) {
        let (before, right_before) = (n_pairs, n_right);
        for (at, first) in set.iter().enumerate() {
            for second in &set[at + 1..] {
                if first.rank.total_cmp(&second.rank).is_eq() {
                    continue;
                }
                n_pairs += 1;
                // A better text has a lower rank and a higher F1.
                n_right += match second.f1.total_cmp(&first.f1) {
                    std::cmp::Ordering::Equal => 0.5,
                    order if order == first.rank.total_cmp(&second.rank) => 1.0,
                    _ => 0.0,
                };
            }
        }
        let n_told_apart = n_pairs - before;
        n_sets += usize::from(0 < n_told_apart);
        let is_whole = (n_right - right_before - n_told_apart as f64).abs() < 1e-9;
        n_whole += usize::from(0 < n_told_apart && is_whole);
    }
    RankingFigures {
        n: texts.len(),
        pearson: of_both(texts, pearson),
        spearman: of_both(texts, spearman),
        kendall_tau_b: of_both(texts, kendall_tau_b),
        pair_accuracy: (0 < n_pairs).then(|| n_right / n_pairs as f64),
        whole_sets: (0 < n_sets).then(|| n_whole as f64 / n_sets as f64),
    }
}

fn raters(sets: &[Ranking], n_raters: usize) -> RankerFigures {
    let ranks_of = |set: &Ranking, rater: usize| set.ranks.get(rater).cloned().flatten();
    let mut correlations = Vec::new();
    for first in 0..n_raters {
        for second in first + 1..n_raters {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            for set in sets {
                if let (Some(one), Some(other)) = (ranks_of(set, first), ranks_of(set, second)) {
                    left.extend(one);
                    right.extend(other);
                }
            }
            correlations.extend(spearman(&left, &right));
        }
    }
    RankerFigures { n_raters, spearman: mean(&correlations) }
}

fn by_rank(texts: &[Ranked]) -> BTreeMap<String, f64> {
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for text in texts {
        groups.entry(format!("{:.2}", text.rank)).or_default().push(text.f1);
    }
    groups.into_iter().filter_map(|(rank, f1)| Some((rank, mean(&f1)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::RankedText;

    fn set(id: &str, ranks: &[[f64; 3]]) -> Ranking {
        let text = |at: usize| RankedText { id: format!("{id}{at}"), text: "Good.".to_owned() };
        Ranking {
            id: id.to_owned(),
            draft: None,
            paragraph: None,
            gold: vec!["Good.".to_owned()],
            texts: (0..3).map(text).collect(),
            ranks: ranks.iter().map(|ranks| Some(ranks.to_vec())).collect(),
            raters: Vec::new(),
        }
    }

    fn card(sets: &[Ranking], f1: &[[f64; 3]]) -> RankingCard {
        let f1: Vec<Vec<_>> = f1.iter().map(|f1| f1.iter().map(|f1| Ok(*f1)).collect()).collect();
        let draws = Draws { n: 100, ..Draws::default() };
        let note = AnnotationsNote::default();
        ranking_card(sets, &f1, note, [Value::Null, Value::Null], draws)
    }

    #[test]
    fn f1_that_falls_with_the_rank_agrees_and_one_that_rises_does_not() {
        let sets = [set("a", &[[1.0, 2.0, 3.0]]), set("b", &[[3.0, 1.0, 2.0]])];
        let agrees = card(&sets, &[[1.0, 0.5, 0.0], [0.0, 1.0, 0.5]]).figures;
        for figure in [agrees.pearson, agrees.spearman, agrees.pair_accuracy, agrees.whole_sets] {
            assert!((figure.unwrap() - 1.0).abs() < 1e-12, "{agrees:?}");
        }
        let opposed = card(&sets, &[[0.0, 0.5, 1.0], [1.0, 0.0, 0.5]]).figures;
        assert!((opposed.pearson.unwrap() + 1.0).abs() < 1e-12);
        assert_eq!((opposed.pair_accuracy, opposed.whole_sets), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn ties_of_the_expert_ask_nothing_and_ties_of_f1_count_half() {
        let figures = card(&[set("a", &[[1.0, 2.0, 2.0]])], &[[0.5, 0.5, 0.1]]).figures;
        assert_eq!((figures.pair_accuracy, figures.whole_sets), (Some(0.75), Some(0.0)));
    }

    #[test]
    fn raters_weigh_alike_whatever_numbers_they_rank_by() {
        let f1 = [[1.0, 0.4, 0.3], [0.9, 0.2, 0.1]];
        let small = [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]];
        let large = [small[0], [900.0, 50.0, 20.0]];
        let card = |ranks| card(&[set("a", ranks), set("b", ranks)], &f1);
        assert_eq!(card(&large).figures, card(&small).figures);
        assert_eq!(card(&large).agreement_of_raters, card(&small).agreement_of_raters);
        let tied = card(&[[1.0, 1.0, 7.0], [1.0, 1.0, 7.0]]).mean_f1_by_rank;
        assert_eq!(tied.keys().collect::<Vec<_>>(), ["1.50", "3.00"]);
    }

    #[test]
    fn raters_are_shown_apart_and_with_each_other() {
        let sets = [set("a", &[[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])];
        let card = card(&sets, &[[1.0, 0.5, 0.0]]);
        assert_eq!(card.figures.pearson, None, "the mean rank of all is the same");
        assert_eq!(card.raters["1"].whole_sets, Some(1.0));
        assert_eq!(card.raters["2"].whole_sets, Some(0.0));
        let agreement = card.agreement_of_raters.unwrap().spearman.unwrap();
        assert!((agreement + 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_text_without_an_f1_is_in_no_figure_and_counted() {
        let f1 = [vec![Ok(1.0), Err("2 pairs are unscored".to_owned()), Ok(0.0)]];
        let note = AnnotationsNote::default();
        let sets = [set("a", &[[1.0, 2.0, 3.0]])];
        let card = ranking_card(&sets, &f1, note, [Value::Null, Value::Null], Draws::default());
        assert_eq!((card.figures.n, card.n_unscored), (2, 1));
        assert_eq!(card.score_errors["2 pairs are unscored"], 1);
    }
}
