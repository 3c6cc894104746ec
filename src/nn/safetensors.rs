//! Weights in a folder of Hugging Face: `model.safetensors`, whole or in parts.

#![expect(unsafe_code, reason = "the weights are mapped into memory")]

mod names;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::quantized::GgmlDType;
use memmap2::Mmap;
use serde::Deserialize;

use super::{
    adapter::Adapter,
    config::{DecoderConfig, HuggingFaceConfig},
    weights::{self, Bytes, ModelError, RawTensor, Weights},
};
use names::{Naming, SUPPLEMENT};

const SETTINGS: &str = "config.json";
const WHOLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// The files beside the weights that change what a model says.
const OTHERS: [&str; 8] = [
    SETTINGS,
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "chat_template.json",
    INDEX,
];

/// The longest header that is believed; the format allows no longer one.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// A decoder in a folder, its tensors known to be all there.
///
/// As [`Weights`] it goes by the names of GGUF files.
#[derive(Debug)]
pub struct ModelFolder {
    path: Utf8PathBuf,
    config: HuggingFaceConfig,
    tensors: BTreeMap<String, Placed>,
    naming: Naming,
    adapter: Option<Adapter>,
}

/// Where a tensor lies.
#[derive(Clone, Debug)]
struct Placed {
    /// The name of its type, which may be one that is not read here.
    dtype: String,
    shape: Vec<usize>,
    file: Utf8PathBuf,
    map: Arc<Mmap>,
    range: Range<usize>,
}

/// An entry in the header of a file.
#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// What a file in parts is listed in.
#[derive(Debug, Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl ModelFolder {
    /// Opens a folder and checks that it is whole.
    pub fn open(path: &Utf8Path) -> Result<Self, ModelError> {
        let settings = path.join(SETTINGS);
        if !settings.is_file() {
            return Err(not_model(path, SETTINGS));
        }
        let config = HuggingFaceConfig::load(&settings)?;
        let mut tensors = BTreeMap::new();
        let shards = shards(path)?;
        for shard in &shards.files {
            read_header(shard, &mut tensors)?;
        }
        if let Some(name) = shards.tensors.iter().find(|name| !tensors.contains_key(*name)) {
            return Err(ModelError::MissingTensor { file: path.to_owned(), tensor: name.clone() });
        }
        let naming = Naming::of(&config, |name| tensors.contains_key(name));
        let adapter = None;
        let folder = Self { path: path.to_owned(), config, tensors, naming, adapter };
        folder.config.check(&folder)?;
        Ok(folder)
    }

    /// The same with an adapter in the layout of PEFT merged into its weights; each
    /// matrix keeps the type that it has in its file.
    pub fn with_adapter(self, folder: &Utf8Path) -> Result<Self, ModelError> {
        let adapter = Adapter::load(folder)?;
        let head = self.own_name("output.weight");
        adapter.check(|name| {
            self.tensors.contains_key(name) && !(self.config.is_tied && name == head)
        })?;
        Ok(Self { adapter: Some(adapter), ..self })
    }

    /// The folder.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The make of the decoder.
    pub fn config(&self) -> &DecoderConfig {
        &self.config.decoder
    }

    /// Every file that is read from a folder and changes what the model says, in
    /// order of their names.
    pub fn files(path: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ModelError> {
        let others = OTHERS.iter().map(|name| path.join(name)).filter(|file| file.is_file());
        let all: BTreeSet<Utf8PathBuf> = others.chain(shards(path)?.files).collect();
        Ok(all.into_iter().collect())
    }
}

impl Weights for ModelFolder {
    fn origin(&self) -> &Utf8Path {
        &self.path
    }

    fn find(&self, name: &str) -> Result<Option<RawTensor>, ModelError> {
        if name == "output.weight" && self.config.is_tied {
            return Ok(None);
        }
        let own_name = self.own_name(name);
        let Some(placed) = self.tensors.get(&own_name) else {
            if name == "output.weight" {
                // It would be taken for one that the embedding serves as.
                return Err(ModelError::MissingTensor {
                    file: self.path.clone(),
                    tensor: own_name,
                });
            }
            return Ok(None);
        };
        let mut tensor = placed.tensor(&own_name)?;
        if let Some(adapter) = &self.adapter {
            tensor = adapter.merged(&own_name, tensor)?;
        }
        if self.config.is_gemma && name.ends_with("norm.weight") {
            return supplemented(self, name, &tensor).map(Some);
        }
        Ok(Some(tensor))
    }

    fn own_name(&self, name: &str) -> String {
        self.naming.own_name(name)
    }
}

impl Placed {
    fn tensor(&self, name: &str) -> Result<RawTensor, ModelError> {
        let dtype = match self.dtype.as_str() {
            "F32" => GgmlDType::F32,
            "F16" => GgmlDType::F16,
            "BF16" => GgmlDType::BF16,
            other => {
                return Err(ModelError::UnsupportedTensorType {
                    file: self.file.clone(),
                    reason: format!("{name:?} is {other}"),
                });
            }
        };
        let bytes = Bytes::Mapped { file: Arc::clone(&self.map), range: self.range.clone() };
        Ok(RawTensor { dtype, shape: self.shape.clone(), bytes })
    }
}

/// A norm of Gemma, which its files store less one.
fn supplemented(
    folder: &ModelFolder,
    name: &str,
    tensor: &RawTensor,
) -> Result<RawTensor, ModelError> {
    let numbers = weights::numbers(folder, name, tensor)?;
    let bytes = numbers.iter().flat_map(|number| (number + SUPPLEMENT).to_le_bytes()).collect();
    Ok(RawTensor {
        dtype: GgmlDType::F32,
        shape: tensor.shape.clone(),
        bytes: Bytes::Owned(Arc::new(bytes)),
    })
}

/// The files with weights, in order of their names, and the tensors that should be
/// in them where that is known.
struct Shards {
    files: Vec<Utf8PathBuf>,
    tensors: Vec<String>,
}

fn shards(folder: &Utf8Path) -> Result<Shards, ModelError> {
    let whole = folder.join(WHOLE);
    if whole.is_file() {
        return Ok(Shards { files: vec![whole], tensors: Vec::new() });
    }
    let index = folder.join(INDEX);
    if !index.is_file() {
        return Err(not_model(folder, WHOLE));
    }
    let text = fs_err::read_to_string(&index)?;
    let Index { weight_map } = serde_json::from_str(&text)
        .map_err(|error| ModelError::Json { file: index.clone(), reason: error.to_string() })?;
    let names: BTreeSet<&String> = weight_map.values().collect();
    for name in &names {
        let is_plain = Utf8Path::new(name.as_str()).file_name() == Some(name.as_str());
        if !is_plain || !folder.join(name).is_file() {
            return Err(ModelError::MissingShard { index, shard: (*name).clone() });
        }
    }
    let files = names.into_iter().map(|name| folder.join(name)).collect();
    Ok(Shards { files, tensors: weight_map.into_keys().collect() })
}

/// Maps a file and adds its tensors.
fn read_header(path: &Utf8Path, tensors: &mut BTreeMap<String, Placed>) -> Result<(), ModelError> {
    let file = fs_err::File::open(path)?;
    // SAFETY: the map is only read, and model files are written once and never
    // changed in place. Where someone does so all the same, the numbers read may
    // change (all of them are plain numbers, and every bit pattern of those is
    // valid), or the process gets a signal if the file was cut.
    let map = Arc::new(unsafe { Mmap::map(file.file()) }?);
    let damaged =
        |reason: &str| ModelError::Header { file: path.to_owned(), reason: reason.to_owned() };
    let (length, rest) = map.split_first_chunk().ok_or_else(|| damaged("no header"))?;
    let length = u64::from_le_bytes(*length);
    let header = usize::try_from(length)
        .ok()
        .filter(|_| length <= MAX_HEADER_BYTES)
        .and_then(|length| rest.get(..length))
        .ok_or_else(|| damaged("the header is longer than the file"))?;
    let first = 8 + header.len() as u64;
    let entries: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(header).map_err(|error| damaged(&error.to_string()))?;
    for (name, value) in entries {
        if name == "__metadata__" {
            continue;
        }
        let Entry { dtype, shape, data_offsets: [start, end] } =
            serde_json::from_value(value).map_err(|error| damaged(&error.to_string()))?;
        let n_numbers = shape.iter().try_fold(1, |product: usize, &n| product.checked_mul(n));
        let size = n_numbers.and_then(|n| n.checked_mul(number_bytes(&dtype)?));
        let fits = match size {
            Some(size) => end.checked_sub(start) == Some(size as u64),
            // A type of another width, which nobody has asked for yet.
            None => number_bytes(&dtype).is_none() && start <= end,
        };
        if !fits {
            return Err(damaged(&format!("{name:?} has bytes {start} to {end} for {shape:?}")));
        }
        let size_bytes = map.len() as u64;
        let (start, end) = (start.saturating_add(first), end.saturating_add(first));
        let range = match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) if end <= map.len() => start..end,
            _ => {
                return Err(ModelError::Truncated {
                    file: path.to_owned(),
                    tensor: name,
                    end,
                    size_bytes,
                });
            }
        };
        let map = Arc::clone(&map);
        tensors.insert(name, Placed { dtype, shape, file: path.to_owned(), map, range });
    }
    Ok(())
}

/// The bytes of a number, where it is of a type that is read here.
fn number_bytes(dtype: &str) -> Option<usize> {
    match dtype {
        "F32" => Some(4),
        "F16" | "BF16" => Some(2),
        _ => None,
    }
}

fn not_model(folder: &Utf8Path, missing: &str) -> ModelError {
    ModelError::NotModelFolder { folder: folder.to_owned(), missing: missing.to_owned() }
}
