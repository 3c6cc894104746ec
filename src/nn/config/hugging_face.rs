//! The make of a decoder from the `config.json` of a Hugging Face folder.

use camino::Utf8Path;
use serde_json::Value;

use super::{
    Activation, DecoderConfig, Family, GEMMA3, GEMMA3_PATTERN, LAYER_LIMIT, LLAMA, LayerAttention,
    QWEN2, QWEN3, Rotation, RotationStyle, scaling::Scaling, settings::Settings,
};
use crate::nn::weights::{ModelError, Weights};

/// What a `config.json` says.
#[derive(Debug)]
pub(in crate::nn) struct HuggingFaceConfig {
    /// The make of the decoder.
    pub(in crate::nn) decoder: DecoderConfig,
    /// Whether the embedding serves as the head too.
    pub(in crate::nn) is_tied: bool,
    /// Whether the norms of the file lack the one that is added to them, and are
    /// named as Gemma names them.
    pub(in crate::nn) is_gemma: bool,
    family: &'static Family,
}

/// A family by its `model_type`, with what transformers takes where a setting is
/// not there.
struct Kind {
    name: &'static str,
    family: &'static Family,
    defaults: &'static [(&'static str, usize)],
}

/// Gemma's folders leave out what is as in the smallest model.
const GEMMA3_DEFAULTS: [(&str, usize); 9] = [
    ("vocab_size", 262_208),
    ("hidden_size", 2304),
    ("intermediate_size", 9216),
    ("num_hidden_layers", 26),
    ("num_attention_heads", 8),
    ("num_key_value_heads", 4),
    ("head_dim", 256),
    ("max_position_embeddings", 131_072),
    ("query_pre_attn_scalar", 256),
];

const KINDS: [Kind; 5] = [
    Kind { name: "llama", family: &LLAMA, defaults: &[] },
    Kind { name: "mistral", family: &LLAMA, defaults: &[("num_key_value_heads", 8)] },
    Kind { name: "qwen2", family: &QWEN2, defaults: &[] },
    Kind { name: "qwen3", family: &QWEN3, defaults: &[("head_dim", 128)] },
    Kind { name: "gemma3_text", family: &GEMMA3, defaults: &GEMMA3_DEFAULTS },
];

/// The window of a family where a folder names none.
const DEFAULT_WINDOW: usize = 4096;

impl HuggingFaceConfig {
    pub(in crate::nn) fn load(file: &Utf8Path) -> Result<Self, ModelError> {
        let mut all = Settings::load(file)?;
        let mut name = all.text("model_type")?.ok_or_else(|| all.missing("model_type"))?.to_owned();
        let mut is_tied = all.flag("tie_word_embeddings")?;
        if all.get("quantization_config").is_some() {
            let found = format!("{name} with \"quantization_config\"");
            return Err(unsupported(file, found));
        }
        if name == "gemma3" {
            // The part that reads text of a model that also sees.
            all = all.part("text_config")?.ok_or_else(|| all.missing("text_config"))?;
            is_tied = all.flag("tie_word_embeddings")?.or(is_tied);
            "gemma3_text".clone_into(&mut name);
        }
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
            return Err(unsupported(file, name));
        };
        let is_gemma = kind.name == "gemma3_text";
        Ok(Self {
            decoder: decoder(&all, kind)?,
            is_tied: is_tied.unwrap_or(is_gemma),
            is_gemma,
            family: kind.family,
        })
    }

    /// Complains where weights lack what sets the family apart.
    pub(in crate::nn) fn check(&self, weights: &dyn Weights) -> Result<(), ModelError> {
        self.family.check(weights, self.decoder.n_layers())
    }
}

fn decoder(all: &Settings, kind: &Kind) -> Result<DecoderConfig, ModelError> {
    let size = |key: &str| all.size(key, kind.defaults);
    let n_heads = size("num_attention_heads")?;
    let hidden_size = size("hidden_size")?;
    let head_size = match all.number_or_default("head_dim", kind.defaults)? {
        Some(size) => size,
        None => hidden_size / n_heads,
    };
    if head_size == 0 || !head_size.is_multiple_of(2) {
        return Err(all.wrong("head_dim", &head_size, "an even number"));
    }
    let n_kv_heads =
        all.number_or_default("num_key_value_heads", kind.defaults)?.unwrap_or(n_heads);
    if n_kv_heads == 0 || !n_heads.is_multiple_of(n_kv_heads) {
        return Err(all.wrong("num_key_value_heads", &n_kv_heads, "a part of the heads"));
    }
    let n_layers = size("num_hidden_layers")?;
    if n_layers > LAYER_LIMIT {
        return Err(all.wrong("num_hidden_layers", &n_layers, "a number of layers"));
    }
    let activation = activation(all, kind)?;
    if activation != kind.family.activation {
        return Err(unsupported(all.file(), format!("{} with another activation", kind.name)));
    }
    let mut context_length = size("max_position_embeddings")?;
    let is_gemma = kind.name == "gemma3_text";
    let (mut global, scaling) = rotation(all, kind, context_length)?;
    let score_scale = scaling.apply(&mut global, head_size);
    if let Scaling::Yarn { factor, original_length, .. } = scaling {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length")]
        let reach = (original_length as f32 * factor) as usize;
        context_length = context_length.max(reach);
    }
    let scored = match all.number_or_default("query_pre_attn_scalar", kind.defaults)? {
        Some(scalar) if is_gemma => scalar,
        _ => head_size,
    };
    let global = LayerAttention { window: None, rotation: global };
    let mut layers = vec![global; n_layers];
    let slides = sliding_layers(all, kind, n_layers)?;
    if let Some((window, slides)) = slides {
        let local = if is_gemma { Some(local_rotation(all)?) } else { None };
        for (layer, _) in layers.iter_mut().zip(slides).filter(|(_, slides)| *slides) {
            layer.window = Some(window);
            if let Some(local) = &local {
                layer.rotation = local.clone();
            }
        }
    }
    Ok(DecoderConfig {
        layers,
        hidden_size,
        intermediate_size: size("intermediate_size")?,
        n_heads,
        n_kv_heads,
        head_size,
        vocabulary_size: size("vocab_size")?,
        context_length,
        norm_epsilon: all.fraction("rms_norm_eps")?.unwrap_or(1e-6),
        activation,
        embedding_scale: is_gemma.then(|| (hidden_size as f32).sqrt()),
        query_scale: score_scale / (scored as f32).sqrt(),
    })
}

fn activation(all: &Settings, kind: &Kind) -> Result<Activation, ModelError> {
    let key = if kind.name == "gemma3_text" { "hidden_activation" } else { "hidden_act" };
    match all.text(key)? {
        None => Ok(kind.family.activation),
        Some("silu" | "swish") => Ok(Activation::Silu),
        Some("gelu_pytorch_tanh") => Ok(Activation::GeluTanh),
        Some(other) => Err(all.wrong(key, &other, "`silu` or `gelu_pytorch_tanh`")),
    }
}

/// The rotation of layers that see everything, before it is slowed down, and how it
/// is.
fn rotation(
    all: &Settings,
    kind: &Kind,
    context_length: usize,
) -> Result<(Rotation, Scaling), ModelError> {
    let default = if kind.name == "gemma3_text" { 1e6 } else { 10_000.0 };
    let parameters = match all.part("rope_parameters")? {
        // Layers of several kinds, each with its own.
        Some(parameters) => parameters.part("full_attention")?.or(Some(parameters)),
        None => all.part("rope_scaling")?,
    };
    let given = parameters.as_ref().map(|part| part.fraction("rope_theta")).transpose()?.flatten();
    let base = match given {
        Some(base) => base,
        None => all.fraction("rope_theta")?.unwrap_or(default),
    };
    let scaling = match &parameters {
        Some(parameters) => scaling(parameters, context_length)?,
        None => Scaling::None,
    };
    Ok((plain_rotation(base), scaling))
}

/// The rotation of Gemma's layers that see a window.
fn local_rotation(all: &Settings) -> Result<Rotation, ModelError> {
    let parameters = match all.part("rope_parameters")? {
        Some(parameters) => parameters.part("sliding_attention")?,
        None => None,
    };
    let mut base = all.fraction("rope_local_base_freq")?;
    if let Some(parameters) = parameters {
        base = parameters.fraction("rope_theta")?.or(base);
        if scaling(&parameters, 0)? != Scaling::None {
            return Err(parameters.wrong("rope_type", &"another", "`default` where layers slide"));
        }
    }
    Ok(plain_rotation(base.unwrap_or(10_000.0)))
}

fn plain_rotation(base: f32) -> Rotation {
    Rotation { style: RotationStyle::Halves, base, factor: 1.0, divisors: None }
}

fn scaling(parameters: &Settings, context_length: usize) -> Result<Scaling, ModelError> {
    if parameters.fraction("partial_rotary_factor")?.is_some_and(|part| part < 1.0) {
        return Err(parameters.wrong("partial_rotary_factor", &"below 1", "1"));
    }
    let key = if parameters.get("rope_type").is_some() { "rope_type" } else { "type" };
    let needed = |key: &str| parameters.fraction(key)?.ok_or_else(|| parameters.missing(key));
    let original_length = || -> Result<usize, ModelError> {
        let given = parameters.number("original_max_position_embeddings")?;
        Ok(given.unwrap_or(context_length))
    };
    Ok(match parameters.text(key)? {
        None | Some("default") => Scaling::None,
        Some("linear") => Scaling::Linear { factor: needed("factor")? },
        Some("llama3") => Scaling::Llama3 {
            factor: needed("factor")?,
            low_turns: needed("low_freq_factor")?,
            high_turns: needed("high_freq_factor")?,
            original_length: original_length()?,
        },
        Some("yarn") => {
            for key in ["mscale", "mscale_all_dim"] {
                if parameters.get(key).is_some() {
                    return Err(parameters.wrong(key, &"there", "not to be there"));
                }
            }
            Scaling::Yarn {
                factor: needed("factor")?,
                low_turns: parameters.fraction("beta_slow")?.unwrap_or(1.0),
                high_turns: parameters.fraction("beta_fast")?.unwrap_or(32.0),
                original_length: original_length()?,
                attention_factor: parameters.fraction("attention_factor")?,
            }
        }
        Some(other) => {
            return Err(parameters.wrong(key, &other, "`default`, `linear`, `llama3` or `yarn`"));
        }
    })
}

/// The window of the layers that see no more, and which they are.
fn sliding_layers(
    all: &Settings,
    kind: &Kind,
    n_layers: usize,
) -> Result<Option<(usize, Vec<bool>)>, ModelError> {
    let is_gemma = kind.name == "gemma3_text";
    for key in ["use_bidirectional_attention", "final_logit_softcapping", "attn_logit_softcapping"]
    {
        if is_gemma && all.get(key).is_some_and(|value| *value != Value::Bool(false)) {
            return Err(unsupported(all.file(), format!("gemma3 with {key:?}")));
        }
    }
    let may_slide = match kind.name {
        "mistral" => !all.is_null("sliding_window"),
        "gemma3_text" => true,
        "qwen2" | "qwen3" => all.flag("use_sliding_window")?.unwrap_or(false),
        _ => false,
    };
    if !may_slide {
        return Ok(None);
    }
    let window = all.number("sliding_window")?.unwrap_or(DEFAULT_WINDOW);
    if window == 0 {
        return Err(all.wrong("sliding_window", &window, "a number from 1 on, or null"));
    }
    let types = if kind.name == "mistral" { None } else { all.get("layer_types") };
    let slides = match types {
        Some(types) => layer_types(all, types, n_layers)?,
        None if kind.name == "mistral" => vec![true; n_layers],
        None if is_gemma => {
            let pattern = all.number("sliding_window_pattern")?;
            let pattern = pattern.or(all.number("_sliding_window_pattern")?);
            let pattern = pattern.unwrap_or(GEMMA3_PATTERN);
            if pattern == 0 {
                return Err(all.wrong("sliding_window_pattern", &0, "a number from 1 on"));
            }
            (1..=n_layers).map(|number| !number.is_multiple_of(pattern)).collect()
        }
        None => {
            let first = all.number("max_window_layers")?.unwrap_or(28);
            (0..n_layers).map(|layer| layer >= first).collect()
        }
    };
    Ok(Some((window, slides)))
}

fn layer_types(all: &Settings, types: &Value, n_layers: usize) -> Result<Vec<bool>, ModelError> {
    let types = types.as_array().map_or(&[][..], Vec::as_slice);
    let slides: Option<Vec<bool>> = types
        .iter()
        .map(|name| match name.as_str() {
            Some("sliding_attention") => Some(true),
            Some("full_attention") => Some(false),
            _ => None,
        })
        .collect();
    slides.filter(|slides| slides.len() == n_layers).ok_or_else(|| {
        let expected =
            format!("`full_attention` or `sliding_attention` for each of {n_layers} layers");
        all.wrong("layer_types", &format!("a list of {}", types.len()), &expected)
    })
}

fn unsupported(file: &Utf8Path, found: String) -> ModelError {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    ModelError::UnsupportedArchitecture {
        file: file.to_owned(),
        found,
        supported: names.join(", "),
    }
}
