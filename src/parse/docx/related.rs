//! The parts of a document: the main one, and those that it refers to.

use std::collections::{HashMap, HashSet};

use super::{
    DocxError, Tracked,
    comment::{Comment, read_threads, threads},
    flow::{FlowParagraph, NoteKind},
    package::{Package, Relationship},
    pen::Styles,
    tag::Tag,
    walk::{Layout, Story, Walked, walk},
    xml::{Node, XmlReader},
};

/// All that is read of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// The name of the main part.
    pub(super) main: String,
    pub(super) body: Vec<FlowParagraph>,
    pub(super) comments: Vec<Comment>,
    pub(super) notes: HashMap<(NoteKind, String), Story>,
    /// The text of each header, then of each footer.
    pub(super) headers: Vec<String>,
    pub(super) footers: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// Opens the package and reads its parts.
///
/// Comments and notes have to be sound; headers, footers, styles and threads of which
/// nothing can be made leave a warning.
pub(super) fn read_parts(bytes: &[u8], tracked: Tracked) -> Result<Parts, DocxError> {
    let mut package = Package::open(bytes)?;
    let main = package.main_part()?;
    let main_name = package.name(&main).to_owned();
    let related = package.relationships(&main)?;
    let mut document =
        Document { package, related, tracked, styles: Styles::default(), warnings: Vec::new() };
    document.styles = document.styles();
    let text = document.package.read(&main)?;
    check_root(&main_name, &text)?;
    let body = walk((&main_name, &text), Layout::Flow, tracked, &document.styles)?;
    document.note_oddities(&body);
    let mut notes = document.notes(NoteKind::Footnote)?;
    notes.extend(document.notes(NoteKind::Endnote)?);
    let comments = document.comments()?;
    let headers = document.page_furniture("header");
    let footers = document.page_furniture("footer");
    let warnings = document.warnings;
    let body = body.paragraphs;
    Ok(Parts { main: main_name, body, comments, notes, headers, footers, warnings })
}

struct Document<'a> {
    package: Package<'a>,
    related: Vec<Relationship>,
    tracked: Tracked,
    styles: Styles,
    warnings: Vec<String>,
}

impl Document<'_> {
    /// The parts of a kind: those referred to that are there, else those of its content type.
    fn of_kind(&mut self, kind: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        let mut is_dangling = false;
        for relationship in self.related.iter().filter(|it| it.kind == kind) {
            if !self.package.contains(&relationship.target) {
                is_dangling = true;
            } else if seen.insert(&relationship.target) {
                found.push(relationship.target.clone());
            }
        }
        if found.is_empty() {
            found = self.package.of_content_type(&format!(".{kind}+xml"));
        }
        if found.is_empty() && is_dangling {
            self.warnings
                .push(format!("the document refers to a part with {kind} that is not there"));
        }
        found
    }

    fn walk(&mut self, key: &str, layout: Layout) -> Result<Walked, DocxError> {
        let text = self.package.read(key)?;
        let walked = walk((self.package.name(key), &text), layout, self.tracked, &self.styles)?;
        self.note_oddities(&walked);
        Ok(walked)
    }

    fn styles(&mut self) -> Styles {
        let Some(key) = self.of_kind("styles").into_iter().next() else {
            return Styles::default();
        };
        let read = self.package.read(&key);
        let styles = read.and_then(|text| Styles::read(self.package.name(&key), &text));
        styles.unwrap_or_else(|error| {
            self.warnings.push(format!("styles are not known: {error}"));
            Styles::default()
        })
    }

    fn notes(&mut self, kind: NoteKind) -> Result<HashMap<(NoteKind, String), Story>, DocxError> {
        let name = match kind {
            NoteKind::Footnote => "footnotes",
            NoteKind::Endnote => "endnotes",
        };
        let mut notes = HashMap::new();
        for key in self.of_kind(name) {
            for story in self.walk(&key, Layout::Flow)?.stories {
                notes.entry((kind, story.id.clone())).or_insert(story);
            }
        }
        Ok(notes)
    }

    fn comments(&mut self) -> Result<Vec<Comment>, DocxError> {
        let mut parents = HashMap::new();
        for key in self.of_kind("commentsExtended") {
            let read = self.package.read(&key);
            match read.and_then(|text| read_threads(self.package.name(&key), &text)) {
                Ok(threads) => parents.extend(threads),
                Err(error) => {
                    let warning = format!("answers count as comments of their own: {error}");
                    self.warnings.push(warning);
                }
            }
        }
        let mut comments = Vec::new();
        for key in self.of_kind("comments") {
            let walked = self.walk(&key, Layout::Lines)?;
            comments.extend(threads(self.package.name(&key), walked, &parents)?);
        }
        Ok(comments)
    }

    /// The texts of headers or footers, each once.
    fn page_furniture(&mut self, kind: &str) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for key in self.of_kind(kind) {
            match self.walk(&key, Layout::Flow) {
                Ok(walked) => {
                    let text = joined(&walked.paragraphs);
                    if !text.is_empty() && !texts.contains(&text) {
                        texts.push(text);
                    }
                }
                Err(error) => self.warnings.push(format!("a {kind} is not known: {error}")),
            }
        }
        texts
    }

    fn note_oddities(&mut self, walked: &Walked) {
        let oddities = [
            (
                walked.n_unknown_symbols,
                "symbols of fonts have no known character: U+FFFD stands for them",
            ),
            (walked.n_embedded, "embedded documents are not read"),
        ];
        let noted = oddities.into_iter().filter(|(n, _)| 0 < *n);
        self.warnings.extend(noted.map(|(n, what)| format!("{n} {what}")));
    }
}

/// The text of paragraphs, with a space between.
pub(super) fn joined(paragraphs: &[FlowParagraph]) -> String {
    let texts = paragraphs.iter().map(|it| it.text.trim_end()).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join(" ")
}

/// Whether the main part is a Word document, by its root element.
fn check_root(part: &str, text: &str) -> Result<(), DocxError> {
    let mut xml = XmlReader::new(part, text);
    loop {
        match xml.next()? {
            Node::Open(element) if element.tag == Tag::Document => return Ok(()),
            Node::Text(_) => (),
            Node::Open(_) | Node::Close(_) | Node::End => {
                return Err(DocxError::NotWord { part: part.to_owned() });
            }
        }
    }
}
