//! Standard errors of ratios under clustering, by linearisation.

use std::collections::BTreeMap;

use super::clusters::{ClusterSums, influences, is_share, total};
use super::{Interval, assert_paired, student_quantile};

/// A ratio, or a difference of two, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatioEstimate {
    /// The figure itself.
    pub estimate: f64,
    /// The standard error of the figure; zero where the clusters do not differ.
    pub standard_error: f64,
    /// The degrees of freedom of the t distribution that the interval is of.
    pub degrees: f64,
    /// The estimate and t standard errors to either side.
    pub interval: Interval,
}

/// The ratio of two sums and its standard error under clustering, by Taylor's first term
/// (Cochran 1977, section 6.3; Särndal, Swensson and Wretman 1992, section 5.6): with
/// u = N − θD per cluster it is √(C/(C−1) Σu²)/ΣD, and the interval that of t with C−1
/// degrees of freedom. It is the cluster-robust error of regressing N/D on a constant with
/// weights D.
///
/// `level` is the share that the interval holds, as 0.95. `None` of fewer than two
/// clusters, unless ΣD is above zero and all is finite, and unless the level lies between
/// zero and one.
pub fn ratio_linearised(clusters: &[ClusterSums], level: f64) -> Option<RatioEstimate> {
    let (_, ratio) = total(clusters)?;
    with_interval(ratio, variance(influences(clusters)?), clusters.len(), level)
}

/// The second ratio less the first on the same clusters in the same order, as
/// [`ratio_linearised`] has it: the influences of a cluster on both are subtracted before
/// they are squared, so that what the two share cancels.
///
/// # Panics
///
/// If there are not as many clusters on either side.
pub fn difference_linearised(
    first: &[ClusterSums],
    second: &[ClusterSums],
    level: f64,
) -> Option<RatioEstimate> {
    assert_paired(first, second);
    let difference = total(second)?.1 - total(first)?.1;
    let (of_first, of_second) = (influences(first)?, influences(second)?);
    let pulls = of_second.iter().zip(of_first).map(|(second, first)| second - first);
    with_interval(difference, variance(pulls), first.len(), level)
}

/// The ratio of two sums over items that are grouped in two ways that cross, as by student
/// and by class, `one` and `other` naming the group of each item.
///
/// After Cameron, Gelbach and Miller (2011): the variance by the first grouping plus that
/// by the second less that by both at once, each with its own C/(C−1). That may come out
/// too small, even below zero; where it is less than the larger of the variances by one
/// grouping, that one is taken. The interval is that of t with min(C₁, C₂)−1 degrees of
/// freedom. `None` as for [`ratio_linearised`], and where a grouping has but one group.
///
/// # Panics
///
/// If an item has no group, or a group no item.
pub fn two_way_linearised(
    items: &[ClusterSums],
    one: &[usize],
    other: &[usize],
    level: f64,
) -> Option<RatioEstimate> {
    let (_, ratio) = total(items)?;
    two_way(ratio, &influences(items)?, (one, other), level)
}

/// The second ratio less the first on the same items in the same order, with items grouped
/// in two ways that cross: as [`two_way_linearised`], on the influences of
/// [`difference_linearised`].
///
/// # Panics
///
/// If an item has no group, or a group no item.
pub fn two_way_difference_linearised(
    first: &[ClusterSums],
    second: &[ClusterSums],
    groups: (&[usize], &[usize]),
    level: f64,
) -> Option<RatioEstimate> {
    assert_paired(first, second);
    let difference = total(second)?.1 - total(first)?.1;
    let (of_first, of_second) = (influences(first)?, influences(second)?);
    let pulls: Vec<f64> =
        of_second.iter().zip(of_first).map(|(second, first)| second - first).collect();
    two_way(difference, &pulls, groups, level)
}

fn two_way(
    estimate: f64,
    pulls: &[f64],
    (one, other): (&[usize], &[usize]),
    level: f64,
) -> Option<RatioEstimate> {
    assert_paired(pulls, one);
    assert_paired(pulls, other);
    let by_one = pulls_by(pulls, one.iter().copied());
    let by_other = pulls_by(pulls, other.iter().copied());
    let by_both = pulls_by(pulls, one.iter().zip(other));
    let n_groups = by_one.len().min(by_other.len());
    if n_groups < 2 {
        return None;
    }
    let (of_one, of_other, of_both) = (variance(by_one), variance(by_other), variance(by_both));
    let crossed = (of_one + of_other - of_both).max(of_one).max(of_other);
    with_interval(estimate, crossed, n_groups, level)
}

/// The pulls of the items of each group, summed.
fn pulls_by<G: Ord>(pulls: &[f64], groups: impl Iterator<Item = G>) -> Vec<f64> {
    let mut sums = BTreeMap::new();
    for (pull, group) in pulls.iter().zip(groups) {
        *sums.entry(group).or_insert(0.0) += pull;
    }
    sums.into_values().collect()
}

/// C/(C−1) times the sum of squares.
fn variance(pulls: impl IntoIterator<Item = f64>) -> f64 {
    let (n, squares) =
        pulls.into_iter().fold((0.0, 0.0), |(n, sum), pull| (n + 1.0, sum + pull * pull));
    squares * (n / (n - 1.0))
}

fn with_interval(
    estimate: f64,
    variance: f64,
    n_clusters: usize,
    level: f64,
) -> Option<RatioEstimate> {
    let degrees = n_clusters.checked_sub(1)? as f64;
    if !is_share(level) {
        return None;
    }
    let standard_error = variance.sqrt();
    let half = student_quantile(f64::midpoint(1.0, level), degrees)? * standard_error;
    let interval = Interval { low: estimate - half, high: estimate + half };
    let is_finite = interval.low.is_finite() && interval.high.is_finite();
    is_finite.then_some(RatioEstimate { estimate, standard_error, degrees, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(sums: &[(f64, f64)]) -> Vec<ClusterSums> {
        sums.iter().map(|&(above, below)| ClusterSums { above, below }).collect()
    }

    #[test]
    fn a_ratio_over_ones_is_a_mean() {
        let found = ratio_linearised(&clusters(&[(1.0, 1.0), (2.0, 1.0), (6.0, 1.0)]), 0.95);
        let found = found.unwrap();
        assert!((found.estimate - 3.0).abs() < 1e-15);
        assert!((found.standard_error - (7.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((found.degrees - 2.0).abs() < 1e-15);
    }

    #[test]
    fn clusters_that_do_not_differ_leave_no_error() {
        let same = clusters(&[(1.0, 2.0), (2.0, 4.0), (0.0, 0.0)]);
        let found = ratio_linearised(&same, 0.9).unwrap();
        assert_eq!(found.interval, Interval { low: 0.5, high: 0.5 });
        let found = difference_linearised(&same, &same, 0.9).unwrap();
        assert_eq!(found.interval, Interval { low: 0.0, high: 0.0 });
    }

    #[test]
    fn swapping_the_sides_mirrors_the_interval() {
        let first = clusters(&[(1.0, 2.0), (3.0, 4.0), (0.0, 1.0), (2.0, 3.0)]);
        let second = clusters(&[(2.0, 3.0), (1.0, 4.0), (0.0, 0.0), (3.0, 3.0)]);
        let one = difference_linearised(&first, &second, 0.95).unwrap();
        let other = difference_linearised(&second, &first, 0.95).unwrap();
        assert_eq!(
            (one.interval.low, one.interval.high),
            (-other.interval.high, -other.interval.low)
        );
        assert!(0.0 < one.standard_error);
    }

    #[test]
    fn what_has_no_answer_has_none() {
        let good = clusters(&[(1.0, 2.0), (2.0, 2.0)]);
        for level in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
            assert_eq!(ratio_linearised(&good, level), None);
            assert_eq!(two_way_linearised(&good, &[0, 1], &[0, 1], level), None);
        }
        for bad in [
            clusters(&[]),
            clusters(&[(1.0, 2.0)]),
            clusters(&[(1.0, 0.0), (0.0, 0.0)]),
            clusters(&[(f64::NAN, 1.0), (1.0, 1.0)]),
            clusters(&[(1.0, f64::INFINITY), (1.0, 1.0)]),
            clusters(&[(1e200, 1.0), (-1e200, 1.0)]),
        ] {
            assert_eq!(ratio_linearised(&bad, 0.95), None, "{bad:?}");
            assert_eq!(
                difference_linearised(&bad, &bad, 0.95).is_some(),
                bad.len() == 2 && bad[0].above > 1e9
            );
        }
        assert_eq!(two_way_linearised(&good, &[0, 1], &[7, 7], 0.95), None);
    }

    #[test]
    fn the_variance_by_two_groupings_is_not_below_that_by_one() {
        let items = clusters(&[(1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (1.0, 1.0)]);
        let (one, other) = ([0, 0, 1, 1], [0, 1, 0, 1]);
        let found = two_way_linearised(&items, &one, &other, 0.95).unwrap();
        // By either grouping all cancels, and by both at once more is taken off than there is.
        assert!(found.standard_error.abs() < 1e-15, "{found:?}");
        let twice: Vec<ClusterSums> =
            items.iter().map(|own| ClusterSums { above: 2.0 * own.above, ..*own }).collect();
        let (students, classes) = ([0, 1, 2, 3], [0, 0, 1, 1]);
        let groups = (students.as_slice(), classes.as_slice());
        let found = two_way_difference_linearised(&items, &twice, groups, 0.95).unwrap();
        let alone = two_way_linearised(&items, &students, &classes, 0.95).unwrap();
        assert!((found.standard_error - alone.standard_error).abs() < 1e-15, "{found:?}");
        let by_item = two_way_linearised(&items, &[0, 1, 2, 3], &[4, 5, 6, 7], 0.95).unwrap();
        assert_eq!(Some(by_item), ratio_linearised(&items, 0.95));
    }

    #[test]
    #[should_panic(expected = "differ in number")]
    fn sides_of_different_length_are_a_slip() {
        difference_linearised(&clusters(&[(1.0, 1.0)]), &[], 0.95);
    }
}
