//! Notes at the foot of pages, and their marks in the text.

use super::{
    columns::{Frame, Line},
    furniture::Furniture,
    paragraphs::usual_size,
};
use crate::parse::RemovalReason;

/// Text below this share of the usual size is small print.
const SMALL: f64 = 0.92;

/// Takes the notes at the foot of columns out of the lines: small print down to the end of
/// the column whose first line begins with a mark, a number or a sign. The same mark, where it
/// is raised in the text of the page, goes with it.
///
/// A note that recurs on several pages is among the footers already; it becomes a note.
pub(super) fn take_off(lines: &mut Vec<Line>, removed: &mut Vec<Furniture>) {
    let size = usual_size(lines);
    let mut is_note = vec![false; lines.len()];
    let mut marks: Vec<(usize, String)> = Vec::new();
    for furniture in removed.iter_mut() {
        let line = &furniture.line;
        let is_small_footer = furniture.reason == RemovalReason::Footer && line.size < SMALL * size;
        if let Some(mark) = mark(line).filter(|_| is_small_footer) {
            marks.push((line.page, mark));
            furniture.reason = RemovalReason::Footnote;
        }
    }
    for range in columns(lines) {
        let column = lines.get(range.clone()).unwrap_or_default();
        let n_small = column.iter().rev().take_while(|line| line.size < SMALL * size).count();
        let notes = column.get(column.len() - n_small..).unwrap_or_default();
        let Some(start) = notes.iter().position(|line| mark(line).is_some()) else { continue };
        if n_small == column.len() {
            continue;
        }
        marks.extend(notes.iter().filter_map(|line| Some((line.page, mark(line)?))));
        for flag in is_note.get_mut(range.end - n_small + start..range.end).into_iter().flatten() {
            *flag = true;
        }
    }
    let mut kept = Vec::with_capacity(lines.len());
    for (mut line, is_note) in lines.drain(..).zip(is_note) {
        if is_note {
            removed.push(Furniture { line, reason: RemovalReason::Footnote });
        } else {
            drop_marks(&mut line, &marks);
            kept.push(line);
        }
    }
    *lines = kept;
}

/// The lines of each column of each page, as ranges.
fn columns(lines: &[Line]) -> Vec<std::ops::Range<usize>> {
    let mut columns: Vec<std::ops::Range<usize>> = Vec::new();
    let mut last: Option<(usize, Frame)> = None;
    for (index, line) in lines.iter().enumerate() {
        match columns.last_mut() {
            Some(column) if last == Some((line.page, line.frame)) => column.end = index + 1,
            _ => columns.push(index..index + 1),
        }
        last = Some((line.page, line.frame));
    }
    columns
}

/// The mark that a note begins with.
fn mark(line: &Line) -> Option<String> {
    let text = line.text();
    let mark: String = text.chars().take_while(char::is_ascii_digit).collect();
    if !mark.is_empty() && mark.len() <= 3 {
        return Some(mark);
    }
    let mark: String = text.chars().take_while(|ch| "*†‡§".contains(*ch)).collect();
    (!mark.is_empty()).then_some(mark)
}

/// Takes raised marks out of a line of the text.
fn drop_marks(line: &mut Line, marks: &[(usize, String)]) {
    let (y, size) = (line.y, line.size);
    let is_raised: Vec<bool> = line
        .glyphs
        .iter()
        .map(|glyph| glyph.size < 0.85 * size && glyph.y < y - 0.15 * size && !glyph.is_space())
        .collect();
    let mut start = 0;
    let mut drop = vec![false; line.glyphs.len()];
    while start < is_raised.len() {
        let length = is_raised.iter().skip(start).take_while(|raised| **raised).count();
        let run = line.glyphs.get(start..start + length).unwrap_or_default();
        let text: String = run.iter().map(|glyph| glyph.text.as_str()).collect();
        let is_mark = marks.iter().any(|(page, mark)| *page == line.page && *mark == text);
        for flag in drop.get_mut(start..start + length).into_iter().flatten() {
            *flag = is_mark;
        }
        start += length.max(1);
    }
    let mut drop = drop.into_iter();
    line.glyphs.retain(|_| !drop.next().unwrap_or(false));
    while line.glyphs.last().is_some_and(super::glyphs::Glyph::is_space) {
        line.glyphs.pop();
    }
    line.x1 = line.glyphs.iter().map(|glyph| glyph.x1).fold(line.x0, f64::max);
}
