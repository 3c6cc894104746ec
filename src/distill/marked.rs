//! Texts that somebody cut into units.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Deserialize;

use super::{
    DistillError,
    lines::{self, Owner},
};

/// What stands where a unit ends.
const DELIMITER: &str = "$$";

/// A text, and where its units end.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedText {
    /// Whose essay it is about.
    pub student: String,
    /// Who wrote it.
    pub source: String,
    /// The text.
    pub text: String,
    /// Where units end, in bytes; the end of the text is not among them.
    pub cuts: Vec<usize>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    source: String,
    text: String,
    segmented: String,
}

/// Reads a file of cut texts. Where it does not say itself whose a text is, `students`
/// does, by the `id` up to its first `-`.
pub fn load_marked(
    path: &Utf8Path,
    students: &BTreeMap<String, String>,
) -> Result<Vec<MarkedText>, DistillError> {
    lines::load(path, |line| {
        let owner: Owner = lines::object(line)?;
        let Line { source, text, segmented } = lines::object(line)?;
        let parts: Vec<&str> = segmented.split(DELIMITER).collect();
        if parts.concat() != text {
            let same = parts.concat().bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
            return Err(format!(
                "`segmented` without its {DELIMITER} is not `text`: they differ at byte {same}"
            ));
        }
        let student = owner.student().ok_or("it has none of `student`, `draft` and `id`")?;
        let student = students.get(&student).cloned().unwrap_or(student);
        let mut cuts = Vec::new();
        let mut end = 0;
        for part in &parts[..parts.len() - 1] {
            end += part.len();
            if !text[end..].trim().is_empty() {
                cuts.push(end);
            }
        }
        cuts.dedup();
        Ok(MarkedText { student, source, text, cuts })
    })
}

/// Whose the paragraphs of a file of rated pairs are, by the beginning of their ids.
pub(super) fn students(path: &Utf8Path) -> Result<BTreeMap<String, String>, DistillError> {
    #[derive(Deserialize)]
    struct Id {
        id: String,
    }
    let pairs = lines::load(path, |line| {
        let Id { id } = lines::object(line)?;
        let owner: Owner = lines::object(line)?;
        let paragraph = id.split('-').next().unwrap_or_default().to_owned();
        Ok((paragraph, owner.student().ok_or("it does not say whose it is")?))
    })?;
    Ok(pairs.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    fn check(line: &str) -> Result<Vec<MarkedText>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("cut.jsonl")).unwrap();
        fs_err::write(&path, line).unwrap();
        let students = [("P1".to_owned(), "ID0017".to_owned())].into();
        load_marked(&path, &students).map_err(|error| error.to_string())
    }

    #[test]
    fn the_end_of_the_text_is_no_cut() {
        let line =
            r#"{"id": "P1-a", "text": "Good. But why? ", "segmented": "Good.$$ But why?$$ "}"#;
        let text = check(line).unwrap().remove(0);
        assert_eq!((text.cuts, text.student.as_str()), (vec![5], "ID0017"));
    }

    #[test]
    fn a_text_that_does_not_join_back_is_named_with_its_line() {
        let line = r#"{"id": "P1-a", "text": "Good. But why?", "segmented": "Good.$$ And why?$$"}"#;
        let error = check(line).unwrap_err();
        assert!(error.contains("cut.jsonl, line 1: ") && error.contains("byte 6"), "{error}");
    }
}
