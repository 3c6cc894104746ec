//! The exemplars of few-shot prompts.

use serde::{Deserialize, Serialize};

use super::{Category, PromptError};

/// A paragraph of a made-up essay, and what an instructor would say of it in
/// each of the forms that templates ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shot {
    /// A short part of the essay.
    pub essay: String,
    /// The target paragraph.
    pub paragraph: String,
    /// The feedback as prose.
    pub feedback: String,
    /// The feedback point by point.
    pub points: Vec<Point>,
    /// What the most important point is about.
    pub focus: String,
    /// The most important point.
    pub unit: String,
    /// The thoughts that lead to the feedback.
    pub reasoning: String,
}

/// One point of an exemplar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Its kind.
    pub category: Category,
    /// Its words.
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    shot: Vec<Shot>,
}

/// Parses a file of `[[shot]]` tables. `origin` names it in errors.
pub(super) fn parse(text: &str, origin: &str) -> Result<Vec<Shot>, PromptError> {
    let file: File = toml::from_str(text).map_err(|error| PromptError::Malformed {
        file: origin.to_owned(),
        reason: error.to_string().trim_end().to_owned(),
    })?;
    Ok(file.shot)
}
