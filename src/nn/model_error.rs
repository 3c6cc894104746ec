//! Why a model cannot be used.

use std::io;

use camino::Utf8PathBuf;

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is another kind of file.
    #[error("{file} is not a GGUF file: give a model in the GGUF format")]
    NotGguf {
        /// The file.
        file: Utf8PathBuf,
    },
    /// The part before the weights cannot be read.
    #[error(
        "the header of {file} cannot be read ({reason}): the file is damaged or cut short, fetch it again"
    )]
    Header {
        /// The file.
        file: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor is of a type that is not read here.
    #[error(
        "{file} holds tensors of a type that is not supported ({reason}): use a file in F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 or K-quants"
    )]
    UnsupportedTensorType {
        /// The file.
        file: Utf8PathBuf,
        /// Which type.
        reason: String,
    },
    /// The file ends before its last tensor does.
    #[error(
        "{file} is cut short: {tensor} ends at byte {end}, and the file has {size_bytes}; fetch it again"
    )]
    Truncated {
        /// The file.
        file: Utf8PathBuf,
        /// The first tensor by name that is not all there.
        tensor: String,
        /// Where the tensor should end.
        end: u64,
        /// The size of the file.
        size_bytes: u64,
    },
    /// A setting that is needed is not there.
    #[error(
        "{file} has no {key:?} in its metadata: convert the model again with a current converter"
    )]
    MissingKey {
        /// The file.
        file: Utf8PathBuf,
        /// The key.
        key: String,
    },
    /// A setting has a value that makes no sense.
    #[error("{key:?} in {file} is {value}, expected {expected}")]
    WrongValue {
        /// The file.
        file: Utf8PathBuf,
        /// The key.
        key: String,
        /// What it is.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A setting that is needed is not there.
    #[error("{file} has no {key:?}: fetch the folder of the model again")]
    MissingSetting {
        /// The file.
        file: Utf8PathBuf,
        /// The setting, after those that it stands in, with dots between.
        key: String,
    },
    /// A file of settings cannot be read.
    #[error("{file} is not the JSON that it should be ({reason}): fetch it again")]
    Json {
        /// The file.
        file: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder is not one of a model.
    #[error(
        "{folder} has no {missing}: give a GGUF file, or a folder of Hugging Face with config.json, tokenizer.json and weights in model.safetensors"
    )]
    NotModelFolder {
        /// The folder.
        folder: Utf8PathBuf,
        /// What it lacks.
        missing: String,
    },
    /// A part of the weights is not there.
    #[error("{index} names {shard:?}, which is not in its folder: fetch that file too")]
    MissingShard {
        /// The file that lists the parts.
        index: Utf8PathBuf,
        /// The part.
        shard: String,
    },
    /// Weights cannot be stored as was asked.
    #[error("{tensor:?} in {file} cannot become {wanted} ({reason}): choose another --dtype")]
    Dtype {
        /// The file.
        file: Utf8PathBuf,
        /// The tensor.
        tensor: String,
        /// The type that was asked for.
        wanted: String,
        /// Why not.
        reason: String,
    },
    /// A tensor is there that would change what the model says and is not read here.
    #[error("{file} has a tensor {tensor:?}, which this program does not read: use another model")]
    UnreadTensor {
        /// The file.
        file: Utf8PathBuf,
        /// The tensor.
        tensor: String,
    },
    /// A tensor that is needed is not there.
    #[error("{file} has no tensor {tensor:?}: the file is incomplete, fetch or convert it again")]
    MissingTensor {
        /// The file.
        file: Utf8PathBuf,
        /// The tensor.
        tensor: String,
    },
    /// A tensor does not have the shape that the settings ask for.
    #[error("{tensor:?} in {file} has the shape {found:?}, and its metadata asks for {expected:?}")]
    WrongShape {
        /// The file.
        file: Utf8PathBuf,
        /// The tensor.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that it should have.
        expected: Vec<usize>,
    },
    /// A tensor cannot be read.
    #[error("{tensor:?} in {file} cannot be read: {reason}")]
    Unreadable {
        /// The file.
        file: Utf8PathBuf,
        /// The tensor.
        tensor: String,
        /// Why.
        reason: String,
    },
    /// The model is of a kind that this program does not run.
    #[error("{file} is a model of the kind {found:?}, and those that run here are: {supported}")]
    UnsupportedArchitecture {
        /// The file.
        file: Utf8PathBuf,
        /// The kind.
        found: String,
        /// The kinds that are supported.
        supported: String,
    },
    /// An adapter cannot be merged into the weights.
    #[error("the adapter {file} cannot be merged: {reason}")]
    Adapter {
        /// Its file.
        file: Utf8PathBuf,
        /// Why not, and the way out.
        reason: String,
    },
}
