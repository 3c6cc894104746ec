//! A model that rates a pair by how likely it holds each digit to be.

use std::sync::Arc;

use super::{Probabilities, Rating, ScoreError, Scorer, UnitPair, Weighed};
use crate::{
    backend::{Backend, Choice},
    prompt::{Library, PromptError, Purpose},
};

/// How a judge is asked to rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeMode {
    /// For many pairs in one prompt, as in the paper: the reply is read.
    Batch,
    /// For one pair a prompt, and the digits are weighed that it may reply.
    Logits,
}

/// What five probabilities come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeRating {
    /// The likeliest rating, which is what a reply would have said.
    #[default]
    Argmax,
    /// Their mean.
    Expectation,
}

/// Rates a pair by one look at what a model would reply: the probabilities of the
/// digits 0 to 4, as shares of what all five have together.
///
/// A rating depends on its own pair alone. There is no reply that could not be read.
pub struct LogitScorer {
    id: String,
    backend: Arc<dyn Backend>,
    library: Arc<Library>,
    rating: JudgeRating,
}

/// Why a judge cannot rate so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogitScorerError {
    /// The backend gives replies and no more.
    #[error(
        "{backend} does not say how likely a reply is, so it cannot rate by logits: ask it for \
         whole replies (--judge-mode batch)"
    )]
    NoProbabilities {
        /// The backend.
        backend: String,
    },
    /// There is no prompt for a single pair.
    #[error("no prompt for a single pair: add such a template, or use --judge-mode batch")]
    Prompt(#[from] PromptError),
}

impl LogitScorer {
    /// Prepares to ask a judge. The scorer is named `judge:`, the name of the backend
    /// and `:logits`, with `:expectation` after it where that is the rating.
    ///
    /// # Errors
    ///
    /// If the backend cannot weigh replies, or the library has no template for it.
    pub fn new(
        backend: Arc<dyn Backend>,
        library: Arc<Library>,
        rating: JudgeRating,
    ) -> Result<Self, LogitScorerError> {
        library.template(Purpose::Rating)?;
        if backend.scoring().is_none() {
            return Err(LogitScorerError::NoProbabilities { backend: backend.id().to_owned() });
        }
        let suffix = match rating {
            JudgeRating::Argmax => "",
            JudgeRating::Expectation => ":expectation",
        };
        let id = format!("judge:{}:logits{suffix}", backend.id());
        Ok(Self { id, backend, library, rating })
    }

    fn choice(&self, pair: &UnitPair<'_>) -> Result<Choice, PromptError> {
        let prompt = self.library.rating(pair.generated, pair.gold)?;
        Ok(Choice { prompt, replies: (0..=4).map(|digit| digit.to_string()).collect() })
    }

    fn weighed(&self, logarithms: &[f64]) -> Result<Weighed, ScoreError> {
        let probabilities = Probabilities::from_logarithms(logarithms).ok_or_else(|| {
            ScoreError::Model("the model holds none of the ratings for possible".to_owned())
        })?;
        let rating = match self.rating {
            JudgeRating::Argmax => probabilities.likeliest(),
            JudgeRating::Expectation => probabilities.expectation(),
        };
        Ok(Weighed { rating, probabilities: Some(probabilities) })
    }
}

impl Scorer for LogitScorer {
    fn id(&self) -> &str {
        &self.id
    }

    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>> {
        self.weigh(pairs).into_iter().map(|weighed| Ok(weighed?.rating)).collect()
    }

    fn weigh(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Weighed, ScoreError>> {
        let choices: Result<Vec<Choice>, PromptError> =
            pairs.iter().map(|pair| self.choice(pair)).collect();
        let failed = |reason: String| -> Vec<Result<Weighed, ScoreError>> {
            pairs.iter().map(|_| Err(ScoreError::Model(reason.clone()))).collect()
        };
        let choices = match choices {
            Ok(choices) => choices,
            Err(error) => return failed(format!("no prompt for the judge: {error}")),
        };
        let Some(scoring) = self.backend.scoring() else {
            return failed("the judge does not weigh replies".to_owned());
        };
        let results = scoring.choose(&choices).into_iter();
        results.map(|logarithms| self.weighed(&logarithms?)).collect()
    }
}
