//! The weights of an encoder, as transformers saves them in a folder.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::{DType, Device, Tensor};
use serde::Deserialize;

use super::{EncoderError, folder::unreadable};
use crate::nn::{
    adapter::{Adapter, adapter_files},
    weights::ModelError,
};

const WHOLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// The weights in a model's folder.
pub(in crate::nn) struct Checkpoint {
    /// The first file of them, for messages.
    pub(in crate::nn) path: Utf8PathBuf,
    /// In single precision; tensors of whole numbers, which say where things lie, are
    /// left out.
    pub(in crate::nn) tensors: BTreeMap<String, Tensor>,
    /// The BLAKE3 digest of the file of weights; of several files, and of an adapter's,
    /// that of their digests.
    pub(in crate::nn) digest: String,
}

/// The part of the index that says which file holds what.
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl Checkpoint {
    /// Reads a folder, and merges an adapter into it.
    pub(in crate::nn) fn load(
        folder: &Utf8Path,
        adapter: Option<&Utf8Path>,
    ) -> Result<Self, EncoderError> {
        let (mut tensors, mut digests) = (BTreeMap::new(), Vec::new());
        let files = weight_files(folder)?;
        for file in &files {
            let bytes = fs_err::read(file).map_err(|error| unreadable(file, &error))?;
            digests.push(blake3::hash(&bytes));
            let own = float_tensors(&bytes).map_err(|error| unreadable(file, &error))?;
            tensors.extend(own);
        }
        if let Some(adapter) = adapter {
            let failed = |error: ModelError| unreadable(adapter, &error);
            let loaded = Adapter::load(adapter).map_err(failed)?;
            for file in adapter_files(adapter) {
                let bytes = fs_err::read(&file).map_err(|error| unreadable(&file, &error))?;
                digests.push(blake3::hash(&bytes));
            }
            loaded.merge(&mut tensors).map_err(failed)?;
        }
        let digest = match &digests[..] {
            [digest] => *digest,
            digests => {
                let mut hasher = blake3::Hasher::new();
                for digest in digests {
                    hasher.update(digest.as_bytes());
                }
                hasher.finalize()
            }
        };
        let path = files.into_iter().next().unwrap_or_else(|| folder.join(WHOLE));
        Ok(Self { path, tensors, digest: digest.to_hex().to_string() })
    }
}

/// The files with a model's weights, in order of their names.
pub(in crate::nn) fn weight_files(folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, EncoderError> {
    let whole = folder.join(WHOLE);
    let index = folder.join(INDEX);
    if whole.is_file() || !index.is_file() {
        let pickle = folder.join("pytorch_model.bin");
        if !whole.is_file() && pickle.is_file() {
            let reason = "weights in a pickle are not read, since one can run any program: load \
                          the model with transformers and call save_pretrained, which writes \
                          model.safetensors";
            return Err(unreadable(&pickle, &reason));
        }
        return Ok(vec![whole]);
    }
    let text = fs_err::read_to_string(&index).map_err(|error| unreadable(&index, &error))?;
    let Index { weight_map } =
        serde_json::from_str(&text).map_err(|error| unreadable(&index, &error))?;
    let mut names: Vec<String> = weight_map.into_values().collect();
    names.sort_unstable();
    names.dedup();
    if let Some(name) = names.iter().find(|name| Utf8Path::new(name).file_name() != Some(*name)) {
        return Err(unreadable(&index, &format!("it names {name:?}, which is no file beside it")));
    }
    Ok(names.iter().map(|name| folder.join(name)).collect())
}

/// The tensors of a safetensors file, in single precision; those of whole numbers
/// are left out.
pub(in crate::nn) fn float_tensors(bytes: &[u8]) -> candle_core::Result<BTreeMap<String, Tensor>> {
    let tensors = candle_core::safetensors::load_buffer(bytes, &Device::Cpu)?;
    tensors
        .into_iter()
        .filter(|(_, tensor)| tensor.dtype().is_float())
        .map(|(name, tensor)| Ok((name, tensor.to_dtype(DType::F32)?)))
        .collect()
}
