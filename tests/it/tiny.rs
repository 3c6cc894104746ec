//! Tiny decoders with random weights, in this project's form and in that of
//! `candle-transformers`.

use std::collections::{BTreeMap, HashMap};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use unimatch::nn::{
    Activation, Cpu, Decoder, DecoderConfig, KvMemory, LayerAttention, Logits, Rotation,
    RotationStyle, Sequence, Step, Wanted,
};

/// The sizes that the tests use: heads that share keys, and a width of the
/// feed-forward part that is no multiple of sixteen.
pub(crate) fn config() -> DecoderConfig {
    DecoderConfig {
        layers: layers(2, RotationStyle::Halves, 10_000.0),
        hidden_size: 48,
        intermediate_size: 100,
        n_heads: 6,
        n_kv_heads: 2,
        head_size: 8,
        vocabulary_size: 77,
        context_length: 5000,
        norm_epsilon: 1e-5,
        activation: Activation::Silu,
        embedding_scale: None,
        query_scale: 1.0 / 8.0_f32.sqrt(),
    }
}

/// Layers that are all alike and see everything.
pub(crate) fn layers(count: usize, style: RotationStyle, base: f32) -> Vec<LayerAttention> {
    let rotation = Rotation { style, base, factor: 1.0, divisors: None };
    vec![LayerAttention { window: None, rotation }; count]
}

/// Random weights by the names of Hugging Face.
pub(crate) struct Weights {
    config: DecoderConfig,
    tensors: BTreeMap<String, Tensor>,
    rng: ChaCha8Rng,
}

impl Weights {
    /// Those of a Llama model whose embedding is not its head.
    pub(crate) fn new(config: &DecoderConfig) -> Self {
        let mut weights = Self {
            config: config.clone(),
            tensors: BTreeMap::new(),
            rng: ChaCha8Rng::seed_from_u64(7),
        };
        let hidden = config.hidden_size;
        let queries = config.n_heads * config.head_size;
        let keys = config.n_kv_heads * config.head_size;
        weights.matrix("model.embed_tokens", config.vocabulary_size, hidden);
        weights.matrix("lm_head", config.vocabulary_size, hidden);
        weights.norm("model.norm", hidden);
        for layer in 0..config.n_layers() {
            let name = |part: &str| format!("model.layers.{layer}.{part}");
            weights.norm(&name("input_layernorm"), hidden);
            weights.norm(&name("post_attention_layernorm"), hidden);
            weights.matrix(&name("self_attn.q_proj"), queries, hidden);
            weights.matrix(&name("self_attn.k_proj"), keys, hidden);
            weights.matrix(&name("self_attn.v_proj"), keys, hidden);
            weights.matrix(&name("self_attn.o_proj"), hidden, queries);
            weights.matrix(&name("mlp.gate_proj"), config.intermediate_size, hidden);
            weights.matrix(&name("mlp.up_proj"), config.intermediate_size, hidden);
            weights.matrix(&name("mlp.down_proj"), hidden, config.intermediate_size);
        }
        weights
    }

    /// Adds biases to queries, keys and values.
    pub(crate) fn with_biases(mut self) -> Self {
        for layer in 0..self.config.n_layers() {
            for (part, n_heads) in [
                ("q", self.config.n_heads),
                ("k", self.config.n_kv_heads),
                ("v", self.config.n_kv_heads),
            ] {
                let size = n_heads * self.config.head_size;
                let name = format!("model.layers.{layer}.self_attn.{part}_proj.bias");
                self.tensor(name, vec![size], -0.5, 0.5);
            }
        }
        self
    }

    /// Adds norms of query and key heads.
    pub(crate) fn with_head_norms(mut self) -> Self {
        for layer in 0..self.config.n_layers() {
            for part in ["q_norm", "k_norm"] {
                self.norm(&format!("model.layers.{layer}.self_attn.{part}"), self.config.head_size);
            }
        }
        self
    }

    fn matrix(&mut self, name: &str, n_outputs: usize, n_inputs: usize) {
        self.tensor(format!("{name}.weight"), vec![n_outputs, n_inputs], -0.3, 0.3);
    }

    fn norm(&mut self, name: &str, size: usize) {
        self.tensor(format!("{name}.weight"), vec![size], 0.5, 1.5);
    }

    fn tensor(&mut self, name: String, shape: Vec<usize>, low: f32, high: f32) {
        let count = shape.iter().product();
        let numbers: Vec<f32> = (0..count).map(|_| self.rng.random_range(low..high)).collect();
        self.tensors.insert(name, Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap());
    }

    /// For `candle-transformers`.
    pub(crate) fn builder(&self) -> VarBuilder<'static> {
        let tensors: HashMap<String, Tensor> =
            self.tensors.iter().map(|(name, tensor)| (name.clone(), tensor.clone())).collect();
        VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu)
    }

    /// By the names of GGUF files. Where the style is that of pairs, the rows of
    /// queries and keys are reordered as llama.cpp's converter does.
    pub(crate) fn renamed(&self) -> BTreeMap<String, Tensor> {
        self.tensors
            .iter()
            .map(|(name, tensor)| {
                let tensor = match self.config.layers[0].rotation.style {
                    RotationStyle::Pairs if name.contains(".q_proj") => {
                        pairs_of_halves(tensor, self.config.n_heads)
                    }
                    RotationStyle::Pairs if name.contains(".k_proj") => {
                        pairs_of_halves(tensor, self.config.n_kv_heads)
                    }
                    _ => tensor.clone(),
                };
                (gguf_name(name), tensor)
            })
            .collect()
    }

    /// The decoder that they make.
    pub(crate) fn decoder(&self, cpu: Cpu) -> Decoder {
        Decoder::load(self.config.clone(), &self.renamed(), cpu).unwrap()
    }
}

/// The name in GGUF files of a tensor of Hugging Face.
pub(crate) fn gguf_name(name: &str) -> String {
    const PARTS: [(&str, &str); 14] = [
        ("model.embed_tokens", "token_embd"),
        ("lm_head", "output"),
        ("model.norm", "output_norm"),
        ("model.layers", "blk"),
        ("input_layernorm", "attn_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("mlp.", "ffn_"),
        ("_proj", ""),
    ];
    PARTS.iter().fold(name.to_owned(), |name, (theirs, ours)| name.replace(theirs, ours))
}

/// The rows of queries or keys as llama.cpp's converter orders them.
pub(crate) fn pairs_of_halves(tensor: &Tensor, n_heads: usize) -> Tensor {
    let (n_outputs, n_inputs) = tensor.dims2().unwrap();
    let halves = tensor.reshape((n_heads, 2, n_outputs / n_heads / 2, n_inputs)).unwrap();
    halves.transpose(1, 2).unwrap().reshape((n_outputs, n_inputs)).unwrap()
}

/// Some tokens of the vocabulary.
pub(crate) fn tokens(count: usize, seed: u64) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let size = u32::try_from(config().vocabulary_size).unwrap();
    (0..count).map(|_| rng.random_range(0..size)).collect()
}

/// Memory that suffices for every test.
pub(crate) fn memory() -> KvMemory {
    KvMemory::new(1 << 30)
}

/// One step of one sequence.
pub(crate) fn step(
    decoder: &Decoder,
    sequence: &mut Sequence,
    tokens: &[u32],
    wanted: Wanted,
) -> Logits {
    decoder.forward(&mut [Step { sequence, tokens, wanted }]).unwrap()
}

/// The logits after every token of a sequence that is read at once.
pub(crate) fn logits(decoder: &Decoder, tokens: &[u32]) -> Vec<Vec<f32>> {
    let mut sequence = decoder.sequence(None, tokens.len(), &memory()).unwrap();
    step(decoder, &mut sequence, tokens, Wanted::Every).rows().map(<[f32]>::to_vec).collect()
}
