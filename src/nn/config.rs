//! What a decoder is made of: the settings in which model families differ.

use std::sync::Arc;

use super::{
    gguf::GgufFile,
    weights::{self, ModelError, Weights},
};

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
    /// What the rows of the embedding are multiplied by before the first layer.
    pub embedding_scale: Option<f32>,
    /// What the products of queries and keys are multiplied by.
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

/// What sets one family of GGUF files apart.
struct Family {
    /// The name in `general.architecture`, and the prefix of its keys.
    architecture: &'static str,
    rotation: RotationStyle,
    activation: Activation,
}

const FAMILIES: [Family; 1] = [Family {
    architecture: "llama",
    rotation: RotationStyle::Pairs,
    activation: Activation::Silu,
}];

impl DecoderConfig {
    /// Reads the metadata of a GGUF file.
    ///
    /// # Errors
    ///
    /// If the architecture is not supported, a setting is missing or makes no
    /// sense.
    pub fn from_gguf(file: &GgufFile) -> Result<Self, ModelError> {
        let architecture = "general.architecture";
        let name = file.text(architecture)?.ok_or_else(|| file.missing(architecture))?;
        let Some(family) = FAMILIES.iter().find(|family| family.architecture == name) else {
            return Err(unsupported(file, name.to_owned()));
        };
        let keys = Keys { file, prefix: family.architecture };
        if let Some(n_experts) = file.number(&keys.name("expert_count"))?.filter(|&n| n > 0) {
            return Err(unsupported(file, format!("{name} with {n_experts} experts")));
        }
        let hidden_size = keys.size("embedding_length")?;
        let n_heads = keys.size("attention.head_count")?;
        let head_size = match file.number(&keys.name("attention.key_length"))? {
            Some(size) => size,
            None => hidden_size / n_heads,
        };
        let divisors = weights::optional_vector(file, "rope_freqs.weight", head_size / 2)?;
        let rotation = Rotation {
            style: family.rotation,
            base: file.fraction(&keys.name("rope.freq_base"))?.unwrap_or(10_000.0),
            factor: scaling_factor(&keys)?,
            divisors: divisors.map(Arc::from),
        };
        let layer = LayerAttention { window: None, rotation };
        let config = Self {
            layers: vec![layer; keys.size("block_count")?],
            hidden_size,
            intermediate_size: keys.size("feed_forward_length")?,
            n_heads,
            n_kv_heads: file.number(&keys.name("attention.head_count_kv"))?.unwrap_or(n_heads),
            head_size,
            vocabulary_size: vocabulary_size(file)?,
            context_length: keys.size("context_length")?,
            norm_epsilon: keys.fraction("attention.layer_norm_rms_epsilon")?,
            activation: family.activation,
            embedding_scale: None,
            query_scale: 1.0 / (head_size as f32).sqrt(),
        };
        keys.check("attention.value_length", head_size)?;
        keys.check("rope.dimension_count", head_size)?;
        config.check(&keys)?;
        Ok(config)
    }

    /// The number of layers.
    pub fn n_layers(&self) -> usize {
        self.layers.len()
    }

    /// The query heads that share one key and value head.
    pub fn n_heads_per_kv_head(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }

    fn check(&self, keys: &Keys<'_>) -> Result<(), ModelError> {
        let heads = self.n_kv_heads > 0 && self.n_heads.is_multiple_of(self.n_kv_heads);
        if !heads {
            return Err(keys.wrong(
                "attention.head_count_kv",
                self.n_kv_heads,
                "a part of the heads",
            ));
        }
        if self.head_size == 0 || !self.head_size.is_multiple_of(2) {
            return Err(keys.wrong("attention.key_length", self.head_size, "an even number"));
        }
        Ok(())
    }
}

/// The keys of one architecture.
struct Keys<'a> {
    file: &'a GgufFile,
    prefix: &'a str,
}

impl Keys<'_> {
    fn name(&self, key: &str) -> String {
        format!("{}.{key}", self.prefix)
    }

    /// A number that must be there and above zero.
    fn size(&self, key: &str) -> Result<usize, ModelError> {
        let name = self.name(key);
        match self.file.number(&name)? {
            None => Err(self.file.missing(&name)),
            Some(0) => Err(self.wrong(key, 0, "a number from 1 on")),
            Some(size) => Ok(size),
        }
    }

    fn fraction(&self, key: &str) -> Result<f32, ModelError> {
        let name = self.name(key);
        self.file.fraction(&name)?.ok_or_else(|| self.file.missing(&name))
    }

    /// A number that may be absent but has to be this one.
    fn check(&self, key: &str, expected: usize) -> Result<(), ModelError> {
        match self.file.number(&self.name(key))? {
            Some(found) if found != expected => {
                Err(self.wrong(key, found, &format!("{expected}, the size of a head")))
            }
            _ => Ok(()),
        }
    }

    fn wrong(&self, key: &str, value: usize, expected: &str) -> ModelError {
        ModelError::WrongValue {
            file: self.file.path().to_owned(),
            key: self.name(key),
            value: value.to_string(),
            expected: expected.to_owned(),
        }
    }
}

fn unsupported(file: &GgufFile, found: String) -> ModelError {
    let names: Vec<&str> = FAMILIES.iter().map(|family| family.architecture).collect();
    ModelError::UnsupportedArchitecture {
        file: file.path().to_owned(),
        found,
        supported: names.join(", "),
    }
}

/// The rows of the embedding, which no setting can contradict.
fn vocabulary_size(file: &GgufFile) -> Result<usize, ModelError> {
    let name = "token_embd.weight";
    let tensor = file.find(name)?.ok_or_else(|| ModelError::MissingTensor {
        file: file.path().to_owned(),
        tensor: name.to_owned(),
    })?;
    Ok(tensor.shape.first().copied().unwrap_or(0))
}

/// The divisor of linear scaling. Scaling by single pairs, as in Llama 3.1, is
/// not here but in the tensor `rope_freqs.weight`.
fn scaling_factor(keys: &Keys<'_>) -> Result<f32, ModelError> {
    let key = keys.name("rope.scaling.type");
    match keys.file.text(&key)? {
        None | Some("none") => Ok(1.0),
        Some("linear") => keys.fraction("rope.scaling.factor"),
        Some(other) => Err(ModelError::WrongValue {
            file: keys.file.path().to_owned(),
            key,
            value: format!("{other:?}"),
            expected: "`none` or `linear`".to_owned(),
        }),
    }
}
