//! One layer of a decoder.

use rayon::prelude::*;

use super::{
    config::{Activation, DecoderConfig, LayerAttention, Rotation},
    kernels::{Cpu, add, gelu_product, rms_norm, silu_product},
    linear::{Inputs, Linear, Mode, multiply},
    rope::{Angles, Rotary},
    weights::{self, ModelError, RawTensor, Weights},
};

/// The least numbers that one task of row by row work takes on.
const MIN_ROW_TASK: usize = 1 << 13;

/// Tensors of a layer that some models have and no supported family uses.
const UNREAD: [&str; 5] =
    ["attn_output.bias", "ffn_gate.bias", "ffn_up.bias", "ffn_down.bias", "attn_qkv.weight"];

/// What all layers of a decoder share.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) cpu: Cpu,
    pub(super) config: DecoderConfig,
    pub(super) rotaries: Rotaries,
}

/// The rotations that occur in a decoder, each once.
#[derive(Debug)]
pub(super) struct Rotaries {
    different: Vec<Rotary>,
    /// Which of them each layer has.
    of_layer: Vec<usize>,
}

impl Rotaries {
    pub(super) fn new(config: &DecoderConfig) -> Self {
        let mut rotations: Vec<&Rotation> = Vec::new();
        let mut of_layer = Vec::new();
        for LayerAttention { rotation, .. } in &config.layers {
            let known = rotations.iter().position(|known| *known == rotation);
            of_layer.push(known.unwrap_or_else(|| {
                rotations.push(rotation);
                rotations.len() - 1
            }));
        }
        let new = |rotation| Rotary::new(rotation, config.head_size);
        Self { different: rotations.into_iter().map(new).collect(), of_layer }
    }

    fn of(&self, layer: usize) -> &Rotary {
        &self.different[self.of_layer[layer]]
    }

    /// Which of the rotations a layer has.
    pub(super) fn index(&self, layer: usize) -> usize {
        self.of_layer[layer]
    }

    /// The angles of some positions under each rotation.
    pub(super) fn angles(&self, positions: &[usize]) -> AllAngles {
        let angles = |rotary: &Rotary| {
            positions.par_iter().map(|&position| rotary.angles(position)).collect()
        };
        AllAngles(self.different.iter().map(angles).collect())
    }
}

/// The angles of each new token under each rotation.
#[derive(Debug)]
pub(super) struct AllAngles(Vec<Vec<Angles>>);

impl AllAngles {
    /// The cosines and sines of all tokens under one rotation, row after row.
    pub(super) fn tables(&self, rotation: usize) -> (Vec<f32>, Vec<f32>) {
        let angles = &self.0[rotation];
        (
            angles.iter().flat_map(Angles::cosines).copied().collect(),
            angles.iter().flat_map(Angles::sines).copied().collect(),
        )
    }
}

impl Frame {
    /// The numbers of a row of queries, keys and values.
    pub(super) fn projected_size(&self) -> usize {
        (self.config.n_heads + 2 * self.config.n_kv_heads) * self.config.head_size
    }

    /// Norms each row of states.
    fn norm(&self, states: &[f32], weight: &[f32]) -> Vec<f32> {
        let width = self.config.hidden_size;
        let mut normed = vec![0.0; states.len()];
        each_row(&mut normed, width, |index, out| {
            let row = &states[index * width..][..width];
            rms_norm(self.cpu, row, weight, self.config.norm_epsilon, out);
        });
        normed
    }

    /// Adds the products of a matrix to the states, normed where there is a norm.
    fn add_product(&self, matrix: &Linear, rows: &[f32], norm: Option<&[f32]>, states: &mut [f32]) {
        let inputs = Inputs::new(self.cpu, rows, &[matrix]);
        let Some(norm) = norm else {
            return multiply(self.cpu, &[matrix], &inputs, states, Mode::Add);
        };
        let mut products = vec![0.0; states.len()];
        multiply(self.cpu, &[matrix], &inputs, &mut products, Mode::Store);
        let normed = self.norm(&products, norm);
        let width = self.config.hidden_size;
        each_row(states, width, |index, row| add(self.cpu, row, &normed[index * width..][..width]));
    }
}

/// What a step computes between its states, a row for each new token.
#[derive(Debug)]
pub(super) struct Buffers {
    /// Queries, keys and values, head by head.
    pub(super) projected: Vec<f32>,
    /// The query heads after attention.
    pub(super) attended: Vec<f32>,
    /// Gates and what they let through.
    gated: Vec<f32>,
    /// What came through.
    activated: Vec<f32>,
}

impl Buffers {
    pub(super) fn new(config: &DecoderConfig, n_rows: usize) -> Self {
        let heads = config.n_heads + 2 * config.n_kv_heads;
        Self {
            projected: vec![0.0; n_rows * heads * config.head_size],
            attended: vec![0.0; n_rows * config.n_heads * config.head_size],
            gated: vec![0.0; n_rows * 2 * config.intermediate_size],
            activated: vec![0.0; n_rows * config.intermediate_size],
        }
    }
}

/// The weights of one layer.
#[derive(Debug)]
pub(super) struct Layer {
    index: usize,
    pub(super) attention_norm: Vec<f32>,
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    /// What is added to queries, keys and values side by side, where a model has it.
    pub(super) bias: Option<Vec<f32>>,
    /// The norm of each query head, where a model has it.
    pub(super) query_norm: Option<Vec<f32>>,
    /// The norm of each key head, where a model has it.
    pub(super) key_norm: Option<Vec<f32>>,
    pub(super) output: Linear,
    /// The norm of what the attention adds, where a model has it.
    pub(super) attention_output_norm: Option<Vec<f32>>,
    pub(super) feed_forward_norm: Vec<f32>,
    pub(super) gate: Linear,
    pub(super) up: Linear,
    pub(super) down: Linear,
    /// The norm of what the feed-forward part adds, where a model has it.
    pub(super) feed_forward_output_norm: Option<Vec<f32>>,
}

impl Layer {
    /// Reads the tensors `blk.INDEX.*`.
    pub(super) fn load(
        weights: &dyn Weights,
        config: &DecoderConfig,
        index: usize,
    ) -> Result<Self, ModelError> {
        let &DecoderConfig { hidden_size: hidden, intermediate_size, head_size, .. } = config;
        let query_size = config.n_heads * head_size;
        let key_size = config.n_kv_heads * head_size;
        let name = |part: &str| format!("blk.{index}.{part}");
        for part in UNREAD {
            weights::refuse(weights, &name(part))?;
        }
        let matrix = |part: &str, n_outputs: usize, n_inputs: usize| {
            linear(weights, &name(&format!("{part}.weight")), [n_outputs, n_inputs])
        };
        let norm = |part: &str, size| weights::vector(weights, &name(part), size);
        let optional = |part: &str, size| weights::optional_vector(weights, &name(part), size);
        let bias = optional("attn_q.bias", query_size)?
            .map(|query| -> Result<Vec<f32>, ModelError> {
                let key = norm("attn_k.bias", key_size)?;
                Ok([query, key, norm("attn_v.bias", key_size)?].concat())
            })
            .transpose()?;
        Ok(Self {
            index,
            attention_norm: norm("attn_norm.weight", hidden)?,
            query: matrix("attn_q", query_size, hidden)?,
            key: matrix("attn_k", key_size, hidden)?,
            value: matrix("attn_v", key_size, hidden)?,
            bias,
            query_norm: optional("attn_q_norm.weight", head_size)?,
            key_norm: optional("attn_k_norm.weight", head_size)?,
            output: matrix("attn_output", hidden, query_size)?,
            attention_output_norm: optional("post_attention_norm.weight", hidden)?,
            feed_forward_norm: norm("ffn_norm.weight", hidden)?,
            gate: matrix("ffn_gate", intermediate_size, hidden)?,
            up: matrix("ffn_up", intermediate_size, hidden)?,
            down: matrix("ffn_down", hidden, intermediate_size)?,
            feed_forward_output_norm: optional("post_ffw_norm.weight", hidden)?,
        })
    }

    /// Queries, scaled and rotated, keys, rotated, and values of all rows.
    pub(super) fn project(
        &self,
        frame: &Frame,
        states: &[f32],
        angles: &AllAngles,
        buffers: &mut Buffers,
    ) {
        let cpu = frame.cpu;
        let DecoderConfig { n_heads, n_kv_heads, head_size, norm_epsilon, .. } = frame.config;
        let normed = frame.norm(states, &self.attention_norm);
        let matrices = [&self.query, &self.key, &self.value];
        let inputs = Inputs::new(cpu, &normed, &matrices);
        multiply(cpu, &matrices, &inputs, &mut buffers.projected, Mode::Store);
        let scale = frame.config.query_scale;
        let rotary = frame.rotaries.of(self.index);
        let angles = &angles.0[frame.rotaries.of_layer[self.index]];
        each_row(&mut buffers.projected, frame.projected_size(), |index, row| {
            if let Some(bias) = &self.bias {
                add(cpu, row, bias);
            }
            let heads = row.chunks_mut(head_size).take(n_heads + n_kv_heads);
            for (head_index, head) in heads.enumerate() {
                let is_query = head_index < n_heads;
                let norm = if is_query { &self.query_norm } else { &self.key_norm };
                if let Some(weight) = norm {
                    let before = head.to_vec();
                    rms_norm(cpu, &before, weight, norm_epsilon, head);
                }
                rotary.rotate(cpu, head, &angles[index]);
                if is_query {
                    for number in head.iter_mut() {
                        *number *= scale;
                    }
                }
            }
        });
    }

    /// Adds what the attended heads say to the states.
    pub(super) fn add_attention(&self, frame: &Frame, states: &mut [f32], buffers: &Buffers) {
        let norm = self.attention_output_norm.as_deref();
        frame.add_product(&self.output, &buffers.attended, norm, states);
    }

    /// Adds the feed-forward part to the states.
    pub(super) fn add_feed_forward(
        &self,
        frame: &Frame,
        states: &mut [f32],
        buffers: &mut Buffers,
    ) {
        let cpu = frame.cpu;
        let width = frame.config.intermediate_size;
        let normed = frame.norm(states, &self.feed_forward_norm);
        let matrices = [&self.gate, &self.up];
        let inputs = Inputs::new(cpu, &normed, &matrices);
        multiply(cpu, &matrices, &inputs, &mut buffers.gated, Mode::Store);
        let gated = &buffers.gated;
        each_row(&mut buffers.activated, width, |index, out| {
            let (gate, up) = gated[index * 2 * width..][..2 * width].split_at(width);
            match frame.config.activation {
                Activation::Silu => silu_product(cpu, gate, up, out),
                Activation::GeluTanh => gelu_product(cpu, gate, up, out),
            }
        });
        let norm = self.feed_forward_output_norm.as_deref();
        frame.add_product(&self.down, &buffers.activated, norm, states);
    }
}

/// Reads and packs a matrix.
fn linear(weights: &dyn Weights, name: &str, shape: [usize; 2]) -> Result<Linear, ModelError> {
    pack(weights, name, &weights::tensor(weights, name, &shape)?)
}

/// Packs a matrix that was read.
pub(super) fn pack(
    weights: &dyn Weights,
    name: &str,
    tensor: &RawTensor,
) -> Result<Linear, ModelError> {
    let packed = Linear::pack(tensor).map_err(|source| ModelError::Unreadable {
        file: weights.origin().to_owned(),
        tensor: weights.own_name(name),
        reason: source.to_string(),
    })?;
    tensor.bytes.release();
    Ok(packed)
}

/// Works on each row of a matrix, on several threads where it is large.
fn each_row(matrix: &mut [f32], width: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
    matrix
        .par_chunks_mut(width)
        .with_min_len((MIN_ROW_TASK / width).max(1))
        .enumerate()
        .for_each(|(index, row)| work(index, row));
}
