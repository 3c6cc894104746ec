//! Statistics of ratios under clustering against those of statsmodels, scipy and
//! wildboottest (`scripts/golden/experiment_statistics.py`).

use serde::Deserialize;

use super::ratio_bootstrap::{bca, leave_one_out};
use super::*;

#[derive(Deserialize)]
struct Golden {
    linearised: Vec<Linearised>,
    two_way: Vec<TwoWay>,
    bootstrap: Vec<Bootstrap>,
    randomisation: Vec<Randomisation>,
    wild: Vec<Wild>,
    multiplicity: Vec<Multiplicity>,
    equivalence: Vec<Equivalent>,
    detectable: Vec<Detectable>,
    normal: Normal,
}

#[derive(Deserialize)]
struct Estimate {
    #[serde(rename = "estimate")]
    figure: f64,
    standard_error: f64,
    degrees: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Linearised {
    first: Vec<(f64, f64)>,
    second: Vec<(f64, f64)>,
    ratio: Estimate,
    difference: Estimate,
}

#[derive(Deserialize)]
struct TwoWay {
    items: Vec<(f64, f64)>,
    one: Vec<usize>,
    other: Vec<usize>,
    is_smaller: bool,
    ratio: Estimate,
}

#[derive(Deserialize)]
struct Bootstrap {
    first: Vec<(f64, f64)>,
    second: Option<Vec<(f64, f64)>>,
    distribution: Vec<f64>,
    bca: (f64, f64),
    bca_of_many: (f64, f64),
    percentile_of_many: (f64, f64),
    error_of_many: f64,
}

#[derive(Deserialize)]
struct Randomisation {
    first: Vec<(f64, f64)>,
    second: Vec<(f64, f64)>,
    difference: f64,
    p_value: f64,
    n_assignments: u64,
}

#[derive(Deserialize)]
struct Wild {
    first: Vec<(f64, f64)>,
    second: Vec<(f64, f64)>,
    is_exact: bool,
    p_value: f64,
}

#[derive(Deserialize)]
struct Multiplicity {
    p_values: Vec<f64>,
    holm: Vec<f64>,
    benjamini_hochberg: Vec<f64>,
}

#[derive(Deserialize)]
struct Equivalent {
    values: Vec<f64>,
    margin: f64,
    p_value: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Detectable {
    standard_error: f64,
    degrees: f64,
    alpha: f64,
    power: f64,
    difference: f64,
}

#[derive(Deserialize)]
struct Normal {
    cdf: Vec<(f64, f64)>,
    quantile: Vec<(f64, f64)>,
}

fn golden() -> Golden {
    let golden = include_str!("../../tests/fixtures/golden/experiment_statistics.json");
    serde_json::from_str(golden).unwrap()
}

fn clusters(sums: &[(f64, f64)]) -> Vec<ClusterSums> {
    sums.iter().map(|&(above, below)| ClusterSums { above, below }).collect()
}

#[track_caller]
fn check(name: &str, found: f64, expected: f64) {
    check_within(name, found, expected, 1e-11 * expected.abs().max(1.0));
}

#[track_caller]
fn check_within(name: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{name} is {found}, not {expected}");
}

#[track_caller]
fn check_estimate(found: Option<RatioEstimate>, expected: &Estimate) {
    let found = found.unwrap();
    check("estimate", found.estimate, expected.figure);
    check("standard error", found.standard_error, expected.standard_error);
    check("degrees", found.degrees, expected.degrees);
    check("lower end", found.interval.low, expected.low);
    check("upper end", found.interval.high, expected.high);
}

#[test]
fn errors_by_one_grouping_are_those_of_statsmodels() {
    for case in golden().linearised {
        let (first, second) = (clusters(&case.first), clusters(&case.second));
        check_estimate(ratio_linearised(&first, 0.95), &case.ratio);
        check_estimate(difference_linearised(&first, &second, 0.95), &case.difference);
    }
}

#[test]
fn errors_by_two_groupings_are_those_of_statsmodels() {
    let cases = golden().two_way;
    assert!(cases.iter().any(|case| case.is_smaller) && cases.iter().any(|case| !case.is_smaller));
    for case in cases {
        let found = two_way_linearised(&clusters(&case.items), &case.one, &case.other, 0.95);
        check_estimate(found, &case.ratio);
    }
}

#[test]
fn bootstraps_are_those_of_scipy() {
    let draws = Draws { n: 40_000, ..Draws::default() };
    for case in golden().bootstrap {
        let first = clusters(&case.first);
        let second = case.second.as_deref().map(clusters);
        let (found, left_out) = if let Some(second) = second {
            let pairs: Vec<_> = first.iter().zip(&second).map(|(&a, &b)| [a, b]).collect();
            let statistic = |[a, b]: [ClusterSums; 2]| Some(b.ratio()? - a.ratio()?);
            (difference_bootstrap(&first, &second, draws), leave_one_out(&pairs, statistic))
        } else {
            let lone: Vec<_> = first.iter().map(|&a| [a]).collect();
            (ratio_bootstrap(&first, draws), leave_one_out(&lone, |[a]| a.ratio()))
        };
        let found = found.unwrap();
        let mut sorted = case.distribution;
        sorted.sort_by(f64::total_cmp);
        // On the very draws of scipy the ends are its own.
        let on_same = bca(&sorted, found.estimate, &left_out.unwrap(), 0.95).unwrap();
        check("lower end on the same draws", on_same.low, case.bca.0);
        check("upper end on the same draws", on_same.high, case.bca.1);
        // An end over 40,000 draws strays by a seventy-fifth of the error, between two of them more.
        let (error, many) = (case.error_of_many, 0.08 * case.error_of_many);
        check_within("standard error", found.standard_error, error, 0.02 * error);
        let (percentile, accelerated) = (found.percentile, found.bca.unwrap());
        check_within("lower percentile", percentile.low, case.percentile_of_many.0, many);
        check_within("upper percentile", percentile.high, case.percentile_of_many.1, many);
        check_within("lower end", accelerated.low, case.bca_of_many.0, many);
        check_within("upper end", accelerated.high, case.bca_of_many.1, many);
    }
}

#[test]
fn exact_randomisation_is_that_of_scipy() {
    for case in golden().randomisation {
        let (first, second) = (clusters(&case.first), clusters(&case.second));
        let found = randomisation_test(&first, &second, Draws::default()).unwrap();
        check("difference", found.difference, case.difference);
        check("p-value", found.p_value, case.p_value);
        assert!(found.is_exact);
        // Clusters that are alike are not assigned, and swap to nothing in scipy.
        let n_alike = first.iter().zip(&second).filter(|(first, second)| first == second).count();
        assert_eq!(found.n_assignments << n_alike, case.n_assignments);
    }
}

#[test]
fn wild_bootstraps_are_those_of_wildboottest() {
    let draws = Draws { n: 50_000, ..Draws::default() };
    for case in golden().wild {
        let (first, second) = (clusters(&case.first), clusters(&case.second));
        let found = wild_cluster_bootstrap(&first, &second, draws).unwrap();
        assert_eq!(found.is_exact, case.is_exact);
        // Two shares of 50,000 draws each stray by 0.003 at most.
        let chance = 4.0 * (2.0 * case.p_value * (1.0 - case.p_value) / draws.n as f64).sqrt();
        let tolerance = if case.is_exact { 1e-12 } else { chance };
        check_within("p-value", found.p_value, case.p_value, tolerance);
    }
}

#[test]
fn adjusted_p_values_are_those_of_statsmodels() {
    for case in golden().multiplicity {
        for (found, expected) in [
            (holm(&case.p_values), &case.holm),
            (benjamini_hochberg(&case.p_values), &case.benjamini_hochberg),
        ] {
            assert_eq!(found.len(), expected.len());
            found.iter().zip(expected).for_each(|(found, expected)| {
                check_within("adjusted", *found, *expected, 1e-14);
            });
        }
    }
}

#[test]
fn equivalence_is_that_of_statsmodels_and_what_is_detectable_that_of_scipy() {
    for case in golden().equivalence {
        let ones: Vec<_> = case.values.iter().map(|&value| (value, 1.0)).collect();
        let mean = ratio_linearised(&clusters(&ones), 0.95).unwrap();
        let found = equivalence(&mean, case.margin, 0.05).unwrap();
        check("p-value", found.p_value, case.p_value);
        check("lower end", found.interval.low, case.low);
        check("upper end", found.interval.high, case.high);
        assert_eq!(found.is_equivalent, case.p_value <= 0.05);
    }
    for Detectable { standard_error, degrees, alpha, power, difference } in golden().detectable {
        let found = minimum_detectable_difference(standard_error, degrees, alpha, power).unwrap();
        check_within("detectable", found, difference, 1e-12);
    }
}

#[test]
fn the_normal_distribution_is_that_of_scipy() {
    let Normal { cdf, quantile } = golden().normal;
    for (z, probability) in cdf {
        let tolerance = (1e-12 * probability).min(1e-15);
        check_within("probability", normal_cdf(z), probability, tolerance.max(f64::MIN_POSITIVE));
    }
    for (probability, z) in quantile {
        let found = normal_quantile(probability).unwrap();
        check_within("quantile", found, z, 1e-12 * z.abs().max(1.0));
    }
}
