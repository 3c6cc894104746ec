//! Files of other programs, against what Pandoc reads in them
//! (`scripts/golden/word_documents.py`).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize)]
struct Golden {
    accepted: Vec<String>,
    rejected: Vec<String>,
    comments: Vec<GoldenComment>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct GoldenComment {
    author: String,
    text: String,
    words: String,
}

const FILES: [(&str, &[u8]); 3] = [
    ("pandoc", include_bytes!("../../../../tests/fixtures/docx/pandoc.docx")),
    ("python_docx", include_bytes!("../../../../tests/fixtures/docx/python_docx.docx")),
    ("libreoffice", include_bytes!("../../../../tests/fixtures/docx/libreoffice.docx")),
];

#[test]
fn files_of_other_programs_are_read_as_pandoc_does() {
    let golden = include_str!("../../../../tests/fixtures/docx/golden.json");
    let golden: BTreeMap<String, Golden> = serde_json::from_str(golden).expect("golden values");
    for (name, bytes) in FILES {
        let golden = &golden[name];
        for (tracked, expected) in
            [(Tracked::Accept, &golden.accepted), (Tracked::Reject, &golden.rejected)]
        {
            let options = DocxOptions { tracked, ..DocxOptions::default() };
            let document = parse_docx(bytes, &options).expect("a document");
            assert_eq!(texts(&document), *expected, "{name}");
            assert_eq!(commented(&document), golden.comments, "{name}");
            assert!(document.warnings.is_empty(), "{name}");
        }
    }
}

#[test]
fn marks_of_other_programs_are_seen() {
    for (name, bytes) in FILES.into_iter().filter(|(name, _)| *name != "python_docx") {
        let document = parse_docx(bytes, &DocxOptions::default()).expect("a document");
        let bare: Vec<String> =
            annotations(&document).into_iter().filter(|it| it.ends_with(": ")).collect();
        let expected = ["2 strikeout() struck words: ", "2 highlight(yellow#ffff00) marked ones: "];
        assert_eq!(bare, expected, "{name}");
        assert_eq!(
            removed(&document),
            [
                (RemovalReason::Footnote, "A note with emphasis."),
                (RemovalReason::TrackedChange, "very"),
            ]
        );
    }
}

fn commented(document: &ParsedDocument) -> Vec<GoldenComment> {
    let all = document.paragraphs.iter().flat_map(|paragraph| &paragraph.annotations);
    all.filter(|it| !it.annotation.comment.is_empty())
        .map(|it| GoldenComment {
            author: it.author.clone().unwrap_or_default(),
            text: it.annotation.comment.clone(),
            words: it.annotation.text().unwrap_or_default().to_owned(),
        })
        .collect()
}
