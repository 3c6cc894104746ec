//! A parsed document as the corpus writes it, and the record of what the corpus has no place
//! for.

use serde_json::{Map, Value, json};

use super::{Mark, ParsedAnnotation, ParsedDocument, RemovalReason};
use crate::corpus::{Annotation, Assessment, Color, Draft, DraftId, Grade, Paragraph};

/// As many characters of context stand on each side of an anchor unless more or fewer are
/// asked for.
pub const DEFAULT_CONTEXT_CHARS: usize = 100;

/// The text before byte `start` and after byte `end`, at most `n_chars` characters of each.
/// Where the places are no borders of characters, or not in order, there is none.
pub fn contexts(text: &str, start: usize, end: usize, n_chars: usize) -> (&str, &str) {
    let (Some(left), Some(right)) = (text.get(..start), text.get(end..)) else {
        return ("", "");
    };
    let skipped = left.char_indices().rev().take(n_chars).last().map_or(left.len(), |it| it.0);
    let kept = right.char_indices().nth(n_chars).map_or(right.len(), |it| it.0);
    (left.get(skipped..).unwrap_or_default(), right.get(..kept).unwrap_or_default())
}

impl ParsedDocument {
    /// The draft that the corpus would load of it: without assessment and rubric.
    pub fn draft(&self, id: DraftId) -> Draft {
        let paragraphs = self.paragraphs.iter().map(|paragraph| Paragraph {
            text: paragraph.text.clone(),
            annotations: paragraph.annotations.iter().map(|it| it.annotation.clone()).collect(),
        });
        Draft { id, paragraphs: paragraphs.collect(), assessment: None, rubric: None }
    }

    /// The file of the corpus: paragraphs with their annotations, and what is said of the
    /// whole draft.
    pub fn corpus_json(&self, assessment: Option<&Assessment>) -> Value {
        let paragraphs = self.paragraphs.iter().map(|paragraph| {
            let annotations =
                paragraph.annotations.iter().map(|it| corpus_annotation(&it.annotation));
            json!({ "body": paragraph.text, "annotations": annotations.collect::<Vec<_>>() })
        });
        let assessments: Vec<Value> = assessment.map(corpus_assessment).into_iter().collect();
        json!({ "paragraphs": paragraphs.collect::<Vec<_>>(), "annotations": assessments })
    }

    /// What the file of the corpus cannot hold: text that was taken out and why, how things
    /// were marked and by whom, answers to comments, and what is doubtful. Marks name their
    /// annotation by the indices of its paragraph and of itself in the file.
    pub fn side_json(&self) -> Value {
        let removed = self.removed.iter().map(|removed| {
            let mut record = Map::new();
            record.insert("reason".to_owned(), json!(removed.reason.name()));
            insert_some(&mut record, "page", removed.page.as_ref());
            record.insert("text".to_owned(), json!(removed.text));
            Value::Object(record)
        });
        let marks = self.paragraphs.iter().enumerate().flat_map(|(paragraph, it)| {
            let annotations = it.annotations.iter().enumerate();
            annotations.map(move |(index, it)| mark_record(paragraph, index, it))
        });
        let pages = self.paragraphs.iter().map(|paragraph| paragraph.page).collect::<Vec<_>>();
        let mut record = Map::new();
        if pages.iter().any(Option::is_some) {
            record.insert("pages".to_owned(), json!(pages));
        }
        record.insert("marks".to_owned(), marks.collect());
        record.insert("removed".to_owned(), removed.collect());
        record.insert("warnings".to_owned(), json!(self.warnings));
        Value::Object(record)
    }
}

fn corpus_assessment(assessment: &Assessment) -> Value {
    let grades: Map<String, Value> = assessment
        .grades
        .iter()
        .map(|(name, grade)| {
            let grade = match grade {
                Grade::Points(points) => json!(points),
                Grade::Mark(mark) => json!(mark),
                Grade::NotGiven => Value::Null,
            };
            (name.clone(), grade)
        })
        .collect();
    let mut record = Map::new();
    record.insert("grades".to_owned(), Value::Object(grades));
    record.insert("comment".to_owned(), json!(assessment.comment));
    if !assessment.peer_comment.is_empty() {
        record.insert("Peer Comment".to_owned(), json!(assessment.peer_comment));
    }
    Value::Object(record)
}

fn corpus_annotation(annotation: &Annotation) -> Value {
    let mut record = Map::new();
    record.insert("type".to_owned(), json!(annotation.kind()));
    insert_some(&mut record, "color", annotation.color().map(Color::name).as_ref());
    insert_some(&mut record, "text", annotation.text().as_ref());
    record.insert("comment".to_owned(), json!(annotation.comment));
    record.insert("context_left".to_owned(), json!(annotation.context_left));
    record.insert("context_right".to_owned(), json!(annotation.context_right));
    Value::Object(record)
}

fn mark_record(paragraph: usize, index: usize, parsed: &ParsedAnnotation) -> Value {
    let mut record = Map::new();
    record.insert("paragraph".to_owned(), json!(paragraph));
    record.insert("annotation".to_owned(), json!(index));
    record.insert("mark".to_owned(), json!(parsed.mark.name()));
    insert_some(&mut record, "hex", parsed.hex.as_ref());
    insert_some(&mut record, "author", parsed.author.as_ref());
    insert_some(&mut record, "date", parsed.date.as_ref());
    if !parsed.replies.is_empty() {
        let replies = parsed.replies.iter().map(|reply| {
            let mut record = Map::new();
            record.insert("text".to_owned(), json!(reply.text));
            insert_some(&mut record, "author", reply.author.as_ref());
            insert_some(&mut record, "date", reply.date.as_ref());
            Value::Object(record)
        });
        record.insert("replies".to_owned(), replies.collect());
    }
    Value::Object(record)
}

fn insert_some<T: serde::Serialize>(record: &mut Map<String, Value>, key: &str, value: Option<&T>) {
    if let Some(value) = value {
        record.insert(key.to_owned(), json!(value));
    }
}

impl RemovalReason {
    /// Its name in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Footer => "footer",
            Self::PageNumber => "page_number",
            Self::NameBlock => "name_block",
            Self::TrackedChange => "tracked_change",
            Self::Footnote => "footnote",
        }
    }
}

impl Mark {
    /// Its name in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Highlight => "highlight",
            Self::Underline => "underline",
            Self::Squiggly => "squiggly",
            Self::Strikeout => "strikeout",
            Self::Note => "note",
            Self::FreeText => "free_text",
            Self::Comment => "comment",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        corpus::{Anchor, Corpus},
        parse::{ParsedParagraph, RemovedText, Reply},
    };

    #[test]
    fn contexts_count_characters_and_stop_at_the_ends() {
        let text = "Ein schöner Satz.";
        assert_eq!(contexts(text, 4, 12, 3), ("in ", " Sa"));
        assert_eq!(contexts(text, 12, 12, 4), ("öner", " Sat"));
        assert_eq!(contexts(text, 4, 12, 100), ("Ein ", " Satz."));
        assert_eq!(contexts(text, 4, 12, 0), ("", ""));
        assert_eq!(contexts(text, 8, 100, 5), ("", ""));
    }

    #[test]
    fn what_is_written_says_what_was_parsed() {
        let (left, right) = contexts("A good start.", 2, 6, 20);
        let annotation = Annotation {
            anchor: Anchor::Highlight { text: "good".to_owned(), color: Color::Pink },
            comment: "Why?".to_owned(),
            context_left: left.to_owned(),
            context_right: right.to_owned(),
        };
        let parsed = ParsedAnnotation {
            annotation: annotation.clone(),
            start: 2,
            end: 6,
            mark: Mark::Highlight,
            hex: Some("#ff00ff".to_owned()),
            author: Some("I".to_owned()),
            date: None,
            replies: vec![Reply { text: "Because.".to_owned(), ..Reply::default() }],
        };
        let document = ParsedDocument {
            paragraphs: vec![ParsedParagraph {
                text: "A good start.".to_owned(),
                annotations: vec![parsed],
                page: None,
            }],
            removed: vec![RemovedText {
                text: "Doe 1".to_owned(),
                reason: RemovalReason::Header,
                page: None,
            }],
            warnings: vec!["look here".to_owned()],
        };
        let expected = json!({
            "paragraphs": [{
                "body": "A good start.",
                "annotations": [{
                    "type": "highlight", "color": "pink", "text": "good", "comment": "Why?",
                    "context_left": "A ", "context_right": " start."
                }]
            }],
            "annotations": []
        });
        assert_eq!(document.corpus_json(None), expected);
        let expected = json!({
            "marks": [{
                "paragraph": 0, "annotation": 0, "mark": "highlight", "hex": "#ff00ff",
                "author": "I", "replies": [{ "text": "Because." }]
            }],
            "removed": [{ "reason": "header", "text": "Doe 1" }],
            "warnings": ["look here"]
        });
        assert_eq!(document.side_json(), expected);
        let draft = document.draft(DraftId::new("a"));
        assert_eq!(draft.paragraphs[0].annotations, [annotation]);
        // And the corpus loads what is written as that draft.
        let folder = tempfile::tempdir().expect("a folder");
        let folder = camino::Utf8Path::from_path(folder.path()).expect("a name in UTF-8");
        fs_err::write(folder.join("a.json"), document.corpus_json(None).to_string()).expect("room");
        let corpus = Corpus::load(folder).expect("a corpus");
        assert_eq!(corpus.drafts(), [draft]);
        assert!(corpus.unknown_fields().is_empty());
    }
}
