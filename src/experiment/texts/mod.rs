//! Feedback that was not generated here: files of texts, scored against references.
//!
//! References and candidates are entries under an id, which names what they speak
//! of, as a paragraph does in a run. An entry holds a text, which a segmenter
//! cuts, or units that are cut already. Several references may share an id, as
//! several comments stand on one paragraph; a candidate has its id alone.

mod evaluation;
mod loading;
mod pairing;
mod units;

use std::{collections::BTreeMap, num::NonZeroUsize};

use serde::{Deserialize, Serialize};

pub use evaluation::evaluate;
pub use loading::{Content, Entry, Format, load};

use crate::{
    agreement::Standing,
    metrics::{EmptyAnswers, Evaluation, ParagraphMetrics},
    segment::Segmenter,
    similarity::Scorer,
};

/// What texts are evaluated with.
#[derive(Clone, Copy)]
pub struct Instrument<'a> {
    /// Cuts the entries that are not cut yet.
    pub segmenter: &'a dyn Segmenter,
    /// Rates the pairs of units.
    pub scorer: &'a dyn Scorer,
}

/// How texts are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What a candidate without any unit counts for.
    pub empty_answers: EmptyAnswers,
    /// What to do about an id that only one side has.
    pub unpaired: Unpaired,
    /// The most texts, and the most pairs, that the instrument gets at once.
    pub batch_size: NonZeroUsize,
}

/// What to do about an id that only one side has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unpaired {
    /// It is an error.
    #[default]
    Refuse,
    /// It is left out, and counted.
    LeaveOut,
}

/// The figures of a file of candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextsEvaluation {
    /// Precision, recall and F1; an id is a paragraph, its references are those
    /// with a unit.
    pub metrics: Evaluation,
    /// What is known of the scorer.
    #[serde(default)]
    pub validation: Standing,
    /// What was not evaluated, besides what the metrics count.
    pub coverage: TextCoverage,
    /// What came of each id, in order of the id.
    pub texts: Vec<TextRecord>,
}

/// What was left out on the way to the metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextCoverage {
    /// Ids with a reference and no candidate.
    pub n_ids_without_candidate: usize,
    /// Ids with a candidate and no reference.
    pub n_ids_without_reference: usize,
    /// References without any unit.
    pub n_references_without_unit: usize,
    /// Units of either side dropped for having under 3 characters.
    pub n_short_units: usize,
    /// Why pairs are unscored, and how many distinct ones for that reason.
    pub score_errors: BTreeMap<String, usize>,
}

/// What came of one id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextRecord {
    /// The id.
    pub id: String,
    /// How many of its references have a unit.
    pub n_references: usize,
    /// The candidate's units, trimmed.
    pub generated: Vec<String>,
    /// The references' units, trimmed, one reference after the other.
    pub gold: Vec<String>,
    /// What was measured on them.
    pub outcome: TextOutcome,
}

/// What was measured on one id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextOutcome {
    /// Its figures.
    Measured(ParagraphMetrics),
    /// Nothing, for some pairs are unscored.
    Unscored {
        /// How many.
        n_unscored: usize,
    },
    /// Nothing, for a stage failed.
    Failed {
        /// The stage.
        stage: String,
        /// The whole chain of causes.
        error: String,
    },
}
