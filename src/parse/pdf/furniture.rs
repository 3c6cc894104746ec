//! What recurs at the edges of pages: running headers, footers and page numbers.

use std::collections::BTreeMap;

use super::{
    columns::{Frame, Line},
    geometry::Area,
    lines::Row,
};
use crate::parse::RemovalReason;

/// The rows of a page, from top to bottom.
#[derive(Debug, Default)]
pub(super) struct PageRows {
    pub(super) rows: Vec<Row>,
    pub(super) area: Area,
}

/// Something that is no part of the text, and where it stood.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Furniture {
    pub(super) line: Line,
    pub(super) reason: RemovalReason,
}

/// How deep the edge of a page is, as a share of its height.
const EDGE: f64 = 0.14;

/// How many rows at an edge may be furniture.
const MAX_ROWS: usize = 3;

/// An edge of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Top,
    Foot,
}

/// Takes headers, footers and page numbers off the pages.
pub(super) fn take_off(pages: &mut [PageRows]) -> Vec<Furniture> {
    let n_pages = pages.len();
    let mut places: BTreeMap<(Edge, String), Vec<(usize, f64)>> = BTreeMap::new();
    for (page, rows) in pages.iter().enumerate() {
        for edge in [Edge::Top, Edge::Foot] {
            for row in edge_rows(rows, edge).into_iter().filter_map(|index| rows.rows.get(index)) {
                let key = (edge, pattern(&text(row)));
                places.entry(key).or_default().push((page, row.y));
            }
        }
    }
    let recurs = |edge: Edge, row: &Row| {
        let places = places.get(&(edge, pattern(&text(row))));
        let alike = places.into_iter().flatten().filter(|(_, y)| (y - row.y).abs() < 4.0);
        let n_alike = alike.count();
        // Stars between parts of a text may stand at the top of pages by chance.
        let says_something =
            row.glyphs.iter().any(|glyph| glyph.text.chars().any(char::is_alphanumeric));
        says_something && n_alike >= 2 && 3 * n_alike >= n_pages
    };
    let mut taken = Vec::new();
    for (page, rows) in pages.iter_mut().enumerate() {
        for edge in [Edge::Top, Edge::Foot] {
            let indices = edge_rows(rows, edge);
            let is_furniture = |index: &usize| {
                rows.rows.get(*index).is_some_and(|row| {
                    let is_known = recurs(edge, row) || counts_pages(rows, edge, row, page);
                    row.glyphs.iter().all(|glyph| glyph.is_artifact)
                        || is_known && stands_apart(rows, edge, *index)
                })
            };
            // From the edge inwards: what lies outside a row of the text is no text.
            let last = indices.iter().rposition(is_furniture);
            let mut found: Vec<usize> =
                indices.into_iter().take(last.map_or(0, |l| l + 1)).collect();
            found.sort_unstable_by(|a, b| b.cmp(a));
            for index in found {
                if index >= rows.rows.len() {
                    continue;
                }
                let row = rows.rows.remove(index);
                let reason = reason(edge, &text(&row));
                let line = Line::of(&row, page, Frame::default());
                taken.push(Furniture { line, reason });
            }
        }
    }
    taken.sort_by(|a, b| {
        (a.line.page, a.line.y)
            .partial_cmp(&(b.line.page, b.line.y))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    taken
}

/// The rows at an edge, from outside inwards.
fn edge_rows(page: &PageRows, edge: Edge) -> Vec<usize> {
    let depth = EDGE * page.area.height();
    let is_at_edge = |row: &Row| match edge {
        Edge::Top => row.y <= page.area.y0 + depth,
        Edge::Foot => row.y >= page.area.y1 - depth,
    };
    let indices = page.rows.iter().enumerate().filter(|(_, row)| is_at_edge(row));
    let mut indices: Vec<usize> = indices.map(|(index, _)| index).collect();
    if edge == Edge::Foot {
        indices.reverse();
    }
    indices.truncate(MAX_ROWS);
    indices
}

/// Whether the row is farther from the next one inwards than that is from its next.
fn stands_apart(page: &PageRows, edge: Edge, index: usize) -> bool {
    let inwards = |step: usize| match edge {
        Edge::Top => page.rows.get(index + step),
        Edge::Foot => index.checked_sub(step).and_then(|index| page.rows.get(index)),
    };
    let distance = |a: Option<&Row>, b: Option<&Row>| Some((a?.y - b?.y).abs());
    let Some(own) = distance(inwards(0), inwards(1)) else { return true };
    match distance(inwards(1), inwards(2)) {
        Some(next) => own > 1.2 * next || own > 3.0 * inwards(1).map_or(0.0, |row| row.size),
        None => true,
    }
}

fn text(row: &Row) -> String {
    Line::of(row, 0, Frame::default()).text()
}

/// The text with each number as `#`, in small letters.
fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for ch in text.chars().flat_map(char::to_lowercase) {
        if !ch.is_ascii_digit() {
            pattern.push(ch);
        } else if !pattern.ends_with('#') {
            pattern.push('#');
        }
    }
    pattern
}

/// Whether the text is nothing but the number of a page.
fn is_page_number(text: &str) -> bool {
    let pattern = pattern(text);
    let bare: String = pattern.chars().filter(|ch| !" -–—|/.[]()".contains(*ch)).collect();
    let is_roman = text.len() <= 4 && text.chars().all(|ch| "ivx".contains(ch));
    matches!(bare.as_str(), "#" | "##" | "page#" | "page#of#" | "#of#" | "p#" | "pg#") || is_roman
}

/// The first number in the text.
fn first_number(text: &str) -> Option<usize> {
    let digits = text.trim_start_matches(|ch: char| !ch.is_ascii_digit());
    let end = digits.find(|ch: char| !ch.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// Whether a row that was seen once counts pages: a page number, or a name at the right with
/// the number of this page.
fn counts_pages(page: &PageRows, edge: Edge, row: &Row, index: usize) -> bool {
    let text = text(row);
    if is_page_number(&text) {
        // At the top a number may be a title: a year, a chapter.
        return edge == Edge::Foot || first_number(&text) == Some(index + 1);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let [names @ .., number] = words.as_slice() else { return false };
    let is_name = |word: &&str| word.chars().next().is_some_and(char::is_uppercase);
    let (middle, _) = page.area.middle();
    edge == Edge::Top
        && (1..=3).contains(&names.len())
        && names.iter().all(is_name)
        && number.parse() == Ok(index + 1)
        && row.x0() > middle
}

fn reason(edge: Edge, text: &str) -> RemovalReason {
    match edge {
        _ if is_page_number(text) => RemovalReason::PageNumber,
        Edge::Top => RemovalReason::Header,
        Edge::Foot => RemovalReason::Footer,
    }
}
