//! Sums over clusters, and the ratio that they make up together.

use std::iter::Sum;
use std::ops::Add;

/// What one cluster, as all texts of a student, adds to a micro figure: the figure is the
/// ratio of the sums over all clusters.
///
/// A cluster that adds nothing to either sum was drawn from the population all the same
/// and counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSums {
    /// What stands above the line of the ratio, as the matches found.
    pub above: f64,
    /// What stands below it, as the matches that there are.
    pub below: f64,
}

impl ClusterSums {
    /// The ratio; `None` unless what is below the line is above zero and both are finite.
    pub fn ratio(self) -> Option<f64> {
        let ratio = self.above / self.below;
        (0.0 < self.below && self.below.is_finite() && ratio.is_finite()).then_some(ratio)
    }
}

impl Add for ClusterSums {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { above: self.above + other.above, below: self.below + other.below }
    }
}

impl Sum for ClusterSums {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// The sums over all clusters and their ratio; `None` of fewer than two clusters.
pub(super) fn total(clusters: &[ClusterSums]) -> Option<(ClusterSums, f64)> {
    let total: ClusterSums = clusters.iter().copied().sum();
    let ratio = total.ratio()?;
    (2 <= clusters.len()).then_some((total, ratio))
}

/// How far each cluster pulls the ratio, to first order: (N − θD)/ΣD. They sum to zero.
pub(super) fn influences(clusters: &[ClusterSums]) -> Option<Vec<f64>> {
    let (total, ratio) = total(clusters)?;
    let pull = |cluster: &ClusterSums| (cluster.above - ratio * cluster.below) / total.below;
    Some(clusters.iter().map(pull).collect())
}

/// Whether a level, a power or the like lies between zero and one, both left out.
pub(super) fn is_share(share: f64) -> bool {
    0.0 < share && share < 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_needs_something_below_the_line() {
        let sums = |above, below| ClusterSums { above, below };
        assert_eq!(sums(1.0, 2.0).ratio(), Some(0.5));
        for none in [(1.0, 0.0), (0.0, 0.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert_eq!(sums(none.0, none.1).ratio(), None, "{none:?}");
        }
    }

    #[test]
    fn influences_sum_to_zero() {
        let clusters: Vec<ClusterSums> = (0..9_u8)
            .map(|at| ClusterSums { above: f64::from(at % 4), below: f64::from(at) })
            .collect();
        assert!(influences(&clusters).unwrap().iter().sum::<f64>().abs() < 1e-15);
        assert_eq!(influences(&clusters[8..]), None);
    }
}
