//! The card of a scorer: how far its ratings agree with those of people.

mod making;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use making::similarity_card;

use super::{FigureIntervals, Rated, RaterFigures, SimilarityFigures};
use crate::stats::{AlternativeAnnotator, Difference, Draws, Interval};

/// How far the ratings of a scorer agree with those of people; written as `card.json`.
///
/// `null` stands for a figure that has no value, as a correlation of ratings that do not
/// vary. Ratings are from 0 to 4; gold is the mean of the raters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimilarityCard {
    /// The version of this structure.
    pub format_version: u32,
    /// `similarity`.
    pub measure: String,
    /// The version of this program.
    pub unimatch: String,
    /// Who rated.
    pub scorer: String,
    /// The hash of `scorer_spec`, by which a run finds the card.
    pub scorer_key: String,
    /// All that the ratings depend on, as `run.json` has it.
    pub scorer_spec: Value,
    /// What it was measured on.
    pub annotations: AnnotationsNote,
    /// The pairs that the figures are taken of.
    pub n: usize,
    /// The pairs that the scorer could not rate; they are in no figure.
    pub n_unscored: usize,
    /// Why, and how many for that reason.
    pub score_errors: BTreeMap<String, usize>,
    /// Pearson's correlation with gold.
    pub pearson: Option<f64>,
    /// Spearman's.
    pub spearman: Option<f64>,
    /// Kendall's tau-b.
    pub kendall_tau_b: Option<f64>,
    /// Pairwise accuracy, ties calibrated.
    pub pairwise_accuracy: Option<f64>,
    /// The difference up to which two ratings tie in it.
    pub tie_threshold: Option<f64>,
    /// Quadratic weighted kappa of whole ratings.
    pub quadratic_kappa: Option<f64>,
    /// ICC(2,1) of the scorer and gold.
    pub icc: Option<f64>,
    /// Krippendorff's ordinal alpha of whole ratings.
    pub alpha: Option<f64>,
    /// The mean absolute error.
    pub mae: Option<f64>,
    /// The mean signed error, rating less gold.
    pub bias: Option<f64>,
    /// The slope of ratings over gold.
    pub slope: Option<f64>,
    /// How the intervals were drawn.
    pub bootstrap: BootstrapNote,
    /// What the figures lie between.
    pub intervals: FigureIntervals,
    /// Pairs by whole gold (rows, 0 to 4) and whole rating (columns).
    pub confusion: [[usize; 5]; 5],
    /// The calibration of the probabilities, where the scorer gives them for all pairs.
    pub calibration: Option<CalibrationFigures>,
    /// The mean gold of the pairs rated about alike.
    pub rating_calibration: Vec<RatingBin>,
    /// The figures by kind, and without the kinds that begin with `variant`.
    pub subsets: BTreeMap<String, SubsetFigures>,
    /// The ratings by whole gold.
    pub levels: Vec<LevelFigures>,
    /// How far the raters agree, where there are several.
    pub raters: Option<RaterFigures>,
    /// Whether the scorer may stand in for a rater, where there are three.
    pub alternative_annotator: Option<AlternativeAnnotator>,
    /// The difference to another scorer, where one was named.
    pub difference: Option<ScorerDifference>,
}

/// What a card was measured on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnotationsNote {
    /// The name of the file.
    pub file: String,
    /// BLAKE3 of its bytes.
    pub digest: String,
    /// Who annotated, as the one who made the card said.
    pub annotators: Option<String>,
    /// The annotations in it.
    pub n_total: usize,
    /// Those left out by kind.
    pub n_excluded: usize,
    /// What the kinds left out begin with.
    pub excluded_kinds: Vec<String>,
}

/// How intervals were drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootstrapNote {
    /// The draws.
    pub n_draws: usize,
    /// Their seed.
    pub seed: u64,
    /// The share that an interval holds.
    pub level: f64,
    /// The groups that were drawn: paragraphs, where the annotations name them.
    pub n_groups: usize,
}

/// The calibration of the probabilities of the five ratings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFigures {
    /// The expected calibration error, in ten bins of equal width.
    pub ece: f64,
    /// The Brier score over the five ratings, 0 to 2.
    pub brier: f64,
    /// The bins that hold anything.
    pub bins: Vec<CalibrationBin>,
}

/// Pairs whose likeliest rating is about equally likely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationBin {
    /// How many.
    pub n: usize,
    /// The mean probability of the likeliest rating.
    pub confidence: f64,
    /// How often that is the whole gold.
    pub accuracy: f64,
}

/// Pairs that were rated about alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatingBin {
    /// The least rating of the bin.
    pub low: f64,
    /// What its ratings stay below; the last bin takes in 4.
    pub high: f64,
    /// How many.
    pub n: usize,
    /// The mean rating.
    pub rating: f64,
    /// The mean gold.
    pub gold: f64,
}

/// The figures of some of the pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubsetFigures {
    /// The figures.
    pub figures: SimilarityFigures,
    /// What Pearson's correlation lies between.
    pub pearson_interval: Option<Interval>,
    /// How far the raters agree on them.
    pub raters: Option<RaterFigures>,
}

/// The ratings of the pairs of one whole gold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelFigures {
    /// The whole gold.
    pub level: usize,
    /// How many.
    pub n: usize,
    /// The mean rating.
    pub mean_rating: Option<f64>,
    /// The mean absolute error.
    pub mae: Option<f64>,
    /// The mean signed error.
    pub bias: Option<f64>,
}

/// How far this scorer agrees better than another, on the pairs that both rated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScorerDifference {
    /// The other scorer.
    pub against: String,
    /// The pairs that both rated.
    pub n: usize,
    /// Pearson's of this one less the other's.
    pub pearson: Option<Difference>,
    /// Spearman's.
    pub spearman: Option<Difference>,
    /// The mean absolute error: below zero where this one is nearer.
    pub mae: Option<Difference>,
}

/// What a card is made with.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarityCardOptions {
    /// How intervals are drawn.
    pub draws: Draws,
    /// What a human annotation is worth in the alternative-annotator test.
    pub epsilon: f64,
}

/// Another scorer, and its ratings of the same pairs.
pub struct Other<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its ratings, in order of the pairs.
    pub rated: &'a [Result<Rated, String>],
}
