//! The model that training begins from, and the part of it that stays as it is.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::{DType, Device, Tensor};
use serde_json::Value;

use super::{DistillError, EncoderSettings};
use crate::{
    distilled::{BASE, BaseDescription, FORMAT_VERSION, SharedEncoder, TOKENIZER, shape},
    nn::{
        Coding, Cpu, EncoderPrecision, EncoderShape, TensorFile, TokenEncoder, Weights,
        trainable::LayerSizes,
    },
};

/// What may stand before the names of an encoder's tensors.
const PREFIXES: [&str; 2] = ["", "bert."];

/// The embeddings' tensors.
const EMBEDDINGS: [&str; 5] = [
    "embeddings.word_embeddings.weight",
    "embeddings.position_embeddings.weight",
    "embeddings.token_type_embeddings.weight",
    "embeddings.LayerNorm.weight",
    "embeddings.LayerNorm.bias",
];

/// A model to begin from.
pub(super) struct Origin {
    path: Utf8PathBuf,
    tensors: BTreeMap<String, Tensor>,
    prefix: &'static str,
    config: Value,
    max_tokens: usize,
    tokenizer: Vec<u8>,
}

/// The part that stays, as it is written and as it runs.
pub(super) struct Base {
    pub(super) bytes: Vec<u8>,
    pub(super) tokenizer: Vec<u8>,
    pub(super) encoder: SharedEncoder,
}

impl Origin {
    /// Reads the folder of a sentence encoder.
    pub(super) fn load(folder: &Utf8Path) -> Result<Self, DistillError> {
        let path = folder.join("model.safetensors");
        let bytes = fs_err::read(&path)?;
        let mut tensors = BTreeMap::new();
        let read: BTreeMap<String, Tensor> =
            candle_core::safetensors::load_buffer(&bytes, &Device::Cpu)?.into_iter().collect();
        for (name, tensor) in read {
            if tensor.dtype().is_float() {
                tensors.insert(name, tensor.to_dtype(DType::F32)?);
            }
        }
        let has = |prefix: &&str| tensors.contains_key(&format!("{prefix}{}", EMBEDDINGS[0]));
        let prefix = PREFIXES.into_iter().find(|prefix| has(prefix)).ok_or_else(|| {
            let reason = format!("it holds no encoder of the BERT type: no {}", EMBEDDINGS[0]);
            DistillError::File { path: path.clone(), reason }
        })?;
        let config: Value = json(&folder.join("config.json"))?;
        let limits = folder.join("sentence_bert_config.json");
        let limit = if limits.exists() { json(&limits)?["max_seq_length"].as_u64() } else { None };
        let limit = limit.or_else(|| config["max_position_embeddings"].as_u64());
        let max_tokens = limit.and_then(|limit| usize::try_from(limit).ok());
        let max_tokens = max_tokens.ok_or_else(|| DistillError::File {
            path: folder.join("config.json"),
            reason: "`max_position_embeddings` does not say how many tokens are read".to_owned(),
        })?;
        let tokenizer = fs_err::read(folder.join(TOKENIZER))?;
        Ok(Self { path, tensors, prefix, config, max_tokens, tokenizer })
    }

    /// The shape of so many of its layers.
    pub(super) fn shape(&self, n_layers: usize) -> Result<EncoderShape, DistillError> {
        let shape = shape(&self.config, n_layers, &self.path)?;
        if !shape.has_exact_gelu() {
            let reason = "an activation that is not trained here: gelu is".to_owned();
            return Err(DistillError::File { path: self.path.clone(), reason });
        }
        Ok(shape)
    }

    /// The tensors, and what stands before their names.
    pub(super) fn weights(&self) -> (&dyn Weights, &'static str) {
        (&self.tensors, self.prefix)
    }

    /// Takes the part that stays, in few bits, and puts it to work.
    pub(super) fn base(&self, settings: &EncoderSettings, cpu: Cpu) -> Result<Base, DistillError> {
        let description = BaseDescription {
            format_version: FORMAT_VERSION,
            config: self.config.clone(),
            max_tokens: self.max_tokens,
            n_layers: settings.frozen,
        };
        let description = serde_json::to_string(&description)
            .map_err(|error| DistillError::Settings(error.to_string()))?;
        let mut file = TensorFile::new(description);
        for name in EMBEDDINGS {
            let coding =
                if name == EMBEDDINGS[0] { settings.embeddings } else { settings.matrices };
            self.copy(&mut file, name, coding)?;
        }
        let sizes = LayerSizes::of(&self.shape(settings.layers)?);
        for layer in 0..settings.frozen {
            for (part, _) in sizes.tensors() {
                self.copy(&mut file, &format!("encoder.layer.{layer}.{part}"), settings.matrices)?;
            }
        }
        let bytes = file.render()?;
        let file = TensorFile::parse(Utf8Path::new(BASE), &bytes)?;
        let shape = self.shape(settings.frozen)?;
        let model = TokenEncoder::new(shape, &file, EncoderPrecision::default(), cpu)?;
        let tokenizer = self.tokenizer.clone();
        let path = self.path.with_file_name(TOKENIZER);
        let encoder = SharedEncoder::with_model(model, (&tokenizer, &path), self.max_tokens)?;
        Ok(Base { bytes, tokenizer, encoder })
    }

    fn copy(&self, file: &mut TensorFile, name: &str, coding: Coding) -> Result<(), DistillError> {
        let own_name = format!("{}{name}", self.prefix);
        let tensor = self.tensors.get(&own_name).ok_or_else(|| DistillError::File {
            path: self.path.clone(),
            reason: format!("it has no {own_name}"),
        })?;
        insert(file, name, tensor, coding)
    }
}

/// Adds a tensor to a file: a matrix in few bits where its rows are whole groups, other
/// numbers as they are.
pub(super) fn insert(
    file: &mut TensorFile,
    name: &str,
    tensor: &Tensor,
    coding: Coding,
) -> Result<(), DistillError> {
    let numbers: Vec<f32> = tensor.flatten_all()?.to_vec1()?;
    match *tensor.dims() {
        [n_rows, width] if width.is_multiple_of(coding.group) => {
            file.insert_coded(name, [n_rows, width], &numbers, coding);
        }
        _ => file.insert(name, tensor.dims(), numbers),
    }
    Ok(())
}

fn json(path: &Utf8Path) -> Result<Value, DistillError> {
    let text = fs_err::read_to_string(path)?;
    serde_json::from_str(&text)
        .map_err(|error| DistillError::File { path: path.to_owned(), reason: error.to_string() })
}
