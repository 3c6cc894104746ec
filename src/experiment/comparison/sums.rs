//! Counts of paragraphs put together by cluster, and figures with their intervals.

use super::{Clusters, Counts, Figure};
use crate::stats::{ClusterSums, RatioEstimate, ratio_linearised};

/// What a figure is a ratio of, summed over the paragraphs of each cluster. Clusters come in
/// the order of their numbers.
pub fn cluster_sums(counts: &[Counts], clusters: &Clusters, figure: Figure) -> Vec<ClusterSums> {
    let mut sums = vec![ClusterSums::default(); clusters.names.len()];
    for (counts, &cluster) in counts.iter().zip(&clusters.of) {
        let (above, below) = counts.ratio(figure);
        if let Some(sum) = sums.get_mut(cluster) {
            sum.above += above;
            sum.below += below;
        }
    }
    sums
}

/// A figure of some paragraphs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureEstimate {
    /// Its value.
    pub value: Option<f64>,
    /// What it lies between when whole clusters are drawn; `None` of fewer than two.
    pub estimate: Option<RatioEstimate>,
}

/// A figure with its interval by linearisation over clusters, as [`ratio_linearised`] has it.
pub fn estimate(
    counts: &[Counts],
    clusters: &Clusters,
    figure: Figure,
    level: f64,
) -> FigureEstimate {
    let value = counts.iter().copied().sum::<Counts>().figure(figure);
    let estimate = ratio_linearised(&cluster_sums(counts, clusters, figure), level);
    FigureEstimate { value, estimate }
}
