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
mod cpu;
mod file_block;
mod float;
mod grid;
mod integer;
#[cfg(target_arch = "x86_64")]
mod integer_avx2;
mod simd;
#[cfg(target_arch = "x86_64")]
mod simd_avx2;
mod super_block;
mod vector;

pub(super) use activation::{QuantizedRows, quantize};
pub(super) use block::{Block, Halves, NoMinimum};
pub(super) use codes::{Codes4, Codes5, Codes8, DEPTH};
pub use cpu::{Cpu, CpuError, CpuLevel};
pub(super) use file_block::FileBlock;
pub(super) use float::{Columns, Element, MAX_ROWS as MAX_FLOAT_ROWS, accumulate};
pub(super) use grid::{Cell, grid};
pub(super) use integer::{KernelFormat, MAX_ROWS as MAX_INTEGER_ROWS, RowSpan, integer_tile};
pub(super) use simd::{LANES, Lanes};
pub(super) use super_block::{SuperBlock, SuperBlock6};
pub(super) use vector::{
    add, gelu_product, rms_norm, rotate_halves, rotate_pairs, silu_product, softmax,
};
