//! The encoder in training: what stays is computed once, the layers above it anew at
//! each step.

use std::{ops::Range, sync::Arc};

use candle_core::{Device, Result, Tensor};

use super::{
    DistillError, EncoderSettings, StepSettings,
    base::{Base, Origin},
};
use crate::nn::trainable::{DropoutRates, EncoderLayers, LayerSizes, Noise, Parameters, dropout};

/// The states of rows of tokens below the layers that are trained.
pub(super) struct Ground {
    width: usize,
    rows: Vec<Vec<f32>>,
}

impl Ground {
    /// Reads all rows; the message says what is wrong with one.
    pub(super) fn new(base: &Base, rows: &[Vec<u32>]) -> std::result::Result<Self, DistillError> {
        let states = base.encoder.states(rows).into_iter().collect::<std::result::Result<_, _>>();
        let rows = states.map_err(DistillError::Settings)?;
        Ok(Self { width: base.encoder.hidden_size(), rows })
    }
}

/// The layers that are trained.
pub(super) struct Tower {
    layers: EncoderLayers,
    dropout: f64,
    pub(super) device: Device,
}

/// Rows of tokens after the last layer, one after the other.
pub(super) struct Rows {
    pub(super) states: Tensor,
    pub(super) ranges: Arc<Vec<Range<usize>>>,
}

impl Tower {
    /// Puts the layers to train among the parameters.
    pub(super) fn new(
        origin: &Origin,
        settings: &EncoderSettings,
        steps: &StepSettings,
        (parameters, device): (&mut Parameters, &Device),
    ) -> std::result::Result<Self, DistillError> {
        let EncoderSettings { layers, frozen, dropout, attention_dropout, .. } = *settings;
        let sizes = LayerSizes::of(&origin.shape(layers)?);
        let below_last = |layer: usize| i32::try_from(layers - 1 - layer).unwrap_or(i32::MAX);
        let rate = |layer| steps.rate * steps.layer_decay.powi(below_last(layer));
        let rates = DropoutRates { changes: dropout, attention: attention_dropout };
        let layers = EncoderLayers::load(
            sizes,
            frozen..layers,
            origin.weights(),
            (parameters, device),
            (rate, rates),
        )?;
        Ok(Self { layers, dropout, device: device.clone() })
    }

    /// The states of some rows of the ground, in this order.
    pub(super) fn forward(
        &self,
        parameters: &Parameters,
        ground: &Ground,
        rows: &[usize],
        mut noise: Option<&mut Noise>,
    ) -> Result<Rows> {
        let mut ranges = Vec::with_capacity(rows.len());
        let mut numbers = Vec::new();
        for row in rows {
            let start = numbers.len() / ground.width;
            numbers.extend_from_slice(&ground.rows[*row]);
            ranges.push(start..numbers.len() / ground.width);
        }
        let n_tokens = numbers.len() / ground.width;
        let states = Tensor::from_vec(numbers, (n_tokens, ground.width), &self.device)?;
        let states = dropout(&states, self.dropout, noise.as_deref_mut())?;
        let ranges = Arc::new(ranges);
        let states = self.layers.forward(parameters, &states, &ranges, noise)?;
        Ok(Rows { states, ranges })
    }
}

impl Rows {
    /// Where each group of ranges of rows points together, as
    /// [`direction`](crate::distilled::direction) has it.
    pub(super) fn directions<'a, G>(&self, groups: impl Iterator<Item = G>) -> Result<Tensor>
    where
        G: Iterator<Item = &'a Range<usize>>,
    {
        let (n_tokens, width) = self.states.dims2()?;
        let mut members = Vec::new();
        for ranges in groups {
            let start = members.len();
            members.resize(start + n_tokens, 0.0_f32);
            for range in ranges {
                members[start..][range.clone()].fill(1.0);
            }
        }
        let shape = (members.len() / n_tokens, n_tokens);
        let sums = Tensor::from_vec(members, shape, self.states.device())?.matmul(&self.states)?;
        let norms = (sums.sqr()?.sum_keepdim(1)?.sqrt()? * (1.0 / (width as f64).sqrt()))?;
        sums.broadcast_div(&norms)
    }
}
