//! The baseline: every sentence is a unit.

use super::{SegmentError, Segmentation, Segmenter};
use crate::text::sentence_ends;

/// Cuts at the ends of sentences, by the rules of [`sentence_ends`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SentenceSegmenter;

impl Segmenter for SentenceSegmenter {
    fn id(&self) -> &'static str {
        "sentence"
    }

    fn segment(&self, texts: &[&str]) -> Vec<Result<Segmentation, SegmentError>> {
        texts.iter().map(|text| Ok(sentences(text))).collect()
    }
}

/// A text cut at the ends of its sentences.
fn sentences(text: &str) -> Segmentation {
    Segmentation { ends: sentence_ends(text) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::units, *};

    #[test]
    fn each_sentence_is_a_unit() {
        let text = "Vivid opening. Who is Alex, e.g. in line 2?\n- fix \"it's.\"";
        let units = units(text, &sentences(text));
        assert_eq!(
            units.texts,
            ["Vivid opening.", "Who is Alex, e.g. in line 2?", "- fix \"it's.\""]
        );
    }

    proptest! {
        #[test]
        fn a_text_cut_into_sentences_is_a_segmentation(text in "([a-zA-Z.!? \n]|\\PC){0,40}") {
            let cut = sentences(&text);
            prop_assert_eq!(Segmentation::new(&text, cut.ends.clone()), Some(cut));
        }
    }
}
