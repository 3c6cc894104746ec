//! Columns of a page, and the order in which their lines are read.

use super::{
    glyphs::Glyph,
    lines::{Row, with_spaces},
};

/// A line of text in its column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Line {
    /// The page, from zero.
    pub(super) page: usize,
    /// The column it stands in.
    pub(super) frame: Frame,
    /// The baseline.
    pub(super) y: f64,
    /// The size of most of its glyphs.
    pub(super) size: f64,
    /// Where it begins.
    pub(super) x0: f64,
    /// Where it ends.
    pub(super) x1: f64,
    /// Its glyphs in the order of reading, with one for each space between words.
    pub(super) glyphs: Vec<Glyph>,
}

/// A column: how many its page has, and which of them. A line across all of them stands in
/// a frame of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frame {
    pub(super) n_columns: usize,
    pub(super) column: usize,
}

impl Line {
    /// The line of a whole row or of a piece of it.
    pub(super) fn of(row: &Row, page: usize, frame: Frame) -> Self {
        Self {
            page,
            frame,
            y: row.y,
            size: row.size,
            x0: row.x0(),
            x1: row.x1(),
            glyphs: with_spaces(&row.glyphs),
        }
    }

    /// What it says.
    pub(super) fn text(&self) -> String {
        self.glyphs.iter().map(|glyph| glyph.text.as_str()).collect()
    }
}

/// The narrowest gap between columns, in sizes of the font.
const MIN_GUTTER: f64 = 0.9;

/// The fewest rows a column has.
const MIN_ROWS: usize = 5;

/// How many places across the page are looked at.
const N_BINS: usize = 400;

/// The gaps between the columns of a page, from left to right: stretches of its width, away
/// from its edges, that hardly any row crosses, with many rows on both sides.
pub(super) fn gutters(rows: &[Row]) -> Vec<(f64, f64)> {
    let x0 = rows.iter().map(Row::x0).fold(f64::INFINITY, f64::min);
    let x1 = rows.iter().map(Row::x1).fold(f64::NEG_INFINITY, f64::max);
    let width = x1 - x0;
    if rows.len() < MIN_ROWS || !width.is_finite() || width <= 0.0 {
        return Vec::new();
    }
    let bin_width = width / N_BINS as f64;
    let mut n_crossing = [0_usize; N_BINS];
    for row in rows {
        for (start, end) in row.stretches(0.5) {
            let is_crossed = |bin: &usize| {
                let left = x0 + *bin as f64 * bin_width;
                start < left + bin_width && left < end
            };
            for bin in (0..N_BINS).filter(is_crossed) {
                if let Some(count) = n_crossing.get_mut(bin) {
                    *count += 1;
                }
            }
        }
    }
    let size = rows.iter().map(|row| row.size).fold(0.0, f64::max).min(14.0);
    let most = (rows.len() * 6 / 100).max(1);
    let mut gutters = Vec::new();
    let mut start = None;
    for (bin, count) in n_crossing.iter().chain([&usize::MAX]).enumerate() {
        if *count <= most {
            start = start.or(Some(bin));
        } else if let Some(first) = start.take() {
            let gutter = (x0 + first as f64 * bin_width, x0 + bin as f64 * bin_width);
            let is_inside = gutter.0 > x0 + 0.12 * width && gutter.1 < x1 - 0.12 * width;
            let is_wide = gutter.1 - gutter.0 >= MIN_GUTTER * size;
            if is_inside && is_wide && has_columns(rows, gutter) {
                gutters.push(gutter);
            }
        }
    }
    gutters
}

/// Whether on both sides of the gap there are rows enough, and text enough in them: the cells
/// of a table and the items of a list are short.
fn has_columns(rows: &[Row], (start, end): (f64, f64)) -> bool {
    let pieces = |is_inside: &dyn Fn(&Glyph) -> bool| {
        let counts = rows.iter().map(|row| row.glyphs.iter().filter(|g| is_inside(g)).count());
        let counts: Vec<usize> = counts.filter(|count| *count > 0).collect();
        (counts.len(), counts.iter().sum::<usize>())
    };
    let (n_left, left) = pieces(&|glyph| glyph.x1 <= end);
    let (n_right, right) = pieces(&|glyph| glyph.x0 >= start);
    let is_prose = |n_rows: usize, n_glyphs: usize| n_rows >= MIN_ROWS && n_glyphs >= 20 * n_rows;
    is_prose(n_left, left)
        && is_prose(n_right, right)
        && 4 * n_left.min(n_right) >= n_left.max(n_right)
}

/// The rows of a page as lines in the order of reading. Rows across a gutter end the columns
/// above them.
pub(super) fn lines(rows: &[Row], gutters: &[(f64, f64)], page: usize) -> Vec<Line> {
    let n_columns = gutters.len() + 1;
    if n_columns == 1 {
        let frame = Frame { n_columns, column: 0 };
        return rows.iter().map(|row| Line::of(row, page, frame)).collect();
    }
    let mut lines = Vec::new();
    let mut columns: Vec<Vec<Line>> = vec![Vec::new(); n_columns];
    for row in rows {
        let crosses = |(start, end): (f64, f64)| {
            let mut middles = gutters.iter().map(|(left, right)| f64::midpoint(*left, *right));
            middles.any(|middle| start < middle && middle < end)
        };
        if row.stretches(0.5).into_iter().any(crosses) {
            lines.extend(columns.iter_mut().flat_map(std::mem::take));
            lines.push(Line::of(row, page, Frame { n_columns, column: n_columns }));
            continue;
        }
        for (column, glyphs) in pieces(row, gutters).into_iter().enumerate() {
            if let Some(piece) = Row::new(glyphs)
                && let Some(column_lines) = columns.get_mut(column)
            {
                column_lines.push(Line::of(&piece, page, Frame { n_columns, column }));
            }
        }
    }
    lines.extend(columns.into_iter().flatten());
    lines
}

/// The glyphs of a row by column.
fn pieces(row: &Row, gutters: &[(f64, f64)]) -> Vec<Vec<Glyph>> {
    let mut pieces = vec![Vec::new(); gutters.len() + 1];
    for glyph in &row.glyphs {
        let (x, _) = glyph.middle();
        let column = gutters.iter().filter(|(start, end)| x > f64::midpoint(*start, *end)).count();
        if let Some(piece) = pieces.get_mut(column) {
            piece.push(glyph.clone());
        }
    }
    pieces
}
