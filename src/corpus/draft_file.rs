//! From the bytes of a draft's file to what it says.

use std::collections::BTreeMap;

use serde_json::error::Category;

use super::wire::{Content, FieldError, WireDraft};
use crate::text::line_at;

/// What is wrong with a draft's file. No message quotes an essay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftFileError {
    /// There is nothing in it.
    #[error("the file is empty: a copy of it may have been cut off")]
    Empty,
    /// It is not text.
    #[error("line {line} is not UTF-8: save the file as UTF-8 text")]
    NotUtf8 {
        /// The line of the first byte that is not.
        line: usize,
    },
    /// The text ends before the object does.
    #[error("the JSON breaks off at line {line}: the file is truncated, fetch it again")]
    Truncated {
        /// The last line.
        line: usize,
    },
    /// It is not JSON.
    #[error("not JSON at line {line}, column {column}: {problem}")]
    NotJson {
        /// The line of the mistake.
        line: usize,
        /// The column of the mistake.
        column: usize,
        /// The mistake.
        problem: String,
    },
    /// It is JSON, and not a draft.
    #[error("{}{field}: {problem}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Field {
        /// The field: `paragraphs[3].annotations[0].color`.
        field: String,
        /// What is wrong with it.
        problem: String,
        /// Its line, where it is known.
        line: Option<usize>,
    },
}

impl DraftFileError {
    /// The field that is wrong, empty where it is the whole file, and what is
    /// wrong with it.
    pub(super) fn field_and_problem(&self) -> (String, String) {
        match self {
            Self::Field { field, problem, .. } => (field.clone(), problem.clone()),
            error => (String::new(), error.to_string()),
        }
    }
}

/// A draft's file, understood, with the fields that were not: how often each
/// stands there, by its place with the indices left out.
#[derive(Debug)]
pub(super) struct DraftFile {
    pub(super) content: Content,
    pub(super) unknown_fields: BTreeMap<String, usize>,
}

/// Parses a draft's file. A byte order mark at its start is no mistake.
pub(super) fn parse_draft_file(bytes: &[u8]) -> Result<DraftFile, DraftFileError> {
    let text = parse_text(bytes).map_err(|line| DraftFileError::NotUtf8 { line })?;
    if text.trim().is_empty() {
        return Err(DraftFileError::Empty);
    }
    let mut unknown_fields = BTreeMap::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let wire: Result<WireDraft, _> = serde_ignored::deserialize(tracked, |path| {
        *unknown_fields.entry(place_without_indices(&path)).or_insert(0) += 1;
    });
    let wire = wire.map_err(|error| draft_file_error(&error, &track.path().to_string()))?;
    json.end().map_err(|error| draft_file_error(&error, "."))?;
    let content = Content::try_from(wire)?;
    for field in &content.surplus {
        *unknown_fields.entry(field.clone()).or_insert(0) += 1;
    }
    Ok(DraftFile { content, unknown_fields })
}

/// The bytes as text without a byte order mark, or the number of the first line
/// that is not UTF-8.
pub(super) fn parse_text(bytes: &[u8]) -> Result<&str, usize> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    str::from_utf8(bytes).map_err(|error| line_at(bytes, error.valid_up_to()))
}

impl From<FieldError> for DraftFileError {
    fn from(error: FieldError) -> Self {
        Self::Field { field: error.field, problem: error.problem, line: None }
    }
}

fn draft_file_error(error: &serde_json::Error, path: &str) -> DraftFileError {
    let (line, column) = (error.line(), error.column());
    match error.classify() {
        Category::Eof => DraftFileError::Truncated { line },
        Category::Syntax | Category::Io => {
            DraftFileError::NotJson { line, column, problem: bare_message(error) }
        }
        Category::Data => {
            let field = if path == "." { "the draft" } else { path };
            let problem = without_quotation(&bare_message(error));
            DraftFileError::Field { field: field.to_owned(), problem, line: Some(line) }
        }
    }
}

/// The message without the place that `serde_json` adds to it.
fn bare_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&place).unwrap_or(&message).to_owned()
}

/// The message without the text that it quotes as unexpected: it may be prose of
/// a student or an instructor.
fn without_quotation(message: &str) -> String {
    let quoting = message
        .strip_prefix("invalid type: string ")
        .or_else(|| message.strip_prefix("invalid value: string "))
        .and_then(|quotation| quotation.rfind(", expected ").map(|at| &quotation[at..]));
    match quoting {
        Some(expected) => format!("invalid type: a text{expected}"),
        None => message.to_owned(),
    }
}

fn place_without_indices(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;

    match path {
        Path::Root => String::new(),
        Path::Seq { parent, .. } => format!("{}[]", place_without_indices(parent)),
        Path::Map { parent, key } => match place_without_indices(parent) {
            parent if parent.is_empty() => key.clone(),
            parent => format!("{parent}.{key}"),
        },
        Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => place_without_indices(parent),
    }
}
