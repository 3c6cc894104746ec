//! Why a decoder cannot take a step.

/// Why a decoder cannot take a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecoderError {
    /// A token is not in the vocabulary.
    #[error("there is no token {token}: the model has {vocabulary_size}")]
    UnknownToken {
        /// The token.
        token: u32,
        /// The number of tokens there are.
        vocabulary_size: usize,
    },
    /// The sequence would outgrow what the model was made for.
    #[error("a sequence of {n_tokens} tokens does not fit the context of {context_length}")]
    Context {
        /// The tokens that the sequence would have.
        n_tokens: usize,
        /// The most it may have.
        context_length: usize,
    },
    /// The embedding of a token cannot be read.
    #[error("the embedding of token {token} cannot be read: {reason}")]
    Embedding {
        /// The token.
        token: u32,
        /// Why.
        reason: String,
    },
    /// The sequence has no more room.
    #[error("a sequence with room for {n_free} more tokens was given {n_tokens}")]
    Room {
        /// The tokens given.
        n_tokens: usize,
        /// How many would have fitted.
        n_free: usize,
    },
    /// A device failed.
    #[error("the device cannot go on: {reason}")]
    Device {
        /// Why.
        reason: String,
    },
}
