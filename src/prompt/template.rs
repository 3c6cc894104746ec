//! A template file: a header, then what is said to the model.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{PromptError, ReplyForm};

/// A template, as its file has it.
///
/// The file opens with a header in TOML between two lines `+++`. What follows
/// is a minijinja template, in two parts where it has lines `<!-- system -->`
/// and `<!-- user -->`, and otherwise the user message alone. Block tags take
/// their line with them. Each part is trimmed after rendering unless the header
/// says `exact = true`; the system part of an exact template is for chat only,
/// as a raw prompt then is the user part to the letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The file it came from.
    pub file: String,
    /// Its header.
    pub header: Header,
    /// The system part, where there is one.
    pub system: Option<String>,
    /// The user part.
    pub user: String,
    /// The whole file.
    pub text: String,
}

/// The header of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Its name: for a feedback template `v1`, `v2` or `cot`, or the short name
    /// of the one condition that it serves.
    pub name: String,
    /// Raised with every change of its words.
    pub version: u32,
    /// What it asks of a model.
    pub role: Role,
    /// For a feedback template, how its reply is laid out.
    #[serde(default)]
    pub reply: ReplyForm,
    /// The variables that it uses, each of them.
    pub variables: Vec<String>,
    /// Whether white space at the ends of its parts is kept.
    #[serde(default)]
    pub exact: bool,
    /// Where its words come from, if they are not the project's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// What a template asks of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Feedback on a paragraph.
    Feedback,
    /// Feedback without what is not feedback.
    Cleaning,
    /// Feedback cut into units.
    Segmentation,
    /// Ratings of pairs of units, many in one reply.
    Similarity,
    /// The rating of one pair of units, as a digit that is the whole reply.
    Rating,
}

impl Role {
    /// The variables that a template of this role may use.
    pub(super) fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Feedback => &["categories", "shots", "rubric", "context", "paragraph"],
            Self::Cleaning | Self::Segmentation => &["feedback"],
            Self::Similarity => &["pairs"],
            Self::Rating => &["generated", "gold"],
        }
    }

    /// Those that it must use.
    pub(super) fn required(self) -> &'static [&'static str] {
        match self {
            Self::Feedback => &["context", "paragraph"],
            other => other.variables(),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Feedback => "feedback",
            Self::Cleaning => "cleaning",
            Self::Segmentation => "segmentation",
            Self::Similarity => "similarity",
            Self::Rating => "rating",
        })
    }
}

const FENCE: &str = "+++";
const SYSTEM: &str = "<!-- system -->";
const USER: &str = "<!-- user -->";

impl Template {
    /// Parses a template file. `file` names it in errors.
    pub fn parse(text: &str, file: &str) -> Result<Self, PromptError> {
        let malformed =
            |reason: &str| PromptError::Malformed { file: file.to_owned(), reason: reason.into() };
        let text = text.replace("\r\n", "\n");
        let rest = text
            .strip_prefix(FENCE)
            .and_then(|rest| rest.strip_prefix('\n'))
            .ok_or_else(|| malformed("it does not open with a line `+++`"))?;
        let (header, body) = rest
            .split_once("\n+++\n")
            .ok_or_else(|| malformed("no line `+++` closes its header"))?;
        let header: Header =
            toml::from_str(header).map_err(|error| malformed(error.to_string().trim_end()))?;
        if header.role != Role::Feedback && header.reply != ReplyForm::Free {
            return Err(malformed("`reply` is for feedback templates alone"));
        }
        let (system, user) = parts(body).map_err(malformed)?;
        Ok(Self { file: file.to_owned(), header, system, user, text: text.clone() })
    }

    /// The BLAKE3 hash of the file, in hexadecimal.
    pub fn digest(&self) -> String {
        blake3::hash(self.text.as_bytes()).to_hex().to_string()
    }
}

/// The system and the user part of what follows a header.
fn parts(body: &str) -> Result<(Option<String>, String), &'static str> {
    let (before, user) = match split_at_line(body, USER) {
        Some(parts) => parts,
        None if split_at_line(body, SYSTEM).is_none() => return Ok((None, body.to_owned())),
        None => return Err("a line `<!-- system -->` without a line `<!-- user -->` after it"),
    };
    match split_at_line(before, SYSTEM) {
        Some(("", system)) => Ok((Some(system.to_owned()), user.to_owned())),
        None if before.is_empty() => Ok((None, user.to_owned())),
        _ => Err("text stands before the line `<!-- system -->` or `<!-- user -->`"),
    }
}

/// What stands before the first line that is `marker`, and what after it.
fn split_at_line<'a>(text: &'a str, marker: &str) -> Option<(&'a str, &'a str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == marker {
            return Some((&text[..start], &text[start + line.len()..]));
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "+++\nname = \"v1\"\nversion = 1\nrole = \"feedback\"\nvariables = []\n+++\n";

    fn check(body: &str) -> Result<(Option<String>, String), String> {
        Template::parse(&format!("{HEADER}{body}"), "v1.md")
            .map(|template| (template.system, template.user))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_body_is_one_part_or_two() {
        assert_eq!(check("Go.\n"), Ok((None, "Go.\n".into())));
        assert_eq!(check("<!-- user -->\nGo.\n"), Ok((None, "Go.\n".into())));
        assert_eq!(
            check("<!-- system -->\nYou.\n<!-- user -->\nGo.\n"),
            Ok((Some("You.\n".into()), "Go.\n".into()))
        );
    }

    #[test]
    fn a_file_that_is_no_template_is_told_why() {
        let error = |text: &str| Template::parse(text, "x.md").unwrap_err().to_string();
        assert!(error("Go.").contains("x.md is not a template: it does not open"));
        assert!(error("+++\nname = \"v1\"\n").contains("no line `+++` closes"));
        assert!(error("+++\nnme = \"v1\"\n+++\nGo.").contains("unknown field `nme`"));
        assert!(check("<!-- system -->\nYou.\n").unwrap_err().contains("without a line"));
        assert!(check("Hm.\n<!-- user -->\nGo.").unwrap_err().contains("text stands before"));
    }
}
