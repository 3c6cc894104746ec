//! A model that is held to the text and only chooses where its units end.

use std::sync::Arc;

use super::{
    SegmentError, Segmentation, Segmenter,
    judge::{DELIMITER, shown, tidy},
};
use crate::{
    backend::{Backend, Marking},
    prompt::{Library, PromptError, Purpose},
};

/// How a judge is asked to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentMode {
    /// It copies the text with delimiters, as in the paper; the copy is held against
    /// the text.
    Copy,
    /// It is led along the text, and at the end of each word the delimiter is weighed
    /// against the next word.
    Scoring,
}

/// Cuts by leading a model along the text, with the prompt that asks for a copy with
/// `$$` at the end of every unit.
///
/// At the end of each word that is not the last, the model's probability of the
/// delimiter is compared with that of the whole next word, both after the text so
/// far with the delimiters put in before. Where the delimiter is likelier, a unit
/// ends. That is what copying word by word at a temperature of zero comes to, if the
/// model is allowed no other word; it is worked out in one pass over the text for
/// each unit, all of whose words are read at once. Whatever the model says, the
/// units join back to the text.
pub struct MarkingSegmenter {
    id: String,
    backend: Arc<dyn Backend>,
    library: Arc<Library>,
}

/// Why a judge cannot cut so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarkingSegmenterError {
    /// The backend gives replies and no more.
    #[error(
        "{backend} does not say how likely a reply is, so it cannot cut by scoring: have it copy \
         the text (--segment-mode copy)"
    )]
    NoProbabilities {
        /// The backend.
        backend: String,
    },
    /// There is no prompt.
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

impl MarkingSegmenter {
    /// Prepares to ask a judge. The segmenter is named `judge:`, the name of the
    /// backend and `:scoring`.
    ///
    /// # Errors
    ///
    /// If the backend cannot weigh replies, or the library has no segmentation
    /// template.
    pub fn new(
        backend: Arc<dyn Backend>,
        library: Arc<Library>,
    ) -> Result<Self, MarkingSegmenterError> {
        library.template(Purpose::Segmentation)?;
        if backend.scoring().is_none() {
            return Err(MarkingSegmenterError::NoProbabilities {
                backend: backend.id().to_owned(),
            });
        }
        let id = format!("judge:{}:scoring", backend.id());
        Ok(Self { id, backend, library })
    }

    fn marking(&self, text: &str) -> Result<Marking, PromptError> {
        let text = shown(text).into_owned();
        let prompt = self.library.segmentation(&text)?;
        let places = word_ends(&text);
        Ok(Marking { prompt, text, mark: DELIMITER.to_owned(), places })
    }
}

impl Segmenter for MarkingSegmenter {
    fn id(&self) -> &str {
        &self.id
    }

    fn segment(&self, texts: &[&str]) -> Vec<Result<Segmentation, SegmentError>> {
        let mut results: Vec<Result<Segmentation, SegmentError>> = Vec::new();
        let (mut markings, mut asked) = (Vec::new(), Vec::new());
        for (index, text) in texts.iter().enumerate() {
            results.push(Ok(Segmentation::whole(text)));
            if text.trim().is_empty() {
                continue;
            }
            match self.marking(text) {
                Ok(marking) => {
                    markings.push(marking);
                    asked.push(index);
                }
                Err(error) => results[index] = Err(error.into()),
            }
        }
        let cuts = self.backend.scoring().map(|scoring| scoring.mark(&markings));
        for ((index, marking), cuts) in
            asked.into_iter().zip(&markings).zip(cuts.into_iter().flatten())
        {
            results[index] = cuts.map_err(SegmentError::from).map(|cuts| {
                let ends = cuts.iter().map(|&cut| original(texts[index], &marking.text, cut));
                // Words end at white space, so that none can be cut in two.
                tidy(texts[index], ends.collect())
                    .unwrap_or_else(|_| Segmentation::whole(texts[index]))
            });
        }
        results
    }
}

/// Where words end that are not the last, in bytes.
fn word_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut before = ' ';
    for (at, ch) in text.trim_end().char_indices() {
        if ch.is_whitespace() && !before.is_whitespace() {
            ends.push(at);
        }
        before = ch;
    }
    ends
}

/// A place of the text as the model sees it, in the text itself.
fn original(text: &str, shown: &str, place: usize) -> usize {
    let lead = text.len() - text.trim_start().len();
    let n_chars = shown[..place].chars().count();
    let body = &text[lead..];
    lead + body.char_indices().nth(n_chars).map_or(body.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_before_white_space() {
        assert_eq!(word_ends("Too vague.\n Why  now?"), [3, 10, 15]);
        assert_eq!(word_ends("Good."), [0_usize; 0]);
        assert_eq!(word_ends(" Good. "), [0_usize; 0]);
    }

    #[test]
    fn a_place_is_found_again_where_dollars_are_shown_otherwise() {
        let text = "  It costs $$5 é. Why?";
        let shown = shown(text);
        let place = shown.find(" Why").unwrap();
        assert_eq!(original(text, &shown, place), text.find(" Why").unwrap());
    }
}
