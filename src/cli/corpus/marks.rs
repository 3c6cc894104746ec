//! A paragraph with its annotations marked in the text.

use super::page::{Marked, Style};
use crate::corpus::{Anchor, Annotation, Paragraph, Place};

/// An end of a marked span, or a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A span ends: at one byte, ends come before beginnings.
    End,
    /// A point between two characters.
    Point,
    /// A span begins.
    Begin,
}

/// The text of a paragraph with each annotation numbered from 1 at its place;
/// those without a place are left out.
///
/// In colour a number follows the marked words. Without, they stand in brackets,
/// and a bracket that does not close the one opened last repeats its number.
pub(super) fn mark(paragraph: &Paragraph, places: &[Option<Place>], has_color: bool) -> Marked {
    let mut marked = Marked::default();
    let mut open: Vec<usize> = Vec::new();
    let mut done = 0;
    for (at, event, index) in events(places) {
        let annotation = &paragraph.annotations[index];
        let style = style(&paragraph.annotations, &open);
        marked.push(&paragraph.text[done..at], style);
        done = at;
        let number = index + 1;
        let tilde = if annotation.kind() == "strikeout" { "~" } else { "" };
        match event {
            Event::Point => marked.push(format!("[{number}]"), Style::Dim),
            Event::Begin => {
                open.push(index);
                if !has_color {
                    marked.push(format!("[{number} {tilde}"), Style::Dim);
                }
            }
            Event::End => {
                let is_innermost = open.last() == Some(&index);
                open.retain(|other| *other != index);
                match (has_color, is_innermost) {
                    (true, _) => marked.push(format!("[{number}]"), Style::Dim),
                    (false, true) => marked.push(format!("{tilde}]"), Style::Dim),
                    (false, false) => marked.push(format!("{tilde} {number}]"), Style::Dim),
                }
            }
        }
    }
    marked.push(&paragraph.text[done..], Style::Plain);
    marked
}

/// Where spans begin and end, in the order of the text. Of spans that begin at
/// one byte the longest begins first, and of spans that end at one byte the one
/// that began last ends first, so that brackets nest wherever they can.
fn events(places: &[Option<Place>]) -> Vec<(usize, Event, usize)> {
    let mut events = Vec::new();
    for (index, place) in places.iter().enumerate() {
        let Some(Place { span, .. }) = place else { continue };
        if span.is_empty() {
            events.push((span.start, Event::Point, index));
        } else {
            events.push((span.start, Event::Begin, index));
            events.push((span.end, Event::End, index));
        }
    }
    let span = |index: usize| places[index].as_ref().map(|place| place.span.clone());
    events.sort_by_key(|(at, event, index)| {
        let span = span(*index).unwrap_or_default();
        let (first, second) = match event {
            Event::Begin => (usize::MAX - span.end, *index),
            Event::End => (usize::MAX - span.start, usize::MAX - *index),
            Event::Point => (0, *index),
        };
        (*at, *event, first, second)
    });
    events
}

/// The style of text under the open spans: that of the one opened last.
fn style(annotations: &[Annotation], open: &[usize]) -> Style {
    match open.last().map(|index| &annotations[*index].anchor) {
        Some(Anchor::Highlight { color, .. }) => Style::Highlight(*color),
        Some(Anchor::Strikeout { .. }) => Style::Strikeout,
        Some(Anchor::Note) | None => Style::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cli::corpus::page::Page, corpus::Color};

    /// An annotation of these bytes: a highlight, a strikeout (`~`) or, of no
    /// bytes, a note.
    fn annotation(text: &str, kind: char) -> Annotation {
        let text = text.to_owned();
        let anchor = match kind {
            '~' => Anchor::Strikeout { text },
            '.' => Anchor::Note,
            _ => Anchor::Highlight { text, color: Color::Pink },
        };
        let empty = String::new();
        Annotation {
            anchor,
            comment: empty.clone(),
            context_left: empty.clone(),
            context_right: empty,
        }
    }

    fn check(text: &str, spans: &[(std::ops::Range<usize>, char)], expected: [&str; 2]) {
        let paragraph = Paragraph {
            text: text.to_owned(),
            annotations: spans
                .iter()
                .map(|(span, kind)| annotation(&text[span.clone()], *kind))
                .collect(),
        };
        let places: Vec<_> = spans
            .iter()
            .map(|(span, _)| Some(Place { span: span.clone(), has_context: true, is_unique: true }))
            .collect();
        for (has_color, expected) in [false, true].into_iter().zip(expected) {
            let page = Page { width: 200, has_color };
            let lines = page.set("", &mark(&paragraph, &places, has_color));
            let line = lines.join("\n").replace("\x1b[38;5;16;48;5;218m", "<pink>");
            let line = line.replace("\x1b[9;31m", "<cut>").replace("\x1b[2m", "<dim>");
            assert_eq!(line.replace("\x1b[0m", "</>"), expected);
        }
    }

    #[test]
    fn each_kind_of_annotation_has_its_mark() {
        check(
            "one two three",
            &[(0..3, 'h'), (4..7, '~'), (7..7, '.')],
            [
                "[1 one] [2 ~two~][3] three",
                "<pink>one</><dim>[1]</> <cut>two</><dim>[2][3]</> three",
            ],
        );
    }

    #[test]
    fn spans_that_lie_in_one_another_nest_in_brackets() {
        check(
            "one two three",
            &[(4..7, 'h'), (0..7, 'h'), (0..13, '~')],
            [
                "[3 ~[2 one [1 two]] three~]",
                "<pink>one two</><dim>[1][2]</><cut> three</><dim>[3]</>",
            ],
        );
    }

    #[test]
    fn spans_that_cross_close_with_their_number() {
        check(
            "one two three",
            &[(0..7, 'h'), (4..13, 'h')],
            ["[1 one [2 two 1] three]", "<pink>one two</><dim>[1]</><pink> three</><dim>[2]</>"],
        );
    }

    #[test]
    fn an_annotation_without_a_place_leaves_the_text_as_it_is() {
        let paragraph =
            Paragraph { text: "one".to_owned(), annotations: vec![annotation("x", 'h')] };
        let lines = Page { width: 9, has_color: false }.set("", &mark(&paragraph, &[None], false));
        assert_eq!(lines, ["one"]);
    }
}
