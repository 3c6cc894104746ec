//! Ratings from a classifier of pairs that others fine-tuned.

use camino::Utf8Path;

use super::{
    Probabilities, Rating, ScoreError, Scorer, UnitPair, Weighed, of_worded,
    outputs::{OutputRule, OutputRuleError},
};
use crate::nn::{Cpu, EncoderError, EncoderPrecision, SequenceClassifier};

/// Rates a pair by what a fine-tuned model says of it, the generated unit first and
/// the gold unit second.
///
/// What the outputs mean is said by an [`OutputRule`]. A rating depends on its pair
/// alone. A pair that is longer than what the model reads at once is read in several
/// windows, and the rating, like the probabilities, is the mean over them.
pub struct ClassifierScorer {
    id: String,
    classifier: SequenceClassifier,
    rule: OutputRule,
}

/// Why a folder makes no scorer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClassifierScorerError {
    /// The model cannot be loaded.
    #[error(transparent)]
    Model(#[from] EncoderError),
    /// Its outputs cannot be read as ratings.
    #[error(transparent)]
    Outputs(#[from] OutputRuleError),
}

impl ClassifierScorer {
    /// Loads a folder, and `classifier.toml` in it where there is one.
    pub fn open(path: &Utf8Path, cpu: Cpu) -> Result<Self, ClassifierScorerError> {
        Self::open_with(path, EncoderPrecision::default(), cpu)
    }

    /// As [`open`](Self::open), rounding as asked.
    pub fn open_with(
        path: &Utf8Path,
        precision: EncoderPrecision,
        cpu: Cpu,
    ) -> Result<Self, ClassifierScorerError> {
        let classifier = SequenceClassifier::load(path, precision, cpu)?;
        let rule = OutputRule::of(&classifier, path)?;
        let digest: String = classifier.digest().chars().take(8).collect();
        let id = format!("classifier:{}#{digest}/{precision}", classifier.name());
        Ok(Self { id, classifier, rule })
    }

    /// The rating of a pair from the outputs of its windows, at least one.
    fn weighed(&self, windows: &[Vec<f64>]) -> Result<Weighed, ScoreError> {
        let mut total = 0.0;
        let mut shares = Some([0.0; 5]);
        for outputs in windows {
            let (rating, probabilities) = self.rule.read(outputs).map_err(ScoreError::Model)?;
            total += rating;
            shares = shares.zip(probabilities).map(|(mut shares, own)| {
                shares.iter_mut().zip(own).for_each(|(share, own)| *share += own);
                shares
            });
        }
        let n = windows.len() as f64;
        let rating = Rating::new((total / n).clamp(0.0, Rating::MAX))
            .ok_or_else(|| ScoreError::Model("the model read no window of the pair".to_owned()))?;
        let probabilities =
            shares.and_then(|shares| Probabilities::new(shares.map(|share| share / n)));
        Ok(Weighed { rating, probabilities })
    }
}

impl Scorer for ClassifierScorer {
    fn id(&self) -> &str {
        &self.id
    }

    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>> {
        self.weigh(pairs).into_iter().map(|weighed| Ok(weighed?.rating)).collect()
    }

    fn weigh(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Weighed, ScoreError>> {
        of_worded(pairs, |pairs| {
            let texts: Vec<(&str, &str)> =
                pairs.iter().map(|pair| (pair.generated, pair.gold)).collect();
            let outputs = self.classifier.classify(&texts).into_iter();
            outputs
                .map(|windows| {
                    let windows = windows.map_err(|error| ScoreError::Model(error.to_string()))?;
                    self.weighed(&windows)
                })
                .collect()
        })
    }
}
