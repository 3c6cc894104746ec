//! Special tokens in a text, found before the rest is cut.

use std::{cmp::Reverse, collections::HashMap};

use super::SpecialTokens;

/// The texts that stand for a token as they are.
#[derive(Default)]
pub(super) struct SpecialTexts {
    /// By first byte, longest first.
    by_first_byte: HashMap<u8, Vec<SpecialText>>,
}

/// A text that stands for a token as it is.
pub(super) struct SpecialText {
    /// The text; an empty one is never found.
    pub(super) text: String,
    /// The token.
    pub(super) id: u32,
    /// Whether it is found in plain text too.
    pub(super) in_plain: bool,
    /// Whether the token swallows the white space after it.
    pub(super) strips_right: bool,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fragment<'t> {
    /// A special token.
    Token(u32),
    /// Text between special tokens, never empty.
    Text(&'t str),
}

impl SpecialTexts {
    pub(super) fn new(texts: impl IntoIterator<Item = SpecialText>) -> Self {
        let mut texts: Vec<SpecialText> = texts.into_iter().collect();
        texts.sort_by_key(|special| (Reverse(special.text.len()), special.id));
        let mut by_first_byte: HashMap<u8, Vec<SpecialText>> = HashMap::new();
        for special in texts {
            if let Some(&first) = special.text.as_bytes().first() {
                by_first_byte.entry(first).or_default().push(special);
            }
        }
        Self { by_first_byte }
    }

    /// Cuts a text around its special tokens. Of two that begin at the same
    /// place the longer is taken, of two that overlap the first.
    pub(super) fn split<'t>(&self, text: &'t str, special: SpecialTokens) -> Vec<Fragment<'t>> {
        let mut fragments = Vec::new();
        let mut start = 0;
        let mut at = 0;
        while at < text.len() {
            let Some(found) = self.find(&text.as_bytes()[at..], special) else {
                at += 1;
                continue;
            };
            push_text(&mut fragments, &text[start..at]);
            fragments.push(Fragment::Token(found.id));
            at += found.text.len();
            if found.strips_right {
                let rest = &text[at..];
                at += rest.len() - rest.trim_start_matches(is_ascii_space).len();
            }
            start = at;
        }
        push_text(&mut fragments, &text[start..]);
        fragments
    }

    /// The special text that `bytes` begin with. It begins and ends with whole
    /// characters, so that wherever it is found the text can be cut.
    fn find(&self, bytes: &[u8], special: SpecialTokens) -> Option<&SpecialText> {
        let candidates = self.by_first_byte.get(bytes.first()?)?;
        candidates.iter().find(|candidate| {
            (candidate.in_plain || special == SpecialTokens::Parse)
                && bytes.starts_with(candidate.text.as_bytes())
        })
    }
}

fn push_text<'t>(fragments: &mut Vec<Fragment<'t>>, text: &'t str) {
    if !text.is_empty() {
        fragments.push(Fragment::Text(text));
    }
}

/// White space as C's `isspace` has it.
fn is_ascii_space(ch: char) -> bool {
    ch.is_ascii_whitespace() || ch == '\u{b}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> SpecialTexts {
        let special = |text: &str, id, in_plain, strips_right| SpecialText {
            text: text.to_owned(),
            id,
            in_plain,
            strips_right,
        };
        SpecialTexts::new([
            special("<|end|>", 1, false, false),
            special("<|end|>>", 2, false, false),
            special("<br>", 3, true, false),
            special("<|user|>", 4, false, true),
            special("", 5, true, false),
        ])
    }

    #[test]
    fn the_longest_special_token_is_taken_and_the_text_between_kept() {
        let fragments = texts().split("a<|end|>>é<|end|><br>", SpecialTokens::Parse);
        assert_eq!(
            fragments,
            [
                Fragment::Text("a"),
                Fragment::Token(2),
                Fragment::Text("é"),
                Fragment::Token(1),
                Fragment::Token(3),
            ]
        );
    }

    #[test]
    fn plain_text_spells_no_control_token() {
        let fragments = texts().split("a<|end|><br>", SpecialTokens::Plain);
        assert_eq!(fragments, [Fragment::Text("a<|end|>"), Fragment::Token(3)]);
        assert_eq!(texts().split("", SpecialTokens::Parse), []);
    }

    #[test]
    fn a_token_may_swallow_the_space_after_it() {
        let fragments = texts().split("<|user|> \n hi", SpecialTokens::Parse);
        assert_eq!(fragments, [Fragment::Token(4), Fragment::Text("hi")]);
    }
}
