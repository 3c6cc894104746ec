//! The arithmetic of the decoder on the processor.
//!
//! Three rules make a row's result hang on that row alone, bit for bit:
//!
//! 1. A kernel that works on several rows at once does the same operations in
//!    the same order for each of them as it would for one.
//! 2. Sums run either in the order of their terms or over sixteen lanes that are
//!    folded in a fixed tree, whatever the width of the machine's registers.
//! 3. Every product that is added is fused ([`f32::mul_add`]), and sums of
//!    integers are exact, so that all instruction sets give the same bits.
//!
//! Most kernels are written once, in the operations of `Simd`, and compiled for
//! each instruction set by `per_cpu!`; only the products with quantised weights
//! are written for each.
//!
//! # Levels
//!
//! A [`Cpu`] names the instruction set that all kernels use: portable, AVX2 or AVX-512
//! with VNNI. It is chosen once, by what the processor says or by the user
//! (`UNIMATCH_CPU`), and a value of it is only made where the instructions are there;
//! `Avx2` and `Avx512` are the same proof as types, so that the intrinsics behind them
//! need no further argument. The portable level is the plain statement of what the
//! others compute, and the tests hold them to its bits.
//!
//! # Tiles
//!
//! Weights are packed when a model is loaded, into tiles of [`LANES`] = 16 outputs; a
//! tile is a run of blocks of [`DEPTH`] = 32 inputs. The 16 by 32 codes of a block lie
//! so that one register holds four inputs of each output (`codes`): four inputs of a
//! row, spread over another register, then meet all outputs in one instruction, and
//! no sum ever crosses lanes. The formats (`block`, `super_block`) differ in their
//! codes and in where scales come from: a half-precision one for 32 inputs, or in the
//! K-quants a small whole number for 32 or 16 inputs times a half-precision one for
//! 256. They stay as small as in the file, because a step of one token is bound by how
//! fast weights come from memory, and are unpacked in registers.
//!
//! The rows to be multiplied are rounded to eight bits by blocks of 32 inputs
//! (`activation`), with the sums of their codes, which is all that the minima and
//! offsets of formats need. Within a block everything is whole numbers and exact;
//! blocks are then added in their order, each with one fused product for its codes and
//! one for its minima. AVX2 takes four rows at a time and AVX-512 eight, and unpacks
//! the weights once for them.
//!
//! Products in single precision (`float`), of unquantised weights and in the
//! attention, use the same tiles with one number a lane, one input after the other.
//!
//! # Why the bits agree
//!
//! The exact sums of a block do not hang on how an instruction set comes by them, and
//! the order in which blocks are added is part of the definition (`portable_row`).
//! Where a sum runs over lanes, as in norms, the tree is part of the definition too
//! (`Simd::sum`). What other rows are worked on at the same time only decides which
//! registers are used.

/// Defines a function that runs as it is compiled for the processor it gets. The
/// body takes the processor's [`Simd`](simd::Simd) first.
macro_rules! per_cpu {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident $(<$type:ident: $bound:path>)? (
        $($argument:ident: $argument_type:ty),* $(,)?
    ) $(-> $output:ty)? = $body:path;) => {
        $(#[$doc])*
        #[cfg_attr(
            target_arch = "x86_64",
            expect(unsafe_code, reason = "instructions that only some processors have")
        )]
        $visibility fn $name $(<$type: $bound>)? (
            cpu: $crate::nn::kernels::Cpu, $($argument: $argument_type),*
        ) $(-> $output)? {
            #[cfg(target_arch = "x86_64")]
            {
                use $crate::nn::kernels::simd_avx512::Avx512;
                #[target_feature(
                    enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c"
                )]
                fn avx512 $(<$type: $bound>)? (
                    simd: Avx512, $($argument: $argument_type),*
                ) $(-> $output)? {
                    $body(simd, $($argument),*)
                }
                if let Some(simd) = Avx512::of(cpu) {
                    // SAFETY: an `Avx512` is only made where the processor has these
                    // instructions.
                    return unsafe { avx512(simd, $($argument),*) };
                }
            }
            #[cfg(target_arch = "x86_64")]
            {
                use $crate::nn::kernels::simd_avx2::Avx2;
                #[target_feature(enable = "avx2,fma,f16c")]
                fn avx2 $(<$type: $bound>)? (
                    simd: Avx2, $($argument: $argument_type),*
                ) $(-> $output)? {
                    $body(simd, $($argument),*)
                }
                if let Some(simd) = Avx2::of(cpu) {
                    // SAFETY: an `Avx2` is only made where the processor has these
                    // instructions.
                    return unsafe { avx2(simd, $($argument),*) };
                }
            }
            let _ = cpu;
            $body($crate::nn::kernels::simd::Portable, $($argument),*)
        }
    };
}

mod activation;
mod block;
mod codes;
#[cfg(target_arch = "x86_64")]
mod codes_avx2;
#[cfg(target_arch = "x86_64")]
mod codes_avx512;
mod cpu;
mod file_block;
mod float;
mod grid;
mod integer;
#[cfg(target_arch = "x86_64")]
mod integer_avx2;
#[cfg(target_arch = "x86_64")]
mod integer_avx512;
mod norm;
mod simd;
#[cfg(target_arch = "x86_64")]
mod simd_avx2;
#[cfg(target_arch = "x86_64")]
mod simd_avx512;
mod super_block;
mod vector;
mod words;
#[cfg(target_arch = "x86_64")]
mod words_avx2;
#[cfg(target_arch = "x86_64")]
mod words_avx512;

pub(super) use activation::{QuantizedRows, quantize};
pub(super) use block::{Block, Halves, NoMinimum};
pub(super) use codes::{Codes4, Codes5, Codes8, DEPTH};
pub use cpu::{Cpu, CpuError, CpuLevel};
pub(super) use file_block::FileBlock;
pub(super) use float::{Columns, Element, MAX_ROWS as MAX_FLOAT_ROWS, accumulate};
pub(super) use grid::{Cell, grid};
pub(super) use integer::{KernelFormat, MAX_ROWS as MAX_INTEGER_ROWS, RowSpan, integer_tile};
pub(super) use norm::{gelu, gelu_slope, gelu_tanh, layer_norm};
pub(super) use simd::{LANES, Lanes};
pub(super) use super_block::{SuperBlock, SuperBlock6};
pub(super) use vector::{
    add, gelu_product, rms_norm, rotate_halves, rotate_pairs, silu_product, softmax,
};
pub(super) use words::{MAX_WORD_ROWS, WordBlock, WordRows, word_tile};
