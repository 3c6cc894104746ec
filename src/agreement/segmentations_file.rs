//! Files of texts that people cut into units.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Deserialize;
use serde_json::Value;

use super::{
    AnnotationError,
    annotation_error::{json_lines, plain, read},
    csv_rows::{Columns, is_csv, rows},
};
use crate::segment::Segmentation;

/// A text, and where people cut it.
#[derive(Clone, Debug, PartialEq)]
pub struct TextAnnotation {
    /// Its name, which no other text of the file has.
    pub id: String,
    /// Whose essay it speaks of.
    pub student: Option<String>,
    /// Who wrote it, as `instructor`.
    pub source: Option<String>,
    /// The text.
    pub text: String,
    /// How each annotator cut it; at least one did.
    pub segmentations: Vec<Segmentation>,
}

/// What stands at a cut.
const DELIMITER: &str = "$$";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireText {
    id: Value,
    student: Option<Value>,
    source: Option<String>,
    text: String,
    segmented: Value,
}

/// Loads texts from JSON lines or CSV, as the name of the file says.
///
/// JSON: `{"id", "student", "source", "text", "segmented"}`: `segmented` is the text with `$$` at
/// each cut, which may also stand at the end, or a list of such texts, one of each
/// annotator; `student` and `source` may be missing. CSV: columns of these names, and for several
/// annotators several columns that begin with `segmented`.
///
/// # Errors
///
/// Each names the file and the line: an unknown field, a segmented text that without the
/// delimiters is not the text, a delimiter inside a word, an id that comes twice.
pub fn load_segmentations(path: &Utf8Path) -> Result<Vec<TextAnnotation>, AnnotationError> {
    let text = read(path)?;
    let wires = if is_csv(path)? { from_csv(path, &text)? } else { from_json(path, &text)? };
    if wires.is_empty() {
        return Err(AnnotationError::of(path, "there is no text in it"));
    }
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let mut texts = Vec::new();
    for Wire { line, id, student, source, text, segmented } in wires {
        let fault = |reason: String| AnnotationError::at(path, line, reason);
        if let Some(first) = lines.insert(id.clone(), line) {
            return Err(fault(format!("the id is that of line {first}: give each text its own")));
        }
        if text.trim().is_empty() {
            return Err(fault("the text is blank".to_owned()));
        }
        if segmented.is_empty() {
            return Err(fault("nobody cut the text: give `segmented`, or take it out".to_owned()));
        }
        let cut = |copy: &String| cut(&text, copy).map_err(&fault);
        let segmentations = segmented.iter().map(cut).collect::<Result<_, _>>()?;
        texts.push(TextAnnotation { id, student, source, text, segmentations });
    }
    Ok(texts)
}

struct Wire {
    line: usize,
    id: String,
    student: Option<String>,
    source: Option<String>,
    text: String,
    segmented: Vec<String>,
}

fn from_json(path: &Utf8Path, text: &str) -> Result<Vec<Wire>, AnnotationError> {
    let wires: Vec<(usize, WireText)> = json_lines(path, text)?;
    let wire = |(line, WireText { id, student, source, text, segmented }): (usize, WireText)| {
        let fault = |reason: &str| AnnotationError::at(path, line, reason);
        let id = plain(&id).ok_or_else(|| fault("field id is neither text nor number"))?;
        let student = match &student {
            None => None,
            Some(student) => Some(
                plain(student).ok_or_else(|| fault("field student is neither text nor number"))?,
            ),
        };
        let copies = match segmented {
            Value::Array(copies) => copies,
            copy => vec![copy],
        };
        let copy = |copy| match copy {
            Value::String(copy) => Ok(copy),
            _ => Err(fault("field segmented is neither a text nor a list of texts")),
        };
        let segmented = copies.into_iter().map(copy).collect::<Result<_, _>>()?;
        Ok(Wire { line, id, student, source, text, segmented })
    };
    wires.into_iter().map(wire).collect()
}

fn from_csv(path: &Utf8Path, text: &str) -> Result<Vec<Wire>, AnnotationError> {
    const COLUMNS: Columns = Columns {
        needed: &["id", "text"],
        optional: &["student", "source"],
        prefix: Some("segmented"),
    };
    let (columns, rows) = rows(path, text, &COLUMNS)?;
    let copies: Vec<&String> =
        columns.iter().filter(|column| column.starts_with("segmented")).collect();
    rows.into_iter()
        .map(|row| {
            Ok(Wire {
                line: row.line,
                id: row.needed(path, "id")?,
                student: row.cells.get("student").cloned(),
                source: row.cells.get("source").cloned(),
                text: row.needed(path, "text")?,
                segmented: copies.iter().filter_map(|name| row.cells.get(*name)).cloned().collect(),
            })
        })
        .collect()
}

/// Where a marked copy cuts its text. White space at either end of either is not looked
/// at, and an empty unit is none.
fn cut(text: &str, copy: &str) -> Result<Segmentation, String> {
    let start = text.len() - text.trim_start().len();
    let pieces: Vec<&str> = copy.split(DELIMITER).collect();
    let joined = pieces.concat();
    if joined.trim() != text.trim() {
        let n_same = joined
            .trim()
            .chars()
            .zip(text.trim().chars())
            .take_while(|(copied, own)| copied == own)
            .count();
        return Err(format!(
            "`segmented` without its {DELIMITER} is not `text`: they part after {n_same} characters"
        ));
    }
    let lead = copy.split(DELIMITER).collect::<String>();
    let lead = lead.len() - lead.trim_start().len();
    let mut at = 0;
    let mut ends = Vec::new();
    let last = text.trim_end().len();
    for piece in &pieces[..pieces.len() - 1] {
        at += piece.len();
        let end = (start + at).saturating_sub(lead);
        if end <= start || last <= end || ends.last() == Some(&end) {
            continue;
        }
        let is_inside = text[..end].ends_with(char::is_alphanumeric)
            && text[end..].starts_with(char::is_alphanumeric);
        if is_inside {
            return Err(format!("a {DELIMITER} stands inside a word, at byte {end} of the text"));
        }
        ends.push(end);
    }
    ends.push(text.len());
    Segmentation::new(text, ends).ok_or_else(|| "the cuts are out of order".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_copy_says_where_its_text_is_cut() {
        let text = "Vivid, but long. Cut it.";
        let ends = |copy: &str| cut(text, copy).map(|cut| cut.ends().to_vec());
        assert_eq!(ends("Vivid,$$ but long. $$Cut it.$$").unwrap(), [6, 17, 24]);
        assert_eq!(ends(" Vivid, but long. Cut it.").unwrap(), [24]);
        assert_eq!(ends("$$Vivid, but long.$$$$ Cut it.").unwrap(), [16, 24]);
        assert!(ends("Vivid, but short.$$").unwrap_err().contains("after 11 characters"));
        assert!(ends("Viv$$id, but long. Cut it.").unwrap_err().contains("inside a word"));
    }

    #[test]
    fn several_annotators_may_have_cut_a_text() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let (json, csv) = (dir.join("s.jsonl"), dir.join("s.csv"));
        let line =
            r#"{"id":1,"source":"model","text":"A b. C.","segmented":["A b.$$ C.$$","A b. C.$$"]}"#;
        fs_err::write(&json, line).unwrap();
        fs_err::write(
            &csv,
            "id,source,text,segmented_1,segmented_2\n1,model,A b. C.,A b.$$ C.$$,A b. C.$$\n",
        )
        .unwrap();
        let texts = load_segmentations(&json).unwrap();
        assert_eq!(texts, load_segmentations(&csv).unwrap());
        assert_eq!(texts[0].segmentations.len(), 2);
        fs_err::write(&json, format!("{line}\n{}", line.replace("\"A b. C.\"", "\"A c.\"")))
            .unwrap();
        let message = load_segmentations(&json).unwrap_err().to_string();
        assert!(message.contains("s.jsonl, line 2"), "{message}");
    }
}
