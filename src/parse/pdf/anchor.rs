//! Which words an annotation hangs on, by where it lies on the page.

use std::{cmp::Reverse, collections::BTreeMap, ops::Range};

use super::{
    annotations::RawAnnotation,
    appearance::Painted,
    assemble::{Placed, PlacedGlyph},
    columns::{Frame, Line},
    geometry::Area,
};
use crate::parse::Mark;

/// A place in the text: a paragraph and bytes of it, none for a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) paragraph: usize,
    pub(super) bytes: Range<usize>,
}

/// Where an annotation belongs, and what is doubtful about it.
#[derive(Debug)]
pub(super) struct Anchored {
    pub(super) place: Place,
    pub(super) doubt: Option<Doubt>,
}

/// What is doubtful about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It covers no text, and was put on the nearest.
    NoText,
    /// It covers more than one paragraph, and was put on the one it covers most of.
    SeveralParagraphs,
    /// It has no place on the page at all.
    NoPlace,
}

/// The text of a document with its places on the pages.
pub(super) struct Text<'t> {
    pub(super) lines: &'t [Line],
    pub(super) paragraphs: &'t [Placed],
    /// The paragraph of each line.
    pub(super) homes: &'t [usize],
}

impl Text<'_> {
    /// Where the annotation belongs; `None` where there is no text at all.
    pub(super) fn anchor(&self, annotation: &RawAnnotation) -> Option<Anchored> {
        if annotation.marks_words() {
            for areas in regions(annotation) {
                if let Some(anchored) = self.covered(annotation.page, &areas) {
                    return Some(anchored);
                }
            }
        }
        let areas = [annotation.quads.first().copied(), annotation.rect];
        let area = areas.into_iter().flatten().find(|area| area.size().is_finite());
        let (x, y) = match (annotation.mark, area) {
            // A sticky note points with its left edge.
            (Some(Mark::Note), Some(area)) => (area.x0, area.middle().1),
            (_, Some(area)) => area.middle(),
            (_, None) => (0.0, 0.0),
        };
        let place = self.nearest(annotation.page, x, y)?;
        let doubt = match area {
            None => Some(Doubt::NoPlace),
            Some(_) => annotation.marks_words().then_some(Doubt::NoText),
        };
        Some(Anchored { place, doubt })
    }

    /// The words whose middles lie in the areas.
    fn covered(&self, page: usize, areas: &[Area]) -> Option<Anchored> {
        let mut hits: Vec<(usize, &PlacedGlyph)> = Vec::new();
        for (index, paragraph) in self.paragraphs.iter().enumerate() {
            hits.extend(paragraph.glyphs.iter().map(|glyph| (index, glyph)).filter(
                |(_, glyph)| {
                    let (x, y) = glyph.middle;
                    let is_on_page =
                        self.lines.get(glyph.line).is_some_and(|line| line.page == page);
                    is_on_page && areas.iter().any(|area| area.contains(x, y))
                },
            ));
        }
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for (index, _) in &hits {
            *counts.entry(*index).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(index, count)| (*count, Reverse(*index)));
        let (paragraph, _) = most?;
        let own = || hits.iter().filter(|(index, _)| *index == paragraph).map(|(_, glyph)| glyph);
        let first = own().min_by_key(|glyph| glyph.bytes.start)?;
        let last = own().max_by_key(|glyph| glyph.bytes.end)?;
        let placed = self.paragraphs.get(paragraph)?;
        let (start, end) = self.snapped(placed, (first, last), areas);
        let is_whole = own().count() == hits.len();
        let doubt = (!is_whole).then_some(Doubt::SeveralParagraphs);
        Some(Anchored { place: Place { paragraph, bytes: start..end }, doubt })
    }

    /// Where a mark begins and ends whose outermost glyphs are these. Viewers draw marks from
    /// edge to edge of glyphs; one that was drawn by hand begins and ends a little beside the
    /// words that it means, and goes to the nearest edge of a word. Where it begins with a
    /// sentence, it means the point at the end too.
    fn snapped(
        &self,
        placed: &Placed,
        (first, last): (&PlacedGlyph, &PlacedGlyph),
        areas: &[Area],
    ) -> (usize, usize) {
        let starts = self.near_edges(placed, first, areas, Side::Start);
        let nearest = |edges: &[(f64, usize)]| {
            let nearest = edges.iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
            nearest.map(|(_, edge)| *edge)
        };
        let start = nearest(&starts).unwrap_or(first.bytes.start);
        let ends = self.near_edges(placed, last, areas, Side::End);
        let outermost = ends.iter().map(|(_, edge)| *edge).max();
        let whole = outermost.filter(|end| placed.is_sentence(start, *end));
        let end = whole.or(nearest(&ends)).unwrap_or(last.bytes.end);
        if start < end { (start, end) } else { (first.bytes.start, last.bytes.end) }
    }

    /// The edges of words near to the end of a mark that was drawn by hand, each with its
    /// distance; none where the mark ends along a glyph.
    fn near_edges(
        &self,
        placed: &Placed,
        glyph: &PlacedGlyph,
        areas: &[Area],
        side: Side,
    ) -> Vec<(f64, usize)> {
        let (x, y) = glyph.middle;
        let Some(area) = areas.iter().find(|area| area.contains(x, y)) else { return Vec::new() };
        let em = self.lines.get(glyph.line).map_or(0.0, |line| line.size);
        let drawn = if side == Side::Start { area.x0 } else { area.x1 };
        let of_line = || placed.glyphs.iter().filter(|other| other.line == glyph.line);
        let is_exact = |other: &PlacedGlyph| {
            (other.x.0 - drawn).abs() < EXACT || (other.x.1 - drawn).abs() < EXACT
        };
        if of_line().any(is_exact) {
            return Vec::new();
        }
        let edges = of_line().filter(|other| placed.is_edge(other, side == Side::Start));
        let edges = edges.map(|other| match side {
            Side::Start => ((other.x.0 - drawn).abs(), other.bytes.start),
            Side::End => ((other.x.1 - drawn).abs(), other.bytes.end),
        });
        edges.filter(|(distance, _)| *distance <= SLOPPY * em).collect()
    }

    /// The point of the text that a note at this place means.
    fn nearest(&self, page: usize, x: f64, y: f64) -> Option<Place> {
        let on_page = |page: usize| {
            let lines = self.lines.iter().enumerate();
            let lines = lines.filter(move |(_, line)| line.page == page);
            lines.filter(|(index, _)| self.homes.get(*index).is_some()).collect::<Vec<_>>()
        };
        let mut lines = on_page(page);
        if lines.is_empty() {
            // A page without text: the end of the text before it, else the start of what follows.
            let pages = || self.lines.iter().map(|line| line.page);
            if let Some(before) = pages().filter(|other| *other < page).max() {
                let (index, _) = on_page(before).pop()?;
                return self.end_of(index);
            }
            lines = on_page(pages().min()?);
            let (index, _) = *lines.first()?;
            return Some(Place { paragraph: *self.homes.get(index)?, bytes: 0..0 });
        }
        let frame = nearest_frame(&lines, x, y);
        let of_frame = lines.iter().filter(|(_, line)| Some(line.frame) == frame);
        let best = of_frame
            .min_by(|(_, a), (_, b)| vertical_distance(a, y).total_cmp(&vertical_distance(b, y)));
        let (index, _) = *best?;
        self.point(index, x)
    }

    /// The point of a line at this height: before the glyph that begins nearest.
    fn point(&self, index: usize, x: f64) -> Option<Place> {
        let paragraph = *self.homes.get(index)?;
        let placed = self.paragraphs.get(paragraph)?;
        let glyphs = || placed.glyphs.iter().filter(|glyph| glyph.line == index);
        let starts = glyphs().map(|glyph| ((glyph.x.0 - x).abs(), glyph.bytes.start));
        let ends = glyphs().map(|glyph| ((glyph.x.1 - x).abs(), glyph.bytes.end));
        let nearest = starts.chain(ends).min_by(|(a, _), (b, _)| a.total_cmp(b));
        let point = nearest.map_or(0, |(_, point)| point);
        Some(Place { paragraph, bytes: point..point })
    }

    fn end_of(&self, index: usize) -> Option<Place> {
        let paragraph = *self.homes.get(index)?;
        let placed = self.paragraphs.get(paragraph)?;
        let glyphs = placed.glyphs.iter().filter(|glyph| glyph.line == index);
        let point = glyphs.map(|glyph| glyph.bytes.end).max().unwrap_or(0);
        Some(Place { paragraph, bytes: point..point })
    }
}

/// A side of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Start,
    End,
}

/// A mark that ends this near to the edge of a glyph was drawn along it, in points.
const EXACT: f64 = 0.3;

/// How far beside a word a mark by hand may end, in sizes of the font.
const SLOPPY: f64 = 0.25;

/// The areas that a mark may cover, the most trustworthy first.
fn regions(annotation: &RawAnnotation) -> Vec<Vec<Area>> {
    let painted = annotation.painted.iter().map(|painted| widened(painted, annotation.mark));
    let regions =
        [annotation.quads.clone(), painted.collect(), annotation.rect.into_iter().collect()];
    regions.into_iter().filter(|areas| !areas.is_empty()).collect()
}

/// What was painted, as the area of the words it marks: a line lies below or on them.
fn widened(painted: &Painted, mark: Option<Mark>) -> Area {
    const LINE: f64 = 3.0;

    let area = painted.area;
    if area.height() > LINE {
        return area;
    }
    match mark {
        Some(Mark::Strikeout) => Area { y0: area.y0 - LINE, y1: area.y1 + LINE, ..area },
        Some(Mark::Underline | Mark::Squiggly) => Area { y0: area.y0 - 3.0 * LINE, ..area },
        _ => area,
    }
}

/// The column that the point lies in or beside.
fn nearest_frame(lines: &[(usize, &Line)], x: f64, y: f64) -> Option<Frame> {
    let distance = |frame: Frame| {
        let own = || lines.iter().filter(|(_, line)| line.frame == frame).map(|(_, line)| line);
        let (x0, x1) = own().fold((f64::INFINITY, f64::NEG_INFINITY), |(x0, x1), line| {
            (x0.min(line.x0), x1.max(line.x1))
        });
        let (y0, y1) = own().fold((f64::INFINITY, f64::NEG_INFINITY), |(y0, y1), line| {
            (y0.min(line.y - line.size), y1.max(line.y))
        });
        (x0 - x).max(x - x1).max(0.0) + (y0 - y).max(y - y1).max(0.0)
    };
    let frames = lines.iter().map(|(_, line)| line.frame);
    frames.min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
}

/// How far the height of a note is from a line. One within the line's own height is at it;
/// one between two lines is nearer to the lower one, onto which it points from above.
fn vertical_distance(line: &Line, y: f64) -> f64 {
    let (top, bottom) = (line.y - 0.95 * line.size, line.y + 0.25 * line.size);
    if y < top {
        top - y
    } else if y > bottom {
        // Farther than any line that it stands above.
        3.0 * (y - bottom) + 0.1
    } else {
        // Where lines are tight, both may hold it.
        -1.0 / (1.0 + (y - (line.y - 0.3 * line.size)).abs())
    }
}
