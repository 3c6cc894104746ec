//! Intervals of ratios from clusters that are drawn again.

use rand::RngExt;
use rayon::prelude::*;

use super::bootstrap::quantile;
use super::clusters::{ClusterSums, is_share};
use super::{Draws, Interval, assert_paired, normal_cdf, normal_quantile};

/// A ratio, or a difference of two, and how far it varies over draws of clusters.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatioBootstrap {
    /// The figure itself, on the clusters as they are.
    pub estimate: f64,
    /// The standard deviation over the draws.
    pub standard_error: f64,
    /// Between percentiles of the draws.
    pub percentile: Interval,
    /// Between percentiles that are moved for bias and skew; `None` where the figure does
    /// not hang on which cluster is left out, has no value without one, or lies beyond all
    /// draws.
    pub bca: Option<Interval>,
}

/// The ratio of two sums with its bootstrap over clusters (Davison and Hinkley 1997,
/// section 3.8): each draw is as many clusters as there are, with replacement. Percentiles
/// lie straight between order statistics, as numpy's.
///
/// The second interval is bias-corrected and accelerated (Efron 1987; Efron and Tibshirani
/// 1993, section 14.3): draws that tie with the figure count half towards the bias, and the
/// acceleration comes from leaving out one cluster at a time. Of few clusters, below about
/// fifty, either interval is a little too narrow, and [`ratio_linearised`](super::ratio_linearised) is not.
///
/// `None` of fewer than two clusters or draws, unless ΣD is above zero and all is finite,
/// unless the level lies between zero and one, and where fewer than nine draws in ten have
/// a ratio; the others are left out.
pub fn ratio_bootstrap(clusters: &[ClusterSums], draws: Draws) -> Option<RatioBootstrap> {
    let clusters: Vec<[ClusterSums; 1]> = clusters.iter().map(|&cluster| [cluster]).collect();
    bootstrap(&clusters, draws, |[sums]| sums.ratio())
}

/// The second ratio less the first over the same draws of clusters, as [`ratio_bootstrap`]
/// makes them: what two systems share on a cluster cancels. The clusters stand in the same
/// order on both sides.
///
/// # Panics
///
/// If there are not as many clusters on either side.
pub fn difference_bootstrap(
    first: &[ClusterSums],
    second: &[ClusterSums],
    draws: Draws,
) -> Option<RatioBootstrap> {
    assert_paired(first, second);
    let clusters: Vec<[ClusterSums; 2]> =
        first.iter().zip(second).map(|(&first, &second)| [first, second]).collect();
    bootstrap(&clusters, draws, |[first, second]| Some(second.ratio()? - first.ratio()?))
}

fn bootstrap<const SIDES: usize>(
    clusters: &[[ClusterSums; SIDES]],
    draws: Draws,
    statistic: impl Fn([ClusterSums; SIDES]) -> Option<f64> + Sync,
) -> Option<RatioBootstrap> {
    let start = [ClusterSums::default(); SIDES];
    let estimate = statistic(clusters.iter().fold(start, add))?;
    if clusters.len() < 2 || draws.n < 2 || !is_share(draws.level) {
        return None;
    }
    let mut values: Vec<f64> = (0..draws.n)
        .into_par_iter()
        .filter_map(|draw| {
            let mut rng = draws.stream(draw);
            let one_of = |_| &clusters[rng.random_range(0..clusters.len())];
            statistic((0..clusters.len()).map(one_of).fold(start, add))
        })
        .collect();
    if values.len() < 2 || values.len() * 10 < draws.n * 9 {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let outside = (1.0 - draws.level) / 2.0;
    let percentile =
        Interval { low: quantile(&values, outside)?, high: quantile(&values, 1.0 - outside)? };
    let bca = leave_one_out(clusters, statistic)
        .and_then(|left_out| bca(&values, estimate, &left_out, draws.level));
    let standard_error = deviation(&values);
    standard_error.is_finite().then_some(RatioBootstrap {
        estimate,
        standard_error,
        percentile,
        bca,
    })
}

fn add<const SIDES: usize>(
    mut sums: [ClusterSums; SIDES],
    cluster: &[ClusterSums; SIDES],
) -> [ClusterSums; SIDES] {
    for (sum, side) in sums.iter_mut().zip(cluster) {
        *sum = *sum + *side;
    }
    sums
}

/// The statistic without each cluster in turn. What lies before and after one is summed and
/// nothing subtracted, so that sums of nothing are zero.
pub(super) fn leave_one_out<const SIDES: usize>(
    clusters: &[[ClusterSums; SIDES]],
    statistic: impl Fn([ClusterSums; SIDES]) -> Option<f64>,
) -> Option<Vec<f64>> {
    let running = |sums: &mut [ClusterSums; SIDES], cluster| {
        let before = *sums;
        *sums = add(before, cluster);
        Some(before)
    };
    let start = [ClusterSums::default(); SIDES];
    let after: Vec<_> = clusters.iter().rev().scan(start, running).collect();
    let before = clusters.iter().scan(start, running);
    before.zip(after.iter().rev()).map(|(before, after)| statistic(add(before, after))).collect()
}

/// The interval of sorted draws, moved for bias and skew.
pub(super) fn bca(sorted: &[f64], estimate: f64, left_out: &[f64], level: f64) -> Option<Interval> {
    let bias = normal_quantile(share_below(sorted, estimate))?;
    let acceleration = acceleration(left_out)?;
    let end = |share: f64| {
        let moved = bias + normal_quantile(share)?;
        let stretch = 1.0 - acceleration * moved;
        let share = (0.0 < stretch).then(|| normal_cdf(bias + moved / stretch))?;
        quantile(sorted, share)
    };
    let outside = (1.0 - level) / 2.0;
    Some(Interval { low: end(outside)?, high: end(1.0 - outside)? })
}

/// The share of draws below the figure, ties counted half. What differs by no more than
/// summing in another order makes is a tie.
fn share_below(sorted: &[f64], estimate: f64) -> f64 {
    let margin = 1e-12 * estimate.abs();
    let n_below = sorted.partition_point(|value| *value < estimate - margin);
    let n_not_above = sorted.partition_point(|value| *value <= estimate + margin);
    (n_below + n_not_above) as f64 / (2.0 * sorted.len() as f64)
}

/// A sixth of the skew of the figure without each cluster in turn, mirrored.
fn acceleration(left_out: &[f64]) -> Option<f64> {
    let mean = left_out.iter().sum::<f64>() / left_out.len() as f64;
    let power = |power| left_out.iter().map(|value| (mean - value).powi(power)).sum::<f64>();
    let acceleration = power(3) / (6.0 * power(2).powf(1.5));
    acceleration.is_finite().then_some(acceleration)
}

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

#[cfg(test)]
mod tests;
