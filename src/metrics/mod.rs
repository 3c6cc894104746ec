//! Precision, recall and F1 over paragraphs, and how much of the work they rest on.
//!
//! On one paragraph with generated units P and gold units G, and ratings from 0
//! to 4:
//!
//! - *soft*: Φ is the greatest sum of ratings of a one-to-one alignment;
//!   p = Φ / 4|P| and r = Φ / 4|G|, for a unit rates itself 4 (CEAF, Luo 2005; the
//!   alignment is that of Kuhn 1955);
//! - *threshold* τ in 1..4: TP is the size of a maximum matching of the pairs
//!   rated τ or above; p = TP / |P| and r = TP / |G|.
//!
//! F1 = 2pr / (p + r). *Micro* figures are taken of the sums of Φ (or TP), |P| and
//! |G| over paragraphs, *macro* figures are means of the paragraphs' own.
//!
//! # What is nothing over nothing
//!
//! - Without a generated unit there is no precision, without a gold unit no
//!   recall: `None`, and in a macro figure the paragraph is not in the mean.
//! - F1 is 0 where there is a unit on either side and p or r is 0 or missing, and
//!   `None` where there is no unit at all. So an empty answer costs recall and F1
//!   and leaves precision alone, micro and macro alike.
//! - A subset without a unit has no figure: `None`, never 0.
//!
//! # What is left out, and what bounds it
//!
//! A paragraph without a gold unit is left out: there is nothing to compare with.
//! One with an unscored pair, or on which a stage failed, is left out of the
//! estimate, and [`Coverage`] counts it. Where there is such a paragraph,
//! [`Bounds`] say between which figures the whole subset would lie:
//!
//! - a paragraph with unscored pairs enters the lower bound with 0 for each of
//!   them, and the upper with 4;
//! - a failed one enters the lower bound as an empty answer, whichever way empty
//!   answers are taken, and the upper as a perfect one: as many generated units as
//!   gold ones, each aligned at 4. Any number of useless units would lower
//!   precision further, so here its lower bound is one of good faith.
//!
//! The bounds take in those paragraphs too, the estimate only those evaluated; so
//! it may lie outside of them, where those left out fared otherwise.

pub mod release;

mod evaluation;
mod paragraph;
mod tally;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use evaluation::evaluate;
pub use paragraph::{ParagraphMetrics, measure};

use crate::{matching::Threshold, similarity::ScoreMatrix};

/// One paragraph under evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Paragraph {
    /// Names it in messages and reports.
    pub key: String,
    /// How many usable comments its instructor made, which says to which subset
    /// it belongs: single-reference with one, multi-reference with more.
    pub n_references: usize,
    /// How far it came.
    pub state: State,
}

/// How far a paragraph came.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Its units were cut and rated. Rows may be missing altogether, which is an
    /// empty answer, and so may be single ratings.
    Rated(ScoreMatrix),
    /// A stage failed on it.
    Failed {
        /// The stage, as `segment`.
        stage: String,
        /// The whole chain of causes.
        error: String,
        /// Its gold units; where it was they that could not be cut, one for each
        /// reference. Only the bounds need it.
        n_gold: usize,
    },
}

/// What an answer without any unit counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyAnswers {
    /// All its gold units are missed.
    #[default]
    Count,
    /// It is left out, as the public release does, so that it costs nothing.
    Skip,
}

/// The figures of a set of paragraphs and of its two parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// What an empty answer counted for.
    pub empty_answers: EmptyAnswers,
    /// All paragraphs.
    pub full: SubsetMetrics,
    /// Those with one usable comment.
    pub single_reference: SubsetMetrics,
    /// Those with several.
    pub multi_reference: SubsetMetrics,
}

impl Evaluation {
    /// The subsets with their names, the whole first.
    pub fn subsets(&self) -> [(&'static str, &SubsetMetrics); 3] {
        [
            ("full", &self.full),
            ("single_reference", &self.single_reference),
            ("multi_reference", &self.multi_reference),
        ]
    }
}

/// The figures of one subset, and what they rest on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubsetMetrics {
    /// What was evaluated and what was not.
    pub coverage: Coverage,
    /// The figures of the paragraphs that were evaluated.
    pub estimate: Measures,
    /// Between which figures the whole subset would lie; absent where nothing
    /// failed and nothing is unscored, for then the estimate is the figure.
    pub bounds: Option<Bounds>,
}

/// How much of a subset was evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Its paragraphs.
    pub paragraphs: ParagraphCoverage,
    /// The pairs of units on the paragraphs that were cut into units and have a
    /// gold unit.
    pub pairs: PairCoverage,
}

/// How many paragraphs were evaluated. Each paragraph is counted in one of
/// `n_evaluated`, `n_with_unscored_pairs`, `n_failed` and `n_without_gold`, or
/// only in `n_empty_answers` where empty answers are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParagraphCoverage {
    /// All of them.
    pub n_total: usize,
    /// Those that the estimate is taken of.
    pub n_evaluated: usize,
    /// Those without a generated unit, whether they count or are left out.
    pub n_empty_answers: usize,
    /// Those left out because a pair is unscored.
    pub n_with_unscored_pairs: usize,
    /// Those left out because a stage failed.
    pub n_failed: usize,
    /// Those left out because there is no gold unit.
    pub n_without_gold: usize,
}

/// How many pairs were rated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairCoverage {
    /// All of them.
    pub n_total: usize,
    /// Those with a rating.
    pub n_scored: usize,
    /// Those without.
    pub n_unscored: usize,
}

/// The least and the most that a subset's figures can be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Unscored pairs rated 0, failed paragraphs empty.
    pub lower: Measures,
    /// Unscored pairs rated 4, failed paragraphs perfect.
    pub upper: Measures,
}

/// Soft and threshold figures of some paragraphs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measures {
    /// The paragraphs.
    pub n_paragraphs: usize,
    /// Their generated units.
    pub n_generated: usize,
    /// Their gold units.
    pub n_gold: usize,
    /// Soft figures.
    pub soft: Averages,
    /// Threshold figures by threshold.
    pub threshold: BTreeMap<Threshold, Averages>,
}

/// Figures over paragraphs, averaged in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Averages {
    /// Of the sums over paragraphs.
    pub micro: PrecisionRecall,
    /// The means of the paragraphs' own.
    pub r#macro: PrecisionRecall,
}

/// Precision, recall and F1, each in `0.0..=1.0`, or `None` where it has no value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrecisionRecall {
    /// How much of what was generated is gold.
    pub precision: Option<f64>,
    /// How much of what is gold was generated.
    pub recall: Option<f64>,
    /// Their harmonic mean.
    pub f1: Option<f64>,
}
