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
//! Most kernels are written once, over arrays of sixteen lanes, and compiled for
//! each instruction set by `per_cpu!`; only the products with quantised weights
//! are written by hand.

/// Defines a function that runs as it is compiled for the processor it gets.
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
            #[target_feature(enable = "avx2,fma,f16c")]
            fn avx2 $(<$type: $bound>)? ($($argument: $argument_type),*) $(-> $output)? {
                $body($($argument),*)
            }
            match cpu.level() {
                $crate::nn::kernels::CpuLevel::Portable => $body($($argument),*),
                #[cfg(target_arch = "x86_64")]
                // SAFETY: a `Cpu` of this level is only made where the processor
                // was seen to have these features.
                $crate::nn::kernels::CpuLevel::Avx2 => unsafe { avx2($($argument),*) },
                #[cfg(not(target_arch = "x86_64"))]
                $crate::nn::kernels::CpuLevel::Avx2 => $body($($argument),*),
            }
        }
    };
}

mod activation;
mod block;
mod cpu;
mod file_block;
mod float;
mod grid;
mod integer;
#[cfg(target_arch = "x86_64")]
mod integer_avx2;
mod lanes;
mod vector;

pub(super) use activation::{QuantizedRows, quantize};
pub(super) use block::{Block, Codes4, Codes5, Codes8, DEPTH, Minima, NoMinimum};
pub use cpu::{Cpu, CpuError, CpuLevel};
pub(super) use file_block::FileBlock;
pub(super) use float::{Columns, Element, MAX_ROWS as MAX_FLOAT_ROWS, accumulate};
pub(super) use grid::{Cell, grid};
pub(super) use integer::{KernelCodes, MAX_ROWS as MAX_INTEGER_ROWS, RowSpan, integer_tile};
pub(super) use lanes::{LANES, Lanes};
pub(super) use vector::{add, rms_norm, rotate_halves, rotate_pairs, silu_product, softmax};
