//! Inputs of a matrix product, as eight-bit integers.

#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use rayon::prelude::*;

use super::{
    codes::DEPTH,
    simd::{LANES, Lanes, Simd},
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
    /// The sum of the first sixteen codes, and that of the others above it: sixteen
    /// bits each.
    pub(super) side_sums: i32,
    /// The sum of the codes times the scale.
    pub(super) scaled_sum: f32,
}

/// No inputs.
pub(super) const EMPTY: QuantizedBlock =
    QuantizedBlock { words: [0; 8], scale: 0.0, sum: 0, side_sums: 0, scaled_sum: 0.0 };

impl QuantizedBlock {
    /// One code.
    pub(super) fn code(&self, input: usize) -> i32 {
        i32::from(self.words[input / 4].to_le_bytes()[input % 4].cast_signed())
    }

    /// The sum of the first sixteen codes, and that of the others.
    pub(super) fn side_sums(&self) -> [i32; 2] {
        [self.side_sums << 16 >> 16, self.side_sums >> 16]
    }
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
fn quantize_row<S: Simd>(simd: S, row: &[f32], blocks: &mut [QuantizedBlock]) {
    let (values, rest) = row.as_chunks::<LANES>();
    let (values, odd) = values.as_chunks::<2>();
    assert!(
        rest.is_empty() && odd.is_empty() && values.len() == blocks.len(),
        "the row does not fall into these blocks"
    );
    for (values, block) in values.iter().zip(blocks) {
        *block = quantize_block(simd, values);
    }
}

#[inline(always)]
fn quantize_block<S: Simd>(simd: S, values: &[Lanes; 2]) -> QuantizedBlock {
    let (low, high) = (simd.load(&values[0]), simd.load(&values[1]));
    let greatest = simd.max(simd.greater(simd.abs(low), simd.abs(high)));
    // Zero, or not a number where an input is infinite or not a number: those
    // may vanish in comparisons.
    let flaw = simd.sum(simd.mul(simd.add(low, high), simd.splat(0.0)));
    // Below that the inverse would overflow; such inputs count as zero.
    let inverse = simd.splat(if greatest > 1e-30 { 127.0 / greatest } else { 0.0 });
    let (low, low_sum) = simd.to_bytes(simd.mul(low, inverse));
    let (high, high_sum) = simd.to_bytes(simd.mul(high, inverse));
    let mut block = QuantizedBlock {
        scale: greatest / 127.0 + flaw,
        // Only sums of codes that are no numbers wrap.
        sum: low_sum.wrapping_add(high_sum),
        side_sums: low_sum & 0xffff | high_sum << 16,
        ..Default::default()
    };
    let words = block.words.iter_mut();
    for (word, bytes) in words.zip(low.as_chunks::<4>().0.iter().chain(high.as_chunks::<4>().0)) {
        *word = i32::from_le_bytes(bytes.map(i8::cast_unsigned));
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
                    let sides = [&codes[..16], &codes[16..]];
                    let sums = sides.map(|side| side.iter().map(|&code| i32::from(code)).sum::<i32>());
                    prop_assert_eq!(block.side_sums(), sums);
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
            for place in [40, 60] {
                row[place] = flaw;
                for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
                    let blocks = quantized(Cpu::with_level(level).unwrap(), &row);
                    assert!(!blocks[0].scale.is_nan() && blocks[1].scale.is_nan());
                }
            }
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
