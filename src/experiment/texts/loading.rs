//! Files of texts: JSON lines or CSV.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Deserialize;
use serde_json::Value;

use crate::text::{RowLines, trim, unquoted_reason};

/// A text, or the units it was cut into, under an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it speaks of.
    pub id: String,
    /// What it says.
    pub content: Content,
    /// The line of its file on which it begins, counted from one.
    pub line: usize,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A text, not cut yet.
    Text(String),
    /// Feedback units.
    Units(Vec<String>),
}

/// How a file of texts is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An object on each line: `{"id": ..., "text": ...}` or
    /// `{"id": ..., "units": [...]}`.
    Jsonl,
    /// Columns `id,text` with an entry on each row, or `id,unit` with a unit on
    /// each row: neighbouring rows with the same id are one entry. An empty `unit`
    /// adds none, so that an entry without units is one row.
    Csv,
}

impl Format {
    /// The format that a file's name says: `.jsonl` or `.csv`.
    pub fn of(path: &Utf8Path) -> Option<Self> {
        let extension = path.extension()?;
        if extension.eq_ignore_ascii_case("jsonl") {
            Some(Self::Jsonl)
        } else if extension.eq_ignore_ascii_case("csv") {
            Some(Self::Csv)
        } else {
            None
        }
    }
}

/// Loads the entries of a file, in order. Blank lines are passed over.
///
/// # Errors
///
/// Each names the file and the line: one that is not of the format, a field or
/// column that is missing or unknown, an empty id, units of one id that other rows
/// part, a file without an entry.
pub fn load(path: &Utf8Path, format: Format) -> anyhow::Result<Vec<Entry>> {
    let text = fs_err::read_to_string(path)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let entries = match format {
        Format::Jsonl => parse_jsonl(text),
        Format::Csv => parse_csv(text),
    };
    let entries = entries.map_err(|Fault { line, reason }| match line {
        Some(line) => anyhow::anyhow!("{path}, line {line}: {reason}"),
        None => anyhow::anyhow!("{path}: {reason}"),
    })?;
    anyhow::ensure!(!entries.is_empty(), "{path} holds no entry");
    for entry in &entries {
        let is_named = !trim(&entry.id).is_empty();
        anyhow::ensure!(is_named, "{path}, line {}: field id is empty", entry.line);
    }
    Ok(entries)
}

/// What is wrong, and on which line if on one.
struct Fault {
    line: Option<usize>,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireEntry {
    /// A text, or a number that stands for one.
    id: Value,
    text: Option<String>,
    units: Option<Vec<String>>,
}

fn parse_jsonl(text: &str) -> Result<Vec<Entry>, Fault> {
    let mut entries = Vec::new();
    for (index, text) in text.lines().enumerate() {
        if text.trim().is_empty() {
            continue;
        }
        let line = index + 1;
        let fault = |reason| Fault { line: Some(line), reason };
        let WireEntry { id, text, units } = serde_json::from_str(text).map_err(|error| {
            fault(format!("{} (column {})", unquoted_reason(&error), error.column()))
        })?;
        let id = match id {
            Value::String(id) => id,
            Value::Number(id) => id.to_string(),
            _ => return Err(fault("field id is neither text nor number".to_owned())),
        };
        let content = match (text, units) {
            (Some(text), None) => Content::Text(text),
            (None, Some(units)) => Content::Units(units),
            (None, None) => return Err(fault("neither field text nor field units".to_owned())),
            (Some(_), Some(_)) => {
                return Err(fault("both field text and field units: give one".to_owned()));
            }
        };
        entries.push(Entry { id, content, line });
    }
    Ok(entries)
}

fn parse_csv(text: &str) -> Result<Vec<Entry>, Fault> {
    if text.matches('"').count() % 2 == 1 {
        // The reader would take all that follows as one field.
        let reason = "a quotation mark is opened and never closed".to_owned();
        return Err(Fault { line: None, reason });
    }
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| csv_fault(text, &error))?.clone();
    let columns: Vec<&str> = headers.iter().map(str::trim).collect();
    let (id_at, is_text) = match columns[..] {
        ["id", "text"] => (0, true),
        ["text", "id"] => (1, true),
        ["id", "unit"] => (0, false),
        ["unit", "id"] => (1, false),
        _ => {
            let reason = format!("the columns are {}, not id,text or id,unit", columns.join(","));
            return Err(Fault { line: Some(1), reason });
        }
    };
    let mut entries: Vec<Entry> = Vec::new();
    let mut lines = RowLines::new(text);
    let mut first_lines: BTreeMap<String, usize> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| csv_fault(text, &error))?;
        let start = record.position().and_then(|position| usize::try_from(position.byte()).ok());
        let place = start.map(|start| lines.of(start));
        let (Some(line), Some(id), Some(value)) = (place, record.get(id_at), record.get(1 - id_at))
        else {
            return Err(Fault { line: place, reason: "a column is missing".to_owned() });
        };
        let (id, value) = (id.to_owned(), value.to_owned());
        if is_text {
            entries.push(Entry { id, content: Content::Text(value), line });
            continue;
        }
        let unit = Some(value).filter(|unit| !trim(unit).is_empty());
        match entries.last_mut() {
            Some(Entry { id: last, content: Content::Units(units), .. }) if *last == id => {
                units.extend(unit);
            }
            _ => {
                if let Some(first) = first_lines.insert(id.clone(), line) {
                    let reason = format!(
                        "the id of line {first} comes again after another: put its rows together"
                    );
                    return Err(Fault { line: Some(line), reason });
                }
                entries.push(Entry {
                    id,
                    content: Content::Units(unit.into_iter().collect()),
                    line,
                });
            }
        }
    }
    Ok(entries)
}

fn csv_fault(text: &str, error: &csv::Error) -> Fault {
    let start = error.position().and_then(|position| usize::try_from(position.byte()).ok());
    let line = start.map(|start| RowLines::new(text).of(start));
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} columns, and the first line has {expected_len}")
        }
        _ => error.to_string(),
    };
    Fault { line, reason }
}
