//! Statistics of agreement against the libraries that define them.

use std::collections::BTreeMap;

use serde::Deserialize;
use unimatch::{
    agreement::{Boundaries, boundary_edits, window_diff},
    stats::{
        alternative_annotator_test, icc_2_1, kendall_tau_b, ordinal_alpha, pairwise_accuracy,
        pearson, quadratic_kappa, reliability, slope, spearman, student_cdf, student_quantile,
    },
};

use crate::material;

#[derive(Deserialize)]
struct Golden {
    similarity: Vec<Similarity>,
    alpha: Vec<Alpha>,
    reliability: Vec<ReliabilityCase>,
    student: Vec<Student>,
    quantiles: Vec<Quantile>,
    annotators: Vec<Annotators>,
    segmentation: Vec<SegmentationCase>,
}

#[derive(Deserialize)]
struct Similarity {
    rating: Vec<f64>,
    gold: Vec<f64>,
    pearson: f64,
    spearman: f64,
    kendall: f64,
    accuracy: f64,
    threshold: f64,
    kappa: f64,
    icc: f64,
    alpha: f64,
    slope: f64,
}

#[derive(Deserialize)]
struct Alpha {
    units: Vec<Vec<f64>>,
    alpha: f64,
}

#[derive(Deserialize)]
struct ReliabilityCase {
    probabilities: Vec<[f64; 5]>,
    classes: Vec<usize>,
    accuracy: Vec<f64>,
    confidence: Vec<f64>,
    counts: Vec<usize>,
    ece: f64,
    brier: f64,
}

#[derive(Deserialize)]
struct Student {
    degrees: f64,
    t: f64,
    cdf: f64,
}

#[derive(Deserialize)]
struct Quantile {
    degrees: f64,
    probability: f64,
    t: f64,
}

#[derive(Deserialize)]
struct Annotators {
    scores: Vec<f64>,
    ratings: Vec<Vec<Option<f64>>>,
    p_values: Vec<f64>,
    advantages: Vec<f64>,
    winning_rate: f64,
}

#[derive(Deserialize)]
struct SegmentationCase {
    reference: String,
    hypothesis: String,
    window_diff: BTreeMap<usize, f64>,
    boundary_similarity: Option<f64>,
}

fn golden() -> Golden {
    let path = material::fixture("golden/agreement.json");
    serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
}

#[track_caller]
fn check(name: &str, found: Option<f64>, expected: f64) {
    let found = found.unwrap_or(f64::NAN);
    let tolerance = 1e-10 * expected.abs().max(1.0);
    assert!((found - expected).abs() < tolerance, "{name} is {found}, not {expected}");
}

#[test]
fn figures_of_agreement_are_those_of_scipy_sklearn_pingouin_and_krippendorff() {
    for case in golden().similarity {
        let (rating, gold) = (&case.rating, &case.gold);
        check("Pearson", pearson(rating, gold), case.pearson);
        check("Spearman", spearman(rating, gold), case.spearman);
        check("tau-b", kendall_tau_b(rating, gold), case.kendall);
        let accuracy = pairwise_accuracy(rating, gold);
        check("accuracy", accuracy.map(|found| found.accuracy), case.accuracy);
        check("threshold", accuracy.map(|found| found.tie_threshold), case.threshold);
        let whole = |values: &[f64]| -> Vec<i32> {
            #[expect(clippy::cast_possible_truncation, reason = "a rating")]
            values.iter().map(|value| value.round() as i32).collect()
        };
        let (whole_rating, whole_gold) = (whole(rating), whole(gold));
        check("kappa", quadratic_kappa(&whole_rating, &whole_gold), case.kappa);
        let items: Vec<Vec<f64>> = rating.iter().zip(gold).map(|(&a, &b)| vec![a, b]).collect();
        check("ICC", icc_2_1(&items), case.icc);
        let units: Vec<Vec<f64>> = whole_rating
            .iter()
            .zip(&whole_gold)
            .map(|(&a, &b)| vec![f64::from(a), f64::from(b)])
            .collect();
        check("alpha", ordinal_alpha(&units), case.alpha);
        check("slope", slope(rating, gold), case.slope);
    }
    for case in golden().alpha {
        check("alpha with gaps", ordinal_alpha(&case.units), case.alpha);
    }
}

#[test]
fn calibration_is_that_of_sklearn() {
    for case in golden().reliability {
        let found = reliability(&case.probabilities, &case.classes, 10).unwrap();
        check("ECE", Some(found.expected_calibration_error), case.ece);
        check("Brier", Some(found.brier), case.brier);
        assert_eq!(found.bins.iter().map(|bin| bin.n).collect::<Vec<_>>(), case.counts);
        for (bin, (accuracy, confidence)) in
            found.bins.iter().zip(case.accuracy.into_iter().zip(case.confidence))
        {
            check("accuracy of a bin", Some(bin.accuracy), accuracy);
            check("confidence of a bin", Some(bin.confidence), confidence);
        }
    }
}

#[test]
fn students_t_is_that_of_scipy() {
    for Student { degrees, t, cdf } in golden().student {
        check("cdf", student_cdf(t, degrees), cdf);
    }
    for Quantile { degrees, probability, t } in golden().quantiles {
        check("quantile", student_quantile(probability, degrees), t);
    }
}

#[test]
fn the_alternative_annotator_test_is_that_of_its_paper_over_scipy() {
    for case in golden().annotators {
        let items: Vec<_> = case.scores.into_iter().zip(case.ratings).collect();
        let found = alternative_annotator_test(&items, 0.2).unwrap();
        check("winning rate", Some(found.winning_rate), case.winning_rate);
        for (annotator, (p_value, advantage)) in
            found.annotators.iter().zip(case.p_values.into_iter().zip(case.advantages))
        {
            check("p", Some(annotator.p_value), p_value);
            check("advantage", Some(annotator.scorer_advantage), advantage);
        }
    }
}

#[test]
fn window_diff_and_boundary_similarity_are_those_of_nltk_and_segeval() {
    let gaps = |text: &str| Boundaries::from_gaps(text.chars().map(|ch| ch == '1').collect());
    for case in golden().segmentation {
        let (reference, hypothesis) = (gaps(&case.reference), gaps(&case.hypothesis));
        for (k, expected) in case.window_diff {
            check("WindowDiff", window_diff(&reference, &hypothesis, k).share(), expected);
        }
        let found = boundary_edits(&reference, &hypothesis).similarity();
        match case.boundary_similarity {
            Some(expected) => check("boundary similarity", found, expected),
            None => assert_eq!(found, None),
        }
    }
}
