//! Byte-level BPE: words are cut from the text, then their bytes are merged.

use std::{cmp::Reverse, collections::HashMap};

use super::{
    TokenizerError,
    merge::{Merged, Symbol, merge},
    pre_tokenizer::PreTokenizer,
};

/// The merges of a byte-level vocabulary.
pub(super) struct ByteLevel {
    pre_tokenizer: PreTokenizer,
    byte_ids: Box<[Option<u32>; 256]>,
    merges: HashMap<(u32, u32), RankedMerge>,
    /// Words that are a token as they stand, where the vocabulary asks for it.
    whole_words: HashMap<Box<[u8]>, u32>,
}

/// What two tokens merge into, and when.
struct RankedMerge {
    rank: usize,
    id: u32,
}

impl ByteLevel {
    /// `texts` are the tokens as the file spells them, each byte as one printable
    /// character, `merges` pairs of them with a space between, first to last.
    pub(super) fn new(
        pre_tokenizer: PreTokenizer,
        texts: &[&str],
        merges: &[&str],
    ) -> Result<Self, TokenizerError> {
        let ids: HashMap<&str, u32> = texts.iter().copied().zip(0..).collect();
        let mut byte_ids = Box::new([None; 256]);
        for (ch, id) in printable_bytes().into_iter().zip(byte_ids.iter_mut()) {
            *id = ids.get(ch.encode_utf8(&mut [0; 4]) as &str).copied();
        }
        let mut by_pair = HashMap::with_capacity(merges.len());
        for (rank, merge) in merges.iter().enumerate() {
            let (pair, id) = resolve(merge, &ids).ok_or_else(|| {
                TokenizerError::Broken(format!("merge {rank} joins what are no tokens"))
            })?;
            by_pair.entry(pair).or_insert(RankedMerge { rank, id });
        }
        let whole_words = if pre_tokenizer.keeps_whole_words() {
            texts.iter().zip(0..).filter_map(|(text, id)| Some((bytes_of(text)?, id))).collect()
        } else {
            HashMap::new()
        };
        Ok(Self { pre_tokenizer, byte_ids, merges: by_pair, whole_words })
    }

    /// Appends the ids of a text without special tokens.
    pub(super) fn encode(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), TokenizerError> {
        for word in self.pre_tokenizer.split(text)? {
            if let Some(&id) = self.whole_words.get(word.as_bytes()) {
                ids.push(id);
            } else {
                ids.extend(self.merge_bytes(word).iter().filter_map(|symbol| symbol.id));
            }
        }
        Ok(())
    }

    fn merge_bytes(&self, word: &str) -> Vec<Symbol> {
        let bytes = word.bytes().enumerate().map(|(at, byte)| Symbol {
            start: at,
            end: at + 1,
            id: self.byte_ids[usize::from(byte)],
        });
        merge(bytes.collect(), |left, right| {
            let merge = self.merges.get(&(left.id?, right.id?))?;
            Some(Merged { priority: Reverse(merge.rank), id: merge.id })
        })
    }
}

/// The ids of the two tokens of a merge and of what they make.
fn resolve(merge: &str, ids: &HashMap<&str, u32>) -> Option<((u32, u32), u32)> {
    let (left, right) = merge.split_once(' ')?;
    let joined = format!("{left}{right}");
    Some(((*ids.get(left)?, *ids.get(right)?), *ids.get(joined.as_str())?))
}

/// The bytes that a token of a byte-level vocabulary spells, or `None` where a
/// character of it stands for no byte.
pub(super) fn bytes_of(text: &str) -> Option<Box<[u8]>> {
    text.chars().map(byte_of).collect()
}

/// The byte that a printable character stands for.
fn byte_of(ch: char) -> Option<u8> {
    let code = u32::from(ch);
    match code {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => u8::try_from(code).ok(),
        // The other bytes follow each other from U+0100 on.
        0x100..=0x120 => u8::try_from(code - 0x100).ok(),
        0x121..=0x142 => u8::try_from(code - 0x121 + 0x7f).ok(),
        0x143 => Some(0xad),
        _ => None,
    }
}

/// The printable character that stands for each byte, after GPT-2: itself where
/// it is printable, else the next from U+0100 on.
fn printable_bytes() -> [char; 256] {
    let mut chars = ['\0'; 256];
    for ch in '\0'..='\u{143}' {
        if let Some(byte) = byte_of(ch) {
            chars[usize::from(byte)] = ch;
        }
    }
    chars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_character_of_its_own() {
        let chars = printable_bytes();
        for (byte, ch) in (0..=u8::MAX).zip(chars) {
            assert_eq!(byte_of(ch), Some(byte), "{byte:#x}");
        }
        assert_eq!(chars[usize::from(b' ')], 'Ġ');
        assert_eq!(chars[usize::from(b'\n')], 'Ċ');
        assert_eq!(bytes_of("Ġcafé"), Some(Box::from(b" caf\xe9" as &[u8])));
        assert_eq!(bytes_of("a b"), None);
    }
}
