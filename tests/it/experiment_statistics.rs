//! The statistics of experiments against those of scipy and statsmodels, and against what
//! they promise: a simulation.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use unimatch::stats::{
    ClusterSums, Draws, Interval, RatioEstimate, benjamini_hochberg, difference_linearised,
    equivalence, holm, minimum_detectable_difference, normal_cdf, normal_quantile,
    randomisation_test, ratio_bootstrap, ratio_linearised, two_way_linearised,
};

use crate::material;

fn golden() -> Value {
    let path = material::fixture("golden/experiment_statistics.json");
    serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn places(value: &Value) -> Vec<usize> {
    let place = |number: &Value| usize::try_from(number.as_u64().unwrap()).unwrap();
    value.as_array().unwrap().iter().map(place).collect()
}

#[track_caller]
fn close(found: f64, wanted: &Value, tolerance: f64) {
    let wanted = wanted.as_f64().unwrap();
    assert!((found - wanted).abs() <= tolerance, "{found} is not {wanted}");
}

/// Items as they are, and their sums by cluster.
fn items(golden: &Value, above: &str, below: &str) -> (Vec<ClusterSums>, Vec<ClusterSums>) {
    let items: Vec<ClusterSums> = numbers(&golden[above])
        .into_iter()
        .zip(numbers(&golden[below]))
        .map(|(above, below)| ClusterSums { above, below })
        .collect();
    let of = places(&golden["cluster"]);
    let mut sums = vec![ClusterSums::default(); of.iter().max().unwrap() + 1];
    for (item, &cluster) in items.iter().zip(&of) {
        sums[cluster].above += item.above;
        sums[cluster].below += item.below;
    }
    (items, sums)
}

#[test]
fn errors_of_ratios_are_those_of_a_cluster_robust_regression() {
    let golden = golden();
    let (items, sums) = items(&golden, "above", "below");
    let found = ratio_linearised(&sums, 0.95).unwrap();
    let wanted = &golden["ratio"];
    close(found.estimate, &wanted["estimate"], 1e-12);
    close(found.standard_error, &wanted["standard_error"], 1e-12);
    close(found.interval.low, &wanted["low"], 1e-10);
    close(found.interval.high, &wanted["high"], 1e-10);

    let (one, other) = (places(&golden["cluster"]), places(&golden["other_way"]));
    let found = two_way_linearised(&items, &one, &other, 0.95).unwrap();
    let wanted = &golden["two_way"];
    let least = numbers(&wanted["variances"]).into_iter().fold(0.0, f64::max).sqrt();
    let wanted = wanted["standard_error"].as_f64().unwrap();
    assert!((found.standard_error - wanted.max(least)).abs() < 1e-12, "{found:?} {wanted} {least}");
}

#[test]
fn bootstrap_intervals_are_scipys_to_the_error_of_drawing() {
    let golden = golden();
    let (_, sums) = items(&golden, "above", "below");
    let found = ratio_bootstrap(&sums, Draws { n: 40_000, ..Draws::default() }).unwrap();
    let wanted = &golden["bootstrap"];
    let error = found.standard_error;
    close(error, &wanted["standard_error"], 0.02 * error);
    for (found, wanted) in
        [(found.percentile, &wanted["percentile"]), (found.bca.unwrap(), &wanted["bca"])]
    {
        close(found.low, &wanted[0], 0.05 * error);
        close(found.high, &wanted[1], 0.05 * error);
    }
}

#[test]
fn randomisation_looks_at_the_assignments_that_there_are() {
    let golden = golden();
    let (_, first) = items(&golden, "above", "below");
    let (_, second) = items(&golden, "second_above", "second_below");
    let (first, second) = (&first[..10], &second[..10]);
    let found = randomisation_test(first, second, Draws::default()).unwrap();
    close(found.difference, &golden["randomisation"]["difference"], 1e-12);
    close(found.p_value, &golden["randomisation"]["p_value"], 1e-12);
    let means = |sums: &[ClusterSums]| -> Vec<ClusterSums> {
        sums.iter().map(|own| ClusterSums { above: own.above, below: 10.0 }).collect()
    };
    let found = randomisation_test(&means(first), &means(second), Draws::default()).unwrap();
    close(found.p_value, &golden["randomisation_of_means"], 1e-12);
}

#[test]
fn corrections_equivalence_and_distributions_agree() {
    let golden = golden();
    let p_values = numbers(&golden["p_values"]);
    for (found, name) in
        [(holm(&p_values), "holm"), (benjamini_hochberg(&p_values), "benjamini_hochberg")]
    {
        for (found, wanted) in found.into_iter().zip(golden[name].as_array().unwrap()) {
            close(found, wanted, 1e-12);
        }
    }
    let wanted = &golden["equivalence"];
    let number = |name: &str| wanted[name].as_f64().unwrap();
    let estimate = RatioEstimate {
        estimate: number("difference"),
        standard_error: number("standard_error"),
        degrees: number("degrees"),
        interval: Interval { low: 0.0, high: 0.0 },
    };
    let found = equivalence(&estimate, number("margin"), 0.05).unwrap();
    close(found.p_value, &wanted["p_value"], 1e-10);
    assert_eq!(found.is_equivalent, found.p_value < 0.05);
    let inside = -number("margin") < found.interval.low && found.interval.high < number("margin");
    assert_eq!(found.is_equivalent, inside);
    let found = minimum_detectable_difference(number("standard_error"), 9.0, 0.05, 0.8).unwrap();
    close(found, &golden["detectable"], 1e-10);
    for pair in golden["normal"].as_array().unwrap() {
        let wanted = pair[1].as_f64().unwrap();
        let found = normal_cdf(pair[0].as_f64().unwrap());
        assert!((found / wanted - 1.0).abs() < 1e-12, "{found} {wanted}");
    }
    for pair in golden["normal_quantiles"].as_array().unwrap() {
        close(normal_quantile(pair[0].as_f64().unwrap()).unwrap(), &pair[1], 1e-10);
    }
}

/// A corpus of two systems without a true difference: students have each their own rate, and
/// each system its own on each student, so that paragraphs of one student go together.
struct Simulated {
    by_paragraph: [Vec<ClusterSums>; 2],
    by_student: [Vec<ClusterSums>; 2],
}

/// The true ratio of either system.
const TRUTH: f64 = 0.3;
const N_STUDENTS: usize = 40;

fn simulated(rng: &mut ChaCha8Rng) -> Simulated {
    let mut found = Simulated {
        by_paragraph: [Vec::new(), Vec::new()],
        by_student: [
            vec![ClusterSums::default(); N_STUDENTS],
            vec![ClusterSums::default(); N_STUDENTS],
        ],
    };
    for student in 0..N_STUDENTS {
        let shared = rng.random_range(-0.12..0.12);
        let own: [f64; 2] = [0, 1].map(|_| rng.random_range(-0.15..0.15));
        for _ in 0..rng.random_range(5..12) {
            for system in 0..2 {
                let below = f64::from(rng.random_range(2..6_u32));
                let rate = TRUTH + shared + own[system] + rng.random_range(-0.03..0.03);
                let sums = ClusterSums { above: rate * below, below };
                found.by_paragraph[system].push(sums);
                found.by_student[system][student].above += sums.above;
                found.by_student[system][student].below += sums.below;
            }
        }
    }
    found
}

#[test]
fn intervals_and_tests_keep_what_they_promise_where_paragraphs_go_together() {
    const N_CORPORA: usize = 1000;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let draws = Draws { n: 400, ..Draws::default() };
    let holds = |interval: Interval| interval.low <= TRUTH && TRUTH <= interval.high;
    let [mut linearised, mut bootstrap, mut naive] = [0; 3];
    let [mut rejected, mut t_rejected, mut naive_rejected] = [0; 3];
    for _ in 0..N_CORPORA {
        let Simulated { by_paragraph, by_student } = simulated(&mut rng);
        let [first, second] = &by_student;
        linearised += usize::from(holds(ratio_linearised(first, 0.95).unwrap().interval));
        bootstrap += usize::from(holds(ratio_bootstrap(first, draws).unwrap().percentile));
        naive += usize::from(holds(ratio_linearised(&by_paragraph[0], 0.95).unwrap().interval));
        let p = |first: &[ClusterSums], second: &[ClusterSums]| {
            randomisation_test(first, second, draws).unwrap().p_value
        };
        rejected += usize::from(p(first, second) < 0.05);
        naive_rejected += usize::from(p(&by_paragraph[0], &by_paragraph[1]) < 0.05);
        let t = difference_linearised(first, second, 0.95).unwrap().interval;
        t_rejected += usize::from(0.0 < t.low || t.high < 0.0);
    }
    let shares = [linearised, bootstrap, naive, rejected, t_rejected, naive_rejected]
        .map(|count| count as f64 / N_CORPORA as f64);
    let [linearised, bootstrap, naive, rejected, t_rejected, naive_rejected] = shares;
    assert!((0.93..=0.97).contains(&linearised), "{shares:?}");
    assert!((0.925..=0.97).contains(&bootstrap), "{shares:?}");
    assert!(rejected <= 0.055 && t_rejected <= 0.065, "{shares:?}");
    // Taking paragraphs as strangers to each other promises what it does not keep.
    assert!(naive < 0.8 && 0.2 < naive_rejected, "{shares:?}");
    println!("{shares:?}");
}
