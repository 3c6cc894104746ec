//! Ranks, with the mean of those that ties share.

/// The rank of each value, counted from 1, rising; values that tie share the mean of
/// the ranks they take up (as `scipy.stats.rankdata` with `average`).
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut n_below = 0;
    // Minus zero is zero here, so values are compared and not their bits.
    for tied in order.chunk_by(|&a, &b| values[a] >= values[b]) {
        let rank = n_below as f64 + f64::midpoint(tied.len() as f64, 1.0);
        for &at in tied {
            ranks[at] = rank;
        }
        n_below += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_tie_share_the_mean_of_their_ranks() {
        assert_eq!(average_ranks(&[2.0, 0.0, 2.0, 1.0, 2.0]), [4.0, 1.0, 4.0, 2.0, 4.0]);
        assert_eq!(average_ranks(&[0.0, -0.0]), [1.5, 1.5]);
        assert_eq!(average_ranks(&[]), [0.0; 0]);
    }
}
