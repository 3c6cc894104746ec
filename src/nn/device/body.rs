//! The layers of a decoder on one or several devices.

use std::collections::BTreeMap;

use candle_core::{Device, Result, Tensor};
use candle_nn::ops::rms_norm;

use super::{
    attention::{Heads, Tables, attend},
    layer::{Layer, Turns, matrices},
    matrix::{self, Matrix},
    placement::place,
    plan::Plan,
    reading::{Reading, Write},
};
use crate::nn::{
    config::DecoderConfig,
    decoder::Step,
    layer::Frame,
    weights::{ModelError, Weights},
};

/// The layers of a decoder on one or several devices, and what lies behind them on
/// the last.
#[derive(Debug)]
pub(in crate::nn) struct Body {
    devices: Vec<Device>,
    layers: Vec<Placed>,
    norm: Tensor,
    head: Matrix,
}

/// A layer and its device.
#[derive(Debug)]
struct Placed {
    device: usize,
    layer: Layer,
}

/// What the layers need of a step besides its states.
struct Passage<'a> {
    reading: Reading<'a>,
    /// By window.
    plans: BTreeMap<Option<usize>, Plan>,
    /// By device and window.
    tables: BTreeMap<(usize, Option<usize>), Tables>,
    /// By device and rotation.
    turns: BTreeMap<(usize, usize), Turns>,
}

impl Body {
    /// Brings the weights to the devices, of which there must be one at least.
    pub(in crate::nn) fn load(
        config: &DecoderConfig,
        weights: &dyn Weights,
        devices: &[Device],
    ) -> std::result::Result<Self, ModelError> {
        let head_shape = [config.vocabulary_size, config.hidden_size];
        let head_name = match weights.find("output.weight")? {
            Some(_) => "output.weight",
            // The embedding serves twice.
            None => "token_embd.weight",
        };
        let places = match devices {
            [_] => vec![0; config.n_layers()],
            _ => {
                let of_layer: usize =
                    matrices(config).iter().map(|(_, shape)| shape[0] * shape[1]).sum();
                let head = head_shape[0] * head_shape[1];
                place(&vec![of_layer; config.n_layers()], head, devices.len())
            }
        };
        let layers = places
            .into_iter()
            .enumerate()
            .map(|(index, device)| {
                let layer = Layer::load(weights, config, index, &devices[device])?;
                Ok(Placed { device, layer })
            })
            .collect::<std::result::Result<_, ModelError>>()?;
        let last = &devices[devices.len() - 1];
        Ok(Self {
            devices: devices.to_vec(),
            layers,
            norm: matrix::vector(weights, "output_norm.weight", config.hidden_size, last)?,
            head: Matrix::load(weights, head_name, head_shape, last)?,
        })
    }

    /// What the keys and values of so many tokens take, on all devices together.
    pub(in crate::nn) fn segment_bytes(&self, config: &DecoderConfig, capacity: usize) -> usize {
        let numbers = config.n_kv_heads * 2 * capacity * config.head_size;
        self.layers.iter().map(|placed| numbers * placed.layer.kv_dtype().size_in_bytes()).sum()
    }

    /// Room for the keys and values of so many tokens: for each layer a tensor
    /// `[kv_heads, 2, capacity, head_size]` on its device. All zeros, since what is
    /// masked must be numbers too.
    pub(in crate::nn) fn segment(
        &self,
        config: &DecoderConfig,
        capacity: usize,
    ) -> Result<Vec<Tensor>> {
        let shape = (config.n_kv_heads, 2, capacity, config.head_size);
        self.layers
            .iter()
            .map(|Placed { device, layer }| {
                Tensor::zeros(shape, layer.kv_dtype(), &self.devices[*device])
            })
            .collect()
    }

    /// Reads new tokens, whose embeddings are `states`, and returns the logits behind
    /// the wanted rows. The keys and values lie behind those of their sequences
    /// afterwards; it is for the caller to make the tokens part of them.
    pub(in crate::nn) fn forward(
        &self,
        frame: &Frame,
        states: Vec<f32>,
        steps: &[Step<'_>],
        wanted: &[usize],
    ) -> Result<Vec<f32>> {
        let config = &frame.config;
        let passage = self.passage(frame, Reading::new(steps))?;
        let n_rows = passage.reading.positions.len();
        if n_rows == 0 {
            return Ok(Vec::new());
        }
        let heads = Heads {
            n_heads: config.n_heads,
            n_kv_heads: config.n_kv_heads,
            head_size: config.head_size,
        };
        let mut states = Tensor::from_vec(states, (n_rows, config.hidden_size), &Device::Cpu)?;
        for (index, Placed { device, layer }) in self.layers.iter().enumerate() {
            states = states.to_device(&self.devices[*device])?;
            let segments = passage.segments(index)?;
            let turns = &passage.turns[&(*device, frame.rotaries.index(index))];
            let (queries, keys) = layer.project(config, &states, turns)?;
            for write in &passage.reading.writes {
                put(&keys, write, segments[write.segment])?;
            }
            let window = config.layers[index].window;
            let tables = &passage.tables[&(*device, window)];
            let attended = passage.attend(tables, window, heads, &queries, &segments)?;
            states = layer.add_attention(config, &states, &attended)?;
            states = layer.add_feed_forward(config, &states)?;
        }
        self.predict(config, &states, wanted)
    }

    /// Plans the attention, and brings what it needs to the devices.
    fn passage<'a>(&self, frame: &Frame, reading: Reading<'a>) -> Result<Passage<'a>> {
        let n_rows = reading.positions.len();
        let angles = frame.rotaries.angles(&reading.positions);
        let mut plans = BTreeMap::new();
        let mut tables = BTreeMap::new();
        let mut turns = BTreeMap::new();
        for (index, Placed { device, .. }) in self.layers.iter().enumerate() {
            let on = &self.devices[*device];
            let window = frame.config.layers[index].window;
            let plan = plans
                .entry(window)
                .or_insert_with(|| Plan::new(&reading.seen, n_rows, window, frame.config.n_heads));
            let key = (*device, window);
            if let std::collections::btree_map::Entry::Vacant(entry) = tables.entry(key) {
                entry.insert(Tables::new(plan, n_rows, on)?);
            }
            let rotation = frame.rotaries.index(index);
            let key = (*device, rotation);
            if let std::collections::btree_map::Entry::Vacant(entry) = turns.entry(key) {
                let pairs = frame.config.head_size / 2;
                let table = |numbers| Tensor::from_vec(numbers, (n_rows, 1, pairs), on);
                let (cosines, sines) = angles.tables(rotation);
                let (cosines, sines) = (table(cosines)?, table(sines)?);
                let style = frame.config.layers[index].rotation.style;
                entry.insert(Turns { style, cosines, sines });
            }
        }
        Ok(Passage { reading, plans, tables, turns })
    }

    /// The logits after the wanted rows.
    fn predict(
        &self,
        config: &DecoderConfig,
        states: &Tensor,
        wanted: &[usize],
    ) -> Result<Vec<f32>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<u32> =
            wanted.iter().map(|&row| u32::try_from(row).unwrap_or(u32::MAX)).collect();
        let rows = states
            .index_select(&Tensor::new(wanted, states.device())?, 0)?
            .to_device(&self.devices[self.devices.len() - 1])?;
        let normed = rms_norm(&rows, &self.norm, config.norm_epsilon)?;
        self.head.multiply(&normed)?.flatten_all()?.to_vec1()
    }
}

impl<'a> Passage<'a> {
    /// Attention in one layer, by the fused kernels where they are built in and serve.
    fn attend(
        &self,
        tables: &Tables,
        window: Option<usize>,
        heads: Heads,
        queries: &Tensor,
        segments: &[&Tensor],
    ) -> Result<Tensor> {
        #[cfg(feature = "flash-attn")]
        if let Some(attended) = super::flash::attend(&self.reading, window, queries, segments) {
            return attended;
        }
        attend(&self.plans[&window], tables, heads, queries, segments)
    }

    /// The keys and values of one layer.
    fn segments(&self, layer: usize) -> Result<Vec<&'a Tensor>> {
        let of_layer = |segment: &&'a crate::nn::kv::Segment| {
            segment.tensor(layer).ok_or_else(|| {
                candle_core::Error::Msg("the sequence belongs to another decoder".to_owned())
            })
        };
        self.reading.segments.iter().map(of_layer).collect()
    }
}

/// Puts the keys and values of some rows where they belong.
fn put(keys: &Tensor, write: &Write, segment: &Tensor) -> Result<()> {
    let rows = keys.narrow(0, write.rows.start, write.rows.len())?;
    segment.slice_set(&rows.permute((1, 2, 0, 3))?.contiguous()?, 2, write.offset)
}
