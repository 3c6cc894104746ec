//! The wild cluster bootstrap, for few clusters.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use super::{
    ClusterSums, Draws, Interval, bootstrap::quantile, clustered::difference_influence, mean,
};

/// Whether two ratios differ, by the wild cluster bootstrap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WildBootstrap {
    /// Two-sided, with the null imposed.
    pub p_value: f64,
    /// Symmetric percentile-t about the difference; `None` where t has no spread.
    pub interval: Option<Interval>,
    /// Whether all signs were looked at.
    pub is_exact: bool,
}

/// The clusters below which six weights are drawn from in place of two signs, since there
/// are too few ways to set signs.
const FEW: usize = 10;

/// The clusters up to which all signs are looked at, whatever the draws.
const MOST_EXACT: usize = 12;

/// Tests the difference of two ratios on the same clusters by the wild cluster bootstrap
/// (Cameron, Gelbach & Miller 2008).
///
/// Each cluster's part in the difference d is s = d + C u, with u its linearised influence;
/// their mean is d, and their standard error that of the linearised difference. With the
/// null imposed each s is multiplied by a weight of mean 0 and variance 1, and t is computed
/// anew: p is the share of |t*| at or above |t|. Weights are signs (Rademacher), all of
/// which are looked at up to 12 clusters; below 10 clusters Webb's six points (2023). The
/// interval is d ± the quantile of |t*| about d, without the null.
pub fn wild_cluster_bootstrap(
    first: &[ClusterSums],
    second: &[ClusterSums],
    draws: Draws,
) -> Option<WildBootstrap> {
    let (difference, influence) = difference_influence(first, second)?;
    let n = influence.len();
    if n < 2 || draws.n == 0 || !(0.0 < draws.level && draws.level < 1.0) {
        return None;
    }
    let parts: Vec<f64> = influence.iter().map(|u| difference + n as f64 * u).collect();
    let (_, standard_error) = mean_and_error(&parts)?;
    if standard_error <= 0.0 {
        return None;
    }
    let t = difference / standard_error;
    let is_exact = FEW <= n && (n <= MOST_EXACT || (n < 30 && 1_usize << n <= draws.n));
    let n_draws = if is_exact { 1 << n } else { draws.n };
    let seeded = ChaCha8Rng::seed_from_u64(draws.seed);
    // For each draw |t*| with the null imposed, and about the difference.
    let drawn: Vec<(f64, f64)> = (0..n_draws)
        .into_par_iter()
        .map(|draw| {
            let mut rng = seeded.clone();
            rng.set_stream(draw as u64);
            let weights: Vec<f64> = (0..n)
                .map(|place| {
                    if is_exact {
                        if draw >> place & 1 == 0 { 1.0 } else { -1.0 }
                    } else if n < FEW {
                        webb(rng.random_range(0..6))
                    } else if rng.random() {
                        1.0
                    } else {
                        -1.0
                    }
                })
                .collect();
            let t_about = |centre: f64| {
                let moved: Vec<f64> = parts
                    .iter()
                    .zip(&weights)
                    .map(|(part, weight)| weight * (part - centre))
                    .collect();
                mean_and_error(&moved).map_or(0.0, |(mean, error)| {
                    if 0.0 < error { (mean / error).abs() } else { f64::INFINITY }
                })
            };
            (t_about(0.0), t_about(difference))
        })
        .collect();
    let least = t.abs() * (1.0 - 1e-9);
    let hits = drawn.iter().filter(|(null, _)| least <= *null).count();
    let p_value = if is_exact {
        hits as f64 / n_draws as f64
    } else {
        (hits as f64 + 1.0) / (n_draws as f64 + 1.0)
    };
    let mut about: Vec<f64> = drawn.into_iter().map(|(_, about)| about).collect();
    about.sort_by(f64::total_cmp);
    let half = quantile(&about, draws.level)? * standard_error;
    let interval =
        half.is_finite().then(|| Interval { low: difference - half, high: difference + half });
    Some(WildBootstrap { p_value, interval, is_exact })
}

/// Webb's six points: plus and minus the roots of 3/2, 1 and 1/2.
fn webb(place: usize) -> f64 {
    let root = [1.5_f64, 1.0, 0.5][place % 3].sqrt();
    if place < 3 { root } else { -root }
}

/// The mean, and its standard error.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    let centre = mean(values)?;
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    Some((centre, (squares / (n * (n - 1.0))).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(values: &[f64]) -> Vec<ClusterSums> {
        values.iter().map(|&above| ClusterSums { above, below: 1.0 }).collect()
    }

    #[test]
    fn a_difference_in_one_direction_is_found_and_chance_is_not() {
        let first = clusters(&[0.0; 12]);
        let up: Vec<f64> = (0..12).map(|at| 1.0 + f64::from(at) / 10.0).collect();
        let found = wild_cluster_bootstrap(&first, &clusters(&up), Draws::default()).unwrap();
        // Of 4,096 signs only all plus and all minus come as far.
        assert!(found.is_exact);
        assert!((found.p_value - 2.0 / 4096.0).abs() < 1e-12, "{found:?}");
        let interval = found.interval.unwrap();
        assert!(1.0 < interval.low && interval.high < 2.2, "{interval:?}");
        let to_and_fro: Vec<f64> = (0..12).map(|at| [1.0, -1.0][at % 2]).collect();
        let chance =
            wild_cluster_bootstrap(&first, &clusters(&to_and_fro), Draws::default()).unwrap();
        assert!(0.9 < chance.p_value, "{chance:?}");
        let few = wild_cluster_bootstrap(&first[..5], &clusters(&up[..5]), Draws::default());
        assert!(few.unwrap().p_value < 0.05);
        assert_eq!(wild_cluster_bootstrap(&first, &first, Draws::default()), None);
    }
}
