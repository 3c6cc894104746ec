//! The layout in which the public release of SEFORA keeps units and scores.
//!
//! ```text
//! DIR/
//!   seg_model/NAME.json          a draft with what was generated, cut into units
//!   seg_annot/NAME.json          the same draft with its annotations
//!   stage1_scores*.jsonl         a line for each pair of units, with its score
//!   stage1_scores*_g1GT.jsonl    its companion, where there is one
//! ```
//!
//! What counts, as in the release: an annotation is a gold unit where its comment,
//! trimmed, has at least 3 characters; a generated unit is what follows
//! `FEEDBACK_SEGMENTS` in the feedback and has at least 3 characters when trimmed.
//! Paragraphs and units are numbered from zero, units among those that count. The
//! scores of paragraphs with several comments may lie in the companion file
//! (`g1GT`, more than one ground truth); a pair scored in both takes its score
//! from the first.
//!
//! The release leaves much out without a word: a draft in one folder only, a
//! paragraph that only one side has, lines that fit no pair. Here each of these
//! is an error or a note, since the figures would silently be those of something
//! else.

mod export;
mod figures;
mod folder;
mod reading;
mod scores;

pub use export::write;
pub use figures::{Figures, Row, SoftSubsets, ThresholdSubsets, figures};
pub use reading::{MissingPairs, ReadOptions, load};

use crate::{
    corpus::{DraftId, ParagraphId},
    metrics::{Paragraph, State},
    similarity::ScoreMatrix,
};

/// What one folder in the layout of the release holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// The drafts of `seg_model`, by name.
    pub drafts: Vec<ReleaseDraft>,
    /// What a reader should know, a sentence each: what was there and not used.
    pub notes: Vec<String>,
}

/// One draft, with all its paragraphs.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseDraft {
    /// Its name: the stem of its files.
    pub id: DraftId,
    /// All its paragraphs, in order, for their places are their numbers.
    pub paragraphs: Vec<ReleaseParagraph>,
}

/// One paragraph, what its instructor said and what was generated.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseParagraph {
    /// The student's words.
    pub body: String,
    /// The gold units: the usable comments, trimmed.
    pub comments: Vec<String>,
    /// What was generated.
    pub answer: Answer,
}

/// What was generated on a paragraph, and how far it came.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Nothing: it was not asked for, or did not come.
    Absent,
    /// It was not cut into units.
    Uncut {
        /// What the model said.
        raw: String,
        /// What was left of it after cleaning, if it came that far.
        cleaned: Option<String>,
    },
    /// It was cut into units.
    Cut {
        /// What the model said.
        raw: String,
        /// What was left of it after cleaning.
        cleaned: Option<String>,
        /// The generated units, as they stand.
        units: Vec<String>,
        /// The ratings: a row for each unit, a column for each comment.
        scores: ScoreMatrix,
    },
}

impl Release {
    /// The paragraphs with a gold unit, to be evaluated, in order of draft and
    /// place. Where nothing was generated, or what was is not cut, the stage
    /// `generate` or `segment` counts as failed.
    pub fn paragraphs(&self) -> Vec<Paragraph> {
        let places = self.drafts.iter().flat_map(|draft| {
            draft.paragraphs.iter().enumerate().map(move |(index, paragraph)| {
                (ParagraphId { draft: draft.id.clone(), index }, paragraph)
            })
        });
        places
            .filter(|(_, paragraph)| !paragraph.comments.is_empty())
            .map(|(id, paragraph)| Paragraph {
                key: id.to_string(),
                n_references: paragraph.comments.len(),
                state: paragraph.state(),
            })
            .collect()
    }
}

impl ReleaseParagraph {
    fn state(&self) -> State {
        let failed = |stage: &str, error: &str| State::Failed {
            stage: stage.to_owned(),
            error: error.to_owned(),
            n_gold: self.comments.len(),
        };
        match &self.answer {
            Answer::Absent => failed("generate", "seg_model holds no feedback"),
            Answer::Uncut { .. } => failed("segment", "the feedback has no FEEDBACK_SEGMENTS"),
            Answer::Cut { scores, .. } => State::Rated(scores.clone()),
        }
    }
}

/// What stands before the units of a feedback.
const UNITS_FOLLOW: &str = "FEEDBACK_SEGMENTS";

/// What a cleaned feedback begins with.
const CLEANED: &str = "POSTPROCESS: ";

/// Whether a text is long enough to be a unit.
fn is_unit(text: &str) -> bool {
    crate::corpus::MIN_COMMENT_CHARS <= crate::text::trim(text).chars().count()
}
