//! Decoders on GPUs, through candle's tensors and kernels.
//!
//! The same [`Decoder`](super::Decoder) with the same weights, batches and shared
//! prefixes as on the processor, where this project's own kernels do the work. Built
//! with the feature `cuda`; without it, and in the tests, the same code runs on
//! candle's CPU device.
//!
//! # What is the same
//!
//! All families of models, as told by a [`DecoderConfig`](super::DecoderConfig). A
//! step takes any number of tokens of any number of sequences, and the matrices are
//! read once for all of them. A prefix is kept once, however many sequences continue
//! it, and attended to once for the rows of all of them ([`plan`] says how rows are
//! brought together). Greedy replies are those of the processor where no two tokens
//! are about equally likely.
//!
//! # What is not
//!
//! **The bits.** On the processor a token's logits hang on its own sequence alone, bit
//! for bit. Here they hang on the company too, by about the rounding of the last bits:
//! multiplications of other shapes add in another order. A run therefore records what
//! kind of device it ran on, and goes on only on the same kind. Over how many devices
//! the layers are spread changes nothing.
//!
//! **The precision.** States, norms, rotations, scores and softmax are in single
//! precision. Quantised matrices stay in the blocks of their file and multiply rows
//! that candle quantises; matrices in f16 and bf16 multiply rows rounded to that type.
//! Keys and values are in f16 beside quantised matrices, else in the matrices' type;
//! on the processor in f16 beside quantised matrices, else in single precision.
//!
//! # Devices
//!
//! `--device` chooses ([`DeviceChoice`]): `auto` takes the first GPU if the program was
//! built for GPUs and there is one, else the processor. Of `cuda:0,cuda:1` each gets
//! consecutive layers, about as many weights as the other; only the states of the new
//! tokens cross from one to the next, and keys and values lie where their layer does.
//! The embedding stays in the memory of the processor, which picks the rows.
//!
//! # Memory
//!
//! `--kv-memory` bounds keys and values on all devices together: two numbers of the
//! above type for each head and token that a sequence has room for. Weights and what a
//! step needs while it runs come on top: at most 64 MiB for the scores of one
//! multiplication, and a few times that in all. A device that has no room left counts
//! as a full memory: what asked for it waits until others are done.

mod attention;
mod body;
mod choice;
#[cfg(feature = "flash-attn")]
mod flash;
mod layer;
mod matrix;
mod placement;
mod plan;
mod reading;

pub use choice::{DeviceChoice, DeviceError, Devices};

pub(super) use body::Body;
