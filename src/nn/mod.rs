//! Neural networks on the local machine: tokenizers, chat templates, decoders,
//! sentence encoders. Nothing here knows what the text is about.

mod attention;
mod chat;
mod config;
mod decoder;
mod encoder;
mod generation;
mod gguf;
mod kernels;
mod kv;
mod layer;
mod linear;
mod prefix;
mod prefix_cache;
mod reading;
mod rope;
mod sampling;
mod scoring;
mod tokenizer;
mod weights;

pub use chat::{AddGenerationPrompt, ChatError, ChatTemplate, Message, Role};
pub use config::{Activation, DecoderConfig, Rotation, RotationStyle};
pub use decoder::{Decoder, DecoderError, Logits, Step, Wanted};
pub use encoder::{Embedding, EncoderError, SentenceEncoder};
pub use generation::{
    Crew, Generated, GenerationEnd, GenerationError, GenerationJob, GenerationLimits, Recipient,
    generate, generate_with, rehearse,
};
pub use gguf::GgufFile;
pub use kernels::{Cpu, CpuError, CpuLevel};
pub use kv::{KvMemory, KvMemoryError, Segment, Sequence};
pub use prefix::PrefixTree;
pub use prefix_cache::{PrefillCount, PrefixCache};
pub use sampling::{FlawedLogits, Sampler, SamplingRules};
pub use scoring::{NextToken, ScoringError, ScoringJob, score};
pub use tokenizer::{SpecialTokens, Tokenizer, TokenizerError};
pub use weights::{Bytes, ModelError, RawTensor, Weights};
