//! Neural networks on the local machine: tokenizers, chat templates, decoders,
//! sentence encoders. Nothing here knows what the text is about.
//!
#![doc = include_str!("engine.md")]

mod adapter;
mod attention;
mod chat;
mod classifier;
mod config;
mod decoder;
mod decoder_error;
mod device;
mod encoder;
mod generation;
mod gguf;
mod kernels;
mod kv;
mod kv_layout;
mod kv_memory;
mod layer;
mod linear;
mod model_error;
mod model_file;
mod plain;
mod prefix;
mod prefix_cache;
mod reading;
mod rope;
mod safetensors;
mod sampling;
mod scoring;
mod tensor_file;
mod tokenizer;
pub mod trainable;
mod weight_type;
mod weights;

pub use adapter::{adapted_name, adapter_files, base_and_adapter};
pub use chat::{AddGenerationPrompt, ChatError, ChatTemplate, Message, Role};
pub use classifier::{LabelledToken, Problem, SequenceClassifier, TokenClassifier};
pub use config::{Activation, DecoderConfig, LayerAttention, Rotation, RotationStyle};
pub use decoder::{Decoder, Logits, Step, Wanted};
pub use decoder_error::DecoderError;
pub use device::{DeviceChoice, DeviceError, Devices};
pub use encoder::{
    Embedding, EncoderError, EncoderPrecision, EncoderShape, LayerEncoder, Reading,
    SentenceEncoder, TextReader, TokenEncoder, TokenStates, encoder_files,
};
pub use generation::{
    Crew, Generated, GenerationEnd, GenerationError, GenerationJob, GenerationLimits, Recipient,
    generate, generate_with, rehearse,
};
pub use gguf::GgufFile;
pub use kernels::{Cpu, CpuError, CpuLevel};
pub use kv::{Segment, Sequence};
pub use kv_memory::{KvMemory, KvMemoryError};
pub use model_file::ModelFile;
pub use prefix::PrefixTree;
pub use prefix_cache::{PrefillCount, PrefixCache};
pub use safetensors::ModelFolder;
pub use sampling::{FlawedLogits, Sampler, SamplingRules};
pub use scoring::{NextToken, ScoringError, ScoringJob, score};
pub use tensor_file::{Coding, TensorFile};
pub use tokenizer::{SpecialTokens, Tokenizer, TokenizerError};
pub use weight_type::{WeightType, WeightTypeError};
pub use weights::{Bytes, ModelError, RawTensor, Weights};
