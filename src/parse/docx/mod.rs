//! DOCX documents with comments, highlights and tracked changes.
//!
//! What counts as what:
//! - Paragraphs come in reading order. Those of a text box follow the paragraph that it
//!   hangs on; a table is read row by row.
//! - A comment over words is a highlight, in the colour of the pen under it; over words that
//!   are struck out, a strikeout; without words, a note. One that reaches over several
//!   paragraphs belongs to the first with words in it. Answers belong to what they answer.
//! - Highlighters, shading of runs and lines through words are annotations of their own
//!   where no comment lies on them. Underlining is the writer's and marks nothing.
//! - A footnote or endnote is no paragraph of the essay and is taken out, unless something
//!   hangs on it: then it follows the paragraph that refers to it.
//! - Headers, footers and the block of name, course and date are taken out.

mod anchor;
mod assemble;
mod comment;
mod error;
mod field;
mod flow;
mod mark;
mod name_block;
mod package;
mod pen;
mod related;
mod symbol;
mod tag;
mod walk;
mod xml;

#[cfg(test)]
mod tests;

pub use error::DocxError;

use super::{ParsedDocument, written::DEFAULT_CONTEXT_CHARS};

/// What becomes of tracked changes of the text; formatting is always as it is now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracked {
    /// The text as it would be with all of them: insertions stay, deletions go.
    #[default]
    Accept,
    /// The text as it was before them: deletions stay, insertions go.
    Reject,
    /// Both stay; what was moved stands in both places.
    Keep,
}

/// How a document is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocxOptions {
    /// What becomes of tracked changes.
    pub tracked: Tracked,
    /// As many characters of context stand on each side of an anchor.
    pub context: usize,
}

impl Default for DocxOptions {
    fn default() -> Self {
        Self { tracked: Tracked::default(), context: DEFAULT_CONTEXT_CHARS }
    }
}

/// Reads a DOCX file.
///
/// # Errors
/// Where the file is something else, damaged or encrypted, or larger when unpacked than any
/// essay is: 32 MiB in one part, 64 MiB in all that are read, 250 times its packed size,
/// 256 elements in one another, 10 000 parts, 10 000 comments, 100 000 paragraphs in one
/// part, 16 MiB of words and contexts of annotations.
pub fn parse_docx(bytes: &[u8], options: &DocxOptions) -> Result<ParsedDocument, DocxError> {
    assemble::assemble(related::read_parts(bytes, options.tracked)?, options)
}
