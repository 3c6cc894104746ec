//! The layers of an encoder of the BERT type (Devlin et al. 2019), to be trained.

use std::{ops::Range, sync::Arc};

use candle_core::{Device, Result, Tensor};

use super::{Noise, Parameters, attend, dropout, gelu, layer_norm, linear};
use crate::nn::{
    encoder::EncoderShape,
    weights::{ModelError, Weights, tensor},
};

/// The sizes of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerSizes {
    /// The size of a state.
    pub hidden: usize,
    /// The size of a state within the feed-forward part.
    pub inner: usize,
    /// How many heads share a state.
    pub n_heads: usize,
    /// What keeps a norm from dividing by nothing.
    pub norm_epsilon: f32,
}

impl LayerSizes {
    /// Those of an encoder.
    pub fn of(shape: &EncoderShape) -> Self {
        Self {
            hidden: shape.hidden_size(),
            inner: shape.intermediate_size(),
            n_heads: shape.n_heads(),
            norm_epsilon: shape.norm_epsilon(),
        }
    }

    /// The tensors of a layer: the names of Hugging Face after `encoder.layer.N.`, and
    /// the shapes.
    pub fn tensors(&self) -> Vec<(String, Vec<usize>)> {
        let Self { hidden, inner, .. } = *self;
        let dense = [
            ("attention.self.query", hidden, hidden),
            ("attention.self.key", hidden, hidden),
            ("attention.self.value", hidden, hidden),
            ("attention.output.dense", hidden, hidden),
            ("intermediate.dense", inner, hidden),
            ("output.dense", hidden, inner),
        ];
        let mut tensors = Vec::new();
        for (name, n_outputs, n_inputs) in dense {
            tensors.push((format!("{name}.weight"), vec![n_outputs, n_inputs]));
            tensors.push((format!("{name}.bias"), vec![n_outputs]));
        }
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            tensors.push((format!("{name}.weight"), vec![hidden]));
            tensors.push((format!("{name}.bias"), vec![hidden]));
        }
        tensors
    }
}

/// Some consecutive layers of an encoder.
#[derive(Clone, Debug)]
pub struct EncoderLayers {
    sizes: LayerSizes,
    layers: Range<usize>,
    rates: DropoutRates,
}

/// How much is left out during training.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DropoutRates {
    /// Of what the parts of a layer change.
    pub changes: f64,
    /// Of the weights of the attention.
    pub attention: f64,
}

impl EncoderLayers {
    /// Takes layers out of weights and puts them among the parameters, by the names
    /// that they have there. A layer's rate is `rate(layer)`.
    pub fn load(
        sizes: LayerSizes,
        layers: Range<usize>,
        (weights, prefix): (&dyn Weights, &str),
        (parameters, device): (&mut Parameters, &Device),
        (rate, rates): (impl Fn(usize) -> f64, DropoutRates),
    ) -> std::result::Result<Self, ModelError> {
        for layer in layers.clone() {
            for (part, shape) in sizes.tensors() {
                let name = layer_tensor(layer, &part);
                let found = tensor(weights, &format!("{prefix}{name}"), &shape)?;
                let n_rows = shape.iter().product::<usize>() / shape[shape.len() - 1];
                let insert = |numbers: Vec<f32>| {
                    parameters.insert(&name, numbers, &shape, rate(layer), device)
                };
                found.rows(0..n_rows).and_then(insert).map_err(|error| ModelError::Unreadable {
                    file: weights.origin().to_owned(),
                    tensor: name.clone(),
                    reason: error.to_string(),
                })?;
            }
        }
        Ok(Self { sizes, layers, rates })
    }

    /// The states after these layers. The rows of `texts` follow each other and cover
    /// all rows of `states`. With noise, numbers are left out.
    pub fn forward(
        &self,
        parameters: &Parameters,
        states: &Tensor,
        texts: &Arc<Vec<Range<usize>>>,
        mut noise: Option<&mut Noise>,
    ) -> Result<Tensor> {
        let mut states = states.clone();
        for layer in self.layers.clone() {
            states = self.layer(layer, parameters, &states, texts, noise.as_deref_mut())?;
        }
        Ok(states)
    }

    fn layer(
        &self,
        layer: usize,
        parameters: &Parameters,
        states: &Tensor,
        texts: &Arc<Vec<Range<usize>>>,
        mut noise: Option<&mut Noise>,
    ) -> Result<Tensor> {
        let get = |part: &str| parameters.get(&layer_tensor(layer, part));
        let dense = |name: &str, rows: &Tensor| {
            linear(rows, get(&format!("{name}.weight"))?, get(&format!("{name}.bias"))?)
        };
        let norm = |name: &str, rows: &Tensor| {
            let (weight, bias) = (get(&format!("{name}.weight"))?, get(&format!("{name}.bias"))?);
            layer_norm(rows, weight, bias, self.sizes.norm_epsilon)
        };
        let queries = dense("attention.self.query", states)?;
        let keys = dense("attention.self.key", states)?;
        let values = dense("attention.self.value", states)?;
        let attended = attend(
            [&queries, &keys, &values],
            self.sizes.n_heads,
            texts,
            (self.rates.attention, noise.as_deref_mut()),
        )?;
        let changes = dense("attention.output.dense", &attended)?;
        let changes = dropout(&changes, self.rates.changes, noise.as_deref_mut())?;
        let states = norm("attention.output.LayerNorm", &(states + changes)?)?;
        let inner = gelu(&dense("intermediate.dense", &states)?)?;
        let changes = dropout(&dense("output.dense", &inner)?, self.rates.changes, noise)?;
        norm("output.LayerNorm", &(states + changes)?)
    }
}

fn layer_tensor(layer: usize, part: &str) -> String {
    format!("encoder.layer.{layer}.{part}")
}
