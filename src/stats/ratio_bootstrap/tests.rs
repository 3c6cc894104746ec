//! What bootstraps of ratios keep to.

use super::*;
use crate::stats::{difference_linearised, ratio_linearised};

fn clusters(sums: impl IntoIterator<Item = (f64, f64)>) -> Vec<ClusterSums> {
    sums.into_iter().map(|(above, below)| ClusterSums { above, below }).collect()
}

/// Sixty clusters of a few items each.
fn sixty(step: usize) -> Vec<ClusterSums> {
    clusters((0..60).map(|at| {
        let n_items = at * 31 % 7 + 1;
        ((at * step % (n_items + 1)) as f64, n_items as f64)
    }))
}

fn draws(n: usize) -> Draws {
    Draws { n, ..Draws::default() }
}

#[test]
fn errors_come_close_to_those_of_linearisation() {
    let (first, second) = (sixty(17), sixty(23));
    let pairs = [
        (ratio_bootstrap(&first, draws(8000)), ratio_linearised(&first, 0.95)),
        (
            difference_bootstrap(&first, &second, draws(8000)),
            difference_linearised(&first, &second, 0.95),
        ),
    ];
    for (found, expected) in pairs {
        let (found, expected) = (found.unwrap(), expected.unwrap());
        assert!((found.estimate - expected.estimate).abs() < 1e-15);
        let ratio = found.standard_error / expected.standard_error;
        assert!((ratio - 1.0).abs() < 0.06, "{ratio}");
        let width = expected.interval.high - expected.interval.low;
        for interval in [found.percentile, found.bca.unwrap()] {
            assert!((interval.low - expected.interval.low).abs() < 0.08 * width);
            assert!((interval.high - expected.interval.high).abs() < 0.08 * width);
        }
    }
}

#[test]
fn swapping_the_sides_mirrors_the_intervals() {
    let (first, second) = (sixty(17), sixty(23));
    let one = difference_bootstrap(&first, &second, draws(500)).unwrap();
    let other = difference_bootstrap(&second, &first, draws(500)).unwrap();
    for (one, other) in [(one.percentile, other.percentile), (one.bca.unwrap(), other.bca.unwrap())]
    {
        assert!((one.low + other.high).abs() < 1e-12 && (one.high + other.low).abs() < 1e-12);
    }
}

#[test]
fn a_seed_gives_the_same_whatever_the_threads() {
    let run = || ratio_bootstrap(&sixty(17), draws(300)).unwrap();
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(run(), alone.install(run));
    let other = Draws { seed: 43, ..draws(300) };
    assert_ne!(Some(run()), ratio_bootstrap(&sixty(17), other));
}

#[test]
fn clusters_that_do_not_differ_leave_an_interval_of_no_width() {
    let same = clusters([(0.1, 0.3), (0.2, 0.6), (0.4, 1.2)]);
    let found = ratio_bootstrap(&same, draws(200)).unwrap();
    assert!(found.standard_error < 1e-15);
    assert!(found.percentile.high - found.percentile.low < 1e-15);
    let found = difference_bootstrap(&same, &same, draws(200)).unwrap();
    assert_eq!(found.percentile, Interval { low: 0.0, high: 0.0 });
    assert_eq!(found.bca, None);
}

#[test]
fn what_one_cluster_carries_alone_has_no_accelerated_interval() {
    let mut lone = clusters([(0.0, 0.0); 12]);
    lone[0] = ClusterSums { above: 1.0, below: 2.0 };
    // Draws without that cluster, a third of all, have no ratio.
    assert_eq!(ratio_bootstrap(&lone, draws(500)), None);
    let held: Vec<[ClusterSums; 1]> = lone.iter().map(|&cluster| [cluster]).collect();
    assert_eq!(leave_one_out(&held, |[sums]| sums.ratio()), None);
}

#[test]
fn what_has_no_answer_has_none() {
    let good = sixty(17);
    for draws in [
        draws(0),
        draws(1),
        Draws { level: 0.0, ..draws(50) },
        Draws { level: 1.0, ..draws(50) },
        Draws { level: f64::NAN, ..draws(50) },
    ] {
        assert_eq!(ratio_bootstrap(&good, draws), None, "{draws:?}");
    }
    for bad in [
        vec![],
        clusters([(1.0, 2.0)]),
        clusters([(0.0, 0.0), (1.0, 0.0)]),
        clusters([(f64::NAN, 1.0), (1.0, 1.0)]),
        clusters([(1.0, f64::INFINITY), (1.0, 1.0)]),
    ] {
        assert_eq!(ratio_bootstrap(&bad, draws(50)), None, "{bad:?}");
        assert_eq!(difference_bootstrap(&bad, &bad, draws(50)), None, "{bad:?}");
    }
}
