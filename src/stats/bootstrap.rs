//! Intervals from samples that are drawn again, whole groups at a time.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// How samples are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draws {
    /// How many.
    pub n: usize,
    /// What they hang on.
    pub seed: u64,
    /// The share of them that an interval holds, as 0.95.
    pub level: f64,
}

impl Default for Draws {
    /// Two thousand, which holds the ends of an interval of 95 % steady to about two
    /// digits.
    fn default() -> Self {
        Self { n: 2000, seed: 42, level: 0.95 }
    }
}

impl Draws {
    /// What one draw hangs on: a stream of its own of the seed, so that the number of
    /// threads changes nothing.
    pub(super) fn stream(self, draw: usize) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(draw as u64);
        rng
    }
}

/// What a figure lies between.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How far one figure lies above another on the same items.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The first less the second.
    pub difference: f64,
    /// What it lies between.
    pub interval: Interval,
    /// Two-sided: twice the smaller share of draws in which it lies on one side of zero,
    /// the sample itself counted as a draw on either side.
    pub p_value: f64,
}

/// The percentile interval of a statistic over groups drawn with replacement (Efron
/// 1979; groups as the unit of drawing, Davison and Hinkley 1997, section 3.8): as many
/// groups as there are, each with all of its items. Percentiles lie straight between
/// order statistics, as numpy's.
///
/// `statistic` gets the items of the drawn groups, group by group; draws on which it
/// has no value are left out. `None` of fewer than two groups, and where fewer than nine
/// draws in ten have a value. Each draw has a stream of its own of the seed, so that the
/// number of threads changes nothing.
pub fn grouped_bootstrap<T: Clone + Sync, G: Ord>(
    items: &[T],
    group_of: impl Fn(&T) -> G,
    draws: Draws,
    statistic: impl Fn(&[T]) -> Option<f64> + Sync,
) -> Option<Interval> {
    interval(redraw(items, group_of, draws, statistic)?, draws.level)
}

/// The difference of two statistics on the same items, with its interval over the same
/// draws, as [`grouped_bootstrap`] makes them: what two scorers share cancels.
pub fn paired_bootstrap<T: Clone + Sync, G: Ord>(
    items: &[T],
    group_of: impl Fn(&T) -> G,
    draws: Draws,
    first: impl Fn(&[T]) -> Option<f64> + Sync,
    second: impl Fn(&[T]) -> Option<f64> + Sync,
) -> Option<Difference> {
    let statistic = |items: &[T]| Some(first(items)? - second(items)?);
    let difference = statistic(items)?;
    let values = redraw(items, group_of, draws, statistic)?;
    let beyond = |is_beyond: fn(&f64) -> bool| {
        let n_beyond = values.iter().copied().filter(is_beyond).count();
        (n_beyond as f64 + 1.0) / (values.len() as f64 + 1.0)
    };
    let p_value = (2.0 * beyond(|value| *value <= 0.0).min(beyond(|value| 0.0 <= *value))).min(1.0);
    Some(Difference { difference, interval: interval(values, draws.level)?, p_value })
}

/// The values of a statistic on the draws, in order of the draw.
fn redraw<T: Clone + Sync, G: Ord>(
    items: &[T],
    group_of: impl Fn(&T) -> G,
    draws: Draws,
    statistic: impl Fn(&[T]) -> Option<f64> + Sync,
) -> Option<Vec<f64>> {
    let mut by_group: BTreeMap<G, Vec<T>> = BTreeMap::new();
    for item in items {
        by_group.entry(group_of(item)).or_default().push(item.clone());
    }
    let groups: Vec<Vec<T>> = by_group.into_values().collect();
    if groups.len() < 2 || draws.n == 0 {
        return None;
    }
    let values: Vec<f64> = (0..draws.n)
        .into_par_iter()
        .filter_map(|draw| {
            let mut rng = draws.stream(draw);
            let mut sample = Vec::with_capacity(items.len());
            for _ in 0..groups.len() {
                sample.extend_from_slice(&groups[rng.random_range(0..groups.len())]);
            }
            statistic(&sample).filter(|value| value.is_finite())
        })
        .collect();
    (draws.n * 9 <= values.len() * 10).then_some(values)
}

fn interval(mut values: Vec<f64>, level: f64) -> Option<Interval> {
    values.sort_by(f64::total_cmp);
    let outside = (1.0 - level) / 2.0;
    Some(Interval { low: quantile(&values, outside)?, high: quantile(&values, 1.0 - outside)? })
}

/// A quantile of sorted values, straight between the nearest two.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share.clamp(0.0, 1.0) * (sorted.len().checked_sub(1)?) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let below = place.floor() as usize;
    let (low, high) = (*sorted.get(below)?, *sorted.get(below + 1).or(sorted.last())?);
    Some(low + (high - low) * (place - below as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::mean;

    fn draws(n: usize) -> Draws {
        Draws { n, ..Draws::default() }
    }

    fn mean_of(items: &[(usize, f64)]) -> Option<f64> {
        mean(&items.iter().map(|item| item.1).collect::<Vec<_>>())
    }

    /// A hundred numbers in groups of `size`, all alike within a group.
    fn clustered(size: usize) -> Vec<(usize, f64)> {
        (0..100).map(|at| (at / size, ((at / size * 7919) % 97) as f64)).collect()
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_its_standard_error() {
        let items = clustered(1);
        let found = grouped_bootstrap(&items, |item| item.0, draws(4000), mean_of).unwrap();
        let mean = mean_of(&items).unwrap();
        let variance = items.iter().map(|item| (item.1 - mean).powi(2)).sum::<f64>() / 100.0;
        let half = 1.96 * (variance / 100.0).sqrt();
        assert!((found.low - (mean - half)).abs() < 0.05 * half * 2.0, "{found:?} {mean} {half}");
        assert!((found.high - (mean + half)).abs() < 0.05 * half * 2.0, "{found:?} {mean} {half}");
    }

    #[test]
    fn items_that_go_together_widen_the_interval() {
        let width = |size: usize| {
            let items = clustered(size);
            let found = grouped_bootstrap(&items, |item| item.0, draws(1000), mean_of).unwrap();
            found.high - found.low
        };
        assert!(2.0 * width(1) < width(10), "{} {}", width(1), width(10));
    }

    #[test]
    fn a_seed_gives_the_same_whatever_the_threads() {
        let items = clustered(5);
        let run = || grouped_bootstrap(&items, |item| item.0, draws(200), mean_of).unwrap();
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(run(), alone.install(run));
        let other = Draws { seed: 43, ..draws(200) };
        assert_ne!(Some(run()), grouped_bootstrap(&items, |item| item.0, other, mean_of));
    }

    #[test]
    fn one_group_or_a_statistic_that_seldom_has_a_value_gives_no_interval() {
        let items = clustered(100);
        assert_eq!(grouped_bootstrap(&items, |item| item.0, draws(50), mean_of), None);
        let items = clustered(1);
        let seldom = |items: &[(usize, f64)]| (items[0].0 < 50).then_some(1.0);
        assert_eq!(grouped_bootstrap(&items, |item| item.0, draws(200), seldom), None);
    }

    #[test]
    fn what_two_statistics_share_cancels() {
        let items = clustered(1);
        let higher = |items: &[(usize, f64)]| Some(mean_of(items)? + 0.5);
        let found = paired_bootstrap(&items, |item| item.0, draws(500), higher, mean_of).unwrap();
        assert!((found.difference - 0.5).abs() < 1e-9);
        assert!(
            (found.interval.low - 0.5).abs() < 1e-9 && (found.interval.high - 0.5).abs() < 1e-9
        );
        assert!(found.p_value < 0.01);
        let same = paired_bootstrap(&items, |item| item.0, draws(500), mean_of, mean_of).unwrap();
        assert!((same.p_value - 1.0).abs() < 1e-12);
    }
}
