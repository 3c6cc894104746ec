//! The encoder of a distilled model: texts to tokens, tokens to states.

use camino::Utf8Path;
use serde_json::Value;
use tokenizers::Tokenizer;

use super::{DistilledError, source::Parsed};
use crate::nn::{
    Cpu, EncoderPrecision, EncoderShape, ModelError, RawTensor, TensorFile, TokenEncoder, Weights,
};

/// A tokenizer, and an encoder that gives the states of tokens.
pub struct SharedEncoder {
    tokenizer: Tokenizer,
    model: TokenEncoder,
    before: Vec<u32>,
    after: Vec<u32>,
    max_tokens: usize,
}

/// A text as tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The tokens, without those that the model wants around them.
    pub ids: Vec<u32>,
    /// Where each stands in the text, in bytes.
    pub offsets: Vec<(usize, usize)>,
}

impl SharedEncoder {
    /// Puts the layers of base and model one upon the other.
    pub fn new(
        parsed: &Parsed,
        tokenizer: (&[u8], &Utf8Path),
        precision: EncoderPrecision,
        cpu: Cpu,
    ) -> Result<Self, DistilledError> {
        let Parsed { base, base_description, own, own_description } = parsed;
        let shape = shape(&base_description.config, own_description.n_layers, base.origin())?;
        let both = Both { base, own };
        let model = TokenEncoder::new(shape, &both, precision, cpu)?;
        Self::with_model(model, tokenizer, base_description.max_tokens)
    }

    /// With a model that is there already.
    pub fn with_model(
        model: TokenEncoder,
        (bytes, path): (&[u8], &Utf8Path),
        max_tokens: usize,
    ) -> Result<Self, DistilledError> {
        let failed = |reason: String| DistilledError::File { path: path.to_owned(), reason };
        let wrong = |error: tokenizers::Error| failed(error.to_string());
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(wrong)?;
        // The file cuts and pads to its own length, and both would be silent.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(wrong)?;
        tokenizer.set_encode_special_tokens(true);
        let encoding = tokenizer.encode_fast("a", true).map_err(wrong)?;
        let (ids, special) = (encoding.get_ids(), encoding.get_special_tokens_mask());
        let n_before = special.iter().take_while(|is_special| **is_special == 1).count();
        let n_after = special.iter().rev().take_while(|is_special| **is_special == 1).count();
        if ids.len() <= n_before + n_after {
            return Err(failed("it makes no token of the letter a".to_owned()));
        }
        if max_tokens <= n_before + n_after || model.max_tokens() < max_tokens {
            return Err(failed(format!("{max_tokens} tokens at once")));
        }
        let (before, after) = (ids[..n_before].to_vec(), ids[ids.len() - n_after..].to_vec());
        Ok(Self { tokenizer, model, before, after, max_tokens })
    }

    /// The size of a state.
    pub fn hidden_size(&self) -> usize {
        self.model.hidden_size()
    }

    /// The most tokens of a text that are read at once.
    pub fn window(&self) -> usize {
        self.max_tokens - self.before.len() - self.after.len()
    }

    /// The tokens that stand before those of a text.
    pub fn n_before(&self) -> usize {
        self.before.len()
    }

    /// The tokens of a text; text that spells a special token stays text.
    pub fn read(&self, text: &str) -> Result<Reading, String> {
        let encoding = self.tokenizer.encode(text, false).map_err(|error| error.to_string())?;
        Ok(Reading { ids: encoding.get_ids().to_vec(), offsets: encoding.get_offsets().to_vec() })
    }

    /// Tokens with those around them.
    pub fn around(&self, ids: &[u32]) -> Vec<u32> {
        [&self.before, ids, &self.after].concat()
    }

    /// The states of each row of tokens, in order; a row's states depend on it alone.
    pub fn states(&self, rows: &[Vec<u32>]) -> Vec<Result<Vec<f32>, String>> {
        let rows: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
        self.model.states(&rows)
    }
}

/// The shape of an encoder with so many layers, by its `config.json`.
pub fn shape(
    config: &Value,
    n_layers: usize,
    path: &Utf8Path,
) -> Result<EncoderShape, DistilledError> {
    let shape = EncoderShape::parse(&config.to_string(), path)?;
    if shape.n_layers() < n_layers {
        let reason = format!("{n_layers} layers of a model of {}", shape.n_layers());
        return Err(DistilledError::File { path: path.to_owned(), reason });
    }
    Ok(shape.with_layers(n_layers))
}

/// The tensors of a base and of what stands upon it.
struct Both<'a> {
    base: &'a TensorFile,
    own: &'a TensorFile,
}

impl Weights for Both<'_> {
    fn origin(&self) -> &Utf8Path {
        self.own.origin()
    }

    fn find(&self, name: &str) -> Result<Option<RawTensor>, ModelError> {
        Ok(match self.own.find(name)? {
            Some(tensor) => Some(tensor),
            None => self.base.find(name)?,
        })
    }
}
