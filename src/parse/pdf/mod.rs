//! Annotated PDF files.
//!
//! The glyphs of a page are collected with their positions (`glyphs`), joined to rows and
//! lines (`lines`, `columns`), freed of what recurs at the edges of pages (`furniture`,
//! `name_block`) and joined to paragraphs by what the eye goes by (`paragraphs`).
//! Annotations are anchored by geometry alone: they hang on the glyphs whose middles they
//! cover (`anchor`).

mod anchor;
mod annotations;
mod appearance;
mod assemble;
mod bidi;
mod color;
mod columns;
mod furniture;
mod geometry;
mod glyphs;
mod hyphens;
mod lines;
mod name_block;
mod document;
mod export;
mod font;
mod footnotes;
mod paragraphs;
mod shapes;
mod strings;
mod threads;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use super::ParsedDocument;

/// How a PDF file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PdfOptions {
    /// Whether headers, footers, page numbers and the block of name and date stay in the
    /// body, as paragraphs of their own.
    pub keep_headers: bool,
    /// How much of the paragraph each side of an annotation's context holds, in characters.
    pub context: usize,
}

impl Default for PdfOptions {
    fn default() -> Self {
        Self { keep_headers: false, context: 100 }
    }
}

/// Why a PDF file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// There is nothing in it.
    #[error("the file is empty: a copy of it may have been cut off")]
    Empty,
    /// It is no PDF file, or too damaged to find a page in it.
    #[error(
        "no page can be found: this is no PDF file, or a damaged one; save it anew from a viewer"
    )]
    Invalid,
    /// It opens with a password alone.
    #[error("the file opens with a password alone: save it without one")]
    Password,
    /// It is encrypted in a way that is not known.
    #[error("the file is encrypted in an unknown way: save it without encryption")]
    Encryption,
    /// Nothing on its pages is text.
    #[error(
        "there is no text on the {n_pages} pages, as in a scan: run text recognition over it first"
    )]
    NoText {
        /// How many pages it has.
        n_pages: usize,
    },
    /// The library that interprets pages failed.
    #[error("the file breaks the library that reads pages: save it anew from a viewer")]
    Broken,
}

/// Reads a PDF file: its paragraphs, the annotations on them, and what was taken for
/// furniture of the pages.
///
/// # Errors
/// If the file is empty or no PDF file, cannot be decrypted without a password, or bears no
/// text at all.
pub fn parse_pdf(bytes: &[u8], options: &PdfOptions) -> Result<ParsedDocument, PdfError> {
    if bytes.is_empty() {
        return Err(PdfError::Empty);
    }
    // Nothing outside the closure is changed inside it, so nothing can be left half done.
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
            LoadPdfError::Decryption(DecryptionError::PasswordProtected) => PdfError::Password,
            LoadPdfError::Decryption(_) => PdfError::Encryption,
            LoadPdfError::Invalid => PdfError::Invalid,
        })?;
        document::read(&pdf, options)
    }));
    parsed.unwrap_or(Err(PdfError::Broken))
}
