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
    /// Tokenizer and weights are not of the same model.
    #[error(
        "the tokenizer of {file} has {n_tokens} tokens and its weights {vocabulary_size}: convert the model again"
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
