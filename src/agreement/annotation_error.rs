//! What is wrong with a file of annotations, and where.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::text::unquoted_reason;

/// A file of annotations that cannot be taken as it is. No text of it is quoted.
#[derive(Debug, thiserror::Error)]
#[error("{path}{}: {reason}", line.map_or_else(String::new, |line| format!(", line {line}")))]
pub struct AnnotationError {
    /// The file.
    pub path: Utf8PathBuf,
    /// The line, counted from one, where there is one to name.
    pub line: Option<usize>,
    /// What is wrong, and the way out.
    pub reason: String,
}

impl AnnotationError {
    /// On a line.
    pub(super) fn at(path: &Utf8Path, line: usize, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), reason: reason.into() }
    }

    /// With the whole file.
    pub(super) fn of(path: &Utf8Path, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, reason: reason.into() }
    }
}

/// Reads a file as text, without a byte-order mark.
pub(super) fn read(path: &Utf8Path) -> Result<String, AnnotationError> {
    let text = fs_err::read_to_string(path).map_err(|error| {
        AnnotationError::of(path, format!("it cannot be read: {}", error.kind()))
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Each line of JSON that is not blank, with its number, as `T`.
pub(super) fn json_lines<T: serde::de::DeserializeOwned>(
    path: &Utf8Path,
    text: &str,
) -> Result<Vec<(usize, T)>, AnnotationError> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let value = serde_json::from_str(line).map_err(|error| {
                let reason = format!("{} (column {})", unquoted_reason(&error), error.column());
                AnnotationError::at(path, number, reason)
            })?;
            Ok((number, value))
        })
        .collect()
}

/// A text, or a number as one.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
