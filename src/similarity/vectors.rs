//! The vectors of texts, each made once.

use super::{
    ScoreError, UnitPair,
    memory::{Memory, distinct},
    of_worded,
};
use crate::nn::{Embedding, SentenceEncoder};

/// An encoder that remembers what it has read: an instructor's unit meets the units
/// of every model and condition, and is read once.
///
/// It keeps 65,536 vectors, those used last, by the digests of their texts. What
/// it remembers changes no bit, since a text's vector depends on the text alone.
pub struct RememberingEncoder {
    encoder: SentenceEncoder,
    known: Memory<Embedding>,
}

/// How alike the vectors of a pair are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairCosine {
    /// The cosine, within `-1.0..=1.0`.
    pub cosine: f64,
    /// Whether one of the texts is longer than what the encoder reads at once.
    pub was_long: bool,
}

impl RememberingEncoder {
    /// With nothing in mind yet.
    pub fn new(encoder: SentenceEncoder) -> Self {
        Self { encoder, known: Memory::new() }
    }

    /// The encoder.
    pub fn encoder(&self) -> &SentenceEncoder {
        &self.encoder
    }

    /// The texts whose vectors are kept.
    pub fn n_known(&self) -> usize {
        self.known.len()
    }

    /// The cosine of each pair, in order. A pair with a unit that holds no word has none.
    pub fn pair_cosines(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<PairCosine, ScoreError>> {
        of_worded(pairs, |pairs| self.cosines(pairs))
    }

    fn cosines(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<PairCosine, ScoreError>> {
        let (texts, places) = distinct(pairs);
        let vectors = self.known.recall(&texts, |texts| {
            let made = self.encoder.encode(texts).into_iter();
            made.map(|vector| vector.map_err(|error| error.to_string())).collect()
        });
        let pair_cosine = |[generated, gold]: [usize; 2]| {
            let vector = |place: usize| {
                vectors[place].as_ref().map_err(|why| ScoreError::Model(why.clone()))
            };
            let (generated, gold) = (vector(generated)?, vector(gold)?);
            let cosine = generated
                .cosine(gold)
                .ok_or_else(|| ScoreError::Model("a vector without a direction".to_owned()))?;
            Ok(PairCosine { cosine, was_long: generated.was_long() || gold.was_long() })
        };
        places.into_iter().map(pair_cosine).collect()
    }
}
