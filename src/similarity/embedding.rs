//! Ratings from the cosine of sentence vectors.

use std::collections::HashMap;

use camino::Utf8Path;

use super::{Calibration, CalibrationError, Rating, ScoreError, Scorer, UnitPair};
use crate::nn::{Embedding, EncoderError, SentenceEncoder};

/// Rates a pair by the cosine of its vectors, mapped to 0-4 by a [`Calibration`].
///
/// Symmetric in the two units. A rating depends on its pair alone.
pub struct EmbeddingScorer {
    id: String,
    encoder: SentenceEncoder,
    calibration: Calibration,
}

/// Why an encoder's folder makes no scorer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddingScorerError {
    /// The encoder cannot be loaded.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// Its cosines cannot be read as ratings.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
}

/// How alike the vectors of a pair are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairCosine {
    /// The cosine, within `-1.0..=1.0`.
    pub cosine: f64,
    /// Whether one of the texts is longer than what the encoder reads at once.
    pub was_long: bool,
}

impl EmbeddingScorer {
    /// Loads an encoder and the calibration that was fitted to it.
    pub fn open(folder: &Utf8Path) -> Result<Self, EmbeddingScorerError> {
        let encoder = SentenceEncoder::load(folder)?;
        let calibration = Calibration::of(&encoder, folder)?;
        let digest: String = encoder.digest().chars().take(8).collect();
        let id = format!("embedding:{}#{digest}", encoder.name());
        Ok(Self { id, encoder, calibration })
    }

    /// Rates a pair of vectors whose cosine is known.
    fn rate(&self, pair: &PairCosine) -> Result<Rating, ScoreError> {
        self.calibration
            .rating(pair.cosine)
            .ok_or_else(|| ScoreError::Model("a cosine that is not a number".to_owned()))
    }
}

impl Scorer for EmbeddingScorer {
    fn id(&self) -> &str {
        &self.id
    }

    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>> {
        let cosines = pair_cosines(&self.encoder, pairs);
        cosines.into_iter().map(|cosine| self.rate(&cosine?)).collect()
    }
}

/// The cosine of each pair, in order. Each distinct text is read once. A pair with
/// an empty text has none.
pub fn pair_cosines(
    encoder: &SentenceEncoder,
    pairs: &[UnitPair<'_>],
) -> Vec<Result<PairCosine, ScoreError>> {
    let mut texts: Vec<&str> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut place = |text| {
        *places.entry(text).or_insert_with(|| {
            texts.push(text);
            texts.len() - 1
        })
    };
    let places: Vec<[usize; 2]> =
        pairs.iter().map(|pair| [place(pair.generated), place(pair.gold)]).collect();
    let is_empty: Vec<bool> = texts.iter().map(|text| text.trim().is_empty()).collect();
    let embeddings = encoder.encode(&texts);
    let embedding = |place: usize| -> Result<&Embedding, ScoreError> {
        if is_empty[place] {
            return Err(ScoreError::Model("an empty text says nothing to compare".to_owned()));
        }
        embeddings[place].as_ref().map_err(|error| ScoreError::Model(error.to_string()))
    };
    let pair_cosine = |[generated, gold]: [usize; 2]| {
        let (generated, gold) = (embedding(generated)?, embedding(gold)?);
        let cosine = generated
            .cosine(gold)
            .ok_or_else(|| ScoreError::Model("a vector without a direction".to_owned()))?;
        Ok(PairCosine { cosine, was_long: generated.was_long() || gold.was_long() })
    };
    places.into_iter().map(pair_cosine).collect()
}
