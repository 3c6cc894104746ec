//! Where in its paragraph an annotation stands.

use std::ops::Range;

use super::Annotation;

/// The place of an annotation in the text of its paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bytes that it covers; none for a note, and for a highlight of
    /// nothing.
    pub span: Range<usize>,
    /// Whether the text around it is the whole context on both sides.
    pub has_context: bool,
    /// Whether no other place fits as well; if one does, this is the first.
    pub is_unique: bool,
}

impl Annotation {
    /// The place in `paragraph` that fits best: of all occurrences of the words,
    /// the one that shares the longest text with the context on both sides.
    ///
    /// A note, and a highlight of nothing, is put at the point that shares the
    /// longest text with its context.
    ///
    /// `None` if the words do not occur, or, for a point, if less than half of
    /// the context is there or there is no context at all.
    pub fn locate(&self, paragraph: &str) -> Option<Place> {
        let words = self.text().unwrap_or_default();
        let context_len = self.context_left.len() + self.context_right.len();
        if words.is_empty() && context_len == 0 {
            return None;
        }
        let mut best = None;
        let mut is_tied = false;
        for start in occurrences(paragraph, words) {
            let end = start + words.len();
            let shared = shared_suffix(&paragraph[..start], &self.context_left)
                + shared_prefix(&paragraph[end..], &self.context_right);
            match best {
                Some((most, _)) if shared < most => (),
                Some((most, _)) if shared == most => is_tied = true,
                _ => {
                    best = Some((shared, start..end));
                    is_tied = false;
                }
            }
        }
        let (shared, span) = best?;
        if words.is_empty() && 2 * shared < context_len {
            return None;
        }
        Some(Place { span, has_context: shared == context_len, is_unique: !is_tied })
    }
}

/// Where `words` begin in `text`, overlapping occurrences included. Of no words,
/// every point.
fn occurrences<'a>(text: &'a str, words: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.char_indices()
        .map(|(start, _)| start)
        .chain(words.is_empty().then_some(text.len()))
        .filter(move |start| text[*start..].starts_with(words))
}

/// The bytes of the longest common end.
fn shared_suffix(text: &str, context: &str) -> usize {
    let pairs = text.chars().rev().zip(context.chars().rev());
    pairs.take_while(|(a, b)| a == b).map(|(ch, _)| ch.len_utf8()).sum()
}

/// The bytes of the longest common beginning.
fn shared_prefix(text: &str, context: &str) -> usize {
    let pairs = text.chars().zip(context.chars());
    pairs.take_while(|(a, b)| a == b).map(|(ch, _)| ch.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::Anchor, *};

    fn annotation(left: &str, words: Option<&str>, right: &str) -> Annotation {
        Annotation {
            anchor: match words {
                Some(words) => Anchor::Strikeout { text: words.to_owned() },
                None => Anchor::Note,
            },
            comment: String::new(),
            context_left: left.to_owned(),
            context_right: right.to_owned(),
        }
    }

    fn check(
        text: &str,
        (left, words, right): (&str, Option<&str>, &str),
        expected: Option<(Range<usize>, bool, bool)>,
    ) {
        let expected =
            expected.map(|(span, has_context, is_unique)| Place { span, has_context, is_unique });
        assert_eq!(annotation(left, words, right).locate(text), expected);
    }

    #[test]
    fn repeated_words_stand_where_their_context_is() {
        let text = "okay, he said. okay. okay!";
        check(text, ("", Some("okay"), ", he"), Some((0..4, true, true)));
        check(text, ("said. ", Some("okay"), ". okay"), Some((15..19, true, true)));
        check(text, (" ", Some("okay"), "!"), Some((21..25, true, true)));
        check(text, ("", Some("okay"), ""), Some((0..4, true, false)));
        check(text, ("said: ", Some("okay"), "!"), Some((21..25, false, true)));
        check(text, (": ", Some("okay"), "?"), Some((15..19, false, false)));
        check(text, ("", Some("no"), ""), None);
    }

    #[test]
    fn a_note_stands_between_its_contexts() {
        let text = "Ein schöner Satz.";
        check(text, ("schöner", None, " Satz."), Some((12..12, true, true)));
        check(text, ("schöner", None, " Sitz!"), Some((12..12, false, true)));
        check(text, ("", None, "Ein"), Some((0..0, true, true)));
        check(text, ("Satz.", None, ""), Some((18..18, true, true)));
        check(text, ("", None, ""), None);
        check(text, ("of another text", None, " entirely"), None);
        check("", ("a", None, "b"), None);
    }

    proptest! {
        #[test]
        fn words_cut_out_of_a_text_are_found_where_they_were(
            left in "[ab é]{0,12}", words in "[ab é]{1,4}", right in "[ab é]{0,12}"
        ) {
            let text = format!("{left}{words}{right}");
            let place = annotation(&left, Some(&words), &right).locate(&text);
            let span = left.len()..left.len() + words.len();
            prop_assert_eq!(place, Some(Place { span, has_context: true, is_unique: true }));
        }
    }
}
