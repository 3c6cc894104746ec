//! The K-quants, packed for the kernels: sixteen outputs by 256 inputs at a time.
//!
//! Blocks of 32 inputs have whole numbers as scales and minima, which a
//! half-precision number for all 256 inputs turns into real ones: what the packed
//! form takes is what the file takes and next to nothing more. In `Q6_K` every 16
//! inputs have a scale; it multiplies their sum before the sums are added, and all
//! of that stays within whole numbers.

use super::{
    activation::QuantizedBlock,
    block::{Format, Halves, code_sum, single},
    codes::{Codes, Codes4, Codes5, Codes6, DEPTH, HALF},
};

/// Inputs of a super-block.
const SUPER_DEPTH: usize = 256;
const N_BLOCKS: usize = SUPER_DEPTH / DEPTH;

/// The weights from 256 inputs to 16 outputs, of `Q4_K` or `Q5_K`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct SuperBlock<C> {
    /// What one is worth in the scales of an output.
    pub(super) scales: Halves,
    /// What one is worth in the minima of an output, negated.
    pub(super) minima: Halves,
    /// The parts.
    pub(super) blocks: [SubBlock<C>; N_BLOCKS],
}

/// The part of a super-block that has to do with 32 inputs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct SubBlock<C> {
    /// A scale an output, of six bits.
    pub(super) scales: [[u8; HALF]; 2],
    /// A minimum an output, of six bits.
    pub(super) minima: [[u8; HALF]; 2],
    /// The codes.
    pub(super) codes: C,
}

/// The weights from 256 inputs to 16 outputs, of `Q6_K`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct SuperBlock6 {
    /// What one is worth in the scales of an output.
    pub(super) scales: Halves,
    /// The parts.
    pub(super) blocks: [SubBlock6; N_BLOCKS],
}

/// The part of a super-block of `Q6_K` that has to do with 32 inputs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct SubBlock6 {
    /// The scales of each output: in one array for the first sixteen inputs, in the
    /// other for the rest.
    pub(super) scales: [[[i8; HALF]; 2]; 2],
    /// The codes.
    pub(super) codes: Codes6,
}

/// The bytes of a super-block of one output in the file.
const Q4_K_BYTES: usize = 144;
/// As `Q4_K` and 32 bytes of fifth bits.
const Q5_K_BYTES: usize = 176;
/// 128 bytes of four bits, 64 of two, sixteen scales and what they are worth.
const Q6_K_BYTES: usize = 210;

impl<C: Codes> SuperBlock<C> {
    fn set_scales(&mut self, output: usize, bytes: &[u8]) {
        let (half, place) = (output / HALF, output % HALF);
        self.scales[half][place] = u16::from_le_bytes([bytes[0], bytes[1]]);
        self.minima[half][place] = u16::from_le_bytes([bytes[2], bytes[3]]) ^ 0x8000;
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let (scale, minimum) = scale_and_minimum(&bytes[4..16], index);
            block.scales[half][place] = scale;
            block.minima[half][place] = minimum;
        }
    }
}

/// Number `index` of eight six-bit scales and minima that share twelve bytes: the
/// first four have the low bits of a byte each, the others four bits in the last
/// bytes and two at the top of the first.
fn scale_and_minimum(bytes: &[u8], index: usize) -> (u8, u8) {
    if index < 4 {
        return (bytes[index] & 63, bytes[index + 4] & 63);
    }
    let low = bytes[index + 4];
    (low & 15 | bytes[index - 4] >> 6 << 4, low >> 4 | bytes[index] >> 6 << 4)
}

/// The low or the high halves of 32 bytes: of the low ones of each 64 weights first.
fn half_bytes(bytes: &[u8], index: usize) -> [u8; DEPTH] {
    let pairs = &bytes[index / 2 * DEPTH..][..DEPTH];
    std::array::from_fn(|at| if index.is_multiple_of(2) { pairs[at] & 15 } else { pairs[at] >> 4 })
}

impl SuperBlock<Codes4> {
    /// Sets the weights of one output, zero so far, from a block of `Q4_K`.
    pub(in crate::nn) fn set(&mut self, output: usize, bytes: &[u8; Q4_K_BYTES]) {
        self.set_scales(output, bytes);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            block.codes.set(output, &half_bytes(&bytes[16..], index));
        }
    }
}

impl SuperBlock<Codes5> {
    /// Sets the weights of one output, zero so far, from a block of `Q5_K`.
    pub(in crate::nn) fn set(&mut self, output: usize, bytes: &[u8; Q5_K_BYTES]) {
        self.set_scales(output, bytes);
        let fifth_bits = &bytes[16..48];
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let mut codes = half_bytes(&bytes[48..], index);
            for (code, bits) in codes.iter_mut().zip(fifth_bits) {
                *code |= (bits >> index & 1) << 4;
            }
            block.codes.set(output, &codes);
        }
    }
}

impl SuperBlock6 {
    /// Sets the weights of one output, zero so far, from a block of `Q6_K`.
    pub(in crate::nn) fn set(&mut self, output: usize, bytes: &[u8; Q6_K_BYTES]) {
        let (half, place) = (output / HALF, output % HALF);
        self.scales[half][place] = u16::from_le_bytes([bytes[208], bytes[209]]);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            // Of each 128 weights the low halves of 64 bytes come first, then the high
            // ones; the two highest bits of four quarters share 32 bytes.
            let (part, quarter) = (index / 4, index % 4);
            let low = &bytes[part * 64 + quarter % 2 * DEPTH..][..DEPTH];
            let high = &bytes[128 + part * DEPTH..][..DEPTH];
            let codes = std::array::from_fn(|at| {
                let low = low[at] >> (quarter / 2 * 4) & 15;
                low | (high[at] >> (quarter * 2) & 3) << 4
            });
            block.codes.set(output, &codes);
            for (side, scales) in block.scales.iter_mut().enumerate() {
                scales[half][place] = bytes[192 + index * 2 + side].cast_signed();
            }
        }
    }
}

impl<C: Codes> Format for SuperBlock<C> {
    const ZERO: Self = Self {
        scales: [[0; HALF]; 2],
        minima: [[0; HALF]; 2],
        blocks: [SubBlock { scales: [[0; HALF]; 2], minima: [[0; HALF]; 2], codes: C::ZERO };
            N_BLOCKS],
    };
    const N_BLOCKS: usize = N_BLOCKS;
    const HAS_MINIMA: bool = true;

    fn sum(&self, block: usize, output: usize, inputs: &QuantizedBlock) -> i32 {
        code_sum(&self.blocks[block].codes, output, inputs, 0..DEPTH)
    }

    fn scale(&self, block: usize, output: usize) -> f32 {
        let scale = self.blocks[block].scales[output / HALF][output % HALF];
        single(&self.scales, output) * f32::from(scale)
    }

    fn minimum(&self, block: usize, output: usize) -> f32 {
        let minimum = self.blocks[block].minima[output / HALF][output % HALF];
        single(&self.minima, output) * f32::from(minimum)
    }
}

impl Format for SuperBlock6 {
    const ZERO: Self = Self {
        scales: [[0; HALF]; 2],
        blocks: [SubBlock6 { scales: [[[0; HALF]; 2]; 2], codes: Codes6::ZERO }; N_BLOCKS],
    };
    const N_BLOCKS: usize = N_BLOCKS;
    const HAS_MINIMA: bool = false;

    fn sum(&self, block: usize, output: usize, inputs: &QuantizedBlock) -> i32 {
        let SubBlock6 { scales, codes } = &self.blocks[block];
        let sides = [0..DEPTH / 2, DEPTH / 2..DEPTH];
        let sums = sides.into_iter().zip(inputs.side_sums()).map(|(side, inputs_sum)| {
            code_sum(codes, output, inputs, side) - Codes6::OFFSET * inputs_sum
        });
        let scales = scales.iter().map(|side| i32::from(side[output / HALF][output % HALF]));
        sums.zip(scales).map(|(sum, scale)| sum * scale).sum()
    }

    fn scale(&self, _block: usize, output: usize) -> f32 {
        single(&self.scales, output)
    }

    fn minimum(&self, _block: usize, _output: usize) -> f32 {
        0.0
    }
}
