//! Other ways to align than the best one: what the choice of the best is worth.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{AlignedPair, Alignment, CompleteScores, Threshold, align, match_at};
use crate::similarity::Rating;

/// How units are set against each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlignmentKind {
    /// One to one, so that the sum of the ratings is greatest: the paper's.
    #[default]
    Best,
    /// One to one, the pair with the highest rating first, then the highest of what is
    /// left: never more than [`Self::Best`].
    Greedy,
    /// Each unit with the unit most like it, however many others have that one too: never
    /// less than [`Self::Best`]. What is matched of the generated units and of the gold
    /// ones then differs.
    Coverage,
}

impl FromStr for AlignmentKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "best" => Ok(Self::Best),
            "greedy" => Ok(Self::Greedy),
            "coverage" => Ok(Self::Coverage),
            other => Err(format!("`{other}` is none of best, greedy and coverage")),
        }
    }
}

/// How much of either side is matched, as sums of ratings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covered {
    /// Of the generated units, which precision is taken of.
    pub generated: f64,
    /// Of the gold units, which recall is taken of.
    pub gold: f64,
}

/// What an alignment of this kind matches.
pub fn covered(scores: &CompleteScores, kind: AlignmentKind) -> Covered {
    let one_to_one = |total| Covered { generated: total, gold: total };
    match kind {
        AlignmentKind::Best => one_to_one(align(scores).total()),
        AlignmentKind::Greedy => one_to_one(align_greedily(scores).total()),
        AlignmentKind::Coverage => {
            let (rows, columns) = (0..scores.n_generated(), 0..scores.n_gold());
            let of_row = |row| columns.clone().map(move |column| scores.get(row, column).get());
            let of_column = |column| rows.clone().map(move |row| scores.get(row, column).get());
            Covered {
                generated: rows.clone().map(|row| of_row(row).fold(0.0, f64::max)).sum(),
                gold: columns.clone().map(|column| of_column(column).fold(0.0, f64::max)).sum(),
            }
        }
    }
}

/// How many units of either side an alignment of this kind matches at a threshold or above.
pub fn covered_at(scores: &CompleteScores, threshold: Threshold, kind: AlignmentKind) -> Covered {
    let is_match = |rating: f64| f64::from(threshold.get()) <= rating;
    let one_to_one = |n: usize| Covered { generated: n as f64, gold: n as f64 };
    match kind {
        AlignmentKind::Best => one_to_one(match_at(scores, threshold).len()),
        AlignmentKind::Greedy => {
            let pairs = align_greedily(scores).pairs;
            one_to_one(pairs.iter().filter(|pair| is_match(pair.rating.get())).count())
        }
        AlignmentKind::Coverage => {
            let (rows, columns) = (0..scores.n_generated(), 0..scores.n_gold());
            let matches = |row, column| is_match(scores.get(row, column).get());
            let row = |row: &usize| columns.clone().any(|column| matches(*row, column));
            let column = |column: &usize| rows.clone().any(|row| matches(row, *column));
            Covered {
                generated: rows.clone().filter(row).count() as f64,
                gold: columns.clone().filter(column).count() as f64,
            }
        }
    }
}

/// Aligns one to one, the highest rating first; of equal ratings that of the earlier
/// generated unit, then of the earlier gold unit. Only pairs rated above zero.
pub fn align_greedily(scores: &CompleteScores) -> Alignment {
    let (n_generated, n_gold) = (scores.n_generated(), scores.n_gold());
    let mut candidates: Vec<AlignedPair> = (0..n_generated)
        .flat_map(|generated| (0..n_gold).map(move |gold| (generated, gold)))
        .map(|(generated, gold)| AlignedPair {
            generated,
            gold,
            rating: scores.get(generated, gold),
        })
        .filter(|pair| Rating::LOWEST.get() < pair.rating.get())
        .collect();
    candidates.sort_by(|a, b| b.rating.get().total_cmp(&a.rating.get()));
    let (mut is_row_taken, mut is_column_taken) = (vec![false; n_generated], vec![false; n_gold]);
    let mut pairs: Vec<AlignedPair> = Vec::new();
    for pair in candidates {
        if !is_row_taken[pair.generated] && !is_column_taken[pair.gold] {
            is_row_taken[pair.generated] = true;
            is_column_taken[pair.gold] = true;
            pairs.push(pair);
        }
    }
    pairs.sort_by_key(|pair| pair.generated);
    Alignment { pairs, n_generated, n_gold }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::similarity::ScoreMatrix;

    fn scores(rows: &[Vec<u8>], n_gold: usize) -> CompleteScores {
        let matrix = ScoreMatrix::from_fn(rows.len(), n_gold, |row, column| {
            Rating::from_int(rows[row][column])
        });
        CompleteScores::of(&matrix).unwrap()
    }

    #[test]
    fn the_highest_first_is_not_always_the_best() {
        let scores = scores(&[vec![4, 3], vec![3, 0]], 2);
        assert!((align(&scores).total() - 6.0).abs() < 1e-12);
        let greedy = align_greedily(&scores);
        assert!((greedy.total() - 4.0).abs() < 1e-12);
        assert_eq!(greedy.pairs.len(), 1);
        let both = covered(&scores, AlignmentKind::Coverage);
        assert_eq!(both, Covered { generated: 7.0, gold: 7.0 });
    }

    proptest! {
        #[test]
        fn greedy_is_at_most_the_best_and_coverage_at_least(
            rows in (1usize..5).prop_flat_map(|n_gold| {
                proptest::collection::vec(proptest::collection::vec(0u8..=4, n_gold), 0..5)
            }),
        ) {
            let n_gold = rows.first().map_or(1, Vec::len);
            let scores = scores(&rows, n_gold);
            let of = |kind| covered(&scores, kind);
            let [best, greedy, coverage] =
                [AlignmentKind::Best, AlignmentKind::Greedy, AlignmentKind::Coverage].map(of);
            prop_assert!(greedy.generated <= best.generated + 1e-9);
            prop_assert!(2.0 * greedy.generated + 1e-9 >= best.generated);
            prop_assert!(best.generated <= coverage.generated + 1e-9);
            prop_assert!(best.gold <= coverage.gold + 1e-9);
        }
    }
}
