//! Feedback freed from everything else by a model, where that can be trusted.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{clean, without_thinking};
use crate::{
    backend::{
        Backend, BackendError, Completion, FinishReason,
        judge::{JudgeSettings, Question, Unanswered, ask},
    },
    prompt::{Labels, Library, PromptError, Purpose},
};

/// Cleans by asking a model to cut what is not feedback.
pub struct JudgeCleaner {
    backend: Arc<dyn Backend>,
    library: Arc<Library>,
    settings: JudgeSettings,
}

/// A text after a judge has seen it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedCleaning {
    /// The judge's text, cleaned by rules, or the text as it was.
    pub text: String,
    /// Which of the two it is, and why.
    pub verdict: Verdict,
}

/// What became of a judge's reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was taken.
    Accepted,
    /// The text was empty, so no judge was asked.
    NotAsked,
    /// No reply was plausible: the text stays as it was.
    Refused {
        /// How often the judge was asked.
        n_tries: usize,
        /// What was wrong with the last reply.
        reason: Implausible,
    },
}

/// Why a reply cannot be the text with parts cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Implausible {
    /// Its words are not words of the text in their order.
    WordsChanged,
    /// It met the limit of tokens.
    BrokenOff,
    /// It has no words, and does not say that nothing is left either.
    NoWords,
}

/// Why a text was not cleaned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CleaningError {
    /// The judge did not reply.
    #[error("no reply from the cleaning judge")]
    Backend(#[from] BackendError),
    /// The prompt does not render.
    #[error("no prompt for the cleaning judge")]
    Prompt(#[from] PromptError),
}

impl JudgeCleaner {
    /// Prepares to ask a judge.
    ///
    /// # Errors
    ///
    /// If the library has no cleaning template.
    pub fn new(
        backend: Arc<dyn Backend>,
        library: Arc<Library>,
        settings: JudgeSettings,
    ) -> Result<Self, PromptError> {
        library.template(Purpose::Cleaning)?;
        Ok(Self { backend, library, settings })
    }

    /// Cleans texts, in order.
    ///
    /// A reply is taken only if it did not break off and its words, without the
    /// marks around them, are words of the text in the same order: whatever else
    /// it does, it adds and changes nothing. That nothing is left must be said in
    /// the word of the prompt: a reply without words is a failure to answer.
    /// Where no reply is, the text stays as it was, and the verdict says so.
    pub fn clean(&self, texts: &[&str]) -> Vec<Result<JudgedCleaning, CleaningError>> {
        let mut results: Vec<Option<Result<JudgedCleaning, CleaningError>>> =
            texts.iter().map(|_| None).collect();
        let mut asked = Vec::new();
        let mut questions = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            if text.trim().is_empty() {
                let verdict = Verdict::NotAsked;
                results[index] = Some(Ok(JudgedCleaning { text: String::new(), verdict }));
                continue;
            }
            match self.library.cleaning(text) {
                Ok(prompt) => {
                    questions.push(Question { prompt, max_new_tokens: text.len() / 2 + 64 });
                    asked.push(index);
                }
                Err(error) => results[index] = Some(Err(error.into())),
            }
        }
        let answers = ask(&*self.backend, &questions, &self.settings, |question, completion| {
            plausible(texts[asked[question]], completion)
        });
        for (index, answer) in asked.into_iter().zip(answers) {
            results[index] = Some(match answer {
                Ok(reply) => {
                    Ok(JudgedCleaning { text: clean(&reply).text, verdict: Verdict::Accepted })
                }
                Err(Unanswered::Backend(error)) => Err(error.into()),
                Err(Unanswered::Unread { n_tries, reason }) => Ok(JudgedCleaning {
                    text: texts[index].to_owned(),
                    verdict: Verdict::Refused { n_tries, reason },
                }),
            });
        }
        results.into_iter().flatten().collect()
    }
}

/// The reply, if it can be the text with parts cut out.
fn plausible(text: &str, completion: &Completion) -> Result<String, Implausible> {
    if completion.finish_reason == FinishReason::Length {
        return Err(Implausible::BrokenOff);
    }
    let thought = without_thinking(&completion.text);
    if thought.unterminated {
        return Err(Implausible::BrokenOff);
    }
    let reply = thought.text.trim();
    if reply == Labels::IN_USE.nothing {
        return Ok(String::new());
    }
    if words(reply).next().is_none() {
        return Err(Implausible::NoWords);
    }
    let mut rest = words(text);
    if words(reply).all(|word| rest.any(|other| other == word)) {
        Ok(reply.to_owned())
    } else {
        Err(Implausible::WordsChanged)
    }
}

/// The words of a text without the marks around them; marks alone are no words.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|ch: char| !ch.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}
