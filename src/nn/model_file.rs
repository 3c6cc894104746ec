//! A decoder on disk, in either of the two forms there are.

use camino::Utf8Path;

use super::{
    adapter::base_and_adapter,
    config::DecoderConfig,
    gguf::GgufFile,
    safetensors::ModelFolder,
    weights::{ModelError, Weights},
};

/// A decoder on disk.
#[derive(Debug)]
pub enum ModelFile {
    /// A file in the GGUF format.
    Gguf(GgufFile),
    /// A folder of Hugging Face.
    Folder(ModelFolder),
}

impl ModelFile {
    /// Opens a file, or a folder, and checks that it is whole. `FOLDER+ADAPTER` is a
    /// folder with an adapter in the layout of PEFT, merged into it.
    pub fn open(path: &Utf8Path) -> Result<Self, ModelError> {
        match base_and_adapter(path) {
            (folder, None) if folder.is_dir() => ModelFolder::open(&folder).map(Self::Folder),
            (folder, Some(adapter)) if folder.is_dir() => {
                ModelFolder::open(&folder)?.with_adapter(&adapter).map(Self::Folder)
            }
            (file, None) => GgufFile::open(&file).map(Self::Gguf),
            (file, Some(adapter)) => Err(ModelError::Adapter {
                file: adapter,
                reason: format!(
                    "{file} is one file, which is quantised or meant to be: give the folder of \
                     Hugging Face that the adapter was trained on"
                ),
            }),
        }
    }

    /// The make of the decoder.
    pub fn config(&self) -> Result<DecoderConfig, ModelError> {
        match self {
            Self::Gguf(file) => DecoderConfig::from_gguf(file),
            Self::Folder(folder) => Ok(folder.config().clone()),
        }
    }

    /// Its tensors, by the names of GGUF files.
    pub fn weights(&self) -> &dyn Weights {
        match self {
            Self::Gguf(file) => file,
            Self::Folder(folder) => folder,
        }
    }
}
