//! The forward pass of encoders of the BERT type (Devlin et al. 2019): token ids to
//! hidden states.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    attention::{Heads, attend},
    config::EncoderConfig,
    dense::Dense,
    precision::EncoderPrecision,
    relative::RelativeBias,
};
use crate::nn::{
    kernels::{Cpu, add, layer_norm},
    weights::{self, ModelError, Weights},
};

/// The least rows that one task of row by row work takes on.
const MIN_ROWS: usize = 16;

/// An encoder, ready to run.
#[derive(Debug)]
pub(super) struct Bert {
    cpu: Cpu,
    config: EncoderConfig,
    words: Vec<f32>,
    positions: Vec<f32>,
    types: Vec<f32>,
    norm: Norm,
    relative: Option<RelativeBias>,
    layers: Vec<Layer>,
}

/// One text, or a pair of texts, as the model reads it.
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct TokenRow<'a> {
    /// Its tokens, with those that the model wants around them.
    pub(in crate::nn) ids: &'a [u32],
    /// How many of them are of the first type; the others, which make a second text,
    /// are of the second.
    pub(in crate::nn) n_of_first_type: usize,
}

impl<'a> TokenRow<'a> {
    /// A single text.
    pub(in crate::nn) fn single(ids: &'a [u32]) -> Self {
        Self { ids, n_of_first_type: ids.len() }
    }
}

#[derive(Debug)]
struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct Layer {
    /// Queries, keys and values, side by side; queries are scaled.
    project: Dense,
    attended: Dense,
    attended_norm: Norm,
    inner: Dense,
    outer: Dense,
    outer_norm: Norm,
}

impl Bert {
    /// Reads and packs all tensors.
    pub(super) fn load(
        weights: &dyn Weights,
        config: EncoderConfig,
        precision: EncoderPrecision,
        cpu: Cpu,
    ) -> Result<Self, ModelError> {
        let hidden = config.hidden_size;
        let source = Source::of(weights, &config, precision)?;
        let names = config.names;
        let layers = (0..config.n_layers).map(|index| Layer::load(&source, &config, index));
        Ok(Self {
            cpu,
            words: source.matrix(names.words, [config.vocabulary_size, hidden])?,
            positions: source
                .matrix(names.positions, [config.position_offset + config.n_positions, hidden])?,
            types: match names.types {
                Some(types) => source.matrix(types, [config.n_types, hidden])?,
                None => vec![0.0; hidden],
            },
            relative: match names.relative {
                Some(name) => {
                    let shape = [config.n_relative_buckets, config.n_heads];
                    Some(RelativeBias::new(source.matrix(name, shape)?, config.n_heads))
                }
                None => None,
            },
            norm: source.norm(names.norm, hidden)?,
            layers: layers.collect::<Result<_, _>>()?,
            config,
        })
    }

    /// The size of a hidden state.
    pub(super) fn hidden_size(&self) -> usize {
        self.config.hidden_size
    }

    /// Why the model cannot read a row, if it cannot.
    pub(super) fn refusal(&self, row: &TokenRow<'_>) -> Option<String> {
        let EncoderConfig { n_positions, vocabulary_size, .. } = self.config;
        let n_types = self.config.n_types.max(1);
        let n_row_types = if row.n_of_first_type < row.ids.len() { 2 } else { 1 };
        let unknown = row.ids.iter().find(|id| vocabulary_size <= **id as usize);
        if row.ids.is_empty() || n_positions < row.ids.len() {
            Some(format!("{} tokens, and the model reads 1 to {n_positions}", row.ids.len()))
        } else if n_types < n_row_types {
            Some(format!("tokens of {n_row_types} types, and the model has {n_types}"))
        } else {
            unknown.map(|id| format!("token {id}, and the model has {vocabulary_size}"))
        }
    }

    /// The last hidden states of all tokens, row after row, one after the other.
    ///
    /// A row's states depend on that row alone, to the last bit: not on the rows
    /// beside it, on the number of threads or on the processor.
    ///
    /// # Panics
    ///
    /// If the model [refuses](Self::refusal) a row.
    pub(super) fn states(&self, rows: &[TokenRow<'_>]) -> Vec<f32> {
        let mut texts: Vec<Range<usize>> = Vec::with_capacity(rows.len());
        for row in rows {
            let start = texts.last().map_or(0, |text| text.end);
            texts.push(start..start + row.ids.len());
        }
        let mut states = self.embed(rows);
        let mut buffers = Buffers::default();
        for layer in &self.layers {
            layer.forward(self, &texts, &mut states, &mut buffers);
        }
        states
    }

    /// Words, positions and types, normed.
    fn embed(&self, rows: &[TokenRow<'_>]) -> Vec<f32> {
        let EncoderConfig { hidden_size: hidden, position_offset, .. } = self.config;
        let tokens: Vec<[usize; 3]> = rows
            .iter()
            .flat_map(|row| {
                row.ids.iter().enumerate().map(|(position, id)| {
                    [
                        *id as usize,
                        position_offset + position,
                        usize::from(row.n_of_first_type <= position),
                    ]
                })
            })
            .collect();
        let mut states = vec![0.0; tokens.len() * hidden];
        let parts = states.par_chunks_mut(hidden).zip(tokens).with_min_len(MIN_ROWS);
        parts.for_each(|(state, [word, position, kind])| {
            let mut sum = self.words[word * hidden..][..hidden].to_vec();
            add(self.cpu, &mut sum, &self.types[kind * hidden..][..hidden]);
            add(self.cpu, &mut sum, &self.positions[position * hidden..][..hidden]);
            self.norm.apply(self, &sum, state);
        });
        states
    }
}

/// What a layer computes between its states, a row for each token.
#[derive(Debug, Default)]
struct Buffers {
    projected: Vec<f32>,
    attended: Vec<f32>,
    inner: Vec<f32>,
    changes: Vec<f32>,
}

impl Layer {
    fn load(source: &Source<'_>, config: &EncoderConfig, index: usize) -> Result<Self, ModelError> {
        let EncoderConfig { hidden_size: hidden, intermediate_size: inner, names, .. } = *config;
        let layer = names.layer.replace("{}", &index.to_string());
        let name = |part: &str| format!("{layer}{part}");
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        let scale = 1.0 / ((hidden / config.n_heads) as f32).sqrt();
        for (part, scale) in [(names.query, scale), (names.key, 1.0), (names.value, 1.0)] {
            let matrix = source.matrix(&name(part), [hidden, hidden])?;
            weights.extend(matrix.iter().map(|weight| weight * scale));
            biases.extend(source.bias(&name(part), hidden)?.iter().map(|bias| bias * scale));
        }
        let dense = |part: &str, shape: [usize; 2], activation| {
            let (weights, bias) =
                (source.matrix(&name(part), shape)?, source.bias(&name(part), shape[0])?);
            source.pack(&name(part), Dense::pack(weights, bias, activation, source.precision))
        };
        Ok(Self {
            project: source.pack(&layer, Dense::pack(weights, biases, None, source.precision))?,
            attended: dense(names.attended, [hidden, hidden], None)?,
            attended_norm: source.norm(&name(names.attended_norm), hidden)?,
            inner: dense(names.inner, [inner, hidden], Some(config.activation))?,
            outer: dense(names.outer, [hidden, inner], None)?,
            outer_norm: source.norm(&name(names.outer_norm), hidden)?,
        })
    }

    fn forward(
        &self,
        model: &Bert,
        texts: &[Range<usize>],
        states: &mut [f32],
        buffers: &mut Buffers,
    ) {
        let cpu = model.cpu;
        let EncoderConfig { hidden_size, n_heads, .. } = model.config;
        let bias = model.relative.as_ref();
        let heads = Heads { n_heads, head_size: hidden_size / n_heads, bias };
        let n_rows = states.len() / hidden_size;
        let Buffers { projected, attended, inner, changes } = buffers;
        apply(&self.project, cpu, n_rows, states, projected);
        attended.resize(states.len(), 0.0);
        attend(cpu, heads, projected, texts, attended);
        apply(&self.attended, cpu, n_rows, attended, changes);
        self.attended_norm.add_and_apply(model, changes, states);
        apply(&self.inner, cpu, n_rows, states, inner);
        apply(&self.outer, cpu, n_rows, inner, changes);
        self.outer_norm.add_and_apply(model, changes, states);
    }
}

fn apply(dense: &Dense, cpu: Cpu, n_rows: usize, rows: &[f32], out: &mut Vec<f32>) {
    out.resize(n_rows * dense.n_outputs(), 0.0);
    dense.apply(cpu, rows, out);
}

impl Norm {
    fn apply(&self, model: &Bert, row: &[f32], out: &mut [f32]) {
        layer_norm(model.cpu, row, &self.weight, &self.bias, model.config.norm_epsilon, out);
    }

    /// Norms the sums of states and changes; these are used up.
    fn add_and_apply(&self, model: &Bert, changes: &mut [f32], states: &mut [f32]) {
        let width = self.weight.len();
        let rows = states.par_chunks_mut(width).zip(changes.par_chunks_mut(width));
        rows.with_min_len(MIN_ROWS).for_each(|(state, changes)| {
            add(model.cpu, changes, state);
            self.apply(model, changes, state);
        });
    }
}

/// Tensors by the names that a configuration gives them.
struct Source<'a> {
    weights: &'a dyn Weights,
    prefix: &'static str,
    precision: EncoderPrecision,
}

impl<'a> Source<'a> {
    fn of(
        weights: &'a dyn Weights,
        config: &EncoderConfig,
        precision: EncoderPrecision,
    ) -> Result<Self, ModelError> {
        let mut prefix = "";
        for candidate in config.names.prefixes {
            if weights.find(&format!("{candidate}{}.weight", config.names.words))?.is_some() {
                prefix = candidate;
                break;
            }
        }
        Ok(Self { weights, prefix, precision })
    }

    fn matrix(&self, name: &str, shape: [usize; 2]) -> Result<Vec<f32>, ModelError> {
        let name = format!("{}{name}.weight", self.prefix);
        let tensor = weights::tensor(self.weights, &name, &shape)?;
        self.finite(&name, tensor.rows(0..shape[0]))
    }

    fn bias(&self, name: &str, length: usize) -> Result<Vec<f32>, ModelError> {
        weights::vector(self.weights, &format!("{}{name}.bias", self.prefix), length)
    }

    fn norm(&self, name: &str, length: usize) -> Result<Norm, ModelError> {
        let weight = format!("{}{name}.weight", self.prefix);
        let weight = weights::vector(self.weights, &weight, length)?;
        Ok(Norm { weight, bias: self.bias(name, length)? })
    }

    fn pack(
        &self,
        name: &str,
        packed: Result<Dense, candle_core::Error>,
    ) -> Result<Dense, ModelError> {
        packed.map_err(|error| self.unreadable(name, error.to_string()))
    }

    /// Numbers that have an end: a code cannot say that a weight has none.
    fn finite(
        &self,
        name: &str,
        numbers: Result<Vec<f32>, candle_core::Error>,
    ) -> Result<Vec<f32>, ModelError> {
        let numbers = numbers.map_err(|error| self.unreadable(name, error.to_string()))?;
        if numbers.iter().all(|number| number.is_finite()) {
            return Ok(numbers);
        }
        Err(self.unreadable(name, "it holds what is no number".to_owned()))
    }

    fn unreadable(&self, name: &str, reason: String) -> ModelError {
        ModelError::Unreadable {
            file: self.weights.origin().to_owned(),
            tensor: name.to_owned(),
            reason,
        }
    }
}

#[cfg(test)]
mod tests;
