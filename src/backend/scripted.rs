//! A backend that replies from a file of rules, for tests and demonstrations.

mod scoring;

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use camino::Utf8Path;
use serde::Deserialize;

use super::{Backend, BackendError, Completion, FinishReason, Request, Scoring, Usage};
use crate::prompt::{Prompt, TokenCounter};

/// Replies by rules, the first that matches a prompt.
///
/// A rule is one line of JSON. It matches where the system message, a line
/// break and the user message hold its text `contains` (an empty one is held by
/// every prompt), and all texts of its list `also`. It says one of:
///
/// - `"reply"`: the reply;
/// - `"replies"`: a list, the n-th for the n-th time that the same prompt with
///   the same format is asked, the last from then on;
/// - `"error"`: the reason of an error, which is one to try again if
///   `"transient": true`.
///
/// `"finish": "length"` makes a reply one that met the limit of tokens. Sampling
/// is not looked at, and words are counted as tokens. The count of times begins
/// anew with each process.
#[derive(Debug)]
pub struct Scripted {
    id: String,
    origin: String,
    rules: Vec<Rule>,
    times_asked: Mutex<BTreeMap<[u8; 32], usize>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    contains: String,
    #[serde(default)]
    also: Vec<String>,
    reply: Option<String>,
    replies: Option<Vec<String>>,
    error: Option<String>,
    #[serde(default)]
    transient: bool,
    finish: Option<FinishReason>,
}

/// Why rules cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// A line is not a rule.
    #[error("line {line} of {origin} is not a rule")]
    Json {
        /// The file.
        origin: String,
        /// The line, counted from one.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A rule does not say what to reply.
    #[error(
        "line {line} of {origin}: a rule has one of `reply`, `replies` (not empty) and `error`"
    )]
    Ambiguous {
        /// The file.
        origin: String,
        /// The line, counted from one.
        line: usize,
    },
    /// There is nothing to reply with.
    #[error("{origin} holds no rule")]
    Empty {
        /// The file.
        origin: String,
    },
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Scripted {
    /// Reads rules from a file. The backend is named `scripted:FILE`.
    pub fn load(path: &Utf8Path) -> Result<Self, ScriptError> {
        Self::parse(&fs_err::read_to_string(path)?, path.as_str())
    }

    /// Parses rules, one a line; blank lines are passed over. `origin` names
    /// them in errors.
    pub fn parse(rules: &str, origin: &str) -> Result<Self, ScriptError> {
        let mut parsed = Vec::new();
        for (index, text) in rules.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line = index + 1;
            let rule: Rule = serde_json::from_str(text).map_err(|source| ScriptError::Json {
                origin: origin.to_owned(),
                line,
                source,
            })?;
            let n_answers = usize::from(rule.reply.is_some())
                + usize::from(rule.replies.as_ref().is_some_and(|replies| !replies.is_empty()))
                + usize::from(rule.error.is_some());
            if n_answers != 1 {
                return Err(ScriptError::Ambiguous { origin: origin.to_owned(), line });
            }
            parsed.push(rule);
        }
        if parsed.is_empty() {
            return Err(ScriptError::Empty { origin: origin.to_owned() });
        }
        let name = Utf8Path::new(origin).file_name().unwrap_or(origin);
        Ok(Self {
            id: format!("scripted:{name}"),
            origin: origin.to_owned(),
            rules: parsed,
            times_asked: Mutex::new(BTreeMap::new()),
        })
    }

    fn reply(&self, prompt: &Prompt) -> Result<Completion, BackendError> {
        let text = format!("{}\n{}", prompt.system.as_deref().unwrap_or_default(), prompt.user);
        let times = self.times_asked_before(prompt);
        let Some(rule) = self.rules.iter().find(|rule| {
            text.contains(&rule.contains) && rule.also.iter().all(|part| text.contains(part))
        }) else {
            return Err(BackendError::Refused {
                backend: self.id.clone(),
                reason: format!(
                    "none of the {} rules in {} matches the prompt: add one, or a last rule with \
                     an empty `contains`",
                    self.rules.len(),
                    self.origin
                ),
            });
        };
        if let Some(reason) = &rule.error {
            let (backend, reason) = (self.id.clone(), reason.clone());
            return Err(if rule.transient {
                BackendError::Unavailable { backend, reason }
            } else {
                BackendError::Refused { backend, reason }
            });
        }
        let replies = rule.replies.as_deref().unwrap_or_default();
        let in_turn = replies.get(times).or(replies.last());
        let reply = rule.reply.as_ref().or(in_turn).cloned().unwrap_or_default();
        let usage = Usage {
            n_prompt_tokens: text.split_whitespace().count(),
            n_completion_tokens: reply.split_whitespace().count(),
        };
        let finish_reason = rule.finish.unwrap_or(FinishReason::Stop);
        Ok(Completion { text: reply, backend: self.id.clone(), finish_reason, usage })
    }

    /// How often the same prompt was asked before, so that a sequence of replies
    /// does not depend on what else is asked, nor in which order.
    fn times_asked_before(&self, prompt: &Prompt) -> usize {
        let key = blake3::hash(format!("{prompt:?}").as_bytes());
        let mut times_asked = self.times_asked.lock().unwrap_or_else(PoisonError::into_inner);
        let times = times_asked.entry(*key.as_bytes()).or_default();
        *times += 1;
        *times - 1
    }
}

/// Words stand for tokens, and any length fits.
impl TokenCounter for Scripted {
    fn count(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn context_length(&self) -> usize {
        // Far above every text, and small enough to calculate with.
        1 << 30
    }
}

impl Backend for Scripted {
    fn id(&self) -> &str {
        &self.id
    }

    fn complete(&self, requests: &[Request]) -> Vec<Result<Completion, BackendError>> {
        requests.iter().map(|request| self.reply(&request.prompt)).collect()
    }

    fn scoring(&self) -> Option<&dyn Scoring> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        backend::Sampling,
        prompt::{Prompt, PromptFormat},
    };

    fn ask(backend: &Scripted, system: &str, user: &str) -> Result<String, BackendError> {
        let prompt =
            Prompt { system: Some(system.into()), user: user.into(), format: PromptFormat::Chat };
        let sampling = Sampling {
            temperature: 0.0,
            top_p: 1.0,
            top_k: None,
            repetition_penalty: 1.0,
            max_new_tokens: 10,
            seed: 0,
            stop: vec![],
        };
        let mut replies = backend.complete(&[Request { prompt, sampling }]);
        replies.remove(0).map(|completion| completion.text)
    }

    #[test]
    fn the_first_rule_that_matches_replies() {
        let rules = r#"
            {"contains": "cut", "also": ["tea"], "reply": "Tea.$$"}
            {"contains": "cut", "replies": ["bad", "Milk.$$"]}

            {"contains": "down", "error": "no line", "transient": true}
            {"contains": "key", "error": "no key"}"#;
        let backend = Scripted::parse(rules, "rules/demo.jsonl").unwrap();
        assert_eq!(backend.id(), "scripted:demo.jsonl");
        assert_eq!(ask(&backend, "cut", "tea").unwrap(), "Tea.$$");
        assert_eq!(ask(&backend, "cut", "milk").unwrap(), "bad");
        assert_eq!(ask(&backend, "cut", "water").unwrap(), "bad");
        assert_eq!(ask(&backend, "cut", "milk").unwrap(), "Milk.$$");
        assert_eq!(ask(&backend, "cut", "milk").unwrap(), "Milk.$$");
        assert!(ask(&backend, "", "down").unwrap_err().is_transient());
        assert!(!ask(&backend, "", "key").unwrap_err().is_transient());
        let message = ask(&backend, "", "secret essay").unwrap_err().to_string();
        assert!(message.contains("none of the 4 rules in rules/demo.jsonl"), "{message}");
        assert!(!message.contains("secret"));
    }

    #[test]
    fn a_line_that_is_no_rule_is_named() {
        for (rules, message) in [
            ("\n{\"contains\": \"x\"}", "line 2 of r.jsonl: a rule has one of"),
            ("{\"contains\": \"x\", \"reply\": \"a\", \"error\": \"b\"}", "line 1 of r.jsonl: a"),
            ("{\"contains\": \"x\", \"replies\": []}", "line 1 of r.jsonl: a rule"),
            ("{\"contain\": \"x\", \"reply\": \"a\"}", "line 1 of r.jsonl is not a rule"),
            ("{", "line 1 of r.jsonl is not a rule"),
        ] {
            let error = Scripted::parse(rules, "r.jsonl").unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
