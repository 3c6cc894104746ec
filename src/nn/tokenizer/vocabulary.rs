//! The tokens of a vocabulary: what each stands for, and which are special.

use super::special::SpecialTexts;

/// Tokens that end a turn whatever type a converter gave them: no text spells
/// them by chance.
pub(super) const END_TEXTS: [&str; 12] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<|END_OF_TURN_TOKEN|>",
    "<end_of_turn>",
    "<end_of_utterance>",
    "<turn|>",
    "<｜end▁of▁sentence｜>",
];

/// The tokens of a GGUF file, by id.
pub(super) struct Vocabulary {
    tokens: Vec<Token>,
    special: SpecialTexts,
    ends: Ends,
}

/// One token.
pub(super) struct Token {
    /// What it stands for in a decoded text.
    pub(super) bytes: Box<[u8]>,
    /// What it is for.
    pub(super) kind: TokenKind,
}

/// What a token is for, numbered as in GGUF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A piece of text.
    Normal,
    /// What cannot be spelled otherwise.
    Unknown,
    /// A mark that text cannot spell, as the end of a turn.
    Control,
    /// A piece of text that is never cut.
    UserDefined,
    /// Nothing.
    Unused,
    /// One byte.
    Byte,
}

/// The tokens at which sequences begin and end.
pub(super) struct Ends {
    /// The beginning of a sequence.
    pub(super) bos: Option<u32>,
    /// Whether sequences begin with it.
    pub(super) adds_bos: bool,
    /// What ends a reply, rising.
    pub(super) end_ids: Vec<u32>,
}

impl Vocabulary {
    pub(super) fn new(tokens: Vec<Token>, special: SpecialTexts, ends: Ends) -> Self {
        Self { tokens, special, ends }
    }

    pub(super) fn special(&self) -> &SpecialTexts {
        &self.special
    }

    pub(super) fn bos(&self) -> Option<u32> {
        self.ends.bos
    }

    pub(super) fn adds_bos(&self) -> bool {
        self.ends.adds_bos
    }

    pub(super) fn end_ids(&self) -> &[u32] {
        &self.ends.end_ids
    }

    pub(super) fn n_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// The text of ids, special tokens left out.
    pub(super) fn decode(&self, ids: &[u32]) -> String {
        let mut bytes = Vec::new();
        for &id in ids {
            if let Some(token) = self.tokens.get(id as usize)
                && !matches!(token.kind, TokenKind::Control | TokenKind::Unknown)
            {
                bytes.extend_from_slice(&token.bytes);
            }
        }
        finished_text(&bytes)
    }
}

/// The text of bytes: what is no character becomes U+FFFD, a character that the
/// bytes only begin is left out at their end.
pub(super) fn finished_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        let is_begun = chunks.peek().is_none()
            && std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        if !chunk.invalid().is_empty() && !is_begun {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_character_is_left_out_at_the_end_only() {
        assert_eq!(finished_text("naïve 🌧".as_bytes()), "naïve 🌧");
        assert_eq!(finished_text(&"rain 🌧".as_bytes()[..7]), "rain ");
        assert_eq!(finished_text(b"a\xf0\x9fb"), "a\u{fffd}b");
        assert_eq!(finished_text(b"a\xff"), "a\u{fffd}");
        assert_eq!(finished_text(b""), "");
    }
}
