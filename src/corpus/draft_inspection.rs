//! What is odd about one draft.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use super::{
    Annotation, Assessment, Finding, FindingKind, Grade, MIN_COMMENT_CHARS, Paragraph,
    draft_file::DraftFile, prose_marks::odd_characters,
};

/// Everything odd in a draft's file, taken by itself, in the order of its fields.
pub(super) fn inspect_draft(file: &Utf8Path, draft: &DraftFile) -> Vec<Finding> {
    let mut findings = Findings { file, list: Vec::new() };
    for (field, n_times) in &draft.unknown_fields {
        findings.add(FindingKind::UnknownField, field, format!("{n_times} in this file"));
    }
    let content = &draft.content;
    if content.paragraphs.is_empty() {
        findings.add(FindingKind::NoParagraphs, "paragraphs", String::new());
    } else if !content.paragraphs.iter().any(Paragraph::is_annotated) {
        findings.add(FindingKind::NoAnnotations, "paragraphs", String::new());
    }
    let mut first_places: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, paragraph) in content.paragraphs.iter().enumerate() {
        let text = paragraph.text.trim();
        let first = *first_places.entry(text).or_insert(index);
        let field = format!("paragraphs[{index}]");
        if text.is_empty() {
            findings.add(FindingKind::EmptyParagraph, &format!("{field}.body"), String::new());
        } else if first != index {
            let detail = format!("as paragraphs[{first}]");
            findings.add(FindingKind::DuplicateParagraph, &format!("{field}.body"), detail);
        }
        findings.add_odd_characters(&format!("{field}.body"), &paragraph.text);
        findings.add_annotations(&field, paragraph);
    }
    if let Some(assessment) = &content.assessment {
        findings.add_assessment(assessment);
    }
    findings.list
}

/// The findings on one file.
struct Findings<'a> {
    file: &'a Utf8Path,
    list: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, kind: FindingKind, field: &str, detail: String) {
        let (file, field) = (self.file.to_owned(), field.to_owned());
        self.list.push(Finding { file, field, kind, detail });
    }

    fn add_odd_characters(&mut self, field: &str, text: &str) {
        for (kind, detail) in odd_characters(text) {
            self.add(kind, field, detail);
        }
    }

    fn add_annotations(&mut self, field: &str, paragraph: &Paragraph) {
        for (index, annotation) in paragraph.annotations.iter().enumerate() {
            let field = format!("{field}.annotations[{index}]");
            self.add_comment(&format!("{field}.comment"), &annotation.comment);
            self.add_place(&field, annotation, &paragraph.text);
            let first = paragraph.annotations.iter().position(|earlier| earlier == annotation);
            if let Some(first) = first.filter(|first| *first != index) {
                let detail = format!("as annotations[{first}]");
                self.add(FindingKind::DuplicateAnnotation, &field, detail);
            }
        }
    }

    fn add_comment(&mut self, field: &str, comment: &str) {
        match comment.trim().chars().count() {
            0 => self.add(FindingKind::EmptyComment, field, String::new()),
            1..MIN_COMMENT_CHARS => self.add(FindingKind::ShortComment, field, String::new()),
            _ => (),
        }
        self.add_odd_characters(field, comment);
    }

    fn add_place(&mut self, field: &str, annotation: &Annotation, text: &str) {
        let has_context =
            !annotation.context_left.is_empty() || !annotation.context_right.is_empty();
        match annotation.text() {
            Some(words) if words.trim().is_empty() => {
                self.add(FindingKind::EmptyHighlight, &format!("{field}.text"), String::new());
                return;
            }
            None if !has_context => {
                self.add(FindingKind::NoteWithoutContext, field, String::new());
                return;
            }
            _ => (),
        }
        match (annotation.locate(text), annotation.text()) {
            (None, Some(_)) => {
                self.add(FindingKind::WordsNotFound, &format!("{field}.text"), String::new());
            }
            (Some(place), _) if place.has_context => {
                if !place.is_unique {
                    self.add(FindingKind::AmbiguousPlace, field, String::new());
                }
            }
            _ => self.add(FindingKind::ContextMismatch, field, String::new()),
        }
    }

    fn add_assessment(&mut self, assessment: &Assessment) {
        if assessment.comment.trim().is_empty() && assessment.peer_comment.trim().is_empty() {
            self.add(FindingKind::NoOverallComment, "annotations[0]", String::new());
        }
        self.add_odd_characters("annotations[0].comment", &assessment.comment);
        self.add_odd_characters("annotations[0].Peer Comment", &assessment.peer_comment);
        let mut seen = BTreeSet::new();
        for (name, grade) in &assessment.grades {
            let field = format!("annotations[0].grades.{}", shortened(name));
            if !seen.insert(name) {
                let detail = "a second grade of this name".to_owned();
                self.add(FindingKind::ImplausibleGrade, &field, detail);
            }
            if let Grade::Points(points) = *grade {
                let maximum = maximum_in(name).unwrap_or(100.0);
                if !(0.0..=maximum).contains(&points) {
                    let detail = format!("{points} of {maximum}");
                    self.add(FindingKind::ImplausibleGrade, &field, detail);
                }
            }
        }
    }
}

/// The maximum that the name of a grade states at its end: `Summary (15)`.
fn maximum_in(name: &str) -> Option<f64> {
    let (_, number) = name.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    number.parse().ok()
}

/// The beginning of a name, which may be a whole criterion.
fn shortened(name: &str) -> String {
    const MAX_CHARS: usize = 40;
    match name.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}...", name[..end].trim_end()),
        None => name.to_owned(),
    }
}
