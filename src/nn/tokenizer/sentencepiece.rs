//! `SentencePiece` vocabularies with scores: characters are merged, the token of
//! highest score first, and what is no token is spelled in bytes.

use std::{cmp::Ordering, collections::HashMap};

use super::{
    TokenizerError,
    merge::{Merged, Symbol, merge},
    vocabulary::Vocabulary,
};

/// What stands for a space in the tokens.
pub(super) const SPACE: char = '\u{2581}';

/// The scores of a `SentencePiece` vocabulary.
pub(super) struct SentencePiece {
    /// Pieces of text, by their spelling.
    pieces: HashMap<Box<str>, Piece>,
    byte_ids: Box<[Option<u32>; 256]>,
    adds_space: bool,
}

/// A token that is a piece of text.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// The token.
    pub(super) id: u32,
    /// The piece of higher score is merged first.
    pub(super) score: f32,
}

impl SentencePiece {
    /// `adds_space` says whether a space is put before text that stands at the
    /// beginning or after a special token.
    pub(super) fn new(
        pieces: HashMap<Box<str>, Piece>,
        byte_ids: Box<[Option<u32>; 256]>,
        adds_space: bool,
    ) -> Self {
        Self { pieces, byte_ids, adds_space }
    }

    /// Appends the ids of a text without special tokens.
    pub(super) fn encode(
        &self,
        text: &str,
        after_special: bool,
        ids: &mut Vec<u32>,
    ) -> Result<(), TokenizerError> {
        let mut spelled = String::with_capacity(text.len() * 2);
        if self.adds_space && after_special {
            spelled.push(SPACE);
        }
        spelled.extend(text.chars().map(|ch| if ch == ' ' { SPACE } else { ch }));
        let characters = spelled.char_indices().map(|(start, ch)| {
            let end = start + ch.len_utf8();
            Symbol { start, end, id: self.pieces.get(&spelled[start..end]).map(|piece| piece.id) }
        });
        let symbols = merge(characters.collect(), |left, right| {
            let piece = self.pieces.get(&spelled[left.start..right.end])?;
            // Adding zero makes one zero of two.
            Some(Merged { priority: Score(piece.score + 0.0), id: piece.id })
        });
        for symbol in symbols {
            match symbol.id {
                Some(id) => ids.push(id),
                None => self.spell(&spelled[symbol.start..symbol.end], ids)?,
            }
        }
        Ok(())
    }

    /// Appends a token for each byte of `text`.
    fn spell(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), TokenizerError> {
        for byte in text.bytes() {
            let id = self.byte_ids[usize::from(byte)].ok_or_else(|| {
                TokenizerError::Broken(format!("there is no token for the byte {byte:#04x}"))
            })?;
            ids.push(id);
        }
        Ok(())
    }

    /// The text of ids, without the space that [`encode`](Self::encode) adds.
    pub(super) fn decode(&self, vocabulary: &Vocabulary, ids: &[u32]) -> String {
        let text = vocabulary.decode(ids);
        match text.strip_prefix(' ') {
            Some(rest) if self.adds_space => rest.to_owned(),
            _ => text,
        }
    }
}

/// A score with a total order.
#[derive(Clone, Copy)]
struct Score(f32);

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Score {}
