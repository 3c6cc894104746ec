//! The randomisation test of two systems over clusters.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use super::{ClusterSums, Draws, clustered::assert_same_clusters};

/// Whether two ratios differ by more than it would were it chance which system gave which
/// answers to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RandomisationTest {
    /// The second ratio less the first.
    pub difference: f64,
    /// Two-sided: the share of assignments with a difference at least as far from zero. Of
    /// drawn ones, (hits + 1) / (n + 1).
    pub p_value: f64,
    /// The assignments that were looked at.
    pub n_assignments: u64,
    /// Whether those are all.
    pub is_exact: bool,
}

/// The clusters up to which all assignments are looked at.
const MOST_EXACT: usize = 20;

/// Swaps what the two systems have in whole clusters (Fisher 1935; over clusters, Noreen
/// 1989): all ways to swap where at most 20 clusters differ between the two, else as many as
/// are drawn. Clusters that do not differ need no swap. `None` where a ratio has no value or
/// nothing is drawn.
pub fn randomisation_test(
    first: &[ClusterSums],
    second: &[ClusterSums],
    draws: Draws,
) -> Option<RandomisationTest> {
    assert_same_clusters(first, second);
    let start = Totals { first: first.iter().copied().sum(), second: second.iter().copied().sum() };
    let difference = start.difference()?;
    let pairs: Vec<(ClusterSums, ClusterSums)> = first
        .iter()
        .copied()
        .zip(second.iter().copied())
        .filter(|(first, second)| first != second)
        .collect();
    // Assignments that come to the same difference must be taken as equal, whatever the
    // order of their sums.
    let least = difference.abs() * (1.0 - 1e-9) - 1e-12;
    let is_hit = |totals: &Totals| totals.difference().is_some_and(|other| least <= other.abs());
    if pairs.len() <= MOST_EXACT {
        let n_assignments = 1_u64 << pairs.len();
        let hits = exact_hits(&pairs, start, is_hit);
        let p_value = hits as f64 / n_assignments as f64;
        return Some(RandomisationTest { difference, p_value, n_assignments, is_exact: true });
    }
    if draws.n == 0 {
        return None;
    }
    let seeded = ChaCha8Rng::seed_from_u64(draws.seed);
    let hits = (0..draws.n)
        .into_par_iter()
        .filter(|&draw| {
            let mut rng = seeded.clone();
            rng.set_stream(draw as u64);
            let mut totals = start;
            for pair in &pairs {
                if rng.random::<bool>() {
                    totals.swap(*pair, 1.0);
                }
            }
            is_hit(&totals)
        })
        .count();
    let p_value = (hits as f64 + 1.0) / (draws.n as f64 + 1.0);
    let n_assignments = draws.n as u64;
    Some(RandomisationTest { difference, p_value, n_assignments, is_exact: false })
}

/// Hits among all assignments. Half of them mirror the other half, so one cluster stays.
fn exact_hits(
    pairs: &[(ClusterSums, ClusterSums)],
    start: Totals,
    is_hit: impl Fn(&Totals) -> bool,
) -> u64 {
    let Some((_, free)) = pairs.split_first() else { return u64::from(is_hit(&start)) };
    let mut totals = start;
    let mut is_swapped = vec![false; free.len()];
    let mut hits = u64::from(is_hit(&totals));
    // In the order of a Gray code each assignment differs from the one before in one swap.
    for step in 1_u64..1 << free.len() {
        let place = step.trailing_zeros() as usize;
        totals.swap(free[place], if is_swapped[place] { -1.0 } else { 1.0 });
        is_swapped[place] = !is_swapped[place];
        hits += u64::from(is_hit(&totals));
    }
    2 * hits
}

/// The sums of both systems.
#[derive(Clone, Copy)]
struct Totals {
    first: ClusterSums,
    second: ClusterSums,
}

impl Totals {
    fn difference(&self) -> Option<f64> {
        Some(self.second.ratio()? - self.first.ratio()?)
    }

    /// Swaps a cluster, or with a sign of -1 swaps it back.
    fn swap(&mut self, (first, second): (ClusterSums, ClusterSums), sign: f64) {
        let above = sign * (second.above - first.above);
        let below = sign * (second.below - first.below);
        self.first.above += above;
        self.first.below += below;
        self.second.above -= above;
        self.second.below -= below;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(values: &[f64]) -> Vec<ClusterSums> {
        values.iter().map(|&above| ClusterSums { above, below: 10.0 }).collect()
    }

    #[test]
    fn all_assignments_of_few_clusters_are_counted() {
        let (first, second) = (clusters(&[1.0, 2.0, 3.0, 4.0]), clusters(&[2.0, 3.0, 4.0, 6.0]));
        let found = randomisation_test(&first, &second, Draws::default()).unwrap();
        // Only all signs alike come as far: 2 of 16.
        assert!(found.is_exact && found.n_assignments == 16);
        assert!((found.p_value - 0.125).abs() < 1e-12);
        let same = randomisation_test(&first, &first, Draws::default()).unwrap();
        assert!((same.p_value - 1.0).abs() < 1e-12 && same.n_assignments == 1);
    }

    #[test]
    fn drawn_assignments_come_to_about_the_same_as_all() {
        let first = clusters(&(0..20).map(|at| f64::from(at * 7 % 13)).collect::<Vec<_>>());
        let second: Vec<ClusterSums> = first
            .iter()
            .enumerate()
            .map(|(at, own)| ClusterSums { above: own.above + [1.3, -0.9, 0.4][at % 3], ..*own })
            .collect();
        let exact = randomisation_test(&first, &second, Draws::default()).unwrap();
        assert!(exact.is_exact);
        // One more cluster that says little turns the test into one by draws.
        let with = |all: &[ClusterSums], above| {
            let mut all = all.to_vec();
            all.push(ClusterSums { above, below: 10.0 });
            all
        };
        let draws = Draws { n: 20_000, ..Draws::default() };
        let drawn =
            randomisation_test(&with(&first, 1.0), &with(&second, 1.0 + 1e-7), draws).unwrap();
        assert!(!drawn.is_exact);
        assert!((drawn.p_value - exact.p_value).abs() < 0.015, "{drawn:?} {exact:?}");
    }
}
