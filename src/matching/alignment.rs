//! The one-to-one alignment with the greatest sum of ratings.

use serde::{Deserialize, Serialize};

use super::CompleteScores;
use crate::{
    bipartite::{Matrix, max_weight_matching},
    similarity::Rating,
};

/// The matched units of one paragraph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alignment {
    /// The matched pairs, in order of the generated unit.
    pub pairs: Vec<AlignedPair>,
    /// The number of generated units, matched or not.
    pub n_generated: usize,
    /// The number of gold units, matched or not.
    pub n_gold: usize,
}

impl Alignment {
    /// The sum of the ratings of the pairs.
    pub fn total(&self) -> f64 {
        self.pairs.iter().map(|pair| pair.rating.get()).sum()
    }
}

/// A generated unit and the gold unit it was matched to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlignedPair {
    /// The row in the score matrix.
    pub generated: usize,
    /// The column in the score matrix.
    pub gold: usize,
    /// How alike they are: above zero.
    pub rating: Rating,
}

/// Aligns the units one to one so that the sum of the ratings is greatest, which
/// is the alignment M* of CEAF (Luo 2005), found as Kuhn (1955) does.
///
/// Only pairs rated above zero are aligned. Of several alignments with that sum
/// it is the first: the first generated unit has the earliest gold unit it can
/// have in any of them, then the second, and so on (as
/// [`max_weight_matching`] says, pairs rated zero included).
pub fn align(scores: &CompleteScores) -> Alignment {
    let weights = Matrix::from_fn(scores.n_generated(), scores.n_gold(), |generated, gold| {
        weight(scores.get(generated, gold))
    });
    let pairs = max_weight_matching(&weights)
        .into_iter()
        .map(|(generated, gold)| AlignedPair {
            generated,
            gold,
            rating: scores.get(generated, gold),
        })
        .filter(|pair| 0.0 < pair.rating.get())
        .collect();
    Alignment { pairs, n_generated: scores.n_generated(), n_gold: scores.n_gold() }
}

/// A rating as a fixed-point number, in units of 2^-60: four is 2^62. Exact for
/// every rating of 2^-8 and above, and within 2^-61 below.
fn weight(rating: Rating) -> i64 {
    const SCALE: f64 = (1_u64 << 60) as f64;
    let scaled = (rating.get() * SCALE).round();
    #[expect(clippy::cast_possible_truncation, reason = "a rating is at most 4, and 2^62 fits")]
    {
        scaled as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::ScoreMatrix;

    #[track_caller]
    fn check<const R: usize, const C: usize>(ratings: [[f64; C]; R], pairs: &[(usize, usize)]) {
        let scores = ScoreMatrix::from_fn(R, C, |row, col| Rating::new(ratings[row][col]));
        let alignment = align(&CompleteScores::of(&scores).unwrap());
        let found: Vec<_> =
            alignment.pairs.iter().map(|pair| (pair.generated, pair.gold)).collect();
        assert_eq!(found, pairs);
        let total: f64 = pairs.iter().map(|&(row, col)| ratings[row][col]).sum();
        assert!((alignment.total() - total).abs() < 1e-12);
    }

    #[test]
    fn unrelated_units_stay_unmatched() {
        check([[0.0, 0.0], [3.0, 0.0]], &[(1, 0)]);
        check([[0.0]], &[]);
    }

    #[test]
    fn better_sum_wins_over_the_best_pair() {
        check([[4.0, 3.0], [3.0, 1.0]], &[(0, 1), (1, 0)]);
    }

    #[test]
    fn difference_in_the_last_digit_decides() {
        check([[0.3, 0.1 + 0.2], [2.0, 2.0]], &[(0, 1), (1, 0)]);
    }

    #[test]
    fn of_equals_the_first_units_are_matched() {
        check([[2.0], [2.0]], &[(0, 0)]);
        check([[1.0, 1.0], [1.0, 1.0]], &[(0, 0), (1, 1)]);
    }
}
