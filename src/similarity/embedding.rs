//! Ratings from the cosine of sentence vectors.

use camino::Utf8Path;

use super::{
    Calibration, CalibrationError, PairCosine, Rating, RememberingEncoder, ScoreError, Scorer,
    UnitPair,
};
use crate::nn::{Cpu, EncoderError, EncoderPrecision, SentenceEncoder};

/// Rates a pair by the cosine of its vectors, mapped to 0-4 by a [`Calibration`].
///
/// Symmetric in the two units. A rating depends on its pair alone. A text that was
/// rated before is not read again.
pub struct EmbeddingScorer {
    id: String,
    encoder: RememberingEncoder,
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

impl EmbeddingScorer {
    /// Loads an encoder and the calibration that was fitted to it.
    pub fn open(folder: &Utf8Path, cpu: Cpu) -> Result<Self, EmbeddingScorerError> {
        let encoder = SentenceEncoder::load(folder, EncoderPrecision::default(), cpu)?;
        let calibration = Calibration::of(&encoder, folder)?;
        let digest: String = encoder.digest().chars().take(8).collect();
        let id = format!("embedding:{}#{digest}/{}", encoder.name(), encoder.precision());
        Ok(Self { id, encoder: RememberingEncoder::new(encoder), calibration })
    }

    /// The encoder, and what it remembers.
    pub fn encoder(&self) -> &RememberingEncoder {
        &self.encoder
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
        let cosines = self.encoder.pair_cosines(pairs);
        cosines.into_iter().map(|cosine| self.rate(&cosine?)).collect()
    }
}
