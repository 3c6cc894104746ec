//! Inputs of a matrix product, as eight-bit integers.

#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use rayon::prelude::*;

use super::{
    block::DEPTH,
    lanes::{self, LANES, Lanes},
};

/// Thirty-two inputs of a row: `value = scale * code`, codes in `-127..=127`.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::nn) struct QuantizedBlock {
    /// The codes, four to a word, the first in the lowest byte.
    pub(super) words: [i32; DEPTH / 4],
    /// What a code is worth. Not a number where an input is not finite, so that
    /// a broken row shows in its results.
    pub(super) scale: f32,
    /// The sum of the codes.
    pub(super) sum: i32,
    /// The sum of the codes times the scale.
    pub(super) scaled_sum: f32,
}

/// The rows of a matrix, every 32 inputs with a scale of their own.
#[derive(Debug)]
pub(in crate::nn) struct QuantizedRows {
    blocks: Vec<QuantizedBlock>,
    blocks_per_row: usize,
}

impl QuantizedRows {
    /// Room for `n_rows` rows of `width` inputs.
    ///
    /// # Panics
    ///
    /// Unless `width` is a multiple of 32.
    pub(in crate::nn) fn new(n_rows: usize, width: usize) -> Self {
        assert!(width.is_multiple_of(DEPTH), "rows of {width} do not fall into blocks");
        let blocks_per_row = width / DEPTH;
        Self { blocks: vec![QuantizedBlock::default(); n_rows * blocks_per_row], blocks_per_row }
    }

    /// The number of rows.
    pub(in crate::nn) fn n_rows(&self) -> usize {
        self.blocks.len().checked_div(self.blocks_per_row).unwrap_or(0)
    }

    /// One row.
    pub(super) fn row(&self, index: usize) -> &[QuantizedBlock] {
        &self.blocks[index * self.blocks_per_row..][..self.blocks_per_row]
    }

    /// The rows, for several threads to fill.
    pub(in crate::nn) fn rows_mut(&mut self) -> rayon::slice::ChunksMut<'_, QuantizedBlock> {
        self.blocks.par_chunks_mut(self.blocks_per_row)
    }
}

per_cpu! {
    /// Quantises one row, as `Q8_0` does but for scales in single precision.
    pub(in crate::nn) fn quantize(row: &[f32], blocks: &mut [QuantizedBlock]) = quantize_row;
}

#[inline(always)]
fn quantize_row(row: &[f32], blocks: &mut [QuantizedBlock]) {
    let (values, _) = row.as_chunks::<DEPTH>();
    for (values, block) in values.iter().zip(blocks) {
        let (low, high) = values.split_at(LANES);
        let (Ok(low), Ok(high)) = (low.try_into(), high.try_into()) else { continue };
        *block = quantize_block(low, high);
    }
}

#[inline(always)]
fn quantize_block(low: &Lanes, high: &Lanes) -> QuantizedBlock {
    let mut greatest = [0.0; LANES];
    // Zero, or not a number where an input is infinite or not a number: those
    // would vanish in comparisons.
    let mut flaw = [0.0; LANES];
    for i in 0..LANES {
        let (a, b) = (low[i].abs(), high[i].abs());
        greatest[i] = if a > b { a } else { b };
        flaw[i] = (low[i] + high[i]) * 0.0;
    }
    let greatest = lanes::max(greatest);
    let flaw = lanes::sum(flaw);
    // Below that the inverse would overflow; such inputs count as zero.
    let inverse = if greatest > 1e-30 { 127.0 / greatest } else { 0.0 };
    let codes = [
        lanes::to_bytes(&lanes::scaled(low, inverse)),
        lanes::to_bytes(&lanes::scaled(high, inverse)),
    ];
    let mut block = QuantizedBlock { scale: greatest / 127.0 + flaw, ..Default::default() };
    for half in 0..2 {
        for group in 0..4 {
            let code = |i: usize| codes[half][group * 4 + i];
            let bytes = [code(0), code(1), code(2), code(3)];
            block.words[half * 4 + group] = i32::from_le_bytes(bytes.map(i8::cast_unsigned));
        }
        for i in 0..LANES {
            block.sum += i32::from(codes[half][i]);
        }
    }
    block.scaled_sum = block.scale * block.sum as f32;
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::kernels::{Cpu, CpuLevel};
    use proptest::prelude::*;

    fn quantized(cpu: Cpu, row: &[f32]) -> Vec<QuantizedBlock> {
        let mut rows = QuantizedRows::new(1, row.len());
        rows.rows_mut().for_each(|blocks| quantize(cpu, row, blocks));
        rows.row(0).to_vec()
    }

    fn codes(block: &QuantizedBlock) -> Vec<i8> {
        block.words.iter().flat_map(|word| word.to_le_bytes()).map(u8::cast_signed).collect()
    }

    proptest! {
        #[test]
        fn a_code_is_within_half_a_step_of_its_input(
            row in proptest::collection::vec(-1e3f32..1e3, 64)
        ) {
            for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
                let blocks = quantized(Cpu::with_level(level).unwrap(), &row);
                for (block, inputs) in blocks.iter().zip(row.chunks(DEPTH)) {
                    let codes = codes(block);
                    prop_assert_eq!(block.sum, codes.iter().map(|&code| i32::from(code)).sum::<i32>());
                    for (&code, input) in codes.iter().zip(inputs) {
                        prop_assert!(code >= -127);
                        let error = (f32::from(code) * block.scale - input).abs();
                        prop_assert!(error <= 0.5001 * block.scale);
                    }
                }
            }
        }
    }

    #[test]
    fn an_input_that_is_no_number_spoils_its_scale() {
        for flaw in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut row = [1.0; 64];
            row[40] = flaw;
            let blocks = quantized(Cpu::detect(), &row);
            assert!(!blocks[0].scale.is_nan() && blocks[1].scale.is_nan());
        }
    }

    #[test]
    fn nothing_stays_nothing() {
        for tiny in [0.0, 1e-38] {
            let block = quantized(Cpu::detect(), &[tiny; 32])[0];
            assert_eq!((block.sum, block.scaled_sum), (0, 0.0));
        }
    }
}
