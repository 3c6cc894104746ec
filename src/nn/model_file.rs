//! A decoder on disk, in either of the two forms there are.

use camino::Utf8Path;

use super::{
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
    /// Opens a file, or a folder, and checks that it is whole.
    pub fn open(path: &Utf8Path) -> Result<Self, ModelError> {
        if path.is_dir() {
            ModelFolder::open(path).map(Self::Folder)
        } else {
            GgufFile::open(path).map(Self::Gguf)
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
