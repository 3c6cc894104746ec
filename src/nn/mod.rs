//! Neural networks on the local machine: tokenizers, chat templates, decoders,
//! sentence encoders. Nothing here knows what the text is about.

mod chat;
mod encoder;
mod tokenizer;

pub use chat::{AddGenerationPrompt, ChatError, ChatTemplate, Message, Role};
pub use encoder::{Embedding, EncoderError, SentenceEncoder};
pub use tokenizer::{SpecialTokens, Tokenizer, TokenizerError};
