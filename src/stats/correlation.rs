//! How far two rows of numbers rise and fall together.

use super::{assert_paired, average_ranks, mean};

/// Pearson's product-moment correlation: the covariance over the product of the
/// standard deviations, summed around the means (Pearson 1895).
///
/// `None` of fewer than two pairs, and where a side is constant: there is no
/// correlation with what does not vary.
///
/// # Panics
///
/// If the sides differ in number.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_paired(x, y);
    let (mean_x, mean_y) = (mean(x)?, mean(y)?);
    if is_constant(x) || is_constant(y) {
        return None;
    }
    let (mut products, mut squares_x, mut squares_y) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (x - mean_x, y - mean_y);
        products += x * y;
        squares_x += x * x;
        squares_y += y * y;
    }
    let r = products / (squares_x.sqrt() * squares_y.sqrt());
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Spearman's rank correlation: Pearson's of the ranks, ties sharing the mean of
/// theirs (Spearman 1904).
///
/// `None` where [`pearson`] is.
///
/// # Panics
///
/// If the sides differ in number.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_paired(x, y);
    pearson(&average_ranks(x), &average_ranks(y))
}

/// Kendall's tau-b: (C - D) / sqrt((n0 - n1) (n0 - n2)), where n0 = n(n-1)/2, n1 and n2
/// count the pairs that tie in x and in y, C those in one order and D those in the
/// opposite one (Kendall 1945). In O(n log n), as Knight (1966) counts.
///
/// `None` of fewer than two pairs, and where a side is constant.
///
/// # Panics
///
/// If the sides differ in number.
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_paired(x, y);
    if is_constant(x) || is_constant(y) {
        return None;
    }
    // Ranks compare as the values do, and zero has one sign.
    let (x, y) = (average_ranks(x), average_ranks(y));
    let mut pairs: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let n0 = n_pairs(pairs.len());
    let n1: f64 = pairs.chunk_by(|a, b| a.0 >= b.0).map(|tied| n_pairs(tied.len())).sum();
    let both: f64 =
        pairs.chunk_by(|a, b| a.0 >= b.0 && a.1 >= b.1).map(|tied| n_pairs(tied.len())).sum();
    let mut y: Vec<f64> = pairs.into_iter().map(|(_, y)| y).collect();
    let n_discordant = sort_counting_exchanges(&mut y);
    let n2: f64 = y.chunk_by(|a, b| a >= b).map(|tied| n_pairs(tied.len())).sum();
    let n_concordant = n0 - n1 - n2 + both - n_discordant;
    let tau = (n_concordant - n_discordant) / ((n0 - n1).sqrt() * (n0 - n2).sqrt());
    tau.is_finite().then(|| tau.clamp(-1.0, 1.0))
}

/// Whether all values are one, or there is none.
pub(super) fn is_constant(values: &[f64]) -> bool {
    #[expect(clippy::float_cmp, reason = "values that differ at all are no constant")]
    values.windows(2).all(|two| two[0] == two[1])
}

/// The pairs among `n` things. Counts are kept as floats: exact up to 2^53, and a
/// product of two of them does not overflow.
fn n_pairs(n: usize) -> f64 {
    n as f64 * (n as f64 - 1.0) / 2.0
}

/// Sorts by merging, and counts the pairs that stood in falling order.
fn sort_counting_exchanges(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if middle == 0 {
        return 0.0;
    }
    let (left, right) = values.split_at_mut(middle);
    let mut n_exchanges = sort_counting_exchanges(left) + sort_counting_exchanges(right);
    let (left, right) = (left.to_vec(), right.to_vec());
    let (mut l, mut r) = (0, 0);
    for place in values {
        let takes_left = match (left.get(l), right.get(r)) {
            (Some(a), Some(b)) => a <= b,
            (left, _) => left.is_some(),
        };
        if takes_left {
            *place = left[l];
            l += 1;
        } else {
            *place = right[r];
            r += 1;
            n_exchanges += (left.len() - l) as f64;
        }
    }
    n_exchanges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        for (x, y) in
            [(&[] as &[f64], &[] as &[f64]), (&[1.0], &[2.0]), (&[0.1; 3], &[1.0, 2.0, 3.0])]
        {
            assert_eq!(pearson(x, y), None);
            assert_eq!(pearson(y, x), None);
            assert_eq!(spearman(x, y), None);
            assert_eq!(kendall_tau_b(y, x), None);
        }
    }

    /// By definition, every pair looked at.
    fn slow_tau(x: &[f64], y: &[f64]) -> Option<f64> {
        let (mut sum, mut varied_x, mut varied_y) = (0.0, 0.0, 0.0);
        for i in 0..x.len() {
            for j in 0..i {
                let sign = |a: f64, b: f64| f64::from(i8::from(a > b) - i8::from(a < b));
                let (in_x, in_y) = (sign(x[i], x[j]), sign(y[i], y[j]));
                sum += in_x * in_y;
                varied_x += in_x.abs();
                varied_y += in_y.abs();
            }
        }
        (0.0 < varied_x * varied_y).then(|| sum / (varied_x * varied_y).sqrt())
    }

    proptest! {
        #[test]
        fn tau_counted_by_merging_is_tau_by_definition(
            pairs in proptest::collection::vec((0u8..6, 0u8..6), 0..40)
        ) {
            let x: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.0)).collect();
            let y: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.1)).collect();
            match (kendall_tau_b(&x, &y), slow_tau(&x, &y)) {
                (Some(fast), Some(slow)) => prop_assert!((fast - slow).abs() < 1e-12),
                (fast, slow) => prop_assert_eq!(fast, slow),
            }
        }
    }
}
