//! BERTScore (Zhang et al. 2020): each token is held against the most alike of the
//! other text.

use std::collections::HashMap;

use camino::Utf8Path;

use super::{Calibration, CalibrationError, Rating, ScoreError, Scorer, UnitPair, of_worded};
use crate::nn::{Cpu, EncoderError, EncoderPrecision, LayerEncoder, TokenStates};

/// Rates a pair by the F-score of BERTScore, mapped to 0-4 by a [`Calibration`].
///
/// As the package bert-score computes it without inverse document frequencies and
/// without rescaling to a baseline: the tokens around a text weigh nothing, but those
/// of the other text may match them. The generated unit is the candidate; the F-score
/// is symmetric. Texts are trimmed, and read in windows where the package would cut
/// them off.
pub struct BertScorer {
    id: String,
    measure: BertScore,
    calibration: Calibration,
}

/// BERTScore before it becomes a rating.
pub struct BertScore {
    encoder: LayerEncoder,
}

/// The figures of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// The mean, over the tokens of the candidate, of the greatest cosine.
    pub precision: f64,
    /// The same over the tokens of the reference.
    pub recall: f64,
    /// Their harmonic mean.
    pub f: f64,
}

/// Why there is no BERTScore.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BertScorerError {
    /// The encoder cannot be loaded.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// Its figures cannot be read as ratings.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
}

impl BertScore {
    /// Loads an encoder; the layer counts from one, and the last is taken without it.
    pub fn open(
        folder: &Utf8Path,
        layer: Option<usize>,
        (precision, cpu): (EncoderPrecision, Cpu),
    ) -> Result<Self, EncoderError> {
        Ok(Self { encoder: LayerEncoder::load(folder, layer, (precision, cpu))? })
    }

    /// The figures of each pair, in order. A pair with a unit that holds no word has none.
    pub fn matches(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Match, ScoreError>> {
        of_worded(pairs, |pairs| self.matches_of_worded(pairs))
    }

    fn matches_of_worded(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Match, ScoreError>> {
        let mut texts: Vec<&str> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut places_of = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let mut own = [0; 2];
            for (own, text) in own.iter_mut().zip([pair.generated, pair.gold]) {
                let text = text.trim();
                *own = *places.entry(text).or_insert(texts.len());
                if *own == texts.len() {
                    texts.push(text);
                }
            }
            places_of.push(own);
        }
        let states = self.encoder.states(&texts);
        let of = |place: usize| match &states[place] {
            Ok(states) if states.n_own() == 0 => {
                Err(ScoreError::Model("an empty text says nothing to compare".to_owned()))
            }
            Ok(states) => Ok(states),
            Err(error) => Err(ScoreError::Model(error.to_string())),
        };
        places_of.into_iter().map(|[a, b]| Ok(greedy(of(a)?, of(b)?))).collect()
    }
}

/// Each token with the most alike of the other text.
fn greedy(candidate: &TokenStates, reference: &TokenStates) -> Match {
    let unit = |states: &TokenStates| -> Vec<(Vec<f64>, bool)> {
        let of = |(state, is_own): (&[f32], bool)| {
            let norm = state.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            (state.iter().map(|&x| f64::from(x) / norm).collect(), is_own)
        };
        states.iter().map(of).collect()
    };
    let (candidate, reference) = (unit(candidate), unit(reference));
    let mut best_reference = vec![f64::NEG_INFINITY; reference.len()];
    let mut best_candidate = vec![f64::NEG_INFINITY; candidate.len()];
    for ((a, _), best) in candidate.iter().zip(&mut best_candidate) {
        for ((b, _), other) in reference.iter().zip(&mut best_reference) {
            let cosine: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            *best = best.max(cosine);
            *other = other.max(cosine);
        }
    }
    let mean = |tokens: &[(Vec<f64>, bool)], best: &[f64]| {
        let own: Vec<f64> =
            tokens.iter().zip(best).filter(|((_, is_own), _)| *is_own).map(|(_, x)| *x).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let precision = mean(&candidate, &best_candidate);
    let recall = mean(&reference, &best_reference);
    let sum = precision + recall;
    let f = if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum };
    Match { precision, recall, f }
}

impl BertScorer {
    /// Loads an encoder, and the calibration that was fitted to its BERTScore at this
    /// layer.
    pub fn open(
        folder: &Utf8Path,
        layer: Option<usize>,
        cpu: Cpu,
    ) -> Result<Self, BertScorerError> {
        let precision = EncoderPrecision::default();
        let measure = BertScore::open(folder, layer, (precision, cpu))?;
        let encoder = &measure.encoder;
        let calibration = Calibration::of_bert_score(encoder, folder)?;
        let digest: String = encoder.digest().chars().take(8).collect();
        let (name, layer) = (encoder.name(), encoder.layer());
        let id = format!("bertscore:{name}@{layer}#{digest}/{precision}");
        Ok(Self { id, measure, calibration })
    }
}

impl Scorer for BertScorer {
    fn id(&self) -> &str {
        &self.id
    }

    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>> {
        let matches = self.measure.matches(pairs).into_iter();
        matches
            .map(|found| {
                self.calibration
                    .rating(found?.f)
                    .ok_or_else(|| ScoreError::Model("a score that is not a number".to_owned()))
            })
            .collect()
    }
}
