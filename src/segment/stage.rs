//! The stage that cuts feedback into units.

use serde::{Deserialize, Serialize};

use super::{Segmenter, Source, units};
use crate::{
    corpus::{MIN_COMMENT_CHARS, ParagraphId},
    run::{Emit, Outcome, RunError, Stage},
};

/// Cuts texts with one segmenter.
pub struct SegmentStage<'a> {
    /// Who cuts.
    pub segmenter: &'a dyn Segmenter,
}

/// A comment of an instructor, or the feedback of a model on one paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The paragraph it speaks of.
    pub paragraph: ParagraphId,
    /// Who wrote it.
    pub source: Source,
    /// The annotation it comes from, counted from zero; a model writes one text.
    pub annotation: usize,
    /// Its words; empty for an empty answer.
    pub text: String,
    /// Whether it is cut at all.
    pub extent: Extent,
}

/// How much of a passage makes one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The segmenter finds out.
    Unknown,
    /// It is one unit by the format the model was asked for.
    OneUnit,
}

impl Passage {
    /// Names the passage by its place and its words.
    pub fn key(&self) -> String {
        let Self { paragraph, annotation, .. } = self;
        let hash = blake3::hash(self.text.as_bytes()).to_hex();
        let hash = &hash[..12];
        match (self.source, self.extent) {
            (Source::Gold, _) => format!("{paragraph}/gold/{annotation}:{hash}"),
            (Source::Generated, Extent::Unknown) => format!("{paragraph}/generated:{hash}"),
            (Source::Generated, Extent::OneUnit) => format!("{paragraph}/generated/one:{hash}"),
        }
    }
}

/// The units of one passage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitsRecord {
    /// Who cut, or `format` where the passage is one unit by its format.
    pub segmenter: String,
    /// The words of each unit, trimmed, in order.
    pub units: Vec<String>,
    /// How many pieces were too short to be units.
    pub n_dropped: usize,
}

impl Stage for SegmentStage<'_> {
    type Item = Passage;
    type Record = UnitsRecord;

    const NAME: &'static str = "segment";

    fn key(&self, passage: &Passage) -> String {
        passage.key()
    }

    fn process(
        &self,
        passages: &[Passage],
        emit: &mut Emit<'_, UnitsRecord>,
    ) -> Result<(), RunError> {
        let mut open = Vec::new();
        for (index, passage) in passages.iter().enumerate() {
            if passage.text.trim().is_empty() || passage.extent == Extent::OneUnit {
                emit(index, Outcome::Done(whole(passage)))?;
            } else {
                open.push(index);
            }
        }
        for indexes in open.chunks(N_AT_ONCE) {
            let texts: Vec<&str> =
                indexes.iter().map(|&index| passages[index].text.as_str()).collect();
            let results = self.segmenter.segment(&texts);
            for ((&index, text), result) in indexes.iter().zip(&texts).zip(results) {
                let outcome = match result {
                    Ok(segmentation) => {
                        let cut = units(text, &segmentation);
                        Outcome::Done(UnitsRecord {
                            segmenter: self.segmenter.id().to_owned(),
                            units: cut.texts,
                            n_dropped: cut.n_dropped,
                        })
                    }
                    Err(error) => {
                        Outcome::Failed { error: format!("{:#}", anyhow::Error::new(error)) }
                    }
                };
                emit(index, outcome)?;
            }
        }
        Ok(())
    }
}

/// Texts that a segmenter gets at once: enough for a judge to work on its guideline
/// once for many, and few enough that a kill loses little.
const N_AT_ONCE: usize = 32;

/// A passage that is not cut: one unit, or none where nothing is in it.
fn whole(passage: &Passage) -> UnitsRecord {
    let text = passage.text.trim();
    let is_unit = MIN_COMMENT_CHARS <= text.chars().count();
    UnitsRecord {
        segmenter: "format".to_owned(),
        units: if is_unit { vec![text.to_owned()] } else { Vec::new() },
        n_dropped: usize::from(!is_unit && !text.is_empty()),
    }
}
