//! What a decoder is made of: the settings in which model families differ.

mod gguf;
mod hugging_face;
mod scaling;
mod settings;

use std::sync::Arc;

use camino::Utf8Path;

use super::{
    gguf::GgufFile,
    weights::{ModelError, Weights},
};
pub(super) use hugging_face::HuggingFaceConfig;

/// The make of a decoder. A family of models is a set of values here, never code
/// of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct DecoderConfig {
    /// What each layer attends to, and how it tells positions apart.
    pub layers: Vec<LayerAttention>,
    /// The width of a token's state.
    pub hidden_size: usize,
    /// The width inside the feed-forward part.
    pub intermediate_size: usize,
    /// The number of query heads; a multiple of `n_kv_heads`.
    pub n_heads: usize,
    /// The number of key and value heads, each shared by as many query heads.
    pub n_kv_heads: usize,
    /// The width of a head; even.
    pub head_size: usize,
    /// The number of tokens in the vocabulary.
    pub vocabulary_size: usize,
    /// The most positions that the model was made for.
    pub context_length: usize,
    /// What is added to the mean square in a norm.
    pub norm_epsilon: f32,
    /// The function between the feed-forward matrices.
    pub activation: Activation,
    /// What the rows of the embedding are multiplied by before the first layer. Gemma's
    /// square root of the width is taken in single precision, as llama.cpp does;
    /// transformers rounds it to the type of the weights, in bfloat16 by up to 0.4 %.
    pub embedding_scale: Option<f32>,
    /// What the products of queries and keys are multiplied by: the inverse square root
    /// of the size of a head, or another number that a model was trained with.
    pub query_scale: f32,
}

/// What sets the attention of one layer apart.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerAttention {
    /// A token sees itself and as many before it as make this number together; all
    /// before it where there is none. At least one.
    pub window: Option<usize>,
    /// How positions are told apart.
    pub rotation: Rotation,
}

/// The function between the feed-forward matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `silu(gate) * up`.
    Silu,
    /// `gelu(gate) * up`, where `gelu` is the approximation by `tanh` (Hendrycks and
    /// Gimpel 2016).
    GeluTanh,
}

/// The rotary embedding of positions (Su and others 2021).
#[derive(Clone, Debug, PartialEq)]
pub struct Rotation {
    /// Which two numbers of a head turn together.
    pub style: RotationStyle,
    /// Pair `i` of `n` turns by `base^(-i / n)` a position.
    pub base: f32,
    /// What the angle of all pairs is divided by (linear scaling); one is off.
    pub factor: f32,
    /// What the angle of each single pair is divided by besides, as Llama 3.1 and
    /// later slow down the pairs that turn least; half as many as a head is wide.
    pub divisors: Option<Arc<[f32]>>,
}

/// Which two numbers of a head turn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationStyle {
    /// Neighbours, `2i` and `2i + 1`: GGUF files of the Llama family.
    Pairs,
    /// `i` and `i + n / 2`: Hugging Face's order, and GGUF files of other families.
    Halves,
}

impl DecoderConfig {
    /// Reads the metadata of a GGUF file, each key as llama.cpp reads it.
    ///
    /// # Errors
    ///
    /// If the architecture is not supported, a setting is missing or makes no sense,
    /// or a tensor that sets the family apart is not there.
    pub fn from_gguf(file: &GgufFile) -> Result<Self, ModelError> {
        gguf::read(file)
    }

    /// Reads the `config.json` of a Hugging Face folder as transformers reads it.
    ///
    /// # Errors
    ///
    /// If the kind of model is not supported, or a setting is missing or makes no
    /// sense.
    pub fn from_config_json(file: &Utf8Path) -> Result<Self, ModelError> {
        Ok(HuggingFaceConfig::load(file)?.decoder)
    }

    /// The number of layers.
    pub fn n_layers(&self) -> usize {
        self.layers.len()
    }

    /// The query heads that share one key and value head.
    pub fn n_heads_per_kv_head(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }
}

/// What sets one family of models apart, whatever kind of file they come in.
#[derive(Debug)]
struct Family {
    activation: Activation,
    /// The tensors of a layer that other families do not have: a file without them
    /// would run, and say nothing sensible.
    needs: &'static [&'static str],
}

const LLAMA: Family = Family { activation: Activation::Silu, needs: &[] };

const QWEN2: Family = Family { activation: Activation::Silu, needs: &["attn_q.bias"] };

const QWEN3: Family =
    Family { activation: Activation::Silu, needs: &["attn_q_norm.weight", "attn_k_norm.weight"] };

const GEMMA3: Family = Family {
    activation: Activation::GeluTanh,
    needs: &[
        "attn_q_norm.weight",
        "attn_k_norm.weight",
        "post_attention_norm.weight",
        "post_ffw_norm.weight",
    ],
};

/// More layers than any model has: a number beyond it is damaged.
const LAYER_LIMIT: usize = 1 << 12;

/// Every how many layers one of Gemma 3 sees everything, unless a file says.
const GEMMA3_PATTERN: usize = 6;

impl Family {
    /// Complains where a layer lacks what sets the family apart.
    fn check(&self, weights: &dyn Weights, n_layers: usize) -> Result<(), ModelError> {
        for layer in 0..n_layers {
            for part in self.needs {
                let name = format!("blk.{layer}.{part}");
                if weights.find(&name)?.is_none() {
                    return Err(ModelError::MissingTensor {
                        file: weights.origin().to_owned(),
                        tensor: weights.own_name(&name),
                    });
                }
            }
        }
        Ok(())
    }
}
