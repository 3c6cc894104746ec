//! A BERT model that gives the states of tokens.

use camino::Utf8Path;

use super::{
    EncoderError, EncoderPrecision,
    bert::{Bert, TokenRow},
    body::Body,
    config::{ConfigProblem, EncoderConfig},
};
use crate::nn::{
    kernels::Cpu,
    weights::{ModelError, Weights},
};

/// The shape of an encoder of the BERT type.
#[derive(Clone, Debug)]
pub struct EncoderShape {
    config: EncoderConfig,
}

impl EncoderShape {
    /// Parses a `config.json`; `path` is for messages.
    pub fn parse(text: &str, path: &Utf8Path) -> Result<Self, EncoderError> {
        let path = path.to_owned();
        let config = EncoderConfig::parse(text).map_err(|problem| match problem {
            ConfigProblem::Unreadable(error) => {
                EncoderError::File { path: path.clone(), reason: error.to_string() }
            }
            ConfigProblem::Unsupported(what) => EncoderError::Unsupported { path, what },
        })?;
        Ok(Self { config })
    }

    /// The same with the first layers alone.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    #[must_use]
    pub fn with_layers(mut self, n_layers: usize) -> Self {
        assert!(n_layers <= self.config.n_layers, "an encoder has no more layers than it has");
        self.config.n_layers = n_layers;
        self
    }

    /// How many layers there are.
    pub fn n_layers(&self) -> usize {
        self.config.n_layers
    }

    /// The size of a state.
    pub fn hidden_size(&self) -> usize {
        self.config.hidden_size
    }

    /// The size of a state within the feed-forward part.
    pub fn intermediate_size(&self) -> usize {
        self.config.intermediate_size
    }

    /// How many heads share a state.
    pub fn n_heads(&self) -> usize {
        self.config.n_heads
    }

    /// What keeps a norm from dividing by nothing.
    pub fn norm_epsilon(&self) -> f32 {
        self.config.norm_epsilon
    }

    /// The most tokens of a row.
    pub fn n_positions(&self) -> usize {
        self.config.n_positions
    }

    /// The tokens that there are.
    pub fn vocabulary_size(&self) -> usize {
        self.config.vocabulary_size
    }

    /// Whether the feed-forward part has the exact GELU between its matrices.
    pub fn has_exact_gelu(&self) -> bool {
        self.config.activation == super::config::Activation::Gelu
    }
}

/// An encoder that gives the last hidden state of every token.
pub struct TokenEncoder {
    model: Body,
    n_positions: usize,
}

impl TokenEncoder {
    /// Reads and packs all tensors, which go by their names of Hugging Face.
    pub fn new(
        shape: EncoderShape,
        weights: &dyn Weights,
        precision: EncoderPrecision,
        cpu: Cpu,
    ) -> Result<Self, ModelError> {
        let n_positions = shape.config.n_positions;
        let model = Body::of(Bert::load(weights, shape.config, precision, cpu)?);
        Ok(Self { model, n_positions })
    }

    /// The size of a state.
    pub fn hidden_size(&self) -> usize {
        self.model.hidden_size()
    }

    /// The most tokens of a row, those around the text counted.
    pub fn max_tokens(&self) -> usize {
        self.n_positions
    }

    /// The states of each row, in order, its tokens one after the other; or why there
    /// are none. A row's states depend on that row alone, to the last bit.
    pub fn states(&self, rows: &[Vec<u32>]) -> Vec<Result<Vec<f32>, String>> {
        let rows: Vec<TokenRow<'_>> = rows.iter().map(|row| TokenRow::single(row)).collect();
        self.model.map_states(&rows, <[f32]>::to_vec)
    }
}
