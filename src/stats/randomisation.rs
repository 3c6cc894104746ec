//! A test of two systems by swapping what they did on whole clusters.

use rand::RngExt;
use rayon::prelude::*;

use super::clusters::{ClusterSums, total};
use super::{Draws, assert_paired};

/// Up to how many clusters that differ every assignment is counted.
const MOST_ENUMERATED: usize = 20;

/// Differences that lie closer than this to each other, as a share of the ratios, tie: so
/// far at most are sums in another order apart.
const TIE: f64 = 1e-11;

/// What swapping says of a difference.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomisationTest {
    /// The second ratio less the first.
    pub difference: f64,
    /// Two-sided: the share of assignments with a difference at least as large.
    pub p_value: f64,
    /// How many assignments were counted.
    pub n_assignments: u64,
    /// Whether these are all that there are.
    pub is_exact: bool,
}

/// The paired randomisation test of two ratios (Fisher 1935; Noreen 1989, with the p-value
/// of sampled assignments after Phipson and Smyth 2010): were the systems alike, the sums
/// of either might as well have been the other's, cluster by cluster. The clusters stand
/// in the same order on both sides.
///
/// Where at most twenty clusters have sums that differ between the systems, all 2^k
/// assignments of those are counted; else `draws.n` are sampled, and the one seen counts
/// with them: (hits+1)/(n+1). An assignment that leaves one system nothing below the line
/// counts as at least as large. `draws.level` is not asked.
///
/// `None` of fewer than two clusters, unless both ΣD are above zero and all is finite, and
/// of no draws where they are needed.
///
/// # Panics
///
/// If there are not as many clusters on either side.
pub fn randomisation_test(
    first: &[ClusterSums],
    second: &[ClusterSums],
    draws: Draws,
) -> Option<RandomisationTest> {
    assert_paired(first, second);
    let test = Swapping::new(first, second)?;
    let n_differing = test.moves.len();
    let (p_value, n_assignments, is_exact) = if n_differing <= MOST_ENUMERATED {
        (test.exact_share(), 1 << n_differing, true)
    } else if 0 < draws.n {
        (test.sampled_share(draws), draws.n as u64, false)
    } else {
        return None;
    };
    Some(RandomisationTest { difference: test.difference, p_value, n_assignments, is_exact })
}

/// The sums of both systems, and what swapping a cluster moves from the second to the first.
struct Swapping {
    first: ClusterSums,
    second: ClusterSums,
    moves: Vec<ClusterSums>,
    difference: f64,
    least: f64,
    nothing: f64,
}

impl Swapping {
    fn new(first: &[ClusterSums], second: &[ClusterSums]) -> Option<Self> {
        let moves = first.iter().zip(second).filter(|(first, second)| first != second);
        let moves = moves.map(|(first, second)| ClusterSums {
            above: second.above - first.above,
            below: second.below - first.below,
        });
        let moves = moves.collect();
        let ((first, first_ratio), (second, second_ratio)) = (total(first)?, total(second)?);
        let difference = second_ratio - first_ratio;
        let least = difference.abs() - TIE * first_ratio.abs().max(second_ratio.abs());
        let nothing = TIE * first.below.max(second.below);
        difference.is_finite().then_some(Self { first, second, moves, difference, least, nothing })
    }

    /// Whether the difference is at least as large after `moved` has been swapped.
    fn is_hit(&self, moved: ClusterSums) -> bool {
        let (first, second) = (self.first.below + moved.below, self.second.below - moved.below);
        if first <= self.nothing || second <= self.nothing {
            return true;
        }
        let ratio_of_first = (self.first.above + moved.above) / first;
        let ratio_of_second = (self.second.above - moved.above) / second;
        self.least <= (ratio_of_second - ratio_of_first).abs()
    }

    fn exact_share(&self) -> f64 {
        // Swapping all others instead turns the sign of the difference and nothing else.
        let Some((_, moves)) = self.moves.split_last() else {
            return 1.0;
        };
        let (one, other) = moves.split_at(moves.len() / 2);
        let (one, other) = (subset_sums(one), subset_sums(other));
        let hits_with =
            |&one: &ClusterSums| other.iter().filter(|&&other| self.is_hit(one + other)).count();
        let n_hits: usize = one.par_iter().map(hits_with).sum();
        n_hits as f64 / (one.len() * other.len()) as f64
    }

    fn sampled_share(&self, draws: Draws) -> f64 {
        let is_hit = |&draw: &usize| {
            let mut rng = draws.stream(draw);
            let swapped = self.moves.chunks(64).map(|moves| {
                let coins: u64 = rng.random();
                let is_swapped = |&(at, _): &(u32, _)| coins >> at & 1 == 1;
                (0..).zip(moves).filter(is_swapped).map(|(_, &moved)| moved).sum()
            });
            self.is_hit(swapped.sum())
        };
        let n_hits = (0..draws.n).into_par_iter().filter(is_hit).count();
        (n_hits as f64 + 1.0) / (draws.n as f64 + 1.0)
    }
}

/// The sums of every subset.
fn subset_sums(moves: &[ClusterSums]) -> Vec<ClusterSums> {
    let mut sums = vec![ClusterSums::default()];
    for &moved in moves {
        let with: Vec<ClusterSums> = sums.iter().map(|&sum| sum + moved).collect();
        sums.extend(with);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(sums: &[(f64, f64)]) -> Vec<ClusterSums> {
        sums.iter().map(|&(above, below)| ClusterSums { above, below }).collect()
    }

    fn draws(n: usize) -> Draws {
        Draws { n, ..Draws::default() }
    }

    /// `n` clusters of ones, on all of which the second system is right and the first not.
    fn one_sided(n: usize) -> [Vec<ClusterSums>; 2] {
        [clusters(&vec![(0.0, 1.0); n]), clusters(&vec![(1.0, 1.0); n])]
    }

    #[test]
    fn a_sign_that_is_always_the_same_is_two_assignments_of_all() {
        let [first, second] = one_sided(6);
        let found = randomisation_test(&first, &second, draws(0)).unwrap();
        assert_eq!((found.n_assignments, found.is_exact), (64, true));
        assert!((found.p_value - 2.0 / 64.0).abs() < 1e-15);
        let swapped = randomisation_test(&second, &first, draws(0)).unwrap();
        assert_eq!(swapped, RandomisationTest { difference: -1.0, ..found });
    }

    #[test]
    fn clusters_on_which_the_systems_are_alike_need_no_assignment() {
        let [mut first, mut second] = one_sided(3);
        first.extend(clusters(&[(2.0, 3.0); 30]));
        second.extend(clusters(&[(2.0, 3.0); 30]));
        let found = randomisation_test(&first, &second, draws(0)).unwrap();
        assert_eq!((found.n_assignments, found.is_exact), (8, true));
        assert!((found.p_value - 0.25).abs() < 1e-15);
        let same = randomisation_test(&first, &first, draws(0)).unwrap();
        assert_eq!((same.p_value, same.n_assignments, same.is_exact), (1.0, 1, true));
    }

    #[test]
    fn samples_come_close_to_all_assignments() {
        let differing = |at: usize| ((at * 7919 % 13) as f64, 13.0 + (at % 3) as f64);
        let first = clusters(&(0..20).map(differing).collect::<Vec<_>>());
        let second = clusters(&(4..24).map(differing).collect::<Vec<_>>());
        let exact = randomisation_test(&first, &second, draws(0)).unwrap();
        let test = Swapping::new(&first, &second).unwrap();
        assert!(exact.is_exact && 0.05 < exact.p_value && exact.p_value < 0.95, "{exact:?}");
        let sampled = test.sampled_share(draws(20_000));
        assert!((exact.p_value - sampled).abs() < 0.015, "{exact:?} {sampled}");
    }

    #[test]
    fn beyond_twenty_clusters_samples_are_drawn_and_the_threads_change_nothing() {
        let [first, second] = one_sided(70);
        let run = || randomisation_test(&first, &second, draws(99)).unwrap();
        let found = run();
        assert_eq!((found.n_assignments, found.is_exact), (99, false));
        assert!((found.p_value - 0.01).abs() < 1e-15);
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(found, alone.install(run));
        assert_eq!(randomisation_test(&first, &second, draws(0)), None);
    }

    #[test]
    fn an_assignment_without_a_ratio_is_not_held_against_the_systems() {
        let first = clusters(&[(1.0, 1.0), (0.0, 0.0)]);
        let second = clusters(&[(0.0, 0.0), (0.0, 1.0)]);
        let found = randomisation_test(&first, &second, draws(0)).unwrap();
        assert_eq!((found.p_value, found.n_assignments), (1.0, 4));
    }

    #[test]
    fn what_has_no_answer_has_none() {
        for bad in [
            vec![],
            clusters(&[(1.0, 1.0)]),
            clusters(&[(0.0, 0.0), (0.0, 0.0)]),
            clusters(&[(f64::INFINITY, 1.0), (1.0, 1.0)]),
            clusters(&[(1.0, f64::NAN), (1.0, 1.0)]),
        ] {
            assert_eq!(randomisation_test(&bad, &bad, draws(9)), None, "{bad:?}");
        }
    }
}
