//! The decoder of all model families.

use std::sync::Arc;

use candle_core::Device;

use super::{
    attention::{Attended, Queries, attend},
    config::DecoderConfig,
    decoder_error::DecoderError,
    device,
    gguf::GgufFile,
    kernels::{Cpu, rms_norm},
    kv::{Place, Segment, Sequence},
    kv_layout::{KvNumbers, KvShape},
    kv_memory::{KvMemory, KvMemoryError},
    layer::{Buffers, Frame, Layer, Rotaries, pack},
    linear::{Inputs, Linear, Mode, multiply},
    model_file::ModelFile,
    weight_type::{Retyped, WeightType},
    weights::{self, ModelError, RawTensor, Weights},
};

/// A transformer that predicts the next token.
///
/// The logits of a token hang on the tokens of its own sequence alone, bit for
/// bit: not on the other sequences of a step, on how a sequence was cut into steps
/// or segments, on the number of threads, or on the processor. On devices of
/// candle's, see [`Devices`](super::Devices), this holds up to rounding.
#[derive(Debug)]
pub struct Decoder {
    frame: Frame,
    kv_shape: KvShape,
    embedding: RawTensor,
    body: Body,
}

/// The weights behind the embedding, and what computes with them.
#[derive(Debug)]
enum Body {
    /// This project's own kernels, on the processor.
    Kernels { layers: Vec<Layer>, norm: Vec<f32>, head: Linear },
    /// Those of candle, on one or several devices.
    Devices(device::Body),
}

/// New tokens of one sequence.
#[derive(Debug)]
pub struct Step<'a> {
    /// The sequence, which the tokens become part of.
    pub sequence: &'a mut Sequence,
    /// What follows in it.
    pub tokens: &'a [u32],
    /// After which of the tokens a prediction is wanted.
    pub wanted: Wanted,
}

/// After which tokens of a step a prediction is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// None: only keys and values.
    Nothing,
    /// The last.
    Last,
    /// All.
    Every,
}

/// Predictions: a number for each token of the vocabulary, the likelier the greater.
#[derive(Clone, Debug, PartialEq)]
pub struct Logits {
    numbers: Vec<f32>,
    vocabulary_size: usize,
}

impl Logits {
    /// One row for each prediction wanted, in the order of steps and tokens.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f32> {
        self.numbers.chunks_exact(self.vocabulary_size)
    }

    /// The same, to be worked on.
    pub fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, f32> {
        self.numbers.chunks_exact_mut(self.vocabulary_size)
    }
}

/// One new token.
struct Row {
    step: usize,
    position: usize,
}

impl Decoder {
    /// Loads the model of a GGUF file.
    pub fn from_gguf(file: &GgufFile, cpu: Cpu) -> Result<Self, ModelError> {
        Self::load(DecoderConfig::from_gguf(file)?, file, cpu)
    }

    /// Loads a model in either form, its matrices as `dtype`.
    ///
    /// # Errors
    ///
    /// If a tensor is missing, has not the shape that the settings ask for, or cannot
    /// become `dtype`.
    pub fn open(file: &ModelFile, dtype: WeightType, cpu: Cpu) -> Result<Self, ModelError> {
        let weights = Retyped { weights: file.weights(), wanted: dtype };
        Self::load(file.config()?, &weights, cpu)
    }

    /// Loads a model from tensors with the names of GGUF files.
    ///
    /// # Errors
    ///
    /// If a tensor is missing or does not have the shape that `config` asks for.
    pub fn load(
        config: DecoderConfig,
        weights: &dyn Weights,
        cpu: Cpu,
    ) -> Result<Self, ModelError> {
        let shape = [config.vocabulary_size, config.hidden_size];
        let embedding = weights::tensor(weights, "token_embd.weight", &shape)?;
        weights::refuse(weights, "output.bias")?;
        let head = match weights::optional_tensor(weights, "output.weight", &shape)? {
            Some(head) => pack(weights, "output.weight", &head)?,
            // The embedding serves twice.
            None => pack(weights, "token_embd.weight", &embedding)?,
        };
        let rotaries = Rotaries::new(&config);
        let layers: Vec<Layer> = (0..config.n_layers())
            .map(|index| Layer::load(weights, &config, index))
            .collect::<Result<_, _>>()?;
        let norm = weights::vector(weights, "output_norm.weight", config.hidden_size)?;
        // Rounding keys and values shows nowhere beside quantised weights.
        let quantized = layers.first().is_some_and(|layer| layer.key.is_quantized());
        let numbers = if quantized { KvNumbers::F16 } else { KvNumbers::F32 };
        let kv_shape = KvShape::of(&config, numbers);
        let body = Body::Kernels { layers, norm, head };
        Ok(Self { frame: Frame { cpu, config, rotaries }, kv_shape, embedding, body })
    }

    /// As [`open`](Self::open), [`on_devices`](Self::on_devices).
    pub fn open_on_devices(
        file: &ModelFile,
        dtype: WeightType,
        devices: &[Device],
    ) -> Result<Self, ModelError> {
        let weights = Retyped { weights: file.weights(), wanted: dtype };
        Self::on_devices(file.config()?, &weights, devices)
    }

    /// As [`load`](Self::load), onto devices of candle's: each gets consecutive layers,
    /// the first the first.
    ///
    /// # Errors
    ///
    /// As above, or if a device has too little memory.
    ///
    /// # Panics
    ///
    /// If there is no device.
    pub fn on_devices(
        config: DecoderConfig,
        weights: &dyn Weights,
        devices: &[Device],
    ) -> Result<Self, ModelError> {
        let shape = [config.vocabulary_size, config.hidden_size];
        let embedding = weights::tensor(weights, "token_embd.weight", &shape)?;
        let body = Body::Devices(device::Body::load(&config, weights, devices)?);
        let rotaries = Rotaries::new(&config);
        let kv_shape = KvShape::of(&config, KvNumbers::F32);
        let frame = Frame { cpu: Cpu::detect(), config, rotaries };
        Ok(Self { frame, kv_shape, embedding, body })
    }

    /// The make of the model.
    pub fn config(&self) -> &DecoderConfig {
        &self.frame.config
    }

    /// The processor that it works on.
    pub(super) fn cpu(&self) -> Cpu {
        self.frame.cpu
    }

    /// An empty continuation of `prefix`, or of nothing, with room for `capacity`
    /// tokens of its own.
    ///
    /// # Errors
    ///
    /// If the memory does not suffice now.
    pub fn sequence(
        &self,
        prefix: Option<Arc<Segment>>,
        capacity: usize,
        memory: &KvMemory,
    ) -> Result<Sequence, KvMemoryError> {
        let config = &self.frame.config;
        match &self.body {
            Body::Kernels { .. } => Sequence::new(self.kv_shape, prefix, capacity, memory),
            Body::Devices(body) => {
                let layers = || body.segment(config, capacity);
                let layers = (self.sequence_bytes(capacity), layers);
                Sequence::on_devices(self.kv_shape, prefix, capacity, memory, layers)
            }
        }
    }

    /// How its keys and values lie in memory, if not on devices.
    pub(super) fn kv_shape(&self) -> KvShape {
        self.kv_shape
    }

    /// What a sequence with room for so many tokens of its own takes.
    pub fn sequence_bytes(&self, capacity: usize) -> usize {
        match &self.body {
            Body::Kernels { .. } => self.kv_shape.bytes(capacity),
            Body::Devices(body) => body.segment_bytes(&self.frame.config, capacity),
        }
    }

    /// Reads new tokens of some sequences at once and predicts what follows.
    ///
    /// The work goes to the threads of the current `rayon` pool. On an error no
    /// sequence has changed.
    pub fn forward(&self, steps: &mut [Step<'_>]) -> Result<Logits, DecoderError> {
        for step in steps.iter() {
            self.check(step)?;
        }
        let mut states = self.embed(steps)?;
        let (rows, wanted) = rows(steps);
        let (layers, norm, head) = match &self.body {
            Body::Kernels { layers, norm, head } => (layers, norm, head),
            Body::Devices(body) => {
                let numbers = body
                    .forward(&self.frame, states, steps, &wanted)
                    .map_err(|source| DecoderError::Device { reason: source.to_string() })?;
                extend(steps);
                return Ok(Logits { numbers, vocabulary_size: self.frame.config.vocabulary_size });
            }
        };
        extend(steps);
        let positions: Vec<usize> = rows.iter().map(|row| row.position).collect();
        let angles = self.frame.rotaries.angles(&positions);
        let mut buffers = Buffers::new(&self.frame.config, rows.len());
        for (index, layer) in layers.iter().enumerate() {
            layer.project(&self.frame, &states, &angles, &mut buffers);
            self.put_keys(index, steps, &rows, &buffers);
            self.attend(index, steps, &rows, &mut buffers);
            layer.add_attention(&self.frame, &mut states, &buffers);
            layer.add_feed_forward(&self.frame, &mut states, &mut buffers);
        }
        Ok(self.predict(&states, &wanted, norm, head))
    }

    /// The rows of the embedding for all new tokens.
    fn embed(&self, steps: &[Step<'_>]) -> Result<Vec<f32>, DecoderError> {
        let mut states = Vec::new();
        for &token in steps.iter().flat_map(|step| step.tokens) {
            let row = token as usize;
            let numbers = self
                .embedding
                .rows(row..row + 1)
                .map_err(|source| DecoderError::Embedding { token, reason: source.to_string() })?;
            match self.frame.config.embedding_scale {
                Some(scale) => states.extend(numbers.iter().map(|number| number * scale)),
                None => states.extend(numbers),
            }
        }
        Ok(states)
    }

    fn put_keys(&self, layer: usize, steps: &mut [Step<'_>], rows: &[Row], buffers: &Buffers) {
        let DecoderConfig { n_heads, n_kv_heads, head_size, .. } = self.frame.config;
        let projected = buffers.projected.chunks(self.frame.projected_size());
        for (row, projected) in rows.iter().zip(projected) {
            let mut heads = projected.chunks(head_size).skip(n_heads);
            let keys: Vec<&[f32]> = heads.by_ref().take(n_kv_heads).collect();
            for (head, (key, value)) in keys.into_iter().zip(heads).enumerate() {
                let place = Place { layer, head, position: row.position };
                steps[row.step].sequence.put(place, key, value);
            }
        }
    }

    fn attend(&self, layer: usize, steps: &[Step<'_>], rows: &[Row], buffers: &mut Buffers) {
        let config = &self.frame.config;
        let chains: Vec<Vec<&Segment>> =
            steps.iter().map(|step| step.sequence.tail().chain()).collect();
        let window = config.layers[layer].window;
        let attended: Vec<Attended<'_>> = rows
            .iter()
            .map(|row| {
                let n_keys = row.position + 1;
                let first_key = window.map_or(0, |window| n_keys.saturating_sub(window));
                Attended { chain: &chains[row.step], first_key, n_keys }
            })
            .collect();
        let queries = Queries {
            rows: &buffers.projected,
            stride: self.frame.projected_size(),
            head_size: config.head_size,
            n_kv_heads: config.n_kv_heads,
            n_heads_per_kv_head: config.n_heads_per_kv_head(),
        };
        attend(self.frame.cpu, layer, queries, &attended, &mut buffers.attended);
    }

    /// The logits after the wanted rows.
    fn predict(&self, states: &[f32], wanted: &[usize], norm: &[f32], head: &Linear) -> Logits {
        let Frame { cpu, config, .. } = &self.frame;
        let width = config.hidden_size;
        let vocabulary_size = config.vocabulary_size;
        let mut normed = vec![0.0; wanted.len() * width];
        for (&row, out) in wanted.iter().zip(normed.chunks_mut(width)) {
            rms_norm(*cpu, &states[row * width..][..width], norm, config.norm_epsilon, out);
        }
        let mut numbers = vec![0.0; wanted.len() * vocabulary_size];
        if !wanted.is_empty() {
            let inputs = Inputs::new(*cpu, &normed, &[head]);
            multiply(*cpu, &[head], &inputs, &mut numbers, Mode::Store);
        }
        Logits { numbers, vocabulary_size }
    }

    fn check(&self, step: &Step<'_>) -> Result<(), DecoderError> {
        let vocabulary_size = self.frame.config.vocabulary_size;
        let known = |token: &u32| usize::try_from(*token).is_ok_and(|id| id < vocabulary_size);
        if let Some(&token) = step.tokens.iter().find(|token| !known(token)) {
            return Err(DecoderError::UnknownToken { token, vocabulary_size });
        }
        let n_tokens = step.sequence.n_tokens() + step.tokens.len();
        let context_length = self.frame.config.context_length;
        if n_tokens > context_length {
            return Err(DecoderError::Context { n_tokens, context_length });
        }
        let n_free = step.sequence.n_free();
        if step.tokens.len() > n_free {
            return Err(DecoderError::Room { n_tokens: step.tokens.len(), n_free });
        }
        Ok(())
    }
}

/// Makes the tokens part of their sequences.
fn extend(steps: &mut [Step<'_>]) {
    for step in steps {
        step.sequence.extend(step.tokens.len());
    }
}

/// A row for each new token, and which rows need predictions.
fn rows(steps: &[Step<'_>]) -> (Vec<Row>, Vec<usize>) {
    let mut rows = Vec::new();
    let mut wanted = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let first = step.sequence.n_tokens();
        let before = rows.len();
        rows.extend((0..step.tokens.len()).map(|at| Row { step: index, position: first + at }));
        match step.wanted {
            Wanted::Nothing => (),
            Wanted::Last => wanted.extend((before..rows.len()).next_back()),
            Wanted::Every => wanted.extend(before..rows.len()),
        }
    }
    (rows, wanted)
}
