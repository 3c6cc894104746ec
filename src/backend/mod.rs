//! Anything that completes a prompt.

pub mod judge;
pub mod local;
mod scoring;
pub mod scripted;

use std::ops::ControlFlow;

pub use scoring::{Choice, Marking, Scoring};

use crate::prompt::Prompt;

/// Takes what came of the request with this index; a break ends all the work.
pub type Deliver<'a> =
    dyn FnMut(usize, Result<Completion, BackendError>) -> ControlFlow<()> + Send + 'a;

/// A source of completions: a local decoder or a remote service.
pub trait Backend: Send + Sync {
    /// The name that records carry, as `local:SmolLM2-135M-Instruct.Q4_1.gguf`.
    fn id(&self) -> &str;

    /// Completes many prompts. The replies come in the order of `requests`, one
    /// that fails does not spoil the others, and a reply depends on its own
    /// request alone, never on its neighbours.
    fn complete(&self, requests: &[Request]) -> Vec<Result<Completion, BackendError>>;

    /// Completes many prompts and delivers what came of each as soon as it is there:
    /// each once, in any order, unless a break ends the work.
    ///
    /// Give as many requests at once as there are: what their prompts begin with
    /// alike is then worked on once.
    fn complete_each(&self, requests: &[Request], deliver: &mut Deliver<'_>) -> ControlFlow<()> {
        let replies = self.complete(requests);
        replies.into_iter().enumerate().try_for_each(|(index, reply)| deliver(index, reply))
    }

    /// The same backend as one that weighs given replies, where it can.
    fn scoring(&self) -> Option<&dyn Scoring> {
        None
    }
}

/// A prompt and how to sample its completion.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is said to the model.
    pub prompt: Prompt,
    /// How the reply is drawn.
    pub sampling: Sampling,
}

/// How a completion is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Zero picks the likeliest token.
    pub temperature: f64,
    /// The mass of the nucleus; one keeps every token.
    pub top_p: f64,
    /// The most candidates to draw from; `None` keeps every token.
    pub top_k: Option<usize>,
    /// Hugging Face's repetition penalty, over prompt and output; one is off.
    pub repetition_penalty: f64,
    /// The most tokens to draw.
    pub max_new_tokens: usize,
    /// Where the random draws start.
    pub seed: u64,
    /// Texts that end the reply; they are not part of it.
    pub stop: Vec<String>,
}

/// What a model replied.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The reply.
    pub text: String,
    /// The backend that gave it, which under a fallback is not the one asked.
    pub backend: String,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// What it cost.
    pub usage: Usage,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model said that it was done, or a stop text was met.
    Stop,
    /// The limit on new tokens was met.
    Length,
}

/// The tokens of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// The tokens of the prompt.
    pub n_prompt_tokens: usize,
    /// The tokens of the reply.
    pub n_completion_tokens: usize,
}

/// Why a completion failed. Callers branch on these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// Trying again may help.
    #[error("{backend} is unavailable for now: {reason}")]
    Unavailable {
        /// The backend that was asked.
        backend: String,
        /// What went wrong on the way.
        reason: String,
    },
    /// Trying again will not help.
    #[error("{backend} refused the request: {reason}")]
    Refused {
        /// The backend that was asked.
        backend: String,
        /// What it said.
        reason: String,
    },
}

impl BackendError {
    /// Whether the same request may yet succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }
}
