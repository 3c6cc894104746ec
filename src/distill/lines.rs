//! Objects, one a line, and whose they are.

use camino::Utf8Path;
use serde::{Deserialize, de::DeserializeOwned};

use super::DistillError;
use crate::{corpus::DraftParts, text::unquoted_reason};

/// What says whose a line is.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Owner {
    id: Option<String>,
    draft: Option<String>,
    student: Option<String>,
}

impl Owner {
    /// The student, or what stands for one.
    pub(super) fn student(&self) -> Option<String> {
        let of_draft = |draft: &String| match DraftParts::parse(draft) {
            Some(parts) => parts.student.to_owned(),
            None => draft.clone(),
        };
        let of_id = |id: &String| id.split('-').next().map(str::to_owned);
        self.student
            .clone()
            .or_else(|| self.draft.as_ref().map(of_draft))
            .or_else(|| self.id.as_ref().and_then(of_id))
    }
}

/// Reads each line that is not blank.
pub(super) fn load<T>(
    path: &Utf8Path,
    mut parse: impl FnMut(&str) -> Result<T, String>,
) -> Result<Vec<T>, DistillError> {
    let text = fs_err::read_to_string(path)?;
    let lines = text.lines().zip(1_usize..).filter(|(line, _)| !line.trim().is_empty());
    let parsed: Vec<T> = lines
        .map(|(line, number)| {
            parse(line).map_err(|reason| DistillError::Line {
                path: path.to_owned(),
                line: number,
                reason,
            })
        })
        .collect::<Result<_, _>>()?;
    if parsed.is_empty() {
        return Err(DistillError::File { path: path.to_owned(), reason: "it is empty".to_owned() });
    }
    Ok(parsed)
}

/// An object of a line; the message does not repeat its texts.
pub(super) fn object<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| unquoted_reason(&error))
}
