//! From lines to paragraphs, by what the eye goes by: indents, gaps, lines that end early.

use std::collections::BTreeMap;

use super::columns::{Frame, Line};

/// The measures of a document that its lines are judged by.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The left and right edges of the columns.
    edges: BTreeMap<Frame, (f64, f64)>,
    /// The usual distance of baselines, in points.
    pitch: f64,
    /// The size that most glyphs have, in points.
    size: f64,
    /// Whether paragraphs are told by indents or gaps; else only lines that end early tell.
    has_cues: bool,
    /// Whether most of those begin with an indent.
    has_indents: bool,
}

impl Layout {
    /// The measures of these lines.
    pub(super) fn of(lines: &[Line]) -> Self {
        let mut by_frame: BTreeMap<Frame, Vec<&Line>> = BTreeMap::new();
        for line in lines {
            by_frame.entry(line.frame).or_default().push(line);
        }
        let edges = by_frame.iter().map(|(frame, lines)| (*frame, edges(lines))).collect();
        let mut layout =
            Self { edges, pitch: pitch(lines), size: usual_size(lines), ..Self::default() };
        layout.judge_cues(lines);
        layout
    }

    /// Where lines of a column begin.
    pub(super) fn left(&self, frame: Frame) -> f64 {
        self.edges.get(&frame).map_or(0.0, |(left, _)| *left)
    }

    /// How far lines of a column reach.
    pub(super) fn right(&self, frame: Frame) -> f64 {
        self.edges.get(&frame).map_or(0.0, |(_, right)| *right)
    }

    fn width(&self, frame: Frame) -> f64 {
        (self.right(frame) - self.left(frame)).max(1.0)
    }

    /// How far the line begins inside its column, in sizes of its font.
    fn indent(&self, line: &Line) -> f64 {
        (line.x0 - self.left(line.frame)) / line.size.max(1.0)
    }

    fn is_indented(&self, line: &Line) -> bool {
        self.indent(line) > MIN_INDENT
    }

    /// Whether the line stands in the middle of its column, away from both edges.
    pub(super) fn is_centered(&self, line: &Line) -> bool {
        let (before, after) = (line.x0 - self.left(line.frame), self.right(line.frame) - line.x1);
        let slack = (0.015 * self.width(line.frame)).max(0.5 * line.size);
        before > line.size && after > line.size && (before - after).abs() < 2.0 * slack
    }

    /// How much room was left on `line` after the first word of `next`, in points: negative
    /// where the word had to go to the next line.
    fn room(&self, line: &Line, next: &Line) -> f64 {
        let space = 0.25 * line.size;
        self.right(line.frame) - line.x1 - space - first_word_width(next)
    }

    /// Whether the line ends before its column does though the next word would have had room.
    fn ends_early(&self, line: &Line, next: &Line) -> bool {
        self.room(line, next) > (0.12 * line.size).max(1.0)
    }

    /// Whether it ends so early that no word could be the reason.
    fn ends_far_too_early(&self, line: &Line, next: &Line) -> bool {
        self.room(line, next) > 0.2 * self.width(line.frame)
    }

    /// Whether not one letter more has room on the line.
    pub(super) fn is_full(&self, line: &Line) -> bool {
        self.right(line.frame) - line.x1 < 0.6 * line.size
    }

    /// Whether the lines stand farther apart than those of a paragraph of their size.
    fn has_gap(&self, line: &Line, next: &Line) -> bool {
        let step = next.y - line.y;
        let pitch = self.pitch * (next.size / self.size.max(0.1)).max(1.0);
        follows(line, next) && step > 1.15 * pitch && step - pitch > 0.12 * line.size
    }

    /// Finds out whether more paragraphs begin with an indent or after a gap than end early
    /// without either.
    fn judge_cues(&mut self, lines: &[Line]) {
        let (mut n_indents, mut n_gaps, mut n_early) = (0_usize, 0_usize, 0_usize);
        for pair in lines.windows(2) {
            let [line, next] = pair else { continue };
            if !follows(line, next) || self.is_centered(line) || self.is_centered(next) {
                continue;
            }
            if self.is_indented(next) && !self.is_indented(line) {
                n_indents += 1;
            } else if self.has_gap(line, next) {
                n_gaps += 1;
            } else if self.room(line, next) > 0.1 * self.width(line.frame) && ends_sentence(line) {
                n_early += 1;
            }
        }
        self.has_cues = n_indents + n_gaps > n_early;
        self.has_indents = n_indents > n_gaps.max(n_early);
    }
}

/// An indent is at least this wide, in sizes of the font.
const MIN_INDENT: f64 = 0.8;

/// Whether the second line stands below the first in the same column.
fn follows(line: &Line, next: &Line) -> bool {
    line.page == next.page && line.frame == next.frame && next.y > line.y
}

fn edges(lines: &[&Line]) -> (f64, f64) {
    let mut starts: Vec<f64> = lines.iter().map(|line| line.x0).collect();
    let mut ends: Vec<f64> = lines.iter().map(|line| line.x1).collect();
    starts.sort_by(f64::total_cmp);
    ends.sort_by(|a, b| b.total_cmp(a));
    // A line in a hundred may stick out: an address that does not break, a hanging mark.
    let right = ends.get(ends.len() / 100).copied().unwrap_or(0.0);
    (most_common_start(&starts), right)
}

/// The leftmost place where at least a fifth of the lines begin; else where most do.
fn most_common_start(sorted: &[f64]) -> f64 {
    let count = |start: f64| count_between(sorted, start - 1.5, start + 1.5);
    let enough = sorted.len().div_ceil(5).max(2);
    let first = sorted.iter().find(|start| count(**start) >= enough);
    first.or(sorted.first()).copied().unwrap_or(0.0)
}

/// The usual distance of the lines of a paragraph: the smallest that a tenth of neighbouring
/// lines have, since in a dialogue most lines are paragraphs of their own.
fn pitch(lines: &[Line]) -> f64 {
    let size = usual_size(lines);
    let mut steps: Vec<f64> = lines
        .windows(2)
        .filter_map(|pair| match pair {
            [line, next] if follows(line, next) => {
                let are_usual = line.size.min(next.size) > 0.92 * size;
                are_usual.then_some(next.y - line.y)
            }
            _ => None,
        })
        .collect();
    steps.sort_by(f64::total_cmp);
    let enough = steps.len().div_ceil(10);
    let alike = |step: f64| count_between(&steps, 0.97 * step, 1.03 * step);
    let usual = steps.iter().find(|step| **step > 0.8 * size && alike(**step) >= enough);
    usual.copied().unwrap_or(f64::INFINITY)
}

/// How many of the numbers, which are sorted, lie between the two.
fn count_between(sorted: &[f64], low: f64, high: f64) -> usize {
    let below = sorted.partition_point(|value| *value < low);
    sorted.partition_point(|value| *value <= high).saturating_sub(below)
}

/// The size that most glyphs have.
pub(super) fn usual_size(lines: &[Line]) -> f64 {
    let mut counts: BTreeMap<u64, (usize, f64)> = BTreeMap::new();
    for line in lines {
        // In tenths of a point: sizes of the same font differ by rounding.
        let key = (10.0 * line.size).round().to_bits();
        counts.entry(key).or_insert((0, line.size)).0 += line.glyphs.len();
    }
    counts.into_values().max_by_key(|(count, _)| *count).map_or(0.0, |(_, size)| size)
}

/// The width of what stands before the first space.
fn first_word_width(line: &Line) -> f64 {
    let word = || line.glyphs.iter().take_while(|glyph| !glyph.is_space());
    let start = word().map(|glyph| glyph.x0).fold(f64::INFINITY, f64::min);
    let end = word().map(|glyph| glyph.x1).fold(f64::NEG_INFINITY, f64::max);
    (end - start).max(0.0)
}

fn ends_sentence(line: &Line) -> bool {
    let text = line.text();
    let text = text.trim_end_matches(['"', '”', '’', '\'', ')', ']']);
    text.ends_with(['.', '?', '!', ':', '…'])
}

fn starts_lowercase(line: &Line) -> bool {
    line.text().chars().next().is_some_and(char::is_lowercase)
}

/// A mark of a list at the start of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListMark {
    Bullet,
    Number,
}

fn list_mark(line: &Line) -> Option<ListMark> {
    let text = line.text();
    let (mark, _) = text.split_once(' ')?;
    if matches!(
        mark,
        "•" | "◦" | "▪" | "■" | "●" | "○" | "‣" | "·" | "\u{f0b7}" | "o" | "-" | "–" | "*"
    ) {
        return Some(ListMark::Bullet);
    }
    let number = mark.strip_suffix(['.', ')'])?.trim_start_matches('(');
    let is_number = (1..=2).contains(&number.len()) && number.chars().all(|ch| ch.is_ascii_digit());
    let is_letter = number.len() == 1 && number.chars().all(|ch| ch.is_ascii_alphabetic());
    (is_number || is_letter).then_some(ListMark::Number)
}

/// The lines of the paragraphs, as ranges of `lines`.
pub(super) fn paragraphs(lines: &[Line], layout: &Layout) -> Vec<std::ops::Range<usize>> {
    let mut paragraphs = Vec::new();
    let mut start = 0;
    let mut is_list_of_works = false;
    for index in 1..lines.len() {
        let (Some(line), Some(next)) = (lines.get(index - 1), lines.get(index)) else { continue };
        is_list_of_works |= is_heading_of_works(line);
        let is_break = if is_list_of_works {
            starts_work(layout, line, next)
        } else {
            let before = if start + 1 < index { lines.get(index - 2) } else { None };
            is_break(layout, &Around { before, line, next, after: lines.get(index + 1) })
        };
        if is_break {
            paragraphs.push(start..index);
            start = index;
        }
    }
    if start < lines.len() {
        paragraphs.push(start..lines.len());
    }
    paragraphs
}

/// Two lines, between which a paragraph may end, and those around them.
struct Around<'l> {
    /// The line before `line`, where it is of the same paragraph.
    before: Option<&'l Line>,
    line: &'l Line,
    next: &'l Line,
    after: Option<&'l Line>,
}

/// Whether a new paragraph begins at `next`.
fn is_break(layout: &Layout, around: &Around<'_>) -> bool {
    let Around { line, next, .. } = *around;
    let ratio = next.size / line.size.max(0.1);
    if layout.has_gap(line, next) || !(0.88..=1.13).contains(&ratio) {
        return true;
    }
    let ends_early = layout.ends_early(line, next);
    match list_mark(next) {
        Some(ListMark::Bullet) if ends_early || list_mark(line) == Some(ListMark::Bullet) => {
            return true;
        }
        Some(ListMark::Number) if ends_early => return true,
        _ => (),
    }
    if layout.is_centered(line) != layout.is_centered(next) && ends_early {
        return true;
    }
    if layout.is_indented(next) {
        return !is_in_block(layout, around);
    }
    if !follows(line, next) {
        return is_break_across(layout, line, next, ends_early);
    }
    if layout.ends_far_too_early(line, next) {
        return true;
    }
    let block_ends =
        around.before.is_some_and(|before| layout.is_indented(before) && layout.is_indented(line));
    if layout.has_cues {
        return block_ends && ends_early;
    }
    ends_early || is_other_speaker(line, next) || is_heading(layout, around)
}

/// Whether `next`, which is indented, goes on a block of indented lines: one full line is
/// none, since paragraphs of one line stand that way too.
fn is_in_block(layout: &Layout, around: &Around<'_>) -> bool {
    let goes_on = |line: &Line, next: &Line| {
        let is_level = (layout.indent(line) - layout.indent(next)).abs() < 0.5 * MIN_INDENT;
        layout.is_indented(line) && is_level && !layout.ends_early(line, next)
    };
    goes_on(around.line, around.next)
        && (around.before.is_some_and(|before| goes_on(before, around.line))
            || around.after.is_some_and(|after| goes_on(around.next, after)))
}

/// Whether a new paragraph begins where a page or a column ends between the two lines, so
/// that no distance tells, and no indent does.
fn is_break_across(layout: &Layout, line: &Line, next: &Line, ends_early: bool) -> bool {
    if layout.has_indents {
        return layout.ends_far_too_early(line, next) && ends_sentence(line);
    }
    let is_new = ends_early || !layout.has_cues && is_other_speaker(line, next);
    is_new && (ends_sentence(line) || !starts_lowercase(next))
}

/// Whether speech ends with the line and begins with the next: two speakers do not share a
/// paragraph.
fn is_other_speaker(line: &Line, next: &Line) -> bool {
    line.text().ends_with('”') && next.text().starts_with('“')
}

/// Whether `next` is a short line of its own that ends no sentence, after one that does.
fn is_heading(layout: &Layout, around: &Around<'_>) -> bool {
    let stands_alone = around.after.is_some_and(|after| {
        follows(around.next, after) && layout.ends_far_too_early(around.next, after)
    });
    stands_alone
        && ends_sentence(around.line)
        && !ends_sentence(around.next)
        && !starts_lowercase(around.next)
        && around.next.glyphs.len() <= 60
}

fn is_heading_of_works(line: &Line) -> bool {
    let text = line.text().to_lowercase();
    let text = text.trim_end_matches(':');
    matches!(text, "works cited" | "work cited" | "references" | "bibliography")
}

/// Works are listed with hanging indents, or with gaps.
fn starts_work(layout: &Layout, line: &Line, next: &Line) -> bool {
    layout.has_gap(line, next)
        || is_heading_of_works(line)
        || !layout.is_indented(next) && (layout.is_indented(line) || layout.ends_early(line, next))
}
