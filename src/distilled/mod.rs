//! Small models of our own: their files, and the encoder that scorer and segmenter
//! share.
//!
//! ```text
//! FOLDER/
//!   tokenizer.json           the tokenizer of the model that they were trained from
//!   base.safetensors         what is the same in both: embeddings, and layers that were not trained
//!   scorer.safetensors       the scorer's own layers and head
//!   segmenter.safetensors    the segmenter's
//! ```
//!
//! Matrices are in few bits (see [`TensorFile`](crate::nn::TensorFile)). `unimatch
//! distill` writes such a folder. One is in the program itself, with the feature
//! `distilled`, which is on unless it is turned off: `models/distilled` here.

mod activation;
mod direction;
mod embedded;
mod encoder;
mod source;

pub use activation::gelu;
pub use direction::direction;
pub use encoder::{SharedEncoder, shape};
pub use source::{BASE, DistilledFiles, DistilledSource, FORMAT_VERSION, Kind, Parsed, TOKENIZER};

use camino::Utf8PathBuf;

use crate::nn::{EncoderError, ModelError};

/// What `base.safetensors` says of itself.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseDescription {
    /// The version of the format.
    pub format_version: u32,
    /// `config.json` of the model that it was taken from.
    pub config: serde_json::Value,
    /// The most tokens that are read at once, those around the text counted.
    pub max_tokens: usize,
    /// How many layers lie in the base, counted from the first.
    pub n_layers: usize,
}

/// What the file of a scorer or a segmenter says of itself.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnDescription {
    /// The version of the format.
    pub format_version: u32,
    /// What it is.
    pub kind: Kind,
    /// BLAKE3 of the base that it was trained on.
    pub base: String,
    /// How many layers the encoder has, those of the base counted.
    pub n_layers: usize,
    /// What is between the states and the answer.
    pub head: serde_json::Value,
}

/// Why there is no distilled scorer or segmenter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DistilledError {
    /// The folder is not there.
    #[error("there is no folder {0}: give one that `unimatch distill` wrote")]
    NoFolder(Utf8PathBuf),
    /// A file is missing or cannot be read.
    #[error("cannot read {path}: {reason}")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The program carries no models.
    #[error(
        "this program was built without the models that it could carry: name a folder, as in \
         distilled:FOLDER, or build it with the feature `distilled`"
    )]
    NotEmbedded,
    /// Two files do not belong together.
    #[error("{path} was trained on another base.safetensors than the one beside it")]
    OtherBase {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The tensors make no model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The encoder's settings make no model.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
}
