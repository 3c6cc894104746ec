//! The cut of an unfinished last sentence.

/// Cuts a text back to its last finished sentence, as the public release does
/// with every reply, whether or not it met the limit of tokens.
///
/// A sentence is finished by `.`, `!`, `?` or `;` and the closing quotes and
/// brackets that follow. A text that ends so (white space aside), and one that
/// holds no such mark, come back as they are.
///
/// Two departures from the release, which would leave half a mark behind: the
/// closing quotes after the last mark stay, and the number of a list item
/// (`2.` at the beginning of a line) finishes nothing.
pub fn cut_unfinished(text: &str) -> &str {
    let stripped = text.trim_end();
    match last_finished(stripped) {
        Some(end) if end < stripped.len() => &stripped[..end],
        _ => text,
    }
}

/// Where the last finished sentence ends.
fn last_finished(text: &str) -> Option<usize> {
    let is_mark = |ch: char| matches!(ch, '.' | '!' | '?' | ';');
    let (at, mark) = text.rmatch_indices(is_mark).find(|&(at, _)| !is_list_number(text, at))?;
    let after = &text[at + mark.len()..];
    Some(text.len() - after.trim_start_matches(is_closer).len())
}

/// Whether the mark at `at` follows the number of a list item.
fn is_list_number(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    let number = line.trim_start().trim_start_matches(['*', '#', ' ']);
    text[at..].starts_with('.')
        && !number.is_empty()
        && number.chars().all(|ch| ch.is_ascii_digit())
}

fn is_closer(ch: char) -> bool {
    matches!(ch, '\'' | '"' | ')' | ']' | '}' | '”' | '’' | '»' | '›')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_finished_goes() {
        for (text, expected) in [
            ("Good start. You should", "Good start."),
            ("He said \"stop.\" Then he", "He said \"stop.\""),
            ("(Say more!) And", "(Say more!)"),
            ("Why? Because; so", "Why? Because;"),
            ("“Who?” I would", "“Who?”"),
            ("A first point.\n2. A sec", "A first point."),
        ] {
            assert_eq!(cut_unfinished(text), expected);
        }
    }

    #[test]
    fn what_is_finished_or_has_no_mark_stays() {
        for text in [
            "Good start.",
            "Good start. \n",
            "He said \"stop.\"",
            "Really?!)",
            "no mark at all",
            "1. Add a date\n2. Fix the tense",
            "",
        ] {
            assert_eq!(cut_unfinished(text), text);
        }
    }

    proptest! {
        #[test]
        fn a_cut_text_is_a_beginning_and_is_not_cut_again(text in "([a-z1.!?;\"')” \n]|\\PC){0,30}") {
            let cut = cut_unfinished(&text);
            prop_assert!(text.starts_with(cut));
            prop_assert_eq!(cut_unfinished(cut), cut);
        }
    }
}
