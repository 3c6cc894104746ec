//! A BERT model that gives the states of tokens.

use camino::Utf8Path;

use super::{
    EncoderError, EncoderPrecision,
    bert::{Bert, TokenRow},
    config::{ConfigProblem, EncoderConfig},
};
use crate::nn::{
    kernels::Cpu,
    weights::{ModelError, Weights},
};

/// The most tokens of a batch, as in the sentence encoder.
const MAX_BATCH_TOKENS: usize = 512;

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
#[derive(Debug)]
pub struct TokenEncoder {
    model: Bert,
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
        Ok(Self { model: Bert::load(weights, shape.config, precision, cpu)?, n_positions })
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
    /// are none. The rows are worked on in batches of about equal length, and a row's
    /// states depend on that row alone, to the last bit.
    pub fn states(&self, rows: &[&[u32]]) -> Vec<Result<Vec<f32>, String>> {
        let mut states: Vec<Result<Vec<f32>, String>> = rows
            .iter()
            .map(|row| self.model.refusal(&TokenRow::single(row)).map_or(Ok(Vec::new()), Err))
            .collect();
        let read: Vec<usize> = (0..rows.len()).filter(|index| states[*index].is_ok()).collect();
        let mut rest = &read[..];
        while !rest.is_empty() {
            let mut n_tokens = 0;
            let fits = |index: &&usize| {
                n_tokens += rows[**index].len();
                n_tokens <= MAX_BATCH_TOKENS
            };
            let n_rows = rest.iter().take_while(fits).count().max(1);
            let (batch, others) = rest.split_at(n_rows);
            let tokens: Vec<_> = batch.iter().map(|index| TokenRow::single(rows[*index])).collect();
            let made = self.model.states(&tokens);
            let mut made = &made[..];
            for index in batch {
                let (own, next) = made.split_at(rows[*index].len() * self.hidden_size());
                states[*index] = Ok(own.to_vec());
                made = next;
            }
            rest = others;
        }
        states
    }
}
