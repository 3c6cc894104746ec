//! Neural networks on the local machine: tokenizers, chat templates, decoders,
//! sentence encoders. Nothing here knows what the text is about.

mod config;
mod gguf;
mod kernels;
mod linear;
mod weights;

pub use config::{Activation, DecoderConfig, Rotation, RotationStyle};
pub use gguf::GgufFile;
pub use kernels::{Cpu, CpuError, CpuLevel};
pub use weights::{Bytes, ModelError, RawTensor, Weights};
