//! One layer of a decoder on a device.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{
    ops::rms_norm,
    rotary_emb::{rope, rope_i},
};

use super::matrix::{self, Matrix};
use crate::nn::{
    config::{Activation, DecoderConfig, RotationStyle},
    weights::{ModelError, Weights},
};

/// Cosines and sines of all rows, `[rows, 1, head_size / 2]`.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    pub(super) style: RotationStyle,
    pub(super) cosines: Tensor,
    pub(super) sines: Tensor,
}

/// The weights of one layer.
#[derive(Debug)]
pub(super) struct Layer {
    attention_norm: Tensor,
    query: Matrix,
    key: Matrix,
    value: Matrix,
    biases: Option<[Tensor; 3]>,
    query_norm: Option<Tensor>,
    key_norm: Option<Tensor>,
    output: Matrix,
    attention_output_norm: Option<Tensor>,
    feed_forward_norm: Tensor,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
    feed_forward_output_norm: Option<Tensor>,
}

/// The matrices of a layer by name, with their outputs and inputs.
pub(super) fn matrices(config: &DecoderConfig) -> [(&'static str, [usize; 2]); 7] {
    let &DecoderConfig { hidden_size: hidden, intermediate_size: inner, head_size, .. } = config;
    let (queries, keys) = (config.n_heads * head_size, config.n_kv_heads * head_size);
    [
        ("attn_q", [queries, hidden]),
        ("attn_k", [keys, hidden]),
        ("attn_v", [keys, hidden]),
        ("attn_output", [hidden, queries]),
        ("ffn_gate", [inner, hidden]),
        ("ffn_up", [inner, hidden]),
        ("ffn_down", [hidden, inner]),
    ]
}

impl Layer {
    /// Brings the tensors `blk.INDEX.*` to a device.
    pub(super) fn load(
        weights: &dyn Weights,
        config: &DecoderConfig,
        index: usize,
        device: &Device,
    ) -> std::result::Result<Self, ModelError> {
        let &DecoderConfig { hidden_size: hidden, head_size, .. } = config;
        let name = |part: &str| format!("blk.{index}.{part}");
        let matrix = |(part, shape): (&str, [usize; 2])| {
            Matrix::load(weights, &name(&format!("{part}.weight")), shape, device)
        };
        let norm = |part: &str, size| matrix::vector(weights, &name(part), size, device);
        let optional =
            |part: &str, size| matrix::optional_vector(weights, &name(part), size, device);
        let [query, key, value, output, gate, up, down] = matrices(config);
        let biases = match optional("attn_q.bias", query.1[0])? {
            Some(of_query) => {
                Some([of_query, norm("attn_k.bias", key.1[0])?, norm("attn_v.bias", value.1[0])?])
            }
            None => None,
        };
        Ok(Self {
            attention_norm: norm("attn_norm.weight", hidden)?,
            query: matrix(query)?,
            key: matrix(key)?,
            value: matrix(value)?,
            biases,
            query_norm: optional("attn_q_norm.weight", head_size)?,
            key_norm: optional("attn_k_norm.weight", head_size)?,
            output: matrix(output)?,
            attention_output_norm: optional("post_attention_norm.weight", hidden)?,
            feed_forward_norm: norm("ffn_norm.weight", hidden)?,
            gate: matrix(gate)?,
            up: matrix(up)?,
            down: matrix(down)?,
            feed_forward_output_norm: optional("post_ffw_norm.weight", hidden)?,
        })
    }

    /// In what type the keys and values are kept.
    pub(super) fn kv_dtype(&self) -> DType {
        self.key.kv_dtype()
    }

    /// Queries `[rows, heads, head_size]`, scaled and rotated, and keys, rotated, and
    /// values `[rows, kv_heads, 2, head_size]`, of all rows.
    pub(super) fn project(
        &self,
        config: &DecoderConfig,
        states: &Tensor,
        turns: &Turns,
    ) -> Result<(Tensor, Tensor)> {
        let n_rows = states.dim(0)?;
        let normed = rms_norm(states, &self.attention_norm, config.norm_epsilon)?;
        let heads = |matrix: &Matrix, part: usize, n_heads: usize| {
            let mut rows = matrix.multiply(&normed)?;
            if let Some(biases) = &self.biases {
                rows = rows.broadcast_add(&biases[part])?;
            }
            rows.reshape((n_rows, n_heads, 1, config.head_size))
        };
        let turned = |heads: Tensor, norm: Option<&Tensor>| {
            let heads = match norm {
                Some(weight) => rms_norm(&heads, weight, config.norm_epsilon)?,
                None => heads,
            };
            match turns.style {
                RotationStyle::Halves => rope(&heads, &turns.cosines, &turns.sines),
                RotationStyle::Pairs => rope_i(&heads, &turns.cosines, &turns.sines),
            }
        };
        let queries = turned(heads(&self.query, 0, config.n_heads)?, self.query_norm.as_ref())?;
        let queries = (queries * f64::from(config.query_scale))?.squeeze(2)?;
        let keys = turned(heads(&self.key, 1, config.n_kv_heads)?, self.key_norm.as_ref())?;
        let values = heads(&self.value, 2, config.n_kv_heads)?;
        let dtype = self.kv_dtype();
        Ok((queries.to_dtype(dtype)?, Tensor::cat(&[keys, values], 2)?.to_dtype(dtype)?))
    }

    /// Adds what the attended heads, `[rows, heads * head_size]`, say to the states.
    pub(super) fn add_attention(
        &self,
        config: &DecoderConfig,
        states: &Tensor,
        attended: &Tensor,
    ) -> Result<Tensor> {
        let said = self.output.multiply(attended)?;
        states + normed(said, self.attention_output_norm.as_ref(), config)?
    }

    /// Adds the feed-forward part to the states.
    pub(super) fn add_feed_forward(
        &self,
        config: &DecoderConfig,
        states: &Tensor,
    ) -> Result<Tensor> {
        let rows = rms_norm(states, &self.feed_forward_norm, config.norm_epsilon)?;
        let gate = self.gate.multiply(&rows)?;
        let gate = match config.activation {
            Activation::Silu => gate.silu()?,
            Activation::GeluTanh => gate.gelu()?,
        };
        let said = self.down.multiply(&(gate * self.up.multiply(&rows)?)?)?;
        states + normed(said, self.feed_forward_output_norm.as_ref(), config)?
    }
}

fn normed(rows: Tensor, weight: Option<&Tensor>, config: &DecoderConfig) -> Result<Tensor> {
    match weight {
        Some(weight) => rms_norm(&rows, weight, config.norm_epsilon),
        None => Ok(rows),
    }
}
