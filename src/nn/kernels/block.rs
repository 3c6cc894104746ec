//! Quantised weights, packed for the kernels: sixteen outputs by thirty-two
//! inputs at a time.
//!
//! A weight is `scale * (code - OFFSET)` in the symmetric formats and
//! `scale * code + minimum` in the others, each output with its own scale and
//! minimum.

use half::f16;

use super::{
    activation::QuantizedBlock,
    codes::{Codes, DEPTH, HALF},
    file_block::FileBlock,
    simd::LANES,
};

/// A format of packed weights: one value holds those from `32 * N_BLOCKS` inputs to
/// sixteen outputs. The kernels for each instruction set have traits of their own
/// above this one, which give the same numbers for eight or sixteen outputs at once.
pub(in crate::nn) trait Format: Copy + Send + Sync {
    /// All weights zero.
    const ZERO: Self;
    /// How many blocks of 32 inputs it holds.
    const N_BLOCKS: usize;
    /// Whether there are minima.
    const HAS_MINIMA: bool;

    /// The exact product of the codes of one output with 32 inputs, in units of both
    /// scales.
    fn sum(&self, block: usize, output: usize, inputs: &QuantizedBlock) -> i32;
    /// The scale of one output.
    fn scale(&self, block: usize, output: usize) -> f32;
    /// The minimum of one output; zero where there are none.
    fn minimum(&self, block: usize, output: usize) -> f32;
}

/// A half-precision number for each of the sixteen outputs, in two halves of eight.
pub(in crate::nn) type Halves = [[u16; HALF]; 2];

/// The weights from 32 inputs to 16 outputs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct Block<C, M> {
    /// A half-precision scale an output.
    pub(super) scales: Halves,
    /// A half-precision minimum an output, or [`NoMinimum`].
    pub(super) minima: M,
    /// The codes.
    pub(super) codes: C,
}

/// Whether a format has minima.
pub(in crate::nn) trait Minima: Copy + Send + Sync {
    /// None, or all zero.
    const ZERO: Self;
    /// Whether there are minima.
    const PRESENT: bool;

    /// Sets the minimum of one output.
    fn set(&mut self, output: usize, minimum: u16);
    /// The minima, in half precision; zeros where there are none.
    fn bits(&self) -> &Halves;
}

/// No minimum: a symmetric format.
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct NoMinimum;

impl Minima for NoMinimum {
    const ZERO: Self = Self;
    const PRESENT: bool = false;

    fn set(&mut self, _output: usize, _minimum: u16) {}

    fn bits(&self) -> &Halves {
        &[[0; HALF]; 2]
    }
}

impl Minima for Halves {
    const ZERO: Self = [[0; HALF]; 2];
    const PRESENT: bool = true;

    fn set(&mut self, output: usize, minimum: u16) {
        self[output / HALF][output % HALF] = minimum;
    }

    fn bits(&self) -> &Halves {
        self
    }
}

impl<C: Codes, M: Minima> Block<C, M> {
    /// Sets the weights of one output of a block that is zero so far.
    pub(in crate::nn) fn set(&mut self, output: usize, weights: &FileBlock) {
        self.scales[output / HALF][output % HALF] = weights.scale;
        self.minima.set(output, weights.minimum);
        self.codes.set(output, &weights.codes);
    }
}

impl<C: Codes, M: Minima> Format for Block<C, M> {
    const ZERO: Self = Self { scales: [[0; HALF]; 2], minima: M::ZERO, codes: C::ZERO };
    const N_BLOCKS: usize = 1;
    const HAS_MINIMA: bool = M::PRESENT;

    fn sum(&self, _block: usize, output: usize, inputs: &QuantizedBlock) -> i32 {
        let sum = code_sum(&self.codes, output, inputs, 0..DEPTH);
        if M::PRESENT { sum } else { sum - C::OFFSET * inputs.sum }
    }

    fn scale(&self, _block: usize, output: usize) -> f32 {
        single(&self.scales, output)
    }

    fn minimum(&self, _block: usize, output: usize) -> f32 {
        single(self.minima.bits(), output)
    }
}

/// The number of one output.
pub(super) fn single(halves: &Halves, output: usize) -> f32 {
    debug_assert!(output < LANES);
    f16::from_bits(halves[output / HALF][output % HALF]).to_f32()
}

/// The sum of codes times inputs, over some of the 32.
pub(super) fn code_sum<C: Codes>(
    codes: &C,
    output: usize,
    inputs: &QuantizedBlock,
    range: std::ops::Range<usize>,
) -> i32 {
    range.map(|input| codes.get(output, input) * inputs.code(input)).sum()
}
