//! The bootstrap of ratios over clusters.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use super::{
    ClusterSums, Draws, Interval,
    bootstrap::{interval, quantile},
    clustered::assert_same_clusters,
    mean, normal_cdf, normal_quantile,
};

/// A ratio or a difference of two, with intervals by the bootstrap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioBootstrap {
    /// Its value.
    pub estimate: f64,
    /// The standard deviation over draws.
    pub standard_error: f64,
    /// Between quantiles of the draws.
    pub percentile: Interval,
    /// The same corrected for bias and skewness; `None` where the estimate lies outside of
    /// all draws.
    pub bca: Option<Interval>,
}

/// The ratio of sums over clusters drawn with replacement, as many as there are.
///
/// Percentiles as numpy's; the corrected interval is BCa (Efron 1987), its acceleration by
/// the jackknife over clusters. `None` for fewer than two clusters, where the ratio has no
/// value, or has none in more than one draw in ten. Each draw has a stream of its own.
pub fn ratio_bootstrap(clusters: &[ClusterSums], draws: Draws) -> Option<RatioBootstrap> {
    bootstrap(clusters.len(), draws, |places| {
        let drawn: ClusterSums = places.map(|place| clusters[place]).sum();
        drawn.ratio()
    })
}

/// How far the second ratio lies above the first, on the same clusters in the same order,
/// drawn together. As [`ratio_bootstrap`].
pub fn difference_bootstrap(
    first: &[ClusterSums],
    second: &[ClusterSums],
    draws: Draws,
) -> Option<RatioBootstrap> {
    assert_same_clusters(first, second);
    bootstrap(first.len(), draws, |places| {
        let (mut a, mut b) = (ClusterSums::default(), ClusterSums::default());
        for place in places {
            a.above += first[place].above;
            a.below += first[place].below;
            b.above += second[place].above;
            b.below += second[place].below;
        }
        Some(b.ratio()? - a.ratio()?)
    })
}

fn bootstrap(
    n_clusters: usize,
    draws: Draws,
    statistic: impl Fn(&mut dyn Iterator<Item = usize>) -> Option<f64> + Sync,
) -> Option<RatioBootstrap> {
    if n_clusters < 2 || draws.n == 0 || !(0.0 < draws.level && draws.level < 1.0) {
        return None;
    }
    let estimate = statistic(&mut (0..n_clusters))?;
    let seeded = ChaCha8Rng::seed_from_u64(draws.seed);
    let mut values: Vec<f64> = (0..draws.n)
        .into_par_iter()
        .filter_map(|draw| {
            let mut rng = seeded.clone();
            rng.set_stream(draw as u64);
            statistic(&mut (0..n_clusters).map(|_| rng.random_range(0..n_clusters)))
        })
        .collect();
    if values.len() * 10 < draws.n * 9 {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let centre = mean(&values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let without: Option<Vec<f64>> = (0..n_clusters)
        .map(|left_out| statistic(&mut (0..n_clusters).filter(|&place| place != left_out)))
        .collect();
    let bca = without.and_then(|jackknife| corrected(&values, estimate, &jackknife, draws.level));
    Some(RatioBootstrap {
        estimate,
        standard_error: (squares / (values.len() as f64 - 1.0)).sqrt(),
        bca,
        percentile: interval(values, draws.level)?,
    })
}

/// The BCa interval of sorted draws.
fn corrected(sorted: &[f64], estimate: f64, jackknife: &[f64], level: f64) -> Option<Interval> {
    let below = sorted.partition_point(|value| *value < estimate);
    let up_to = sorted.partition_point(|value| *value <= estimate);
    let share = f64::midpoint(below as f64, up_to as f64) / sorted.len() as f64;
    let bias = normal_quantile(share)?;
    let acceleration = acceleration(jackknife)?;
    let outside = (1.0 - level) / 2.0;
    let end = |probability: f64| {
        let z = bias + normal_quantile(probability)?;
        let place = normal_cdf(bias + z / (1.0 - acceleration * z));
        if place.is_finite() { quantile(sorted, place) } else { None }
    };
    Some(Interval { low: end(outside)?, high: end(1.0 - outside)? })
}

/// Σ(m - x)³ / 6(Σ(m - x)²)^1.5 over the values with one cluster left out, m their mean;
/// zero where they do not vary.
fn acceleration(jackknife: &[f64]) -> Option<f64> {
    let centre = mean(jackknife)?;
    let power = |n: i32| jackknife.iter().map(|value| (centre - value).powi(n)).sum::<f64>();
    let squares = power(2);
    Some(if 0.0 < squares { power(3) / (6.0 * squares.powf(1.5)) } else { 0.0 })
}
