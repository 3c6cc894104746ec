//! The units of texts, each distinct text cut once.

use std::{collections::BTreeMap, num::NonZeroUsize};

use super::Content;
use crate::{corpus::MIN_COMMENT_CHARS, segment::Segmenter, text::trim};

/// The units of one entry: trimmed, those that are too short left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Units {
    pub(super) texts: Vec<String>,
    /// How many were too short, those of white space alone not counted.
    pub(super) n_short: usize,
}

impl Units {
    fn of<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let mut units = Self::default();
        for piece in pieces {
            let piece = trim(piece);
            if MIN_COMMENT_CHARS <= piece.chars().count() {
                units.texts.push(piece.to_owned());
            } else {
                units.n_short += usize::from(!piece.is_empty());
            }
        }
        units
    }
}

/// What each distinct text was cut into, or why it was not.
pub(super) struct Cuts<'a>(BTreeMap<&'a str, Result<Units, String>>);

impl<'a> Cuts<'a> {
    /// Cuts the texts among some entries, each distinct one once, in the order in
    /// which they first come. A text too short to hold a unit is not asked about.
    pub(super) fn make(
        contents: impl Iterator<Item = &'a Content>,
        segmenter: &dyn Segmenter,
        batch_size: NonZeroUsize,
    ) -> anyhow::Result<Self> {
        let mut cuts = BTreeMap::new();
        let mut pending = Vec::new();
        for content in contents {
            let Content::Text(text) = content else { continue };
            let short = Ok(Units::of([text.as_str()]));
            if cuts.insert(text.as_str(), short).is_none()
                && MIN_COMMENT_CHARS <= trim(text).chars().count()
            {
                pending.push(text.as_str());
            }
        }
        for batch in pending.chunks(batch_size.get()) {
            let segmentations = segmenter.segment(batch);
            anyhow::ensure!(
                segmentations.len() == batch.len(),
                "segmenter {} answered {} texts of {}",
                segmenter.id(),
                segmentations.len(),
                batch.len()
            );
            for (&text, segmentation) in batch.iter().zip(segmentations) {
                let units = match segmentation {
                    Err(error) => Err(format!("{:#}", anyhow::Error::from(error))),
                    Ok(segmentation) => segmentation
                        .ranges()
                        .map(|range| text.get(range))
                        .collect::<Option<Vec<_>>>()
                        .map(Units::of)
                        .ok_or_else(|| "the segmentation is of another text".to_owned()),
                };
                cuts.insert(text, units);
            }
        }
        Ok(Self(cuts))
    }

    /// The units of an entry.
    pub(super) fn units(&self, content: &Content) -> Result<Units, String> {
        match content {
            Content::Units(units) => Ok(Units::of(units.iter().map(String::as_str))),
            Content::Text(text) => self
                .0
                .get(text.as_str())
                .cloned()
                .unwrap_or_else(|| Err("the text was not cut".to_owned())),
        }
    }
}
