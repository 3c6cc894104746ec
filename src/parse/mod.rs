//! Annotated documents, turned into what the corpus holds: paragraphs, and the marks and
//! comments that hang on them.
//!
//! A parser loses nothing in silence. What it takes for furniture of the page (a header, a
//! page number, the block with name and date) goes to [`ParsedDocument::removed`] with the
//! reason; a comment that belongs to no place in the text still becomes an annotation, and
//! [`ParsedDocument::warnings`] says so. Texts of the document stand in the document alone:
//! no error and no warning quotes them.

pub mod assessments;
pub mod color;
pub mod docx;
pub mod pdf;
pub mod written;

use crate::corpus::Annotation;

/// A document as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedDocument {
    /// The paragraphs of the body, in reading order, none of them empty.
    pub paragraphs: Vec<ParsedParagraph>,
    /// Text that was taken out of the body, in order.
    pub removed: Vec<RemovedText>,
    /// What a person should look at: where, and what is doubtful. Never text of the
    /// document.
    pub warnings: Vec<String>,
}

/// One paragraph of the body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedParagraph {
    /// Its text: white space runs are one space, without any at its ends.
    pub text: String,
    /// What hangs on it, by `start`, then `end`, then the order of the document.
    pub annotations: Vec<ParsedAnnotation>,
    /// The page it begins on, from one; `None` where the format has no pages.
    pub page: Option<usize>,
}

/// An annotation, and what the corpus format has no field for.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedAnnotation {
    /// As the corpus holds it.
    pub annotation: Annotation,
    /// Where the anchor begins in the paragraph's text, in bytes.
    pub start: usize,
    /// Where it ends; the same as `start` for a note.
    pub end: usize,
    /// How it was marked.
    pub mark: Mark,
    /// The colour that was seen, as `#rrggbb`; `None` where there was none.
    pub hex: Option<String>,
    /// Who made it, as the document says.
    pub author: Option<String>,
    /// When it was made, as the document says.
    pub date: Option<String>,
    /// Answers to it, in order: they are no annotations of their own.
    pub replies: Vec<Reply>,
}

/// How something was marked in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// A highlighter.
    Highlight,
    /// A line below; a highlight in the corpus format.
    Underline,
    /// A wavy line below; a highlight in the corpus format.
    Squiggly,
    /// A line through the words.
    Strikeout,
    /// A note at a point.
    Note,
    /// Text written on the page; a note in the corpus format.
    FreeText,
    /// A comment over words that bear no mark of their own; a highlight in the corpus
    /// format.
    Comment,
}

/// An answer to an annotation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// What it says.
    pub text: String,
    /// Who wrote it, as the document says.
    pub author: Option<String>,
    /// When, as the document says.
    pub date: Option<String>,
}

/// Text that is not part of the essay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedText {
    /// The text.
    pub text: String,
    /// Why it was taken out.
    pub reason: RemovalReason,
    /// The page it stood on, from one; `None` where the format has no pages.
    pub page: Option<usize>,
}

/// Why text was taken out of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemovalReason {
    /// It recurs at the top of pages.
    Header,
    /// It recurs at the foot of pages.
    Footer,
    /// It counts pages.
    PageNumber,
    /// The block of name, course and date before the title.
    NameBlock,
    /// A change that the document tracks was accepted or rejected.
    TrackedChange,
    /// A footnote or an endnote on which nothing hangs.
    Footnote,
}
