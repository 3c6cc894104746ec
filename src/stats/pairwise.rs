//! How many pairs of items two raters order alike, ties counted.

use super::assert_paired;

/// Pairwise accuracy, at the threshold of a tie that makes it greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairwiseAccuracy {
    /// The share of pairs of items that both order alike, or both hold to tie.
    pub accuracy: f64,
    /// Items whose scores differ by no more than this tie.
    pub tie_threshold: f64,
}

/// Of more items than these the pairs are too many to hold.
pub const MOST_ITEMS: usize = 8000;

/// Tie-calibrated pairwise accuracy (Deutsch, Foster and Freitag 2023, *Ties Matter*):
/// acc = (C + T) / (n(n-1)/2), where C counts the pairs of items that `scores` and
/// `gold` put in the same order, T those that tie in both; in `gold` equal values tie,
/// in `scores` those that differ by at most a threshold, which is the least of those
/// that make the accuracy greatest, out of zero and all differences there are.
///
/// The threshold is chosen on the same pairs, as the authors do, which flatters a
/// scorer a little. It takes O(n² log n) time and up to 8 n² bytes. `None` of fewer than
/// two items and of more than [`MOST_ITEMS`].
///
/// # Panics
///
/// If the sides differ in number.
pub fn pairwise_accuracy(scores: &[f64], gold: &[f64]) -> Option<PairwiseAccuracy> {
    assert_paired(scores, gold);
    if !(2..=MOST_ITEMS).contains(&scores.len()) {
        return None;
    }
    let items: Vec<(f64, f64)> = scores.iter().copied().zip(gold.iter().copied()).collect();
    // What becomes of the accuracy where a difference turns into a tie.
    let mut turns: Vec<(f64, i64)> = Vec::new();
    let mut n_right: i64 = 0;
    for (at, &(score, gold)) in items.iter().enumerate() {
        for &(other_score, other_gold) in &items[..at] {
            let difference = score - other_score;
            let gold_difference = gold - other_gold;
            let is_gold_tie = gold_difference.abs() <= 0.0;
            let is_right = if is_gold_tie {
                difference.abs() <= 0.0
            } else {
                0.0 < difference * gold_difference
            };
            n_right += i64::from(is_right);
            let turn = i64::from(is_gold_tie) - i64::from(is_right);
            if 0.0 < difference.abs() && turn != 0 {
                turns.push((difference.abs(), turn));
            }
        }
    }
    let n_pairs = items.len() * (items.len() - 1) / 2;
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut best, mut tie_threshold) = (n_right, 0.0);
    for tied in turns.chunk_by(|a, b| a.0 >= b.0) {
        n_right += tied.iter().map(|turn| turn.1).sum::<i64>();
        if best < n_right {
            (best, tie_threshold) = (n_right, tied[0].0);
        }
    }
    Some(PairwiseAccuracy { accuracy: best as f64 / n_pairs as f64, tie_threshold })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_of_ties_is_chosen_for_the_scores() {
        let gold = [0.0, 0.0, 4.0, 4.0];
        let found = pairwise_accuracy(&[0.1, 0.2, 3.0, 3.3], &gold).unwrap();
        assert!((found.accuracy - 1.0).abs() < 1e-12);
        assert!((found.tie_threshold - 0.3).abs() < 1e-12, "{found:?}");
        // Without a tie nothing is gained by any.
        let found = pairwise_accuracy(&[1.0, 2.0, 3.0, 4.0], &[0.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!(found, PairwiseAccuracy { accuracy: 1.0, tie_threshold: 0.0 });
    }

    #[test]
    fn one_item_makes_no_pair() {
        assert_eq!(pairwise_accuracy(&[1.0], &[1.0]), None);
        assert_eq!(pairwise_accuracy(&[], &[]), None);
    }
}
