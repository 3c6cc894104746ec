//! Files of comma-separated values, row by row, with the lines they begin on.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::AnnotationError;

/// A row: its line, and its cells by column. Blank cells are left out.
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) cells: BTreeMap<String, String>,
}

impl Row {
    /// A cell that must be there.
    pub(super) fn needed(&self, path: &Utf8Path, column: &str) -> Result<String, AnnotationError> {
        self.cells.get(column).cloned().ok_or_else(|| {
            AnnotationError::at(path, self.line, format!("the column {column} is empty"))
        })
    }
}

/// The columns in order, and the rows of a file. `is_known` says which columns may be.
pub(super) fn rows(
    path: &Utf8Path,
    text: &str,
    needed: &[&str],
    is_known: impl Fn(&str) -> bool,
) -> Result<(Vec<String>, Vec<Row>), AnnotationError> {
    if text.matches('"').count() % 2 == 1 {
        return Err(AnnotationError::of(path, "a quotation mark is opened and never closed"));
    }
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| fault(path, &error))?.clone();
    let columns: Vec<String> = headers.iter().map(|name| name.trim().to_owned()).collect();
    for column in &columns {
        if !is_known(column) {
            let reason = format!("there is no column `{column}` in this format: take it out");
            return Err(AnnotationError::at(path, 1, reason));
        }
        if 1 < columns.iter().filter(|other| *other == column).count() {
            return Err(AnnotationError::at(path, 1, format!("the column {column} comes twice")));
        }
    }
    for name in needed {
        if !columns.iter().any(|column| column == name) {
            return Err(AnnotationError::at(path, 1, format!("there is no column {name}")));
        }
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| fault(path, &error))?;
        let line = record
            .position()
            .and_then(|position| usize::try_from(position.line()).ok())
            .unwrap_or(rows.len() + 2);
        if record.len() != columns.len() {
            let reason =
                format!("{} columns, and the first line has {}", record.len(), columns.len());
            return Err(AnnotationError::at(path, line, reason));
        }
        let cells = columns
            .iter()
            .zip(&record)
            .filter(|(_, cell)| !cell.trim().is_empty())
            .map(|(column, cell)| (column.clone(), cell.to_owned()))
            .collect();
        rows.push(Row { line, cells });
    }
    Ok((columns, rows))
}

fn fault(path: &Utf8Path, error: &csv::Error) -> AnnotationError {
    let line = error.position().and_then(|position| usize::try_from(position.line()).ok());
    AnnotationError { path: path.to_owned(), line, reason: "it is not CSV".to_owned() }
}

/// Whether a file is CSV or JSON lines, by its name.
pub(super) fn is_csv(path: &Utf8Path) -> Result<bool, AnnotationError> {
    match path.extension().map(str::to_ascii_lowercase).as_deref() {
        Some("csv") => Ok(true),
        Some("jsonl") => Ok(false),
        _ => Err(AnnotationError::of(path, "the name ends neither in .jsonl nor in .csv")),
    }
}
