//! The make of a decoder from the metadata of a GGUF file.

use std::sync::Arc;

use super::{
    DecoderConfig, Family, GEMMA3, GEMMA3_PATTERN, LAYER_LIMIT, LLAMA, LayerAttention, QWEN2,
    QWEN3, Rotation, RotationStyle, scaling::Scaling,
};
use crate::nn::{
    gguf::GgufFile,
    weights::{self, ModelError, Weights},
};

/// A family by its name in `general.architecture`, which is also the prefix of its
/// keys.
struct Architecture {
    name: &'static str,
    family: &'static Family,
    rotation: RotationStyle,
}

const ARCHITECTURES: [Architecture; 4] = [
    Architecture { name: "llama", family: &LLAMA, rotation: RotationStyle::Pairs },
    Architecture { name: "qwen2", family: &QWEN2, rotation: RotationStyle::Halves },
    Architecture { name: "qwen3", family: &QWEN3, rotation: RotationStyle::Halves },
    Architecture { name: "gemma3", family: &GEMMA3, rotation: RotationStyle::Halves },
];

/// The layers of Gemma 3's largest model, which has a scale of its queries that no
/// key tells.
const GEMMA3_27B_LAYERS: usize = 62;

/// Reads the metadata of a file.
pub(super) fn read(file: &GgufFile) -> Result<DecoderConfig, ModelError> {
    let key = "general.architecture";
    let name = file.text(key)?.ok_or_else(|| file.missing(key))?;
    let Some(architecture) = ARCHITECTURES.iter().find(|known| known.name == name) else {
        return Err(unsupported(file, name.to_owned()));
    };
    let keys = Keys { file, prefix: name };
    if let Some(n_experts) = file.number(&keys.name("expert_count"))?.filter(|&n| n > 0) {
        return Err(unsupported(file, format!("{name} with {n_experts} experts")));
    }
    let hidden_size = keys.size("embedding_length")?;
    let n_heads = keys.size("attention.head_count")?;
    let n_layers = keys.size("block_count")?;
    if n_layers > LAYER_LIMIT {
        return Err(keys.wrong("block_count", n_layers, "a number of layers"));
    }
    let head_size = match file.number(&keys.name("attention.key_length"))? {
        Some(size) => size,
        None => hidden_size / n_heads,
    };
    let mut config = DecoderConfig {
        layers: Vec::new(),
        hidden_size,
        intermediate_size: keys.size("feed_forward_length")?,
        n_heads,
        n_kv_heads: file.number(&keys.name("attention.head_count_kv"))?.unwrap_or(n_heads),
        head_size,
        vocabulary_size: vocabulary_size(file)?,
        context_length: keys.size("context_length")?,
        norm_epsilon: keys.fraction("attention.layer_norm_rms_epsilon")?,
        activation: architecture.family.activation,
        embedding_scale: None,
        query_scale: 1.0 / (head_size as f32).sqrt(),
    };
    keys.check(&config)?;
    let mut rotation = Rotation {
        style: architecture.rotation,
        base: file.fraction(&keys.name("rope.freq_base"))?.unwrap_or(10_000.0),
        factor: 1.0,
        divisors: None,
    };
    let scaling = keys.scaling(config.context_length)?;
    config.query_scale *= scaling.apply(&mut rotation, head_size);
    config.layers = vec![LayerAttention { window: None, rotation }; n_layers];
    match name {
        "llama" => add_frequencies(file, &mut config)?,
        "gemma3" => adapt_to_gemma3(&keys, &mut config)?,
        _ => (),
    }
    architecture.family.check(file, n_layers)?;
    Ok(config)
}

/// The divisors that Llama 3.1 and later carry in a tensor.
fn add_frequencies(file: &GgufFile, config: &mut DecoderConfig) -> Result<(), ModelError> {
    let name = "rope_freqs.weight";
    let divisors = weights::optional_vector(file, name, config.head_size / 2)?;
    let Some(divisors) = divisors else { return Ok(()) };
    if config.layers.iter().any(|layer| layer.rotation.divisors.is_some()) {
        return Err(unsupported(file, format!("llama with YaRN and {name:?}")));
    }
    let divisors: Arc<[f32]> = Arc::from(divisors);
    for layer in &mut config.layers {
        layer.rotation.divisors = Some(Arc::clone(&divisors));
    }
    Ok(())
}

fn adapt_to_gemma3(keys: &Keys<'_>, config: &mut DecoderConfig) -> Result<(), ModelError> {
    let Keys { file, .. } = *keys;
    let softcap = "final_logit_softcapping";
    if file.fraction(&keys.name(softcap))?.is_some_and(|cap| cap != 0.0) {
        return Err(unsupported(file, format!("gemma3 with {softcap:?}")));
    }
    config.embedding_scale = Some((config.hidden_size as f32).sqrt());
    if config.n_layers() == GEMMA3_27B_LAYERS {
        config.query_scale = 1.0 / ((config.hidden_size / config.n_heads) as f32).sqrt();
    }
    let window = file.number(&keys.name("attention.sliding_window"))?.filter(|&size| size > 0);
    let Some(window) = window else { return Ok(()) };
    let base = file.fraction(&keys.name("rope.freq_base_swa"))?.unwrap_or(10_000.0);
    let slides = keys.sliding_layers(config.n_layers())?;
    for (layer, _) in config.layers.iter_mut().zip(slides).filter(|(_, slides)| *slides) {
        layer.window = Some(window);
        layer.rotation = Rotation { base, factor: 1.0, divisors: None, ..layer.rotation };
    }
    Ok(())
}

/// The keys of one architecture.
#[derive(Clone, Copy)]
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

    fn check(&self, config: &DecoderConfig) -> Result<(), ModelError> {
        let &DecoderConfig { n_heads, n_kv_heads, head_size, .. } = config;
        if n_kv_heads == 0 || !n_heads.is_multiple_of(n_kv_heads) {
            return Err(self.wrong("attention.head_count_kv", n_kv_heads, "a part of the heads"));
        }
        if head_size == 0 || !head_size.is_multiple_of(2) {
            return Err(self.wrong("attention.key_length", head_size, "an even number"));
        }
        for key in ["attention.value_length", "rope.dimension_count"] {
            match self.file.number(&self.name(key))? {
                Some(found) if found != head_size => {
                    let expected = format!("{head_size}, the size of a head");
                    return Err(self.wrong(key, found, &expected));
                }
                _ => (),
            }
        }
        Ok(())
    }

    /// How rotations are slowed down. Where no way is named it is the linear one,
    /// whose factor had another key once.
    fn scaling(&self, context_length: usize) -> Result<Scaling, ModelError> {
        let factor = match self.file.fraction(&self.name("rope.scaling.factor"))? {
            None => self.file.fraction(&self.name("rope.scale_linear"))?,
            some => some,
        };
        let factor = factor.filter(|&factor| factor != 0.0).unwrap_or(1.0);
        let key = "rope.scaling.type";
        match self.file.text(&self.name(key))? {
            Some("none") => Ok(Scaling::None),
            None | Some("linear") => Ok(Scaling::Linear { factor }),
            Some("yarn") if self.prefix != "gemma3" => self.yarn(factor, context_length),
            Some(other) => Err(ModelError::WrongValue {
                file: self.file.path().to_owned(),
                key: self.name(key),
                value: format!("{other:?}"),
                expected: "`none`, `linear` or `yarn`".to_owned(),
            }),
        }
    }

    fn yarn(&self, factor: f32, context_length: usize) -> Result<Scaling, ModelError> {
        for key in ["yarn_log_multiplier", "attn_factor"] {
            let name = self.name(&format!("rope.scaling.{key}"));
            if let Some(value) = self.file.fraction(&name)? {
                return Err(ModelError::WrongValue {
                    file: self.file.path().to_owned(),
                    key: name,
                    value: value.to_string(),
                    expected: "none: models scaled so do not run here".to_owned(),
                });
            }
        }
        let turns = |key: &str| self.file.fraction(&self.name(&format!("rope.scaling.{key}")));
        let original = self.file.number(&self.name("rope.scaling.original_context_length"))?;
        Ok(Scaling::Yarn {
            factor,
            low_turns: turns("yarn_beta_slow")?.unwrap_or(1.0),
            high_turns: turns("yarn_beta_fast")?.unwrap_or(32.0),
            original_length: original.unwrap_or(context_length),
            attention_factor: None,
        })
    }

    /// Which layers see a window only.
    fn sliding_layers(&self, n_layers: usize) -> Result<Vec<bool>, ModelError> {
        let key = "attention.sliding_window_pattern";
        let name = self.name(key);
        if let Some(flags) = self.file.flags(&name)? {
            if flags.len() != n_layers {
                return Err(self.wrong(
                    key,
                    flags.len(),
                    &format!("a flag for each of {n_layers} layers"),
                ));
            }
            return Ok(flags);
        }
        let pattern = self.file.number(&name)?.unwrap_or(GEMMA3_PATTERN);
        // Zero divides nothing: all slide.
        let slides = |layer: usize| !(layer + 1).is_multiple_of(pattern);
        Ok((0..n_layers).map(slides).collect())
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
    let names: Vec<&str> = ARCHITECTURES.iter().map(|known| known.name).collect();
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
