//! Where the sentences of a text end.

use std::ops::Range;

/// The byte offsets at which the sentences of `text` end, rising, the last at
/// its length; none for an empty text.
///
/// A sentence ends after `.`, `!`, `?`, an ellipsis or a full-width terminator,
/// with the closing quotes and brackets that follow, where white space comes
/// next; and at a line break. It does not end after an abbreviation, an initial
/// or the number of a list item, nor where the text goes on in lower case. An
/// emoticon, or whatever holds no letter or digit, stays with the sentence before
/// it. White space between two sentences belongs to the second.
pub fn sentence_ends(text: &str) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut start = 0;
    for end in candidates(text) {
        if has_words(&text[start..end]) && has_words(&text[end..]) {
            ends.push(end);
            start = end;
        } else if !has_words(&text[start..end]) && !ends.is_empty() {
            // An emoticon: the sentence before it grows.
            ends.pop();
            ends.push(end);
            start = end;
        }
    }
    if !text.is_empty() {
        if has_words(&text[start..]) || ends.is_empty() {
            ends.push(text.len());
        } else {
            ends.pop();
            ends.push(text.len());
        }
    }
    ends
}

/// Whether a text holds a letter or a digit.
pub fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// The offsets right after each run of terminators that may end a sentence, and
/// right before each line break, rising and without repetition.
fn candidates(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, ch)) = rest.next() {
        if ch == '\n' || ch == '\r' {
            found.push(text[..at].trim_end().len());
            continue;
        }
        if !is_terminator(ch) {
            continue;
        }
        let mut end = at + ch.len_utf8();
        while let Some(&(next_at, next)) = rest.peek() {
            if !is_terminator(next) && !is_closer(next) {
                break;
            }
            end = next_at + next.len_utf8();
            rest.next();
        }
        if is_boundary(text, at..end, found.last().copied()) {
            found.push(end + emoticon_len(&text[end..]));
        }
    }
    found.retain(|&end| end > 0);
    found.dedup();
    found
}

/// The length of an emoticon, or of another word without a letter or digit, on
/// the same line as the sentence that `after` follows, white space before it
/// included; zero if there is none.
fn emoticon_len(after: &str) -> usize {
    let line = after.lines().next().unwrap_or_default();
    let word = line.trim_start();
    let word = word.split(char::is_whitespace).next().unwrap_or_default();
    let is_face = word.starts_with([':', ';']) && word.chars().count() <= 3;
    if word.is_empty() || (has_words(word) && !is_face) {
        return 0;
    }
    line.len() - line.trim_start().len() + word.len()
}

/// Whether the run of terminators and closers at `range` ends a sentence, the
/// one before it having ended at `last_end`.
fn is_boundary(text: &str, range: Range<usize>, last_end: Option<usize>) -> bool {
    let run = &text[range.clone()];
    let after = &text[range.end..];
    if run.starts_with(is_full_width) {
        return true;
    }
    if !after.starts_with(char::is_whitespace) {
        return false;
    }
    if after.trim_start().starts_with(char::is_lowercase) {
        return false;
    }
    run != "." || !is_abbreviated(&text[..range.start], last_end)
}

/// Whether a single full stop after `before` belongs to its last word.
fn is_abbreviated(before: &str, last_end: Option<usize>) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let text_before = before[..before.len() - word.len()].trim_end();
    let opens_sentence =
        text_before.is_empty() || text_before.ends_with(':') || last_end == Some(text_before.len());
    let is_list_number = opens_sentence
        && (1..=2).contains(&word.len())
        && word.chars().all(|ch| ch.is_ascii_digit());
    let word = word.trim_start_matches(is_opener).to_lowercase();
    let mut chars = word.chars();
    let is_initial =
        matches!((chars.next(), chars.next()), (Some(ch), None) if ch.is_alphabetic() && ch != 'i');
    is_list_number || is_initial || ABBREVIATIONS.contains(&word.as_str())
}

/// Words that a full stop does not end, without it.
const ABBREVIATIONS: [&str; 34] = [
    "a.m", "al", "approx", "cf", "ch", "dept", "dr", "e.g", "ed", "eds", "eq", "est", "fig", "i.e",
    "jr", "mr", "mrs", "ms", "nos", "p.m", "para", "ph.d", "pp", "prof", "sec", "sr", "st", "u.k",
    "u.s", "viz", "vol", "vols", "vs", "w.r.t",
];

/// Whether a character ends a sentence.
fn is_terminator(ch: char) -> bool {
    matches!(ch, '.' | '!' | '?' | '…' | '‽') || is_full_width(ch)
}

/// Whether a character ends a sentence with no space after it.
fn is_full_width(ch: char) -> bool {
    matches!(ch, '。' | '！' | '？' | '｡')
}

/// Whether a character may stand between a terminator and the space after it.
fn is_closer(ch: char) -> bool {
    matches!(
        ch,
        '"' | '\'' | ')' | ']' | '}' | '”' | '’' | '»' | '›' | '」' | '』' | '）' | '*' | '_'
    )
}

/// Whether a character may stand right before a word.
fn is_opener(ch: char) -> bool {
    matches!(
        ch,
        '"' | '\'' | '(' | '[' | '{' | '“' | '‘' | '«' | '‹' | '「' | '『' | '（' | '*' | '_'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        let ends = sentence_ends(text);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(ends.iter().copied()).map(|(start, end)| &text[start..end]).collect()
    }

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        for (text, expected) in [
            ("Vivid opening. Who is Alex?", vec!["Vivid opening.", " Who is Alex?"]),
            ("Fix \"it's.\" Then stop!", vec!["Fix \"it's.\"", " Then stop!"]),
            ("(Why?) Say more… Please?!  Yes", vec!["(Why?)", " Say more…", " Please?!", "  Yes"]),
            ("Cite Dr. Lee, e.g. on p. 4. Good.", vec!["Cite Dr. Lee, e.g. on p. 4.", " Good."]),
            (
                "J. Smith wrote it. So did I. Why?",
                vec!["J. Smith wrote it.", " So did I.", " Why?"],
            ),
            (
                "You wait... and then? It is 3.5 km.",
                vec!["You wait... and then?", " It is 3.5 km."],
            ),
            ("\"What?\" he said. Nice.", vec!["\"What?\" he said.", " Nice."]),
            ("1. Add a date.\n2. Fix it\n\nEnd", vec!["1. Add a date.", "\n2. Fix it", "\n\nEnd"]),
            ("1. Add it. 2. Fix it.", vec!["1. Add it.", " 2. Fix it."]),
            ("Great job! :) More, please.", vec!["Great job! :)", " More, please."]),
            ("Great job! :)", vec!["Great job! :)"]),
            ("Ha! :D Go on.\n- Ok.", vec!["Ha! :D", " Go on.", "\n- Ok."]),
            ("很好。请多写一点！", vec!["很好。", "请多写一点！"]),
            ("no end", vec!["no end"]),
            ("?!", vec!["?!"]),
            (" \n", vec![" \n"]),
            ("", vec![]),
        ] {
            assert_eq!(sentences(text), expected);
        }
    }

    proptest! {
        #[test]
        fn sentences_join_to_the_text(text in "([A-Za-z1.!?…\"') \n]|\\PC){0,40}") {
            let ends = sentence_ends(&text);
            prop_assert!(ends.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(ends.last().copied().unwrap_or(0), text.len());
            prop_assert_eq!(sentences(&text).concat(), text);
        }
    }
}
