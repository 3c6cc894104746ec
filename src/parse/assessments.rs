//! Grades and overall comments that stand in tables beside the documents.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use crate::{
    corpus::{Assessment, Grade},
    text::line_at,
};

/// Why a table of assessments cannot be read. No message quotes what it holds but the names
/// of columns and drafts.
#[derive(Debug, thiserror::Error)]
pub enum AssessmentsError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Something in it is wrong.
    #[error("{path}, line {line}: {problem}")]
    Line {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from one.
        line: usize,
        /// What is wrong, and the way out.
        problem: String,
    },
}

/// What is said of whole drafts, by the name of the draft.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assessments {
    by_draft: BTreeMap<String, Assessment>,
}

/// Columns that hold no grade.
const DRAFT: &str = "draft";
const COMMENT: &str = "comment";
const PEER_COMMENT: &str = "peer_comment";

impl Assessments {
    /// Adds a table: comma-separated values with a line of headings. The column `draft`
    /// names the document without its ending; `comment` and `peer_comment` are comments, and
    /// every other column is a grade of that name, an empty cell being none.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is no such table, or says something of a draft that was
    /// said before.
    pub fn add(&mut self, path: &Utf8Path) -> Result<(), AssessmentsError> {
        let fault = |line: usize, problem: String| AssessmentsError::Line {
            path: path.to_owned(),
            line,
            problem,
        };
        let bytes = fs_err::read(path)?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            fault(line_at(&bytes, error.valid_up_to()), "not UTF-8: save it as UTF-8".to_owned())
        })?;
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let csv_fault = |error: &csv::Error| {
            let line = error.position().map_or(1, csv::Position::line);
            let problem = match error.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("{len} columns, and the first line has {expected_len}")
                }
                _ => "not comma-separated values".to_owned(),
            };
            fault(usize::try_from(line).unwrap_or(usize::MAX), problem)
        };
        let columns: Vec<String> = reader
            .headers()
            .map_err(|error| csv_fault(&error))?
            .iter()
            .map(|name| name.trim().to_owned())
            .collect();
        let Some(draft_column) = columns.iter().position(|name| name == DRAFT) else {
            let found = columns.join(", ");
            return Err(fault(1, format!("there is no column `{DRAFT}` (found: {found})")));
        };
        for record in reader.records() {
            let record = record.map_err(|error| csv_fault(&error))?;
            let line = record.position().map_or(0, csv::Position::line);
            let line = usize::try_from(line).unwrap_or(usize::MAX);
            let draft = record.get(draft_column).unwrap_or_default().trim();
            if draft.is_empty() {
                return Err(fault(line, format!("the column `{DRAFT}` is empty")));
            }
            let own = self.by_draft.entry(draft.to_owned()).or_insert_with(|| Assessment {
                grades: Vec::new(),
                comment: String::new(),
                peer_comment: String::new(),
            });
            for (name, cell) in columns.iter().zip(record.iter()) {
                let cell = cell.trim();
                if name == DRAFT || cell.is_empty() {
                    continue;
                }
                let is_there = match name.as_str() {
                    COMMENT => !own.comment.is_empty(),
                    PEER_COMMENT => !own.peer_comment.is_empty(),
                    _ => own.grades.iter().any(|(known, _)| known == name),
                };
                if is_there {
                    let problem = format!("`{name}` of {draft} is there already: keep one of them");
                    return Err(fault(line, problem));
                }
                match name.as_str() {
                    COMMENT => cell.clone_into(&mut own.comment),
                    PEER_COMMENT => cell.clone_into(&mut own.peer_comment),
                    _ => own.grades.push((name.clone(), Grade::parse(cell))),
                }
            }
        }
        Ok(())
    }

    /// What is said of a draft.
    pub fn of(&self, draft: &str) -> Option<&Assessment> {
        self.by_draft.get(draft)
    }

    /// The drafts that something is said of.
    pub fn drafts(&self) -> impl Iterator<Item = &str> {
        self.by_draft.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tables: &[&str]) -> Result<Assessments, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("table.csv")).unwrap();
        let mut found = Assessments::default();
        for table in tables {
            fs_err::write(&path, table).unwrap();
            found.add(&path).map_err(|error| error.to_string())?;
        }
        Ok(found)
    }

    #[test]
    fn tables_of_grades_and_of_comments_go_together() {
        let grades = "\u{feff}draft,Summary,Style\na,13,B+\nb,,\n";
        let comments = "draft,comment\na,\"Good,\nand short.\"\nc,So.\n";
        let found = read(&[grades, comments]).unwrap();
        let own = found.of("a").unwrap();
        assert_eq!(own.comment, "Good,\nand short.");
        assert_eq!(own.grades[0], ("Summary".to_owned(), Grade::Points(13.0)));
        assert_eq!(own.grades[1], ("Style".to_owned(), Grade::Mark("B+".to_owned())));
        assert!(found.of("b").unwrap().grades.is_empty());
        assert_eq!(found.drafts().collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (tables, wanted) in [
            (vec!["name;grade\n"], "line 1: there is no column `draft`"),
            (vec!["draft,comment\n,So.\n"], "line 2: the column `draft` is empty"),
            (vec!["draft,comment\na,x,y\n"], "line 2: 3 columns, and the first line has 2"),
            (vec!["draft,comment\na,x\n", "draft,comment\nb,y\na,z\n"], "line 3: `comment` of a"),
        ] {
            let error = read(&tables).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
