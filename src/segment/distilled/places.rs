//! Where a unit may end: what the guideline allows, and what meets the eye there.

use std::ops::Range;

/// How many numbers say what meets the eye at a place.
pub const N_SURFACE: usize = 13;

/// Words before which a unit may end without punctuation.
const LINKING: [&str; 21] = [
    "although",
    "also",
    "and",
    "as",
    "because",
    "but",
    "especially",
    "even",
    "however",
    "including",
    "nor",
    "or",
    "plus",
    "since",
    "so",
    "then",
    "though",
    "whereas",
    "which",
    "while",
    "yet",
];

/// What may stand around a word that is looked up.
const AROUND: [char; 13] = ['"', '“', '”', '\'', '’', '(', '.', ',', ';', ':', '!', '?', '‘'];

/// What closes a quotation or brackets.
const CLOSING: [char; 6] = ['"', '”', '’', '\'', ')', ']'];

/// A place where a unit may end: behind a word and before white space.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where the word before it ends, in bytes.
    pub end: usize,
    /// The bytes of the word before.
    pub before: Range<usize>,
    /// The bytes of the word after.
    pub after: Range<usize>,
    /// The bytes from the end of the sentence before up to the place.
    pub left: Range<usize>,
    /// The bytes from the place up to the end of its sentence.
    pub right: Range<usize>,
    /// What meets the eye: punctuation, capitals, linking words, how far the ends are.
    pub surface: [f32; N_SURFACE],
}

/// The places of a text, in order: between two words, where the word before ends in what
/// is neither a letter nor a digit, or the word after is a linking word.
pub fn places(text: &str) -> Vec<Place> {
    let words = words(text);
    let n_words = words.len();
    // The words that end a sentence, in order.
    let ends: Vec<usize> =
        (0..n_words).filter(|index| ends_a_sentence(&text[words[*index].clone()])).collect();
    let at = |index: usize| -> Option<Place> {
        let (before, after) = (words[index - 1].clone(), words[index].clone());
        let (previous, next) = (&text[before.clone()], &text[after.clone()]);
        let bare = next.trim_matches(AROUND).to_lowercase();
        let ends_a_clause = previous.chars().next_back().is_some_and(|c| !c.is_alphanumeric());
        if !ends_a_clause && !LINKING.contains(&bare.as_str()) {
            return None;
        }
        let surface = surface(previous, next, &bare, index, n_words);
        // A sentence that ends at the place itself is what stands on its left.
        let ended = ends.partition_point(|end| end + 1 < index);
        let first = if ended == 0 { 0 } else { ends[ended - 1] + 1 };
        let last = ends.get(ends.partition_point(|end| *end < index)).copied();
        let left = words[first].start..before.end;
        let right = after.start..words[last.unwrap_or(n_words - 1)].end;
        Some(Place { end: before.end, before, after, left, right, surface })
    };
    (1..n_words).filter_map(at).collect()
}

fn ends_a_sentence(word: &str) -> bool {
    word.trim_end_matches(CLOSING).ends_with(['.', '!', '?'])
}

/// The runs of what is no white space.
pub(super) fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, ch) in text.char_indices() {
        match (ch.is_whitespace(), start) {
            (false, None) => start = Some(at),
            (true, Some(begun)) => {
                words.push(begun..at);
                start = None;
            }
            _ => (),
        }
    }
    words.extend(start.map(|begun| begun..text.len()));
    words
}

/// Before the word `index` of `n_words`, which is `bare` without what stands around it.
fn surface(
    previous: &str,
    next: &str,
    bare: &str,
    index: usize,
    n_words: usize,
) -> [f32; N_SURFACE] {
    let opened = previous.trim_end_matches(CLOSING);
    let last = |set: &str| opened.chars().next_back().is_some_and(|c| set.contains(c));
    let first = next.chars().next();
    let flag = |is_so: bool| f32::from(u8::from(is_so));
    let near = |n_words: usize| n_words.min(60) as f32 / 60.0;
    [
        flag(last(".")),
        flag(last("!?")),
        flag(last(",")),
        flag(last(";:")),
        flag(previous.ends_with(CLOSING) && !previous.ends_with(']')),
        flag(first.is_some_and(char::is_uppercase)),
        flag(first.is_some_and(|c| "\"“‘'".contains(c))),
        flag(["but", "although", "though", "however"].contains(&bare)),
        flag(["and", "also"].contains(&bare)),
        flag(is_number_of_a_list(next)),
        flag(first.is_some_and(char::is_lowercase)),
        near(index),
        near(n_words - index),
    ]
}

/// As `1.`, `(2)` or `3)`.
fn is_number_of_a_list(word: &str) -> bool {
    let word = word.strip_prefix('(').unwrap_or(word);
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < word.len() && rest.starts_with(['.', ')'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &str) -> Vec<&str> {
        places(text).into_iter().map(|place| &text[place.before]).collect()
    }

    #[test]
    fn a_unit_may_end_at_punctuation_and_before_a_linking_word() {
        assert_eq!(ends("Nice image (line 2), but why now? Say more"), ["2),", "now?"]);
        assert_eq!(ends("You name it and move on"), ["it"]);
        assert_eq!(ends("  Good. "), [""; 0]);
        assert_eq!(ends(""), [""; 0]);
    }

    #[test]
    fn the_sides_of_a_place_reach_to_the_ends_of_its_sentences() {
        let text = "Good (really.) You name it, and move on. Why?";
        let sides: Vec<[&str; 2]> =
            places(text).into_iter().map(|place| [&text[place.left], &text[place.right]]).collect();
        assert_eq!(
            sides,
            [
                ["Good (really.)", "You name it, and move on."],
                ["You name it,", "and move on."],
                ["You name it, and move on.", "Why?"],
            ]
        );
        let open = places("no end, here");
        assert_eq!((open[0].left.clone(), open[0].right.clone()), (0..7, 8..12));
    }

    #[test]
    fn what_meets_the_eye_is_told_apart() {
        let surface = |text: &str| places(text)[0].surface;
        let stop = surface("Good.” Then (more) of it");
        assert_eq!(stop[..6], [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
        let comma = surface("Good, but short");
        assert_eq!(comma[..11], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(comma[11..], [1.0 / 60.0, 2.0 / 60.0]);
        for (word, is_number) in [("1.", true), ("(2)", true), ("3)", true), ("4", false)] {
            assert_eq!(is_number_of_a_list(word), is_number, "{word}");
        }
    }
}
