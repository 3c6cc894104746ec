//! Small PDF files: lines of Courier, in which each glyph is 0.6 of the size wide.

use std::fmt::Write as _;

use crate::parse::{
    ParsedDocument,
    pdf::{PdfOptions, parse_pdf},
};

/// The size of the text, in points.
pub(super) const SIZE: f64 = 10.0;

/// The width of a glyph, in points.
pub(super) const WIDTH: f64 = 6.0;

/// A page: what is drawn, what hangs on it, and further entries of its dictionary.
#[derive(Clone, Default)]
pub(super) struct Page {
    pub(super) content: String,
    pub(super) annotations: Vec<String>,
    pub(super) entries: String,
}

impl Page {
    /// A page with a line of text at each of these places.
    pub(super) fn of(lines: &[(f64, f64, &str)]) -> Self {
        let mut page = Self::default();
        for (x, y, text) in lines {
            page.draw(*x, *y, SIZE, text);
        }
        page
    }

    /// Draws one more line, in bytes of `WinAnsiEncoding` as octal escapes where needed.
    pub(super) fn draw(&mut self, x: f64, y: f64, size: f64, text: &str) {
        let text = text.replace('(', "\\(").replace(')', "\\)");
        let _ = writeln!(self.content, "BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET");
    }

    /// The page with an annotation, given as the entries of its dictionary.
    pub(super) fn with(mut self, annotation: &str) -> Self {
        self.annotations.push(annotation.to_owned());
        self
    }
}

/// A file of these pages. Annotations are objects 1000, 1001 and so on, over all pages, and
/// `extra` are further objects with their numbers.
pub(super) fn file(pages: &[Page], extra: &[(usize, String)]) -> Vec<u8> {
    let mut objects = vec![
        (1, "<< /Type /Catalog /Pages 2 0 R >>".to_owned()),
        (
            3,
            "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>"
                .into(),
        ),
    ];
    let mut kids = String::new();
    let mut next_annotation = 1000;
    for (index, page) in pages.iter().enumerate() {
        let (number, content) = (10 + 2 * index, 11 + 2 * index);
        let _ = write!(kids, "{number} 0 R ");
        let mut annotations = String::new();
        for annotation in &page.annotations {
            let _ = write!(annotations, "{next_annotation} 0 R ");
            objects.push((next_annotation, format!("<< /Type /Annot {annotation} >>")));
            next_annotation += 1;
        }
        objects.push((
            number,
            format!(
                "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> \
                 /Contents {content} 0 R /Annots [ {annotations} ] {} >>",
                page.entries
            ),
        ));
        let length = page.content.len();
        objects.push((
            content,
            format!("<< /Length {length} >>\nstream\n{}\nendstream", page.content),
        ));
    }
    let n_pages = pages.len();
    objects.push((
        2,
        format!("<< /Type /Pages /Kids [ {kids} ] /Count {n_pages} /MediaBox [0 0 612 792] >>"),
    ));
    objects.extend(extra.iter().cloned());
    objects.sort_by_key(|(number, _)| *number);
    serialized(&objects)
}

fn serialized(objects: &[(usize, String)]) -> Vec<u8> {
    let mut text = "%PDF-1.7\n".to_owned();
    let mut table = String::new();
    for (number, object) in objects {
        let _ = write!(table, "{number} 1\n{:010} 00000 n \n", text.len());
        let _ = write!(text, "{number} 0 obj\n{object}\nendobj\n");
    }
    let start = text.len();
    let size = objects.last().map_or(0, |(number, _)| number + 1);
    let _ = write!(
        text,
        "xref\n0 1\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n\
         startxref\n{start}\n%%EOF\n"
    );
    text.into_bytes()
}

/// What a file of these pages says.
pub(super) fn parsed(pages: &[Page]) -> ParsedDocument {
    parse_pdf(&file(pages, &[]), &PdfOptions::default()).expect("a sound file")
}

/// The texts of the paragraphs.
pub(super) fn texts(document: &ParsedDocument) -> Vec<&str> {
    document.paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect()
}

/// The corners of a mark over so many glyphs from one of a line, as viewers write them.
pub(super) fn quad(x: f64, y: f64, from: usize, n_glyphs: usize) -> String {
    let (x0, y0, x1, y1) = edges(x, y, from, n_glyphs);
    format!("{x0} {y1} {x1} {y1} {x0} {y0} {x1} {y0}")
}

/// The rectangle of the same mark.
pub(super) fn rect(x: f64, y: f64, from: usize, n_glyphs: usize) -> String {
    let (x0, y0, x1, y1) = edges(x, y, from, n_glyphs);
    format!("{x0} {y0} {x1} {y1}")
}

fn edges(x: f64, y: f64, from: usize, n_glyphs: usize) -> (f64, f64, f64, f64) {
    let x0 = x + from as f64 * WIDTH;
    (x0, y - 2.0, x0 + n_glyphs as f64 * WIDTH, y + 8.0)
}
