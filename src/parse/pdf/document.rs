//! A whole document, from its pages to paragraphs with what hangs on them.

use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::{InterpreterCache, InterpreterSettings};

use super::{
    PdfError, PdfOptions,
    anchor::{Doubt, Text},
    annotations::{self, Canvas, RawAnnotation},
    assemble::{self, Placed},
    columns::{self, Frame, Line},
    export, footnotes,
    furniture::{self, Furniture, PageRows},
    glyphs::{self, Glyph},
    hyphens::Hyphens,
    lines, name_block,
    paragraphs::{self, Layout},
    threads,
};
use crate::parse::{ParsedDocument, ParsedParagraph, RemovalReason, RemovedText};

/// The most pages that are read.
const MAX_PAGES: usize = 2_000;

/// What stands on the pages, before it is text.
#[derive(Default)]
struct Pages {
    rows: Vec<PageRows>,
    /// Text that runs in another direction.
    aside: Vec<Line>,
    annotations: Vec<RawAnnotation>,
    warnings: Vec<String>,
}

/// Reads a document.
pub(super) fn read(pdf: &Pdf, options: &PdfOptions) -> Result<ParsedDocument, PdfError> {
    let mut pages = read_pages(pdf);
    let n_pages = pages.rows.len();
    if pages.rows.iter().all(|page| page.rows.is_empty()) && pages.aside.is_empty() {
        return Err(PdfError::NoText { n_pages });
    }
    let mut removed = furniture::take_off(&mut pages.rows);
    let mut lines = body_lines(&pages.rows);
    let layout = Layout::of(&lines);
    let block = name_block::find(&lines, &layout);
    removed.extend(take(&mut lines, block, RemovalReason::NameBlock));
    footnotes::take_off(&mut lines, &mut removed);
    removed.sort_by(|a, b| a.line.page.cmp(&b.line.page).then(a.line.y.total_cmp(&b.line.y)));
    let body = Body::of(lines, pages.aside, &removed, options.keep_headers);
    let mut document = ParsedDocument { warnings: pages.warnings, ..ParsedDocument::default() };
    if !options.keep_headers {
        document.removed = removed.iter().map(removed_text).collect();
    }
    document.paragraphs = body
        .paragraphs
        .iter()
        .map(|placed| ParsedParagraph {
            text: placed.text.clone(),
            page: placed
                .glyphs
                .first()
                .and_then(|glyph| body.lines.get(glyph.line))
                .map(|l| l.page + 1),
            annotations: Vec::new(),
        })
        .collect();
    add_annotations(&mut document, &body, pages.annotations, options);
    Ok(document)
}

fn read_pages(pdf: &Pdf) -> Pages {
    let cache = InterpreterCache::new();
    let settings = InterpreterSettings::default();
    let mut pages = Pages::default();
    let all = pdf.pages();
    if all.len() > MAX_PAGES {
        pages.warnings.push(format!("only the first {MAX_PAGES} of {} pages were read", all.len()));
    }
    for (index, page) in all.iter().take(MAX_PAGES).enumerate() {
        let found = glyphs::page_glyphs(page, &cache, &settings);
        let number = index + 1;
        if found.is_cut {
            pages.warnings.push(format!("page {number} has more text than can be read"));
        }
        if found.n_guessed > 0 {
            pages.warnings.push(format!(
                "page {number}: {} characters have no Unicode and were read by their codes",
                found.n_guessed
            ));
        }
        pages.read_aside(found.aside, index);
        let canvas = Canvas {
            page,
            index,
            to_upright: found.to_upright,
            cache: &cache,
            settings: &settings,
        };
        pages.read_annotations(&canvas);
        pages.rows.push(PageRows { rows: lines::rows(found.main), area: found.area });
    }
    pages
}

impl Pages {
    fn read_aside(&mut self, aside: Vec<Vec<Glyph>>, page: usize) {
        for glyphs in aside {
            let rows = lines::rows(glyphs);
            let frame = Frame { n_columns: 0, column: 0 };
            self.aside.extend(rows.iter().map(|row| Line::of(row, page, frame)));
            let place = format!("page {}", page + 1);
            self.warnings.push(format!(
                "{place}: {} lines run in another direction and stand at the end",
                rows.len()
            ));
        }
    }

    fn read_annotations(&mut self, canvas: &Canvas<'_, '_>) {
        let (annotations, n_silent) = annotations::read(canvas);
        let place = format!("page {}", canvas.index + 1);
        if n_silent > 0 {
            self.warnings.push(format!("{place}: {n_silent} drawings without a comment left out"));
        }
        self.annotations.extend(annotations);
    }
}

/// The lines of all pages in the order of reading. A page whose text lies to one side of a
/// gutter of the page before has the same columns: the last page of an essay in columns.
fn body_lines(pages: &[PageRows]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut last: Vec<(f64, f64)> = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let mut gutters = columns::gutters(&page.rows);
        let fits = |gutters: &[(f64, f64)]| {
            page.rows.iter().flat_map(|row| row.stretches(0.5)).all(|(start, end)| {
                gutters.iter().all(|(left, right)| end <= *right || start >= *left)
            })
        };
        if gutters.is_empty() && fits(&last) {
            gutters.clone_from(&last);
        }
        lines.extend(columns::lines(&page.rows, &gutters, index));
        last = gutters;
    }
    lines
}

fn take(
    lines: &mut Vec<Line>,
    range: std::ops::Range<usize>,
    reason: RemovalReason,
) -> Vec<Furniture> {
    let range = range.start.min(lines.len())..range.end.min(lines.len());
    lines.drain(range).map(|line| Furniture { line, reason }).collect()
}

fn removed_text(furniture: &Furniture) -> RemovedText {
    RemovedText {
        text: furniture.line.text(),
        reason: furniture.reason,
        page: Some(furniture.line.page + 1),
    }
}

/// The text of the body.
struct Body {
    lines: Vec<Line>,
    paragraphs: Vec<Placed>,
    /// The paragraph of each line.
    homes: Vec<usize>,
}

impl Body {
    fn of(lines: Vec<Line>, aside: Vec<Line>, furniture: &[Furniture], keeps: bool) -> Self {
        let layout = Layout::of(&lines);
        let hyphens = Hyphens::of(&lines);
        let mut ranges = paragraphs::paragraphs(&lines, &layout);
        let mut all = lines;
        let n_body = all.len();
        all.extend(aside);
        ranges.extend((n_body..all.len()).map(|index| index..index + 1));
        if keeps {
            let n_lines = all.len();
            all.extend(furniture.iter().map(|furniture| furniture.line.clone()));
            insert_furniture(&mut ranges, &all, n_lines, n_body);
        }
        let mut body = Self { homes: vec![0; all.len()], paragraphs: Vec::new(), lines: all };
        for range in ranges {
            let placed = assemble::paragraph(&body.lines, range.clone(), &hyphens, &layout);
            for home in body.homes.get_mut(range).into_iter().flatten() {
                *home = body.paragraphs.len();
            }
            body.paragraphs.push(placed);
        }
        body
    }
}

/// Puts each line of furniture before the first paragraph that begins below it.
fn insert_furniture(
    ranges: &mut Vec<std::ops::Range<usize>>,
    lines: &[Line],
    n_lines: usize,
    n_body: usize,
) {
    for index in n_lines..lines.len() {
        let Some(line) = lines.get(index) else { continue };
        let is_below = |range: &std::ops::Range<usize>| {
            range.start >= n_body && range.start < n_lines
                || range.start < n_body
                    && lines.get(range.start).is_some_and(|first| {
                        first.page > line.page || first.page == line.page && first.y > line.y
                    })
        };
        let at = ranges.iter().position(is_below).unwrap_or(ranges.len());
        ranges.insert(at, index..index + 1);
    }
}

fn add_annotations(
    document: &mut ParsedDocument,
    body: &Body,
    annotations: Vec<RawAnnotation>,
    options: &PdfOptions,
) {
    let text = Text { lines: &body.lines, paragraphs: &body.paragraphs, homes: &body.homes };
    let (threads, n_doubles) = threads::threads(annotations);
    if n_doubles > 0 {
        document.warnings.push(format!("{n_doubles} annotations stood there twice and count once"));
    }
    for thread in threads {
        let place = format!("page {}", thread.annotation.page + 1);
        let Some(anchored) = text.anchor(&thread.annotation) else {
            document.warnings.push(format!("{place}: an annotation has no text to hang on"));
            continue;
        };
        let problem = match anchored.doubt {
            None => None,
            Some(Doubt::NoText) => Some("covers no text and hangs on the nearest"),
            Some(Doubt::NoPlace) => Some("has no place on the page and hangs on its start"),
            Some(Doubt::SeveralParagraphs) => {
                Some("covers several paragraphs and hangs on the one it covers most of")
            }
        };
        if let Some(problem) = problem {
            document.warnings.push(format!("{place}: an annotation {problem}"));
        }
        if let Some(paragraph) = document.paragraphs.get_mut(anchored.place.paragraph) {
            let annotation = export::annotation(thread, &anchored.place, &paragraph.text, options);
            paragraph.annotations.push(annotation);
        }
    }
    for paragraph in &mut document.paragraphs {
        paragraph.annotations.sort_by_key(|annotation| (annotation.start, annotation.end));
    }
}
