//! Text measures and matchings against the libraries that define them.

use serde::Deserialize;
use unimatch::{
    bipartite::{Matrix, max_weight_matching},
    matching::{CompleteScores, Threshold, align, match_at},
    metrics::measure,
    similarity::{Rating, ScoreMatrix},
    text::{bleu, chrf},
};

use crate::material;

#[derive(Deserialize)]
struct TextPairs {
    pairs: Vec<TextPair>,
}

#[derive(Deserialize)]
struct TextPair {
    hypothesis: String,
    reference: String,
    chrf: f64,
    bleu: f64,
}

#[test]
fn chrf_and_bleu_are_those_of_sacrebleu() {
    let TextPairs { pairs } = golden("sacrebleu");
    assert!(200 <= pairs.len());
    for TextPair { hypothesis, reference, chrf: golden_chrf, bleu: golden_bleu } in pairs {
        for (name, ours, golden) in [
            ("chrF", chrf(&hypothesis, &reference), golden_chrf),
            ("BLEU", bleu(&hypothesis, &reference), golden_bleu),
        ] {
            assert!(
                (ours - golden).abs() < 1e-9,
                "{name} of {hypothesis:?} against {reference:?} is {ours}, not {golden}"
            );
        }
    }
}

#[derive(Deserialize)]
struct Assignments {
    cases: Vec<Assignment>,
}

#[derive(Deserialize)]
struct Assignment {
    ratings: Vec<Vec<f64>>,
    total: f64,
    n_matched: [usize; 4],
}

#[test]
fn matchings_are_as_good_as_those_of_scipy() {
    let Assignments { cases } = golden("assignment");
    assert!(90 <= cases.len());
    for Assignment { ratings, total, n_matched } in cases {
        let (n_rows, n_cols) = (ratings.len(), ratings[0].len());
        let shape = format!("{n_rows} by {n_cols}");
        let scores =
            ScoreMatrix::from_fn(n_rows, n_cols, |row, col| Rating::new(ratings[row][col]));
        let scores = CompleteScores::of(&scores).unwrap();
        let alignment = align(&scores);
        assert!((alignment.total() - total).abs() < 1e-12 * total.max(1.0), "{shape}");
        let matched = Threshold::ALL.map(|threshold| match_at(&scores, threshold).len());
        assert_eq!(matched, n_matched, "{shape}");
        assert_eq!(measure(&scores).n_matched.into_values().collect::<Vec<_>>(), n_matched);

        let weights = Matrix::from_fn(n_rows, n_cols, |row, col| millionths(ratings[row][col]));
        let pairs = max_weight_matching(&weights);
        assert_eq!(pairs.len(), n_rows.min(n_cols));
        let sum: i64 = pairs.iter().map(|&(row, col)| millionths(ratings[row][col])).sum();
        assert_eq!(sum, millionths(total), "{shape}");
    }
}

/// A golden rating has at most six digits, so this is exact.
#[expect(clippy::cast_possible_truncation, reason = "a sum of thirty ratings is small")]
fn millionths(value: f64) -> i64 {
    (value * 1e6).round() as i64
}

fn golden<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let text = fs_err::read_to_string(material::fixture(&format!("golden/{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}
