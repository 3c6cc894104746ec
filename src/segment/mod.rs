//! Feedback, cut into units that each make one point.

mod classifier;
mod distilled;
mod judge;
mod marking;
mod sentence;
mod stage;
mod units;

pub use classifier::{ClassifierSegmenter, ClassifierSegmenterError};
pub use distilled::{
    DistilledSegmenter, N_SURFACE, Place, PlaceHead, PlaceTokens, TextRows, places, text_rows,
};
pub use judge::JudgeSegmenter;
pub use marking::{MarkingSegmenter, MarkingSegmenterError, SegmentMode};
pub use sentence::SentenceSegmenter;
pub use stage::{Extent, Passage, SegmentStage, UnitsRecord};
pub use units::{Units, units};

use std::{ops::Range, sync::Arc};

use crate::{backend::BackendError, corpus::ParagraphId, prompt::PromptError};

/// Cuts feedback into feedback units.
pub trait Segmenter: Send + Sync {
    /// The name that records carry.
    fn id(&self) -> &str;

    /// Says where each unit of each text lies, in order. A text that cannot be
    /// cut is an error of its own.
    fn segment(&self, texts: &[&str]) -> Vec<Result<Segmentation, SegmentError>>;
}

impl<S: Segmenter + ?Sized> Segmenter for Arc<S> {
    fn id(&self) -> &str {
        (**self).id()
    }

    fn segment(&self, texts: &[&str]) -> Vec<Result<Segmentation, SegmentError>> {
        (**self).segment(texts)
    }
}

/// Where the units of a text lie.
///
/// Invariant: the ranges are in order, touch, and cover the text, so that
/// joining the units gives the text back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segmentation {
    ends: Vec<usize>,
}

impl Segmentation {
    /// Takes the byte offsets at which units end. Returns `None` unless they
    /// rise, fall on characters of `text`, and close with its length.
    pub fn new(text: &str, ends: Vec<usize>) -> Option<Self> {
        let rising = ends.is_sorted_by(|a, b| a < b);
        let on_characters = ends.iter().all(|&end| 0 < end && text.is_char_boundary(end));
        let covers = ends.last().copied().unwrap_or(0) == text.len();
        (rising && on_characters && covers).then_some(Self { ends })
    }

    /// A text that is not cut. An empty text has no units.
    pub fn whole(text: &str) -> Self {
        Self { ends: if text.is_empty() { Vec::new() } else { vec![text.len()] } }
    }

    /// The byte offsets at which units end, rising.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The byte range of each unit.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(self.ends.iter().copied()).map(|(start, end)| start..end)
    }
}

/// One point that a piece of feedback makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackUnit {
    /// The paragraph it speaks of.
    pub paragraph: ParagraphId,
    /// Who wrote it.
    pub source: Source,
    /// Its place among the units of that source on that paragraph.
    pub index: usize,
    /// Its words.
    pub text: String,
}

/// Who wrote a feedback unit.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The instructor: the reference.
    Gold,
    /// The model under evaluation.
    Generated,
}

/// Why a text could not be cut.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// The model that cuts did not reply.
    #[error("no reply from the segmenter")]
    Backend(#[from] BackendError),
    /// The model changed words instead of only cutting between them.
    #[error(
        "no faithful copy from the segmenter in {n_tries} tries: the last differs at byte {at}"
    )]
    TextChanged {
        /// The first byte that differs in the last reply.
        at: usize,
        /// How often it was asked.
        n_tries: usize,
    },
    /// The model cut a word in two.
    #[error("the segmenter cut a word in two at byte {at}, in the last of {n_tries} tries")]
    WordCut {
        /// Where it cut, in the last reply.
        at: usize,
        /// How often it was asked.
        n_tries: usize,
    },
    /// The model that cuts failed.
    #[error("the segmenter failed: {0}")]
    Model(String),
    /// The prompt of the model does not render.
    #[error("no prompt for the segmenter")]
    Prompt(#[from] PromptError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_units_give_the_text_back() {
        let text = "Vivid opening. Who is Alex?";
        let cut = Segmentation::new(text, vec![14, 27]).unwrap();
        let units: Vec<&str> = cut.ranges().map(|range| &text[range]).collect();
        assert_eq!(units, ["Vivid opening.", " Who is Alex?"]);
        assert_eq!(Segmentation::new(text, vec![14]), None);
    }
}
