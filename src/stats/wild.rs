//! A test of two ratios that holds with few clusters: the wild cluster bootstrap.

use rand::RngExt;
use rayon::prelude::*;

use super::clusters::{ClusterSums, total};
use super::{Draws, Interval, assert_paired, difference_linearised};

/// Below this many clusters there are too few sign changes, and weights take six values.
const FEW: usize = 10;

/// Up to this many clusters every sign change is counted, however few draws are asked for.
const MOST_ENUMERATED: usize = 12;

/// By how much of itself a t has to be larger to be told from another.
const TIE: f64 = 1e-9;

/// An error of no more than this share of the ratios is what rounding leaves of none.
const ROUNDING: f64 = 1e-14;

/// How often the search for an end of the interval doubles its reach.
const MOST_DOUBLINGS: usize = 40;

/// What the wild cluster bootstrap says of a difference.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WildBootstrap {
    /// Two-sided, that there is no difference.
    pub p_value: f64,
    /// The differences that the test does not reject; `None` where it rejects none on one
    /// side however far off, or where the clusters do not differ.
    pub interval: Option<Interval>,
    /// Whether all sign changes were counted.
    pub is_exact: bool,
}

/// The wild cluster bootstrap of the second ratio less the first, null imposed, of the t
/// statistic (Cameron, Gelbach and Miller 2008), on the regression whose cluster-robust
/// error is [`difference_linearised`]'s: N/D of both systems on a constant each, with
/// weights D. The clusters stand in the same order on both sides.
///
/// Under the null both ratios are ΣN over both by ΣD over both, the remainders N − θD of a
/// cluster get one weight, and ratios, error and t are taken anew. Weights are −1 or 1
/// with equal chance (Rademacher); all 2^C are counted, and the p-value is their share,
/// where that is at most `draws.n` or there are at most twelve clusters. Below ten clusters
/// weights are drawn from Webb's six: ±√½, ±1, ±√1½ (Webb 2023). Draws count with the one
/// seen: (hits+1)/(n+1).
///
/// The interval inverts the test: it reaches from the estimate to where a null of another
/// difference, imposed the same way and on the same weights, is rejected at 1 − `level`.
///
/// `None` of fewer than two clusters, unless both ΣD are above zero and all is finite, of
/// no draws where they are needed, unless the level lies between zero and one, and for a
/// difference that has no error. Where there is neither error nor difference the p-value
/// is one.
///
/// # Panics
///
/// If there are not as many clusters on either side.
pub fn wild_cluster_bootstrap(
    first: &[ClusterSums],
    second: &[ClusterSums],
    draws: Draws,
) -> Option<WildBootstrap> {
    assert_paired(first, second);
    let seen = difference_linearised(first, second, draws.level)?;
    let n_clusters = first.len();
    let n_signs = u32::try_from(n_clusters)
        .ok()
        .and_then(|n| 1_usize.checked_shl(n))
        .filter(|n| *n <= draws.n || n_clusters <= MOST_ENUMERATED);
    let n_signs = n_signs.filter(|_| FEW <= n_clusters);
    let is_exact = n_signs.is_some();
    if !is_exact && draws.n == 0 {
        return None;
    }
    let nothing = ROUNDING * total(first)?.1.abs().max(total(second)?.1.abs());
    if seen.standard_error <= nothing {
        let is_same = seen.estimate.abs() <= nothing;
        return is_same.then_some(WildBootstrap { p_value: 1.0, interval: None, is_exact });
    }
    let problem = Problem::new(first, second)?;
    // The last sign stays: turning all turns the sign of t and nothing else.
    let outcomes: Vec<Outcome> = if let Some(n_signs) = n_signs {
        let outcome = |at: usize| problem.outcome(|cluster| sign(at >> cluster & 1 == 1));
        (0..n_signs / 2).into_par_iter().map(outcome).collect()
    } else {
        let outcome = |draw| {
            let mut rng = draws.stream(draw);
            problem.outcome(|_| {
                if n_clusters < FEW { webb(rng.random_range(0..6)) } else { sign(rng.random()) }
            })
        };
        (0..draws.n).into_par_iter().map(outcome).collect()
    };
    let test = Test { estimate: seen.estimate, error: seen.standard_error, outcomes, is_exact };
    let p_value = test.p_value(0.0);
    let alpha = 1.0 - draws.level;
    let ends = test.end(-1.0, alpha).zip(test.end(1.0, alpha));
    let interval = ends.map(|(low, high)| Interval { low, high });
    Some(WildBootstrap { p_value, interval, is_exact })
}

fn sign(is_up: bool) -> f64 {
    if is_up { 1.0 } else { -1.0 }
}

/// One of Webb's six weights, from their squares.
fn webb(at: usize) -> f64 {
    let square: f64 = [-1.5, -1.0, -0.5, 0.5, 1.0, 1.5][at % 6];
    square.abs().sqrt().copysign(square)
}

/// A cluster under the null of no difference: what remains of it over the sum below the
/// line, and its share of that sum, first and second system.
struct Cluster {
    remains: [f64; 2],
    shares: [f64; 2],
}

/// The clusters under the null, and how far a null of another difference moves the ratio of
/// either system, in shares of that difference.
struct Problem {
    clusters: Vec<Cluster>,
    moves: [f64; 2],
}

/// One bootstrap sample as it hangs on the difference d that the null says.
struct Outcome {
    /// How far the difference lies above the null: a constant and what d multiplies.
    beyond: [f64; 2],
    /// The squared standard error: a constant, and what d and d² multiply.
    squares: [f64; 3],
}

impl Problem {
    fn new(first: &[ClusterSums], second: &[ClusterSums]) -> Option<Self> {
        let sums = [total(first)?.0, total(second)?.0];
        let [below_first, below_second] = sums.map(|sum| sum.below);
        let pooled = (sums[0] + sums[1]).ratio()?;
        let remains =
            |cluster: &ClusterSums, below| (cluster.above - pooled * cluster.below) / below;
        let cluster = |(first, second): (&ClusterSums, &ClusterSums)| Cluster {
            remains: [remains(first, below_first), remains(second, below_second)],
            shares: [first.below / below_first, second.below / below_second],
        };
        let clusters = first.iter().zip(second).map(cluster).collect();
        let below_both = below_first + below_second;
        Some(Self { clusters, moves: [-below_second / below_both, below_first / below_both] })
    }

    /// The sample of these weights. The null of a difference d has remainders that are less
    /// by d times the move of the ratio times the share of the cluster.
    fn outcome(&self, mut weight: impl FnMut(usize) -> f64) -> Outcome {
        let weights: Vec<f64> = (0..self.clusters.len()).map(&mut weight).collect();
        let sum = |term: &dyn Fn(&Cluster) -> f64| -> f64 {
            weights.iter().zip(&self.clusters).map(|(weight, cluster)| weight * term(cluster)).sum()
        };
        let [of_first, of_second] = self.moves;
        let first =
            [sum(&|cluster| cluster.remains[0]), -of_first * sum(&|cluster| cluster.shares[0])];
        let second =
            [sum(&|cluster| cluster.remains[1]), -of_second * sum(&|cluster| cluster.shares[1])];
        let mut squares = [0.0; 3];
        for (weight, Cluster { remains, shares }) in weights.iter().zip(&self.clusters) {
            let constant =
                weight * (remains[1] - remains[0]) - (second[0] * shares[1] - first[0] * shares[0]);
            let slope = weight * (of_first * shares[0] - of_second * shares[1])
                - (second[1] * shares[1] - first[1] * shares[0]);
            squares[0] += constant * constant;
            squares[1] += 2.0 * constant * slope;
            squares[2] += slope * slope;
        }
        let n_clusters = self.clusters.len() as f64;
        Outcome {
            beyond: [second[0] - first[0], second[1] - first[1]],
            squares: squares.map(|square| square * (n_clusters / (n_clusters - 1.0))),
        }
    }
}

/// The test on samples drawn once, whatever difference the null says.
struct Test {
    estimate: f64,
    error: f64,
    outcomes: Vec<Outcome>,
    is_exact: bool,
}

impl Test {
    /// The p-value of the null of this difference.
    fn p_value(&self, null: f64) -> f64 {
        let seen = (self.estimate - null).abs() * (1.0 - TIE);
        let is_hit = |outcome: &&Outcome| {
            let [constant, slope] = outcome.beyond;
            let [square, linear, quadratic] = outcome.squares;
            let error = (square + null * (linear + null * quadratic)).max(0.0).sqrt();
            // Errors multiplied crosswise: no sample divides by zero.
            seen * error <= (constant + null * slope).abs() * self.error
        };
        let (n_hits, n) = (self.outcomes.iter().filter(is_hit).count(), self.outcomes.len());
        if self.is_exact {
            n_hits as f64 / n as f64
        } else {
            (n_hits as f64 + 1.0) / (n as f64 + 1.0)
        }
    }

    /// Where, from the estimate to this side, the null is first rejected at `alpha`: doubling
    /// the reach, then halving the interval.
    fn end(&self, side: f64, alpha: f64) -> Option<f64> {
        let at = |reach: f64| self.estimate + side * reach * self.error;
        let is_rejected = |reach: &f64| self.p_value(at(*reach)) <= alpha;
        let reaches = std::iter::successors(Some(1.0), |reach| Some(reach * 2.0));
        let mut out = reaches.take(MOST_DOUBLINGS).find(is_rejected)?;
        let mut within = if out <= 1.0 { 0.0 } else { out / 2.0 };
        while 1e-9 * out < out - within {
            let middle = f64::midpoint(within, out);
            if is_rejected(&middle) {
                out = middle;
            } else {
                within = middle;
            }
        }
        Some(at(out))
    }
}

#[cfg(test)]
mod tests;
