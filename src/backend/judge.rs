//! Asking a model until its reply can be read.

use super::{Backend, BackendError, Completion, Request, Sampling};
use crate::prompt::Prompt;

/// How a judge is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgeSettings {
    /// The seed of the run.
    pub seed: u64,
    /// How often a judge is asked again after a reply that cannot be read.
    pub n_retries: usize,
    /// The temperature of the first try.
    pub temperature: f64,
    /// The temperature of later tries: above zero, since at zero another seed
    /// gives the same reply.
    pub retry_temperature: f64,
    /// Added to the most tokens that a reply may need, for models that think
    /// before they answer.
    pub n_thinking_tokens: usize,
}

impl Default for JudgeSettings {
    /// Two retries; the likeliest reply first, and a temperature of 0.7 after.
    fn default() -> Self {
        Self {
            seed: 42,
            n_retries: 2,
            temperature: 0.0,
            retry_temperature: 0.7,
            n_thinking_tokens: 0,
        }
    }
}

/// What a judge is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The prompt.
    pub prompt: Prompt,
    /// The most tokens that an answer may need.
    pub max_new_tokens: usize,
}

/// Why a question has no answer.
#[derive(Debug)]
pub enum Unanswered<E> {
    /// The backend gave no reply, whatever came of earlier tries.
    Backend(BackendError),
    /// No reply could be read.
    Unread {
        /// How often the judge was asked.
        n_tries: usize,
        /// What was wrong with the last reply.
        reason: E,
    },
}

/// Asks every question, and those whose reply `read` refuses again, each time
/// with another seed. Answers come in the order of the questions. An answer
/// depends on its question and the settings alone: the seed is a hash of the
/// run's seed, the prompt and the number of the try.
///
/// `read` gets the index of the question and the reply to it.
pub fn ask<T, E>(
    backend: &dyn Backend,
    questions: &[Question],
    settings: &JudgeSettings,
    read: impl Fn(usize, &Completion) -> Result<T, E>,
) -> Vec<Result<T, Unanswered<E>>> {
    let mut answers: Vec<Option<Result<T, Unanswered<E>>>> =
        questions.iter().map(|_| None).collect();
    let mut open: Vec<usize> = (0..questions.len()).collect();
    for try_index in 0..=settings.n_retries {
        let requests: Vec<Request> =
            open.iter().map(|&index| request(&questions[index], settings, try_index)).collect();
        let mut replies = backend.complete(&requests).into_iter();
        let mut unread = Vec::new();
        for index in open {
            let answer = match replies.next().unwrap_or_else(|| Err(lost(backend))) {
                Err(error) => Err(Unanswered::Backend(error)),
                Ok(completion) => read(index, &completion)
                    .map_err(|reason| Unanswered::Unread { n_tries: try_index + 1, reason }),
            };
            if matches!(answer, Err(Unanswered::Unread { .. })) {
                unread.push(index);
            }
            answers[index] = Some(answer);
        }
        open = unread;
        if open.is_empty() {
            break;
        }
    }
    answers
        .into_iter()
        .map(|answer| answer.unwrap_or_else(|| Err(Unanswered::Backend(lost(backend)))))
        .collect()
}

/// The error of a backend that gives fewer replies than it got requests.
fn lost(backend: &dyn Backend) -> BackendError {
    BackendError::Refused {
        backend: backend.id().to_owned(),
        reason: "it gave fewer replies than it got requests".into(),
    }
}

fn request(question: &Question, settings: &JudgeSettings, try_index: usize) -> Request {
    let is_first = try_index == 0;
    Request {
        prompt: question.prompt.clone(),
        sampling: Sampling {
            temperature: if is_first { settings.temperature } else { settings.retry_temperature },
            top_p: 1.0,
            top_k: None,
            repetition_penalty: 1.0,
            max_new_tokens: question.max_new_tokens + settings.n_thinking_tokens,
            seed: seed(settings.seed, &question.prompt, try_index),
            stop: Vec::new(),
        },
    }
}

/// The seed of one try.
fn seed(run_seed: u64, prompt: &Prompt, try_index: usize) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&run_seed.to_le_bytes());
    hasher.update(&(try_index as u64).to_le_bytes());
    hasher.update(prompt.system.as_deref().unwrap_or_default().as_bytes());
    hasher.update(b"\0");
    hasher.update(prompt.user.as_bytes());
    let hash = hasher.finalize();
    hash.as_bytes().iter().take(8).fold(0, |seed, &byte| seed << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{
        backend::{FinishReason, Usage},
        prompt::PromptFormat,
    };

    /// Replies with the number of the call, and remembers the requests.
    struct Counting(Mutex<Vec<Vec<Request>>>);

    impl Backend for Counting {
        fn id(&self) -> &'static str {
            "counting"
        }

        fn complete(&self, requests: &[Request]) -> Vec<Result<Completion, BackendError>> {
            let mut calls = self.0.lock().unwrap();
            calls.push(requests.to_vec());
            let reply = Completion {
                text: calls.len().to_string(),
                backend: "counting".into(),
                finish_reason: FinishReason::Stop,
                usage: Usage::default(),
            };
            requests.iter().map(|_| Ok(reply.clone())).collect()
        }
    }

    fn questions(texts: &[&str]) -> Vec<Question> {
        texts
            .iter()
            .map(|&text| Question {
                prompt: Prompt { system: None, user: text.into(), format: PromptFormat::Chat },
                max_new_tokens: 5,
            })
            .collect()
    }

    #[test]
    fn only_what_was_not_read_is_asked_again_and_with_another_seed() {
        let backend = Counting(Mutex::default());
        let answers = ask(
            &backend,
            &questions(&["a", "b", "c"]),
            &JudgeSettings::default(),
            |index, reply| match (index, reply.text.as_str()) {
                (0, "1") | (1, "2") => Ok(reply.text.clone()),
                _ => Err("no"),
            },
        );
        assert!(matches!(&answers[0], Ok(text) if text == "1"));
        assert!(matches!(&answers[1], Ok(text) if text == "2"));
        assert!(matches!(&answers[2], Err(Unanswered::Unread { n_tries: 3, reason: "no" })));
        let calls = backend.0.lock().unwrap();
        assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 1]);
        let seeds = [&calls[0][2], &calls[1][1], &calls[2][0]].map(|call| call.sampling.seed);
        assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2] && seeds[0] != seeds[2]);
        assert!(calls[1][0].sampling.temperature > 0.0);
    }

    #[test]
    fn a_request_does_not_depend_on_its_neighbours() {
        let (alone, among) = (Counting(Mutex::default()), Counting(Mutex::default()));
        let read = |_: usize, _: &Completion| Ok::<(), ()>(());
        ask(&alone, &questions(&["b"]), &JudgeSettings::default(), read);
        ask(&among, &questions(&["a", "b"]), &JudgeSettings::default(), read);
        assert_eq!(alone.0.lock().unwrap()[0][0], among.0.lock().unwrap()[0][1]);
    }
}
