//! Words that were broken at the end of a line.

use std::collections::BTreeSet;

use super::columns::Line;

/// What a document tells about its hyphens.
#[derive(Debug, Default)]
pub(super) struct Hyphens {
    /// All whole words of the document, in small letters.
    words: BTreeSet<String>,
    /// Whether the document breaks words at the ends of lines.
    breaks_words: bool,
    /// Whether dashes mostly stand without spaces, as in `this—that`.
    has_tight_dashes: bool,
}

impl Hyphens {
    /// Learns from the lines of a document.
    pub(super) fn of(lines: &[Line]) -> Self {
        let texts: Vec<String> = lines.iter().map(Line::text).collect();
        let mut words = BTreeSet::new();
        let mut n_inside = 0_usize;
        for text in &texts {
            let n_words = text.split(' ').count();
            for (index, word) in text.split(' ').enumerate() {
                // The ends of a line may be parts of words.
                let is_part = index == 0 || index + 1 == n_words && word.ends_with(HYPHENS);
                if !is_part {
                    let word = bare(word);
                    n_inside += usize::from(word.contains('-'));
                    words.insert(word);
                }
            }
        }
        let (n_tight, n_loose) = dashes(&texts);
        let has_tight_dashes = n_tight > n_loose;
        let mut hyphens = Self { words, has_tight_dashes, breaks_words: false };
        let pairs = texts.windows(2).filter_map(|pair| match pair {
            [line, next] => parts(line, next),
            _ => None,
        });
        let (mut n_breaks, mut n_known) = (0_usize, 0_usize);
        for (first, second) in pairs {
            n_breaks += 1;
            n_known += usize::from(hyphens.words.contains(&format!("{first}{second}")));
        }
        // A line has some ten words, so that one in ten hyphens inside words ends a line by
        // chance; many more than these were put there by the typesetter.
        hyphens.breaks_words = n_known >= 2 || n_breaks >= 3 && n_breaks > n_inside;
        hyphens
    }

    /// Whether the line ends in a dash that stands without spaces.
    pub(super) fn ends_in_tight_dash(&self, line: &str) -> bool {
        let before = line.strip_suffix('—');
        self.has_tight_dashes
            && before.is_some_and(|before| before.ends_with(char::is_alphanumeric))
    }

    /// Whether the hyphen at the end of `line` goes when the word that follows on `next` is
    /// joined to it: the joined word is known, or the document breaks words and the word with
    /// its hyphen is not known.
    pub(super) fn falls_away(&self, line: &str, next: &str) -> bool {
        let Some((first, second)) = parts(line, next) else { return false };
        let is_known = |word: &str| self.words.contains(word);
        if is_known(&format!("{first}-{second}")) {
            return false;
        }
        if is_known(&format!("{first}{second}")) {
            return true;
        }
        self.breaks_words && !(is_known(&first) && is_known(&second))
    }
}

/// How many dashes behind a word are followed by a letter, and how many by a space.
fn dashes(texts: &[String]) -> (usize, usize) {
    let (mut n_tight, mut n_loose) = (0_usize, 0_usize);
    for text in texts {
        let mut before = None;
        for (ch, after) in text.chars().zip(text.chars().skip(1)) {
            if ch == '—' && before.is_some_and(char::is_alphanumeric) {
                n_tight += usize::from(after.is_alphanumeric());
                n_loose += usize::from(after == ' ');
            }
            before = Some(ch);
        }
    }
    (n_tight, n_loose)
}

/// The hyphens that end a line.
const HYPHENS: [char; 2] = ['-', '\u{2010}'];

/// Words before which English puts a hyphen even where a capital follows.
const PREFIXES: [&str; 12] =
    ["non", "anti", "pre", "post", "pro", "un", "mid", "neo", "ex", "all", "self", "sub"];

/// Whether the line ends in a hyphen inside a word, so that the next line follows without a
/// space. A hyphen before a capital is more often a dash, but for names and some prefixes.
pub(super) fn ends_in_hyphen(line: &str, next: &str) -> bool {
    let Some(rest) = line.strip_suffix(HYPHENS) else { return false };
    let first = rest.rsplit(' ').next().unwrap_or_default();
    let is_word = first.ends_with(char::is_alphanumeric);
    let is_compound =
        || first.starts_with(char::is_uppercase) || PREFIXES.contains(&bare(first).as_str());
    is_word && (!next.starts_with(char::is_uppercase) || is_compound())
}

/// The two parts of a word that goes over a line's end, in small letters; `None` where there
/// is none, or the second part is no small letter.
fn parts(line: &str, next: &str) -> Option<(String, String)> {
    let first = line.strip_suffix(HYPHENS)?.rsplit(' ').next()?;
    let second = next.split(' ').next()?;
    let is_word = first.ends_with(char::is_alphabetic) && second.starts_with(char::is_lowercase);
    is_word.then(|| (bare(first), bare(second)))
}

/// A word without the marks around it, in small letters.
fn bare(word: &str) -> String {
    word.trim_matches(|ch: char| !ch.is_alphanumeric()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{super::glyphs::Glyph, *};

    fn hyphens(lines: &[&str]) -> Hyphens {
        let line = |text: &&str| Line {
            glyphs: vec![Glyph { text: (*text).to_owned(), ..Glyph::default() }],
            ..Line::default()
        };
        Hyphens::of(&lines.iter().map(line).collect::<Vec<_>>())
    }

    #[test]
    fn only_known_words_are_joined() {
        let hyphens = hyphens(&["the exam-", "ple is an example of", "a well-known thing"]);
        assert!(hyphens.falls_away("the exam-", "ple is"));
        assert!(!hyphens.falls_away("a well-", "known thing"));
        assert!(!hyphens.falls_away("some other-", "wise"));
        assert!(!hyphens.falls_away("the exam-", "Ple"));
        assert!(!hyphens.falls_away("no hyphen", "here"));
    }

    #[test]
    fn a_document_that_breaks_words_has_its_words_joined() {
        let hyphens = hyphens(&["of exam-", "ple and con-", "tent and other-", "wise and yes"]);
        assert!(hyphens.falls_away("of con-", "tent"));
    }

    #[test]
    fn dashes_stand_as_they_do_elsewhere() {
        assert!(hyphens(&["this—that and so—", "it goes"]).ends_in_tight_dash("and so—"));
        assert!(!hyphens(&["this— that and so—", "it goes"]).ends_in_tight_dash("and so—"));
        assert!(!hyphens(&["this—that and so —", "it goes"]).ends_in_tight_dash("and so —"));
    }

    #[test]
    fn a_dash_is_no_hyphen() {
        assert!(ends_in_hyphen("well-", "known"));
        assert!(ends_in_hyphen("the Anglo-", "Saxon"));
        assert!(ends_in_hyphen("a non-", "English word"));
        assert!(!ends_in_hyphen("a cry-", "I want"));
        assert!(!ends_in_hyphen("well -", "known"));
        assert!(!ends_in_hyphen("well--", "known"));
    }
}
