//! Files of comma-separated values, row by row, with the lines they begin on.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::AnnotationError;
use crate::text::RowLines;

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

/// The columns that a file may have.
pub(super) struct Columns {
    /// Those that must be there.
    pub(super) needed: &'static [&'static str],
    /// Those that may be missing.
    pub(super) optional: &'static [&'static str],
    /// What others begin with.
    pub(super) prefix: Option<&'static str>,
}

impl Columns {
    fn has(&self, name: &str) -> bool {
        [self.needed, self.optional].concat().contains(&name)
            || self.prefix.is_some_and(|prefix| name.starts_with(prefix))
    }

    fn in_words(&self) -> String {
        let mut words = format!("needed are {}", self.needed.join(", "));
        if let Some(prefix) = self.prefix {
            words.extend([format!(", some that begin with {prefix}")]);
        }
        if !self.optional.is_empty() {
            words.extend([format!("; there may be {}", self.optional.join(", "))]);
        }
        words
    }

    /// What is wrong with the first line.
    fn fault_of(&self, found: &[String]) -> Option<String> {
        if let [only] = found {
            let separators = [(';', "semicolons"), ('\t', "tabs")];
            if let Some((_, name)) = separators.iter().find(|(sign, _)| only.contains(*sign)) {
                return Some(format!("its cells are parted by {name}: save it with commas"));
            }
        }
        for name in found {
            if 1 < found.iter().filter(|other| *other == name).count() {
                return Some(format!("the column {} comes twice", shown(name)));
            }
        }
        let missing = self.needed.iter().find(|needed| found.iter().all(|name| name != *needed));
        let fault = match (missing, found.iter().find(|name| !self.has(name))) {
            (Some(missing), _) => format!("there is no column {missing}"),
            (None, Some(unknown)) => format!("there may be no column {}", shown(unknown)),
            (None, None) => return None,
        };
        let found: Vec<String> = found.iter().map(|name| shown(name)).collect();
        Some(format!("{fault}: {}; found are {}", self.in_words(), found.join(", ")))
    }
}

/// The name of a column; where there are no names the first line holds texts, which are
/// not shown.
fn shown(name: &str) -> String {
    let is_name = name.chars().all(|ch| ch.is_alphanumeric() || "_-.".contains(ch));
    match name.chars().count() {
        0 => "one without a name".to_owned(),
        1..=24 if is_name => format!("`{name}`"),
        n => format!("one of {n} characters"),
    }
}

/// The columns in order, and the rows of a file.
pub(super) fn rows(
    path: &Utf8Path,
    text: &str,
    allowed: &Columns,
) -> Result<(Vec<String>, Vec<Row>), AnnotationError> {
    if text.trim().is_empty() {
        return Err(AnnotationError::of(path, format!("it is empty: {}", allowed.in_words())));
    }
    if text.matches('"').count() % 2 == 1 {
        return Err(AnnotationError::of(path, "a quotation mark is opened and never closed"));
    }
    let mut lines = RowLines::new(text);
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(text.as_bytes());
    let mut columns: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|_| AnnotationError::of(path, "it is not CSV"))?;
        let start = record.position().map_or(0, csv::Position::byte);
        let line = lines.of(usize::try_from(start).unwrap_or(0));
        let Some(columns) = &columns else {
            let names: Vec<String> = record.iter().map(|name| name.trim().to_owned()).collect();
            if let Some(reason) = allowed.fault_of(&names) {
                return Err(AnnotationError::at(path, line, reason));
            }
            columns = Some(names);
            continue;
        };
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
    Ok((columns.unwrap_or_default(), rows))
}

/// Whether a file is CSV or JSON lines, by its name.
pub(super) fn is_csv(path: &Utf8Path) -> Result<bool, AnnotationError> {
    match path.extension().map(str::to_ascii_lowercase).as_deref() {
        Some("csv") => Ok(true),
        Some("jsonl") => Ok(false),
        _ => Err(AnnotationError::of(path, "the name ends neither in .jsonl nor in .csv")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: Columns =
        Columns { needed: &["id", "text"], optional: &["note"], prefix: Some("rating") };

    fn read(text: &str) -> Result<Vec<usize>, String> {
        let found = rows("r.csv".into(), text, &COLUMNS).map_err(|error| error.to_string())?;
        Ok(found.1.into_iter().map(|row| row.line).collect())
    }

    #[test]
    fn rows_bear_the_lines_they_begin_on_however_lines_end() {
        let text = "id,text\na,\"Go on,\n\nplease.\"\n\n\nb,x\nc,y";
        for end in ["\n", "\r\n", "\r"] {
            assert_eq!(read(&text.replace('\n', end)).unwrap(), [2, 7, 8], "{end:?}");
        }
        let late = read("\r\n\r\nid,txt\r\n").unwrap_err();
        assert!(late.contains("r.csv, line 3: "), "{late}");
    }

    #[test]
    fn a_first_line_of_other_columns_says_which_there_are_and_which_there_should_be() {
        for (text, expected) in [
            ("id;text\n1;x\n", "line 1: its cells are parted by semicolons"),
            ("id\ttext\n", "parted by tabs"),
            ("id,txt\n", "no column text: needed are id, text, some that begin with rating"),
            ("id,txt\n", "there may be note; found are `id`, `txt`"),
            ("id,text,seen\n", "there may be no column `seen`: needed"),
            ("id,text,id\n", "the column `id` comes twice"),
            (" \n", "it is empty: needed are id, text"),
            ("1,My secret, as told.\n", "found are `1`, one of 9 characters"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(expected), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
