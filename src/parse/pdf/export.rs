//! Annotations as the corpus has them.

use super::{PdfOptions, anchor::Place, color, threads::Thread};
use crate::{
    corpus::{Anchor, Annotation, Color},
    parse::{Mark, ParsedAnnotation},
};

/// The annotation of a thread at its place in a paragraph.
pub(super) fn annotation(
    thread: Thread,
    place: &Place,
    paragraph: &str,
    options: &PdfOptions,
) -> ParsedAnnotation {
    let raw = thread.annotation;
    let mark = raw.mark.unwrap_or(Mark::Note);
    let (start, end) = match mark {
        Mark::Note | Mark::FreeText | Mark::Comment => (place.bytes.start, place.bytes.start),
        _ => trimmed(paragraph, place.bytes.start, place.bytes.end),
    };
    let words = paragraph.get(start..end).unwrap_or_default().to_owned();
    let anchor = match mark {
        Mark::Note | Mark::FreeText | Mark::Comment => Anchor::Note,
        Mark::Strikeout => Anchor::Strikeout { text: words },
        Mark::Highlight => {
            let color = raw.rgb.map_or(Color::Generic, color::named);
            Anchor::Highlight { text: words, color }
        }
        // The colour of a line says nothing of the colour of a pen.
        Mark::Underline | Mark::Squiggly => {
            Anchor::Highlight { text: words, color: Color::Generic }
        }
    };
    let (context_left, context_right) = contexts(paragraph, start, end, options.context);
    ParsedAnnotation {
        annotation: Annotation { anchor, comment: raw.comment, context_left, context_right },
        start,
        end,
        mark,
        hex: raw.rgb.map(color::hex),
        author: raw.author,
        date: raw.date,
        replies: thread.replies,
    }
}

/// The span without white space at its ends.
fn trimmed(text: &str, start: usize, end: usize) -> (usize, usize) {
    let words = text.get(start..end).unwrap_or_default();
    let before = words.len() - words.trim_start().len();
    let inner = words.trim().len();
    (start + before, start + before + inner)
}

/// Up to so many characters before and after the span.
fn contexts(text: &str, start: usize, end: usize, n_chars: usize) -> (String, String) {
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let skipped = before.chars().count().saturating_sub(n_chars);
    (before.chars().skip(skipped).collect(), after.chars().take(n_chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_trimmed_and_contexts_cut_by_characters() {
        let text = "ä bö cü d";
        assert_eq!(trimmed(text, 2, 7), (3, 6));
        assert_eq!(contexts(text, 3, 6, 2), ("ä ".to_owned(), " c".to_owned()));
        assert_eq!(contexts(text, 0, 0, 0), (String::new(), String::new()));
    }
}
