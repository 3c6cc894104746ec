//! Cuts by a small model of our own.

mod head;
mod places;
mod windows;

pub use head::PlaceHead;
pub use places::{N_SURFACE, Place, places};
pub use windows::{PlaceTokens, TextRows, text_rows};

use std::ops::Range;

use rayon::prelude::*;

use super::{SegmentError, Segmentation, Segmenter};
use crate::{
    distilled::{DistilledError, DistilledFiles, Kind, SharedEncoder, TOKENIZER},
    nn::{Cpu, EncoderPrecision},
};
use head::Head;

/// Cuts at those [places](places) that a model, trained on texts that were cut, holds
/// likelier than not to be where a unit ends.
///
/// The units always join back to the text. A text longer than what the encoder reads at
/// once is read in windows that overlap by half, and each place is judged where most
/// stands on either side of it. A text's cuts depend on that text alone.
pub struct DistilledSegmenter {
    id: String,
    encoder: SharedEncoder,
    head: Head,
}

impl DistilledSegmenter {
    /// Takes a segmenter's files; records carry their digest and the precision.
    pub fn new(
        files: &DistilledFiles,
        precision: EncoderPrecision,
        cpu: Cpu,
    ) -> Result<Self, DistilledError> {
        let parsed = files.parse()?;
        let path = files.path(TOKENIZER);
        let encoder = SharedEncoder::new(&parsed, (files.tokenizer(), &path), precision, cpu)?;
        let head: PlaceHead =
            serde_json::from_value(parsed.own_description.head.clone()).map_err(|error| {
                DistilledError::File {
                    path: files.path(Kind::Segmenter.file_name()),
                    reason: format!("its head: {error}"),
                }
            })?;
        let head = Head::load(head, encoder.hidden_size(), &parsed.own)?;
        let digest: String = files.digest().chars().take(8).collect();
        Ok(Self { id: format!("distilled#{digest}/{precision}"), encoder, head })
    }

    /// For each text its places and how likely each is a cut.
    pub fn weigh(&self, texts: &[&str]) -> Vec<Result<Vec<(Place, f64)>, String>> {
        let read: Vec<Result<TextRows, String>> =
            texts.par_iter().map(|text| text_rows(self.encoder.reader(), text)).collect();
        let rows: Vec<Vec<u32>> =
            read.iter().flatten().flat_map(|text| text.rows.iter().cloned()).collect();
        let mut states = self.encoder.states(&rows).into_iter();
        read.into_iter()
            .map(|text| {
                let n_rows = text.as_ref().map_or(0, |text| text.rows.len());
                let states: Vec<_> = states.by_ref().take(n_rows).collect();
                let states: Vec<Vec<f32>> = states.into_iter().collect::<Result<_, _>>()?;
                let TextRows { places, tokens, .. } = text?;
                let size = self.encoder.hidden_size();
                let weigh = |(place, at): (Place, PlaceTokens)| {
                    let row = &states[at.row];
                    let of = |tokens: Range<usize>| &row[tokens.start * size..tokens.end * size];
                    let ends = [at.first, at.last].map(|token| of(token..token + 1));
                    let sides = [of(at.left), of(at.right)];
                    let probability = self.head.probability(ends, sides, &place.surface);
                    (place, probability)
                };
                Ok(places.into_par_iter().zip(tokens).map(weigh).collect())
            })
            .collect()
    }
}

impl Segmenter for DistilledSegmenter {
    fn id(&self) -> &str {
        &self.id
    }

    fn segment(&self, texts: &[&str]) -> Vec<Result<Segmentation, SegmentError>> {
        let weighed = self.weigh(texts).into_iter().zip(texts);
        weighed
            .map(|(places, text)| {
                let places = places.map_err(SegmentError::Model)?;
                let threshold = self.head.threshold();
                let cuts = places.iter().filter(|(_, probability)| threshold < *probability);
                let mut ends: Vec<usize> = cuts.map(|(place, _)| place.end).collect();
                if !text.is_empty() {
                    ends.push(text.len());
                }
                Segmentation::new(text, ends).ok_or_else(|| {
                    SegmentError::Model("it cut where no character begins".to_owned())
                })
            })
            .collect()
    }
}
