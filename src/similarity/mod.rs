//! How alike two feedback units are.

mod bert_score;
mod calibration;
mod classifier;
mod distilled;
mod embedding;
mod judge;
mod labels;
mod lexical;
mod logits;
mod memory;
mod outputs;
mod probabilities;
mod stage;
mod vectors;
mod wording;

pub use bert_score::{BertScore, BertScorer, BertScorerError, Match};
pub use calibration::{Calibration, CalibrationError};
pub use classifier::{ClassifierScorer, ClassifierScorerError};
pub use distilled::{DistilledScorer, Feature, PairHead, unit_rows};
pub use embedding::{EmbeddingScorer, EmbeddingScorerError};
pub use judge::{DEFAULT_BATCH_SIZE, JudgeScorer, read_ratings};
pub use labels::label;
pub use lexical::{LexicalMeasure, LexicalScorer};
pub use logits::{JudgeMode, JudgeRating, LogitScorer, LogitScorerError};
pub use outputs::{OutputRule, OutputRuleError};
pub use probabilities::Probabilities;
pub use stage::{PairBatch, RatedPair, ScoreRecord, ScoreStage};
pub use vectors::{PairCosine, RememberingEncoder};
pub use wording::of_worded;

use std::sync::Arc;

use crate::backend::BackendError;

/// Says how alike the two units of a pair are.
pub trait Scorer: Send + Sync {
    /// The name that records carry.
    fn id(&self) -> &str;

    /// Rates every pair, in order. A pair that cannot be rated is an error of
    /// its own: it is never given a low rating instead.
    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>>;

    /// The same ratings, with the probabilities behind them where there are any.
    fn weigh(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Weighed, ScoreError>> {
        let weighed = |rating| Weighed { rating, probabilities: None };
        self.score(pairs).into_iter().map(|rating| rating.map(weighed)).collect()
    }
}

/// A rating, and what is behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighed {
    /// The rating.
    pub rating: Rating,
    /// How likely each rating is, where the scorer knows.
    pub probabilities: Option<Probabilities>,
}

impl<S: Scorer + ?Sized> Scorer for Arc<S> {
    fn id(&self) -> &str {
        (**self).id()
    }

    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>> {
        (**self).score(pairs)
    }

    fn weigh(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Weighed, ScoreError>> {
        (**self).weigh(pairs)
    }
}

/// A generated unit and a gold unit on the same paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitPair<'a> {
    /// The model's unit.
    pub generated: &'a str,
    /// The instructor's unit.
    pub gold: &'a str,
}

/// How alike two units are, from 0 (unrelated) to 4 (equivalent as feedback).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Rating(f64);

impl Rating {
    /// The top of the scale.
    pub const MAX: f64 = 4.0;

    /// Unrelated.
    pub const LOWEST: Self = Self(0.0);

    /// Equivalent as feedback.
    pub const HIGHEST: Self = Self(Self::MAX);

    /// Takes a number in `0.0..=4.0`.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=Self::MAX).contains(&value).then_some(Self(value))
    }

    /// Takes a judge's integer from zero to four.
    pub fn from_int(value: u8) -> Option<Self> {
        Self::new(f64::from(value))
    }

    /// The rating as a number in `0.0..=4.0`.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl From<Rating> for f64 {
    fn from(rating: Rating) -> Self {
        rating.0
    }
}

impl TryFrom<f64> for Rating {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        Self::new(value).ok_or_else(|| format!("{value} is not a rating from 0 to 4"))
    }
}

/// The ratings of all pairs on one paragraph: a row for each generated unit, a
/// column for each gold unit. A pair that could not be rated is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreMatrix {
    n_generated: usize,
    n_gold: usize,
    ratings: Vec<Option<Rating>>,
}

impl ScoreMatrix {
    /// Builds a matrix by calling `rating(generated, gold)` for every cell.
    pub fn from_fn(
        n_generated: usize,
        n_gold: usize,
        mut rating: impl FnMut(usize, usize) -> Option<Rating>,
    ) -> Self {
        let ratings =
            (0..n_generated * n_gold).map(|at| rating(at / n_gold, at % n_gold)).collect();
        Self { n_generated, n_gold, ratings }
    }

    /// The number of generated units: rows.
    pub fn n_generated(&self) -> usize {
        self.n_generated
    }

    /// The number of gold units: columns.
    pub fn n_gold(&self) -> usize {
        self.n_gold
    }

    /// The rating of one pair.
    pub fn get(&self, generated: usize, gold: usize) -> Option<Rating> {
        self.ratings[generated * self.n_gold + gold]
    }

    /// The number of pairs without a rating.
    pub fn n_unscored(&self) -> usize {
        self.ratings.iter().filter(|rating| rating.is_none()).count()
    }
}

/// Why a pair has no rating.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// The judge did not reply.
    #[error("no reply from the judge")]
    Backend(#[from] BackendError),
    /// No reply of the judge could be read.
    #[error("the judge's reply could not be read after {n_tries} tries: {reason}")]
    Unreadable {
        /// How often it was asked.
        n_tries: usize,
        /// What was wrong with the last reply.
        reason: String,
    },
    /// A unit says nothing that could be compared.
    #[error("no word in the unit: it has neither a letter nor a digit")]
    Wordless,
    /// The model that rates failed.
    #[error("the scorer failed: {0}")]
    Model(String),
}
