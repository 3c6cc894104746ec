//! The figures of one paragraph.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PrecisionRecall;
use crate::{
    matching::{AlignedPair, CompleteScores, Threshold, align, match_at},
    similarity::Rating,
};

/// What the matching of one paragraph gives, for records and reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParagraphMetrics {
    /// The number of generated units.
    pub n_generated: usize,
    /// The number of gold units.
    pub n_gold: usize,
    /// The soft alignment, in order of the generated unit.
    pub pairs: Vec<AlignedPair>,
    /// The sum of their ratings, Φ.
    pub total_rating: f64,
    /// Soft precision, recall and F1.
    pub soft: PrecisionRecall,
    /// The true positives at each threshold.
    pub n_matched: BTreeMap<Threshold, usize>,
}

/// Aligns the units of one paragraph and counts.
pub fn measure(scores: &CompleteScores) -> ParagraphMetrics {
    let alignment = align(scores);
    let n_matched = Threshold::ALL.map(|threshold| (threshold, match_at(scores, threshold).len()));
    ParagraphMetrics {
        n_generated: alignment.n_generated,
        n_gold: alignment.n_gold,
        total_rating: alignment.total(),
        soft: soft(alignment.total(), alignment.n_generated, alignment.n_gold),
        pairs: alignment.pairs,
        n_matched: n_matched.into(),
    }
}

impl ParagraphMetrics {
    /// Those of an answer without a unit.
    pub(super) fn of_empty_answer(n_gold: usize) -> Self {
        Self {
            n_generated: 0,
            n_gold,
            pairs: Vec::new(),
            total_rating: 0.0,
            soft: soft(0.0, 0, n_gold),
            n_matched: Threshold::ALL.map(|threshold| (threshold, 0)).into(),
        }
    }

    /// Those of an answer with an equivalent for each gold unit and no more.
    pub(super) fn of_perfect_answer(n_gold: usize) -> Self {
        let total_rating = Rating::MAX * n_gold as f64;
        let pair = |unit| AlignedPair { generated: unit, gold: unit, rating: Rating::HIGHEST };
        Self {
            n_generated: n_gold,
            n_gold,
            pairs: (0..n_gold).map(pair).collect(),
            total_rating,
            soft: soft(total_rating, n_gold, n_gold),
            n_matched: Threshold::ALL.map(|threshold| (threshold, n_gold)).into(),
        }
    }
}

fn soft(total_rating: f64, n_generated: usize, n_gold: usize) -> PrecisionRecall {
    let most = |n_units| Rating::MAX * n_units as f64;
    PrecisionRecall::of(total_rating, most(n_generated), most(n_gold))
}

impl PrecisionRecall {
    /// What was matched, of what was generated and of what is gold.
    pub(super) fn of(matched: f64, generated: f64, gold: f64) -> Self {
        let share = |whole| if 0.0 < whole { Some(matched / whole) } else { None };
        let (precision, recall) = (share(generated), share(gold));
        let f1 = match (precision, recall) {
            (None, None) => None,
            (Some(p), Some(r)) if 0.0 < p + r => Some(2.0 * p * r / (p + r)),
            _ => Some(0.0),
        };
        Self { precision, recall, f1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::ScoreMatrix;

    #[test]
    fn two_good_units_and_one_idle_one() {
        let ratings = [[4, 0], [0, 2], [1, 0]];
        let scores = ScoreMatrix::from_fn(3, 2, |row, col| Rating::from_int(ratings[row][col]));
        let metrics = measure(&CompleteScores::of(&scores).unwrap());
        assert_eq!(metrics.soft.precision, Some(6.0 / 12.0));
        assert_eq!(metrics.soft.recall, Some(6.0 / 8.0));
        assert_eq!(metrics.soft.f1, Some(0.6));
        assert_eq!(metrics.n_matched.values().copied().collect::<Vec<_>>(), [2, 2, 1, 1]);
        assert_eq!(metrics.pairs.len(), 2);
    }

    #[test]
    fn empty_answer_has_no_precision() {
        let soft = ParagraphMetrics::of_empty_answer(2).soft;
        assert_eq!(soft, PrecisionRecall { precision: None, recall: Some(0.0), f1: Some(0.0) });
        let scores = CompleteScores::of(&ScoreMatrix::from_fn(0, 2, |_, _| None)).unwrap();
        assert_eq!(measure(&scores), ParagraphMetrics::of_empty_answer(2));
    }

    #[test]
    fn perfect_answer_is_what_measuring_it_gives() {
        let equal =
            |row, col| if row == col { Some(Rating::HIGHEST) } else { Some(Rating::LOWEST) };
        let scores = CompleteScores::of(&ScoreMatrix::from_fn(3, 3, equal)).unwrap();
        assert_eq!(measure(&scores), ParagraphMetrics::of_perfect_answer(3));
    }

    #[test]
    fn nothing_at_all_has_no_figure() {
        assert_eq!(
            PrecisionRecall::of(0.0, 0.0, 0.0),
            PrecisionRecall { precision: None, recall: None, f1: None }
        );
    }
}
