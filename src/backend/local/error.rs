//! Why a local model cannot be used.

use camino::Utf8PathBuf;

use crate::nn::{ChatError, DeviceError, ModelError, TokenizerError};

/// Why a local model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The model file is not as it should be.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The device cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The tokenizer in the file cannot be used.
    #[error("the tokenizer of {file} cannot be used")]
    Tokenizer {
        /// The file.
        file: Utf8PathBuf,
        /// Why.
        #[source]
        source: TokenizerError,
    },
    /// The chat template in the file cannot be used.
    #[error("the chat template of {file} cannot be used")]
    Template {
        /// The file.
        file: Utf8PathBuf,
        /// Why.
        #[source]
        source: ChatError,
    },
    /// The settings of the model's replies cannot be read.
    #[error("{file} is not the JSON that it should be ({reason}): fetch it again")]
    Settings {
        /// The file.
        file: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Tokenizer and weights are not of the same model.
    #[error(
        "the tokenizer of {file} has {n_tokens} tokens and its weights {vocabulary_size}: fetch or convert the model again"
    )]
    Vocabulary {
        /// The file.
        file: Utf8PathBuf,
        /// The tokens of the tokenizer.
        n_tokens: usize,
        /// The tokens of the weights.
        vocabulary_size: usize,
    },
}
