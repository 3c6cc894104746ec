//! The stage that has feedback written.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::{
    backend::{Backend, BackendError, Completion, FinishReason, Request, Sampling, Usage},
    corpus::ParagraphId,
    prompt::{ContextUse, Prompt},
    run::{Emit, Outcome, RunError, Stage},
};

/// Has feedback written by one backend.
pub struct GenerateStage<'a> {
    /// Who writes.
    pub backend: &'a dyn Backend,
    /// How replies are drawn; the seed is the run's.
    pub sampling: Sampling,
}

/// A paragraph that feedback is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedbackRequest {
    /// The paragraph.
    pub paragraph: ParagraphId,
    /// What the model is asked, or why it cannot be asked.
    pub prompt: Result<Prompt, String>,
    /// What the prompt holds of the essay.
    pub context: ContextUse,
}

/// What a model replied about one paragraph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyRecord {
    /// Who replied.
    pub backend: String,
    /// The reply as it came.
    pub reply: String,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// Its tokens.
    pub usage: Usage,
    /// The seed of this reply.
    pub seed: u64,
    /// What the prompt held of the essay.
    pub context: ContextUse,
}

/// The seed of one record: a hash of the run's seed and the record's key.
pub fn record_seed(run_seed: u64, key: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&run_seed.to_le_bytes());
    hasher.update(key.as_bytes());
    let mut head = [0; 8];
    hasher.finalize_xof().fill(&mut head);
    u64::from_le_bytes(head)
}

impl Stage for GenerateStage<'_> {
    type Item = FeedbackRequest;
    type Record = ReplyRecord;

    const NAME: &'static str = "generate";

    fn key(&self, request: &FeedbackRequest) -> String {
        request.paragraph.to_string()
    }

    fn process(
        &self,
        requests: &[FeedbackRequest],
        emit: &mut Emit<'_, ReplyRecord>,
    ) -> Result<(), RunError> {
        let (mut asked, mut questions) = (Vec::new(), Vec::new());
        for (index, request) in requests.iter().enumerate() {
            match &request.prompt {
                Ok(prompt) => {
                    asked.push(index);
                    questions.push(Request {
                        prompt: prompt.clone(),
                        sampling: Sampling {
                            seed: record_seed(self.sampling.seed, &self.key(request)),
                            ..self.sampling.clone()
                        },
                    });
                }
                Err(reason) => emit(index, Outcome::Failed { error: reason.clone() })?,
            }
        }
        let mut result = Ok(());
        // A break comes only of an error, which is kept.
        let _ = self.backend.complete_each(&questions, &mut |at, reply| {
            let index = asked[at];
            result = emit(index, outcome(reply, questions[at].sampling.seed, &requests[index]));
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result
    }
}

fn outcome(
    reply: Result<Completion, BackendError>,
    seed: u64,
    request: &FeedbackRequest,
) -> Outcome<ReplyRecord> {
    match reply {
        Ok(completion) => Outcome::Done(ReplyRecord {
            backend: completion.backend,
            reply: completion.text,
            finish_reason: completion.finish_reason,
            usage: completion.usage,
            seed,
            context: request.context.clone(),
        }),
        Err(error) => Outcome::Failed { error: format!("{:#}", anyhow::Error::new(error)) },
    }
}
