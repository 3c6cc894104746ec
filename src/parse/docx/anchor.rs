//! Where comments hang: one place in one paragraph each.

use std::collections::HashMap;

use super::flow::{AnchorKind, FlowParagraph};

/// A place in a document's text.
type Point = (usize, usize);

/// The place of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The paragraph, which is not empty.
    pub(super) paragraph: usize,
    /// Where it begins, in bytes of the paragraph's text.
    pub(super) start: usize,
    /// Where it ends; the same for a point.
    pub(super) end: usize,
    /// What a person should know of it.
    pub(super) doubt: Option<Doubt>,
}

/// Why a place may be another than it seems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// The comment goes on over more paragraphs.
    ReachesOn,
    /// It stands in an empty paragraph and was moved to the text before or after.
    Moved,
    /// Its words are gone or its range is broken: only a point is left.
    Collapsed,
}

#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    start: Option<Point>,
    end: Option<Point>,
    reference: Option<Point>,
}

/// The places of all comments that the paragraphs mention, by their names; none if all
/// paragraphs are empty.
///
/// A comment over several paragraphs has its place in the first of them in which it covers
/// words. One without a range, or over nothing, stands at a point.
pub(super) fn spots(paragraphs: &[FlowParagraph]) -> HashMap<String, Spot> {
    let layout = Layout::of(paragraphs);
    let mut marks: HashMap<&str, Marks> = HashMap::new();
    for (index, paragraph) in paragraphs.iter().enumerate() {
        for (at, kind, id) in &paragraph.anchors {
            let marks = marks.entry(id).or_default();
            let point = Some((index, *at));
            match kind {
                AnchorKind::Start if marks.is_hollow(&layout) => {
                    *marks = Marks { start: point, end: None, ..*marks };
                }
                AnchorKind::Start => marks.start = marks.start.or(point),
                AnchorKind::End => marks.end = marks.end.or(point),
                AnchorKind::Reference => marks.reference = marks.reference.or(point),
            }
        }
    }
    let placed = marks.into_iter().filter_map(|(id, marks)| Some((id, layout.place(marks)?)));
    placed.map(|(id, spot)| (id.to_owned(), spot)).collect()
}

impl Marks {
    /// Whether there is a range, with no words in it: moved text leaves such.
    fn is_hollow(self, layout: &Layout<'_>) -> bool {
        self.start.zip(self.end).is_some_and(|(start, end)| layout.words(start, end).is_none())
    }
}

/// The paragraphs, and which of them have text.
struct Layout<'a> {
    paragraphs: &'a [FlowParagraph],
    /// Of each paragraph, the first from it on that has text.
    next_full: Vec<Option<usize>>,
    /// Of each paragraph, the last up to it that has text.
    last_full: Vec<Option<usize>>,
}

impl<'a> Layout<'a> {
    fn of(paragraphs: &'a [FlowParagraph]) -> Self {
        let full = |(index, paragraph): (usize, &FlowParagraph)| {
            (!paragraph.text.trim_end().is_empty()).then_some(index)
        };
        let nearest = |seen: &mut Option<usize>, index: Option<usize>| {
            *seen = index.or(*seen);
            Some(*seen)
        };
        let last_full = paragraphs.iter().enumerate().map(full).scan(None, nearest).collect();
        let from_behind = paragraphs.iter().enumerate().rev().map(full);
        let mut next_full: Vec<_> = from_behind.scan(None, nearest).collect();
        next_full.reverse();
        Self { paragraphs, next_full, last_full }
    }

    fn place(&self, marks: Marks) -> Option<Spot> {
        let range = marks.start.zip(marks.end.or(marks.reference));
        if let Some((start, end)) = range
            && let Some(spot) = self.words(start, end)
        {
            return Some(spot);
        }
        let point = marks.start.or(marks.end).or(marks.reference)?;
        let is_plain = match range {
            Some((start, end)) => start == end,
            None => marks.start.is_none() && marks.end.is_none(),
        };
        let spot = self.point(point)?;
        let doubt = spot.doubt.or((!is_plain).then_some(Doubt::Collapsed));
        Some(Spot { doubt, ..spot })
    }

    /// The first words between two points.
    fn words(&self, start: Point, end: Point) -> Option<Spot> {
        if end < start {
            return None;
        }
        let until = |paragraph| if paragraph == end.0 { end.1 } else { usize::MAX };
        let first = self.part(start.0, start.1, until(start.0));
        let (paragraph, (from, to)) = if let Some(part) = first {
            (start.0, part)
        } else {
            let next = self.next_full.get(start.0 + 1).copied().flatten()?;
            if end.0 < next {
                return None;
            }
            (next, self.part(next, 0, until(next))?)
        };
        let rest = self.next_full.get(paragraph + 1).copied().flatten();
        let reaches_on = rest.is_some_and(|rest| {
            rest < end.0 || rest == end.0 && self.part(rest, 0, end.1).is_some()
        });
        let doubt = reaches_on.then_some(Doubt::ReachesOn);
        Some(Spot { paragraph, start: from, end: to, doubt })
    }

    /// The part of a paragraph between two places, without the spaces around it; `None` if
    /// there is nothing else.
    fn part(&self, paragraph: usize, start: usize, end: usize) -> Option<(usize, usize)> {
        let text = &self.paragraphs.get(paragraph)?.text;
        trimmed(text, start, end.min(text.len()))
    }

    /// A point, or the nearest place that has text, rather before than after.
    fn point(&self, (paragraph, at): Point) -> Option<Spot> {
        let length = |paragraph: usize| {
            self.paragraphs.get(paragraph).map_or(0, |it| it.text.trim_end().len())
        };
        if 0 < length(paragraph) {
            let at = at.min(length(paragraph));
            return Some(Spot { paragraph, start: at, end: at, doubt: None });
        }
        let (paragraph, at) = match self.last_full.get(paragraph).copied().flatten() {
            Some(before) => (before, length(before)),
            None => (self.next_full.get(paragraph).copied().flatten()?, 0),
        };
        Some(Spot { paragraph, start: at, end: at, doubt: Some(Doubt::Moved) })
    }
}

/// A part of a text without the spaces around it; `None` if there is nothing else.
pub(super) fn trimmed(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let part = text.get(start..end)?;
    let from = start + (part.len() - part.trim_start().len());
    let to = start + part.trim_end().len();
    (from < to).then_some((from, to))
}
