//! Texts that somebody cut into units, to learn from.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::pairs::{stem, student};
use crate::{
    agreement::{AnnotationError, load_pairs, load_segmentations},
    segment::Segmentation,
};

/// A text, and where its units end.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedText {
    /// Whose essay it is about.
    pub student: String,
    /// The text.
    pub text: String,
    /// How it was cut: of several annotators, by the first.
    pub cut: Segmentation,
}

/// Loads a file of cut texts, JSON lines or CSV, as [`load_segmentations`]. Where it
/// does not say itself whose a text is, `students` does, by the `id` up to its first `-`.
pub fn load_marked(
    path: &Utf8Path,
    students: &BTreeMap<String, String>,
) -> Result<Vec<MarkedText>, AnnotationError> {
    let texts = load_segmentations(path)?.into_iter();
    let marked = texts.filter_map(|text| {
        let student = text.student.unwrap_or_else(|| {
            let stem = stem(&text.id);
            students.get(stem).cloned().unwrap_or_else(|| stem.to_owned())
        });
        let cut = text.segmentations.into_iter().next()?;
        Some(MarkedText { student, text: text.text, cut })
    });
    Ok(marked.collect())
}

/// Whose the paragraphs of a file of rated pairs are, by the beginning of their ids.
pub(super) fn students(path: &Utf8Path) -> Result<BTreeMap<String, String>, AnnotationError> {
    let pairs = load_pairs(path)?;
    Ok(pairs.iter().map(|pair| (stem(&pair.id).to_owned(), student(pair))).collect())
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn a_text_is_of_the_student_that_it_names_or_that_its_id_begins_like() {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("cut.jsonl")).unwrap();
        let line = |id: &str, more: &str| {
            format!(
                r#"{{"id": "{id}", {more} "text": "Good. But why?", "segmented": ["Good.$$ But why?$$", "Good. But why?"]}}"#
            )
        };
        let lines =
            [line("P1-a", ""), line("P2-a", ""), line("P1-b", r#""student": "mine","#)].join("\n");
        fs_err::write(&path, lines).unwrap();
        let known = [("P1".to_owned(), "ID0017".to_owned())].into();
        let texts = load_marked(&path, &known).unwrap();
        let students: Vec<&str> = texts.iter().map(|text| text.student.as_str()).collect();
        assert_eq!(students, ["ID0017", "P2", "mine"]);
        assert_eq!(texts[0].cut.ends(), [5, 14]);
    }
}
