//! Ratios of sums, and their errors where what is summed comes in clusters.

use serde::Serialize;

use super::{Interval, student_quantile};

/// What one cluster adds to a ratio of sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClusterSums {
    /// To the numerator, N.
    pub above: f64,
    /// To the denominator, D.
    pub below: f64,
}

impl std::iter::Sum for ClusterSums {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            above: sum.above + one.above,
            below: sum.below + one.below,
        })
    }
}

impl ClusterSums {
    /// The ratio; `None` where the denominator is not above zero or anything is not finite.
    pub(super) fn ratio(self) -> Option<f64> {
        let ratio = self.above / self.below;
        (0.0 < self.below && ratio.is_finite()).then_some(ratio)
    }
}

/// A ratio or a difference of two, with its error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioEstimate {
    /// Its value.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The degrees of freedom of t: the clusters less one.
    pub degrees: f64,
    /// The value, less and more so many standard errors as t says.
    pub interval: Interval,
}

/// The ratio θ = ΣN/ΣD with its cluster-robust error by linearisation.
///
/// With u = N - θD for each of C clusters, SE = √(C/(C-1) Σu²) / ΣD (the delta method on
/// sums over clusters: Cochran 1977, section 6.4; Liang & Zeger 1986), and t with C-1
/// degrees. A cluster counts even where it adds nothing. `None` for fewer than two clusters,
/// where ΣD is not above zero, or where `level` is no share.
pub fn ratio_linearised(clusters: &[ClusterSums], level: f64) -> Option<RatioEstimate> {
    let (estimate, influence) = influence(clusters)?;
    from_influence(estimate, &influence, level)
}

/// How far the second ratio lies above the first, on the same clusters in the same order,
/// with its error by linearisation: each cluster's u is that of the second ratio less that
/// of the first, each over its own ΣD, so that what the two share cancels. `None` as for
/// [`ratio_linearised`].
pub fn difference_linearised(
    first: &[ClusterSums],
    second: &[ClusterSums],
    level: f64,
) -> Option<RatioEstimate> {
    let (difference, influence) = difference_influence(first, second)?;
    from_influence(difference, &influence, level)
}

/// The ratio where items belong to clusters of two kinds at once, as students in classes
/// who sit in several.
///
/// V = V₁ + V₂ - V₁₂, each the variance by linearisation over clusters of one kind or of
/// their intersections, with its own C/(C-1) (Cameron, Gelbach & Miller 2011); t has the
/// degrees of the kind with fewer clusters. Where V falls below the larger of V₁ and V₂, as
/// it can in small samples, that one is taken. `one` and `other` number the clusters of each
/// item.
pub fn two_way_linearised(
    items: &[ClusterSums],
    one: &[usize],
    other: &[usize],
    level: f64,
) -> Option<RatioEstimate> {
    let (estimate, influence) = influence(items)?;
    two_way(estimate, &influence, (one, other), level)
}

/// How far the second ratio lies above the first, on the same items in the same order,
/// where items belong to clusters of two kinds at once. As [`two_way_linearised`].
pub fn two_way_difference_linearised(
    first: &[ClusterSums],
    second: &[ClusterSums],
    (one, other): (&[usize], &[usize]),
    level: f64,
) -> Option<RatioEstimate> {
    let (difference, influence) = difference_influence(first, second)?;
    two_way(difference, &influence, (one, other), level)
}

fn two_way(
    estimate: f64,
    influence: &[f64],
    (one, other): (&[usize], &[usize]),
    level: f64,
) -> Option<RatioEstimate> {
    assert!(
        influence.len() == one.len() && influence.len() == other.len(),
        "items and their clusters differ in number"
    );
    let both: Vec<(usize, usize)> = one.iter().copied().zip(other.iter().copied()).collect();
    let (first, n_first) = summed_variance(influence, one)?;
    let (second, n_second) = summed_variance(influence, other)?;
    let (shared, _) = summed_variance(influence, &both)?;
    let variance = (first + second - shared).max(first).max(second);
    with_interval(estimate, variance.sqrt(), (n_first.min(n_second) - 1) as f64, level)
}

/// The variance of the sum of some items that come in clusters, and how many there are.
fn summed_variance<K: Ord + Copy>(influence: &[f64], cluster_of: &[K]) -> Option<(f64, usize)> {
    let mut sums: std::collections::BTreeMap<K, f64> = std::collections::BTreeMap::new();
    for (item, cluster) in influence.iter().zip(cluster_of) {
        *sums.entry(*cluster).or_default() += item;
    }
    let sums: Vec<f64> = sums.into_values().collect();
    Some((variance_of_sum(&sums)?, sums.len()))
}

/// C/(C-1) times the sum of squares.
fn variance_of_sum(influence: &[f64]) -> Option<f64> {
    let n = influence.len() as f64;
    let variance = n / (n - 1.0) * influence.iter().map(|u| u * u).sum::<f64>();
    (1.0 < n && variance.is_finite()).then_some(variance)
}

/// The ratio, and what each cluster moves it by: u/ΣD.
fn influence(clusters: &[ClusterSums]) -> Option<(f64, Vec<f64>)> {
    let total: ClusterSums = clusters.iter().copied().sum();
    let ratio = total.ratio()?;
    let of = |cluster: &ClusterSums| (cluster.above - ratio * cluster.below) / total.below;
    Some((ratio, clusters.iter().map(of).collect()))
}

/// The difference of two ratios, and what each cluster moves it by.
pub(super) fn difference_influence(
    first: &[ClusterSums],
    second: &[ClusterSums],
) -> Option<(f64, Vec<f64>)> {
    assert_same_clusters(first, second);
    let ((a, of_first), (b, of_second)) = (influence(first)?, influence(second)?);
    Some((b - a, of_first.iter().zip(&of_second).map(|(a, b)| b - a).collect()))
}

fn from_influence(estimate: f64, influence: &[f64], level: f64) -> Option<RatioEstimate> {
    let standard_error = variance_of_sum(influence)?.sqrt();
    with_interval(estimate, standard_error, (influence.len() - 1) as f64, level)
}

fn with_interval(
    estimate: f64,
    standard_error: f64,
    degrees: f64,
    level: f64,
) -> Option<RatioEstimate> {
    if !(0.0 < level && level < 1.0) {
        return None;
    }
    let half = student_quantile(f64::midpoint(1.0, level), degrees)? * standard_error;
    let interval = Interval { low: estimate - half, high: estimate + half };
    Some(RatioEstimate { estimate, standard_error, degrees, interval })
}

/// Panics unless both sides are of one length.
#[track_caller]
pub(super) fn assert_same_clusters(first: &[ClusterSums], second: &[ClusterSums]) {
    assert_eq!(first.len(), second.len(), "the two sides differ in their clusters");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(values: &[(f64, f64)]) -> Vec<ClusterSums> {
        values.iter().map(|&(above, below)| ClusterSums { above, below }).collect()
    }

    #[test]
    fn clusters_of_one_size_give_the_error_of_a_mean() {
        let clusters = sums(&[(1.0, 2.0), (2.0, 2.0), (4.0, 2.0), (1.0, 2.0)]);
        let found = ratio_linearised(&clusters, 0.95).unwrap();
        assert!((found.estimate - 1.0).abs() < 1e-12);
        // The ratios 0.5, 1, 2 and 0.5 have a variance of 0.5, so their mean has 0.125.
        assert!((found.standard_error - 0.125_f64.sqrt()).abs() < 1e-12);
        assert!((found.degrees - 3.0).abs() < 1e-12);
    }

    #[test]
    fn what_two_share_cancels_and_turning_them_round_turns_the_sign() {
        let first = sums(&[(1.0, 4.0), (3.0, 4.0), (2.0, 3.0)]);
        let higher: Vec<ClusterSums> = first
            .iter()
            .map(|own| ClusterSums { above: own.above + 0.1 * own.below, ..*own })
            .collect();
        let found = difference_linearised(&first, &higher, 0.95).unwrap();
        assert!((found.estimate - 0.1).abs() < 1e-12 && found.standard_error < 1e-12);
        let second = sums(&[(2.0, 5.0), (1.0, 4.0), (2.0, 2.0)]);
        let [there, back] = [(&first, &second), (&second, &first)]
            .map(|(a, b)| difference_linearised(a, b, 0.9).unwrap());
        assert!((there.estimate + back.estimate).abs() < 1e-12);
        assert!((there.interval.low + back.interval.high).abs() < 1e-12);
    }

    #[test]
    fn two_ways_that_are_one_give_the_error_of_that_one() {
        let items = sums(&[(1.0, 2.0), (0.0, 1.0), (2.0, 2.0), (4.0, 2.0), (1.0, 3.0)]);
        let of = [0, 0, 1, 2, 2];
        let both = two_way_linearised(&items, &of, &of, 0.95).unwrap();
        let clusters = sums(&[(1.0, 3.0), (2.0, 2.0), (5.0, 5.0)]);
        let one = ratio_linearised(&clusters, 0.95).unwrap();
        assert!((both.standard_error - one.standard_error).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_answer_gets_none() {
        assert_eq!(ratio_linearised(&sums(&[(1.0, 2.0)]), 0.95), None);
        assert_eq!(ratio_linearised(&sums(&[(0.0, 0.0), (0.0, 0.0)]), 0.95), None);
        assert_eq!(ratio_linearised(&sums(&[(f64::NAN, 1.0), (0.0, 1.0)]), 0.95), None);
        assert_eq!(ratio_linearised(&sums(&[(1.0, 1.0), (0.0, 1.0)]), 1.0), None);
    }
}
