//! What the wild cluster bootstrap keeps to.

use super::*;

/// Clusters of a few items each, `step` saying how many of them are right.
fn clusters(n: usize, step: usize) -> Vec<ClusterSums> {
    let cluster = |at: usize| {
        let n_items = at * 31 % 7 + 2;
        ClusterSums { above: (at * step % (n_items + 1)) as f64, below: n_items as f64 }
    };
    (0..n).map(cluster).collect()
}

fn draws(n: usize) -> Draws {
    Draws { n, ..Draws::default() }
}

/// The second system with its ratio moved by `by` on every cluster.
fn moved(clusters: &[ClusterSums], by: f64) -> Vec<ClusterSums> {
    clusters
        .iter()
        .map(|&ClusterSums { above, below }| ClusterSums { above: above + by * below, below })
        .collect()
}

#[test]
fn sign_changes_are_counted_where_they_are_few() {
    let is_exact = |n_clusters, n_draws| {
        let found = wild_cluster_bootstrap(
            &clusters(n_clusters, 17),
            &clusters(n_clusters, 23),
            draws(n_draws),
        );
        found.unwrap().is_exact
    };
    assert!(!is_exact(9, 10_000));
    assert!(is_exact(10, 0) && is_exact(12, 0));
    assert!(!is_exact(13, 8191) && is_exact(13, 8192));
    assert!(!is_exact(70, 50));
}

#[test]
fn the_interval_ends_where_the_test_begins_to_reject() {
    for (n, n_draws) in [(8, 999), (12, 0), (40, 999)] {
        let (first, second) = (clusters(n, 17), clusters(n, 23));
        let found = wild_cluster_bootstrap(&first, &second, draws(n_draws)).unwrap();
        let interval = found.interval.unwrap();
        for (end, within) in [(interval.low, 1e-6), (interval.high, -1e-6)] {
            let p_value = |null: f64| {
                let moved = moved(&second, -null);
                wild_cluster_bootstrap(&first, &moved, draws(n_draws)).unwrap().p_value
            };
            assert!(p_value(end - within) <= 0.05, "{n} {interval:?}");
            assert!(0.05 < p_value(end + within), "{n} {interval:?}");
        }
    }
}

#[test]
fn swapping_the_sides_mirrors_the_interval() {
    for n in [9, 12, 30] {
        let (first, second) = (clusters(n, 17), clusters(n, 23));
        let one = wild_cluster_bootstrap(&first, &second, draws(499)).unwrap();
        let other = wild_cluster_bootstrap(&second, &first, draws(499)).unwrap();
        assert!((one.p_value - other.p_value).abs() < 1e-12);
        let (one, other) = (one.interval.unwrap(), other.interval.unwrap());
        assert!((one.low + other.high).abs() < 1e-8 && (one.high + other.low).abs() < 1e-8);
    }
}

#[test]
fn systems_that_do_not_differ_have_a_p_value_of_one() {
    let same = clusters(12, 17);
    let found = wild_cluster_bootstrap(&same, &same, draws(99)).unwrap();
    assert_eq!(found, WildBootstrap { p_value: 1.0, interval: None, is_exact: true });
    // Further apart by the same on every cluster: a difference without an error.
    let ones = vec![ClusterSums { above: 1.0, below: 1.0 }; 12];
    let halves = vec![ClusterSums { above: 0.5, below: 1.0 }; 12];
    assert_eq!(wild_cluster_bootstrap(&ones, &halves, draws(99)), None);
}

#[test]
fn a_seed_gives_the_same_whatever_the_threads() {
    let (first, second) = (clusters(30, 17), clusters(30, 23));
    let run = |seed| wild_cluster_bootstrap(&first, &second, Draws { seed, ..draws(301) }).unwrap();
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(run(1), alone.install(|| run(1)));
    assert_ne!(run(1), run(2));
}

#[test]
fn weights_of_six_values_have_mean_zero_and_variance_one() {
    let weights: Vec<f64> = (0..6).map(webb).collect();
    assert!(weights.iter().sum::<f64>().abs() < 1e-15);
    let variance = weights.iter().map(|weight| weight * weight).sum::<f64>() / 6.0;
    assert!((variance - 1.0).abs() < 1e-15);
}

#[test]
fn what_has_no_answer_has_none() {
    let good = clusters(8, 17);
    let other = clusters(8, 23);
    assert_eq!(wild_cluster_bootstrap(&good, &other, draws(0)), None);
    for level in [0.0, 1.0, f64::NAN] {
        assert_eq!(wild_cluster_bootstrap(&good, &other, Draws { level, ..draws(99) }), None);
    }
    assert_eq!(wild_cluster_bootstrap(&good[..1], &other[..1], draws(99)), None);
    let nothing = [ClusterSums::default(); 8];
    assert_eq!(wild_cluster_bootstrap(&good, &nothing, draws(99)), None);
}
