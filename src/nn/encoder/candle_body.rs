//! Encoders that run through candle-transformers: DeBERTa v2 and v3, ModernBERT.

use std::collections::{BTreeMap, HashMap};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{
    debertav2::{Config as DebertaConfig, DebertaV2Model},
    modernbert::{Config as ModernConfig, ModernBert},
};
use rayon::prelude::*;
use serde::Deserialize;

use super::{bert::TokenRow, config::ConfigProblem};

/// What a `config.json` says of such an encoder.
pub(super) enum CandleConfig {
    Deberta(Box<DebertaConfig>),
    Modern(Box<ModernConfig>),
}

/// Such an encoder, ready to run.
pub(super) struct CandleBody {
    config: CandleConfig,
    model: Model,
}

enum Model {
    Deberta(Box<DebertaV2Model>),
    Modern(Box<ModernBert>),
}

/// `config.json` of a ModernBERT model: what candle's own form lacks, or has under
/// other names in files of later versions.
#[derive(Deserialize)]
struct ModernFile {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    norm_eps: Option<f64>,
    layer_norm_eps: Option<f64>,
    pad_token_id: Option<u32>,
    global_attn_every_n_layers: usize,
    local_attention: usize,
    global_rope_theta: Option<f64>,
    local_rope_theta: Option<f64>,
    rope_parameters: Option<BTreeMap<String, Rope>>,
    layer_types: Option<Vec<String>>,
    hidden_activation: Option<String>,
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
    norm_bias: Option<bool>,
}

#[derive(Deserialize)]
struct Rope {
    rope_theta: f64,
    rope_type: Option<String>,
}

/// `config.json` of a DeBERTa model: what candle's own form lacks.
#[derive(Deserialize)]
struct DebertaFile {
    conv_kernel_size: Option<usize>,
    z_steps: Option<usize>,
}

impl CandleConfig {
    /// Parses the `config.json` of a model of this type; `None` where it is another.
    pub(super) fn parse(model_type: &str, text: &str) -> Option<Result<Self, ConfigProblem>> {
        match model_type {
            "deberta-v2" => Some(deberta(text)),
            "modernbert" => Some(modern(text)),
            _ => None,
        }
    }

    pub(super) fn hidden_size(&self) -> usize {
        match self {
            Self::Deberta(config) => config.hidden_size,
            Self::Modern(config) => config.hidden_size,
        }
    }

    pub(super) fn n_positions(&self) -> usize {
        match self {
            Self::Deberta(config) => config.max_position_embeddings,
            Self::Modern(config) => config.max_position_embeddings,
        }
    }

    pub(super) fn n_layers(&self) -> usize {
        match self {
            Self::Deberta(config) => config.num_hidden_layers,
            Self::Modern(config) => config.num_hidden_layers,
        }
    }

    fn vocabulary_size(&self) -> usize {
        match self {
            Self::Deberta(config) => config.vocab_size,
            Self::Modern(config) => config.vocab_size,
        }
    }

    pub(super) fn n_types(&self) -> usize {
        match self {
            Self::Deberta(config) => config.type_vocab_size,
            Self::Modern(_) => 0,
        }
    }
}

fn deberta(text: &str) -> Result<CandleConfig, ConfigProblem> {
    let config: DebertaConfig = serde_json::from_str(text).map_err(ConfigProblem::Unreadable)?;
    let file: DebertaFile = serde_json::from_str(text).map_err(ConfigProblem::Unreadable)?;
    // candle would end the process.
    let problem = if 0 < file.conv_kernel_size.unwrap_or(0) {
        Some("a convolution after the first layer")
    } else if 1 < file.z_steps.unwrap_or(0) {
        Some("more than one step of the last layer")
    } else if config.embedding_size.is_some_and(|size| size != config.hidden_size) {
        Some("embeddings of another size than its states")
    } else {
        None
    };
    match problem {
        Some(what) => Err(ConfigProblem::Unsupported(format!("a DeBERTa with {what}"))),
        None => Ok(CandleConfig::Deberta(Box::new(config))),
    }
}

fn modern(text: &str) -> Result<CandleConfig, ConfigProblem> {
    let file: ModernFile = serde_json::from_str(text).map_err(ConfigProblem::Unreadable)?;
    let unsupported = |what: &str| ConfigProblem::Unsupported(format!("a ModernBERT with {what}"));
    if [file.attention_bias, file.mlp_bias, file.norm_bias].contains(&Some(true)) {
        return Err(unsupported("biases"));
    }
    if file.hidden_activation.as_deref().is_some_and(|name| name != "gelu") {
        return Err(unsupported("another activation than gelu"));
    }
    if file.global_attn_every_n_layers == 0
        || file.num_attention_heads == 0
        || !file.hidden_size.is_multiple_of(2 * file.num_attention_heads)
    {
        return Err(unsupported("sizes that do not go together"));
    }
    let is_regular = |kinds: &Vec<String>| {
        kinds.iter().enumerate().all(|(layer, kind)| {
            let is_global = layer.is_multiple_of(file.global_attn_every_n_layers);
            kind == if is_global { "full_attention" } else { "sliding_attention" }
        })
    };
    if !file.layer_types.as_ref().is_none_or(is_regular) {
        return Err(unsupported("layers that see far at irregular places"));
    }
    let theta = |name: &str, old: Option<f64>, default: f64| {
        let rope = file.rope_parameters.as_ref().and_then(|ropes| ropes.get(name));
        match rope {
            Some(Rope { rope_type: Some(kind), .. }) if kind != "default" => {
                Err(unsupported(&format!("a rotation of the kind {kind:?}")))
            }
            Some(rope) => Ok(rope.rope_theta),
            None => Ok(old.unwrap_or(default)),
        }
    };
    Ok(CandleConfig::Modern(Box::new(ModernConfig {
        vocab_size: file.vocab_size,
        hidden_size: file.hidden_size,
        num_hidden_layers: file.num_hidden_layers,
        num_attention_heads: file.num_attention_heads,
        intermediate_size: file.intermediate_size,
        max_position_embeddings: file.max_position_embeddings,
        layer_norm_eps: file.norm_eps.or(file.layer_norm_eps).unwrap_or(1e-5),
        pad_token_id: file.pad_token_id.unwrap_or(0),
        global_attn_every_n_layers: file.global_attn_every_n_layers,
        global_rope_theta: theta("full_attention", file.global_rope_theta, 160_000.0)?,
        local_attention: file.local_attention,
        local_rope_theta: theta("sliding_attention", file.local_rope_theta, 10_000.0)?,
        classifier_config: None,
    })))
}

impl CandleBody {
    /// The first `n_layers` of an encoder.
    pub(super) fn load(
        mut config: CandleConfig,
        tensors: &BTreeMap<String, Tensor>,
        n_layers: usize,
    ) -> Result<Self, String> {
        let model = match &mut config {
            CandleConfig::Deberta(config) => {
                config.num_hidden_layers = n_layers;
                let weights = weights(tensors, "deberta.", "");
                DebertaV2Model::load(weights, config).map(|model| Model::Deberta(Box::new(model)))
            }
            CandleConfig::Modern(config) => {
                config.num_hidden_layers = n_layers;
                // candle takes a norm that is missing for one that should be.
                let norm = |layer: usize| format!("layers.{layer}.attn_norm.weight");
                let is_there = |layer: &usize| {
                    let name = norm(*layer);
                    tensors.contains_key(&name) || tensors.contains_key(&format!("model.{name}"))
                };
                if let Some(layer) = (1..n_layers).find(|layer| !is_there(layer)) {
                    return Err(format!("there is no tensor {:?}", norm(layer)));
                }
                let weights = weights(tensors, "model.", "model.");
                ModernBert::load(weights, config).map(|model| Model::Modern(Box::new(model)))
            }
        };
        Ok(Self { model: model.map_err(|error| error.to_string())?, config })
    }

    pub(super) fn config(&self) -> &CandleConfig {
        &self.config
    }

    /// Why the model cannot read a row, if it cannot.
    pub(super) fn refusal(&self, row: &TokenRow<'_>) -> Option<String> {
        let (n_positions, size) = (self.config.n_positions(), self.config.vocabulary_size());
        if row.ids.is_empty() || n_positions < row.ids.len() {
            return Some(format!(
                "{} tokens, and the model reads 1 to {n_positions}",
                row.ids.len()
            ));
        }
        let unknown = row.ids.iter().find(|id| size <= **id as usize);
        unknown.map(|id| format!("token {id}, and the model has {size}"))
    }

    /// The last hidden states of all tokens, row after row. Each row is run by itself,
    /// so that its states depend on it alone.
    pub(super) fn states(&self, rows: &[TokenRow<'_>]) -> Result<Vec<f32>, String> {
        let states: candle_core::Result<Vec<Vec<f32>>> =
            rows.par_iter().map(|row| self.row_states(row)).collect();
        Ok(states.map_err(|error| error.to_string())?.concat())
    }

    fn row_states(&self, row: &TokenRow<'_>) -> candle_core::Result<Vec<f32>> {
        let ids = Tensor::new(row.ids, &Device::Cpu)?.unsqueeze(0)?;
        let states = match &self.model {
            Model::Deberta(model) => {
                let kind = |at| u32::from(row.n_of_first_type <= at && 1 < self.config.n_types());
                let types: Vec<u32> = (0..row.ids.len()).map(kind).collect();
                let types = Tensor::new(types, &Device::Cpu)?.unsqueeze(0)?;
                model.forward(&ids, Some(types), None)?
            }
            Model::Modern(model) => {
                let mask = Tensor::ones(ids.dims(), DType::F32, &Device::Cpu)?;
                model.forward(&ids, &mask)?
            }
        };
        states.flatten_all()?.to_vec1()
    }
}

/// Tensors without one prefix and under another.
fn weights(tensors: &BTreeMap<String, Tensor>, prefix: &str, wanted: &str) -> VarBuilder<'static> {
    let named: HashMap<String, Tensor> = tensors
        .iter()
        .map(|(name, tensor)| {
            let plain = name.strip_prefix(prefix).unwrap_or(name);
            (format!("{wanted}{plain}"), tensor.clone())
        })
        .collect();
    VarBuilder::from_tensors(named, DType::F32, &Device::Cpu)
}
