//! Documents made for the purpose, and what is read of them.

mod changes;
mod marks;
mod mutation;
mod package;
mod producers;
mod text;
mod threads;

use std::io::{Cursor, Write};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{DocxError, DocxOptions, Tracked, parse_docx};
use crate::parse::{ParsedAnnotation, ParsedDocument, RemovalReason};

pub(super) const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
pub(super) const OFFICE: &str =
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";

/// A document in the making: a body, and parts beside it.
#[derive(Clone, Debug, Default)]
pub(super) struct Docx {
    pub(super) body: String,
    /// The kind of each part, its name in the folder of the main part, its content.
    pub(super) related: Vec<(&'static str, &'static str, String)>,
}

impl Docx {
    pub(super) fn new(body: &str) -> Self {
        Self { body: body.to_owned(), related: Vec::new() }
    }

    /// With comments, each a name, an author and its paragraphs as XML.
    pub(super) fn comments(self, comments: &[(&str, &str)]) -> Self {
        let comments: Vec<String> = comments
            .iter()
            .map(|(id, inner)| {
                let inner = if inner.starts_with('<') { (*inner).to_owned() } else { p(&r(inner)) };
                format!(r#"<w:comment w:id="{id}" w:author="Ada" w:date="2024-01-15T12:00:00Z">{inner}</w:comment>"#)
            })
            .collect();
        self.part("comments", "comments.xml", &root("comments", &comments.concat()))
    }

    pub(super) fn part(mut self, kind: &'static str, name: &'static str, content: &str) -> Self {
        self.related.push((kind, name, content.to_owned()));
        self
    }

    /// The parts by their names.
    pub(super) fn parts(&self) -> Vec<(String, String)> {
        let body = format!("<w:body>{}</w:body>", self.body);
        let references: String = self
            .related
            .iter()
            .enumerate()
            .map(|(index, (kind, name, _))| relationship(index, kind, name))
            .collect();
        let mut parts = vec![
            (
                "_rels/.rels".to_owned(),
                relationships(&relationship(0, "officeDocument", "word/document.xml")),
            ),
            ("word/document.xml".to_owned(), root("document", &body)),
            ("word/_rels/document.xml.rels".to_owned(), relationships(&references)),
        ];
        let related = self.related.iter();
        parts.extend(related.map(|(_, name, content)| (format!("word/{name}"), content.clone())));
        parts
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        zipped(&self.parts())
    }

    pub(super) fn read(&self) -> ParsedDocument {
        self.read_with(Tracked::Accept)
    }

    pub(super) fn read_with(&self, tracked: Tracked) -> ParsedDocument {
        let options = DocxOptions { tracked, ..DocxOptions::default() };
        parse_docx(&self.bytes(), &options).expect("a sound document")
    }
}

pub(super) fn relationship(index: usize, kind: &str, target: &str) -> String {
    format!(r#"<Relationship Id="r{index}" Type="{OFFICE}/{kind}" Target="{target}"/>"#)
}

pub(super) fn relationships(inner: &str) -> String {
    format!(r#"<Relationships xmlns="{PACKAGE}/relationships">{inner}</Relationships>"#)
}

pub(super) fn content_types(parts: &[(&str, &str)]) -> String {
    let types: Vec<String> = parts
        .iter()
        .map(|(part, kind)| format!(r#"<Override PartName="{part}" ContentType="{kind}"/>"#))
        .collect();
    let types = types.concat();
    format!(r#"<Types xmlns="{PACKAGE}/content-types">{types}</Types>"#)
}

/// The root element of a part, with the usual namespaces.
pub(super) fn root(name: &str, inner: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><w:{name} xmlns:w="{WORD}" xmlns:r="{OFFICE}" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" xmlns:w15="http://schemas.microsoft.com/office/word/2012/wordml" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:w16se="http://schemas.microsoft.com/office/word/2015/wordml/symex">{inner}</w:{name}>"#
    )
}

pub(super) fn zipped(parts: &[(String, String)]) -> Vec<u8> {
    let bytes: Vec<(&str, &[u8])> =
        parts.iter().map(|(name, content)| (name.as_str(), content.as_bytes())).collect();
    zipped_bytes(&bytes)
}

pub(super) fn zipped_bytes(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in parts {
        writer.start_file(*name, options).expect("a new part");
        writer.write_all(content).expect("room in memory");
    }
    writer.finish().expect("an archive").into_inner()
}

pub(super) fn p(inner: &str) -> String {
    format!("<w:p>{inner}</w:p>")
}

/// A run of text.
pub(super) fn r(text: &str) -> String {
    format!(r#"<w:r><w:t xml:space="preserve">{text}</w:t></w:r>"#)
}

/// A run with properties.
pub(super) fn pen(properties: &str, text: &str) -> String {
    format!(r#"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>"#)
}

pub(super) fn start(id: &str) -> String {
    format!(r#"<w:commentRangeStart w:id="{id}"/>"#)
}

/// The end of a comment's range, and the reference to it.
pub(super) fn end(id: &str) -> String {
    format!(r#"<w:commentRangeEnd w:id="{id}"/>{}"#, reference(id))
}

pub(super) fn reference(id: &str) -> String {
    format!(r#"<w:r><w:commentReference w:id="{id}"/></w:r>"#)
}

/// The texts of the paragraphs.
pub(super) fn texts(document: &ParsedDocument) -> Vec<&str> {
    document.paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect()
}

pub(super) fn removed(document: &ParsedDocument) -> Vec<(RemovalReason, &str)> {
    document.removed.iter().map(|removed| (removed.reason, removed.text.as_str())).collect()
}

/// Each annotation as its paragraph, kind, colour, words and comment; a note has the text
/// before it for words.
pub(super) fn annotations(document: &ParsedDocument) -> Vec<String> {
    let all = document.paragraphs.iter().enumerate().flat_map(|(index, paragraph)| {
        paragraph.annotations.iter().map(move |it| {
            let ParsedAnnotation { annotation, start, end, hex, .. } = it;
            let words = match annotation.text() {
                Some(text) => {
                    assert_eq!(&paragraph.text[*start..*end], text);
                    text.to_owned()
                }
                None => format!("{}|", &paragraph.text[..*start]),
            };
            let color = annotation.color().map_or("", |color| color.name());
            let hex = hex.as_deref().unwrap_or_default();
            let comment = &annotation.comment;
            format!("{index} {}({color}{hex}) {words}: {comment}", annotation.kind())
        })
    });
    all.collect()
}

pub(super) fn error(parts: &[(String, String)]) -> DocxError {
    parse_docx(&zipped(parts), &DocxOptions::default()).expect_err("an unsound document")
}
