//! Texts to rows of tokens.

use std::ops::Range;

use camino::Utf8Path;
use rayon::prelude::*;
use tokenizers::Tokenizer;

use super::{
    EncoderError,
    folder::{unreadable, unsupported},
    frame::{Frame, windows},
};

/// A tokenizer, the tokens that a model wants around a text, and how many it reads at
/// once.
pub struct TextReader {
    tokenizer: Tokenizer,
    frame: Frame,
    window: usize,
}

/// A text as tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The tokens, without those that the model wants around them.
    pub ids: Vec<u32>,
    /// Where each stands in the text, in bytes.
    pub offsets: Vec<(usize, usize)>,
}

/// A text among the rows of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::nn) struct Extent {
    /// The tokens of the text.
    pub(in crate::nn) n_tokens: usize,
    /// Its rows.
    pub(in crate::nn) rows: Range<usize>,
}

impl TextReader {
    /// Takes a `tokenizer.json`; `path` is for messages. So many tokens are read at
    /// once, those around the text counted.
    pub fn new(bytes: &[u8], path: &Utf8Path, max_tokens: usize) -> Result<Self, EncoderError> {
        let tokenizer = parse_tokenizer(bytes, path)?;
        let frame = Frame::of(&tokenizer).map_err(|error| unreadable(path, &error))?;
        if max_tokens <= frame.n_tokens() {
            return Err(unsupported(path.to_owned(), format!("{max_tokens} tokens at once")));
        }
        Ok(Self { window: max_tokens - frame.n_tokens(), tokenizer, frame })
    }

    /// The same from a model's folder.
    pub(in crate::nn) fn load(folder: &Utf8Path, max_tokens: usize) -> Result<Self, EncoderError> {
        let path = folder.join("tokenizer.json");
        let bytes = fs_err::read(&path).map_err(|error| unreadable(&path, &error))?;
        Self::new(&bytes, &path, max_tokens)
    }

    /// The most tokens of a text that are read at once.
    pub fn window(&self) -> usize {
        self.window
    }

    /// The tokens that stand before those of a text.
    pub fn n_before(&self) -> usize {
        self.frame.n_before()
    }

    /// The tokens of a text; text that spells a special token stays text.
    pub fn read(&self, text: &str) -> Result<Reading, String> {
        let encoding = self.tokenizer.encode(text, false).map_err(|error| error.to_string())?;
        Ok(Reading { ids: encoding.get_ids().to_vec(), offsets: encoding.get_offsets().to_vec() })
    }

    /// Tokens with those around them.
    pub fn around(&self, ids: &[u32]) -> Vec<u32> {
        self.frame.around(ids)
    }

    /// Of a row of so many tokens, which are of the text itself.
    pub(in crate::nn) fn is_own(&self, n_tokens: usize) -> impl Iterator<Item = bool> {
        self.frame.is_own(n_tokens)
    }

    /// The rows of a text: one, or for a long text the fewest of about equal length.
    pub fn rows(&self, text: &str) -> Result<Vec<Vec<u32>>, String> {
        let (rows, extents) = self.row_set(&[text]);
        extents.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(rows)
    }

    /// The rows of several texts, one after the other, and where those of each are.
    pub(in crate::nn) fn row_set(
        &self,
        texts: &[impl AsRef<str> + Sync],
    ) -> (Vec<Vec<u32>>, Vec<Result<Extent, String>>) {
        let tokens: Vec<_> =
            texts.par_iter().map(|text| self.tokenizer.encode_fast(text.as_ref(), false)).collect();
        let mut rows = Vec::new();
        let extents = tokens.into_iter().map(|encoding| {
            let encoding = encoding.map_err(|error| error.to_string())?;
            let first = rows.len();
            let windows = windows(encoding.len(), self.window).into_iter();
            rows.extend(windows.map(|window| self.around(&encoding.get_ids()[window])));
            Ok(Extent { n_tokens: encoding.len(), rows: first..rows.len() })
        });
        let extents = extents.collect();
        (rows, extents)
    }
}

/// A tokenizer that neither cuts nor pads, and takes text that spells a special token
/// for text.
pub(in crate::nn) fn load_tokenizer(path: &Utf8Path) -> Result<Tokenizer, EncoderError> {
    let bytes = fs_err::read(path).map_err(|error| unreadable(path, &error))?;
    parse_tokenizer(&bytes, path)
}

fn parse_tokenizer(bytes: &[u8], path: &Utf8Path) -> Result<Tokenizer, EncoderError> {
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| unreadable(path, &error))?;
    // The file cuts and pads to its own length, and both would be silent.
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|error| unreadable(path, &error))?;
    tokenizer.set_encode_special_tokens(true);
    Ok(tokenizer)
}
