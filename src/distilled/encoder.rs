//! The encoder of a distilled model: texts to tokens, tokens to states.

use camino::Utf8Path;
use serde_json::Value;

use super::{DistilledError, source::Parsed};
use crate::nn::{
    Cpu, EncoderPrecision, EncoderShape, ModelError, RawTensor, TensorFile, TextReader,
    TokenEncoder, Weights,
};

/// A reader of texts, and an encoder that gives the states of tokens.
pub struct SharedEncoder {
    reader: TextReader,
    model: TokenEncoder,
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
        if model.max_tokens() < max_tokens {
            let reason = format!("{max_tokens} tokens at once, and the model reads fewer");
            return Err(DistilledError::File { path: path.to_owned(), reason });
        }
        Ok(Self { reader: TextReader::new(bytes, path, max_tokens)?, model })
    }

    /// What reads texts.
    pub fn reader(&self) -> &TextReader {
        &self.reader
    }

    /// The size of a state.
    pub fn hidden_size(&self) -> usize {
        self.model.hidden_size()
    }

    /// The states of each row of tokens, in order; a row's states depend on it alone.
    pub fn states(&self, rows: &[Vec<u32>]) -> Vec<Result<Vec<f32>, String>> {
        self.model.states(rows)
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
