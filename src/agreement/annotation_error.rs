//! What is wrong with a file of annotations, and where.

use std::io::ErrorKind;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::text::{line_not_utf8, unquoted_reason};

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
    let bytes = fs_err::read(path).map_err(|error| {
        let reason = match error.kind() {
            ErrorKind::NotFound => "there is no such file".to_owned(),
            ErrorKind::IsADirectory => "it is a folder, and a file is needed".to_owned(),
            ErrorKind::PermissionDenied => "reading it is not permitted".to_owned(),
            kind => format!("it cannot be read: {kind}"),
        };
        AnnotationError::of(path, reason)
    })?;
    if let Some(line) = line_not_utf8(&bytes) {
        return Err(AnnotationError::at(path, line, NOT_UTF8));
    }
    let text = String::from_utf8(bytes).map_err(|_| AnnotationError::of(path, NOT_UTF8))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

const NOT_UTF8: &str = "it is not UTF-8: save the file in that encoding";

/// Each line of JSON that is not blank, with its number, as `T`.
pub(super) fn json_lines<T: serde::de::DeserializeOwned>(
    path: &Utf8Path,
    text: &str,
) -> Result<Vec<(usize, T)>, AnnotationError> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        return Err(AnnotationError::of(path, "it is CSV, and JSON lines (.jsonl) are needed"));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_text_says_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let latin = dir.join("latin.csv");
        fs_err::write(&latin, b"id,text\n1,Caf\xe9\n").unwrap();
        for (path, expected) in [
            (latin, "latin.csv, line 2: it is not UTF-8"),
            (dir.join("none.csv"), "there is no such file"),
            (dir.to_owned(), "it is a folder"),
        ] {
            let message = read(&path).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
