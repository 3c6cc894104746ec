//! Products of eight-bit rows with quantised weights.

use half::f16;

#[cfg(not(target_arch = "x86_64"))]
pub(in crate::nn) use super::block::Codes as KernelCodes;
#[cfg(target_arch = "x86_64")]
pub(in crate::nn) use super::integer_avx2::Avx2Codes as KernelCodes;
use super::{
    Cpu, QuantizedRows,
    activation::QuantizedBlock,
    block::{Block, Codes, DEPTH, HALF, Minima},
    simd::{LANES, Lanes},
};

/// The most rows that a tile takes at once.
pub(in crate::nn) const MAX_ROWS: usize = 4;

/// Some consecutive rows.
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct RowSpan<'a> {
    /// The matrix they are of.
    pub(in crate::nn) rows: &'a QuantizedRows,
    /// The first of them.
    pub(in crate::nn) first: usize,
    /// How many, from one to [`MAX_ROWS`].
    pub(in crate::nn) count: usize,
}

impl<'a> RowSpan<'a> {
    /// The first `R` of them.
    #[cfg(target_arch = "x86_64")]
    fn take<const R: usize>(self) -> [&'a [QuantizedBlock]; R] {
        std::array::from_fn(|index| self.rows.row(self.first + index))
    }
}

/// The products of some rows with the sixteen outputs of a tile, whose blocks
/// follow each other along the inputs. Fills the first entries of `products`.
///
/// # Panics
///
/// If the rows have not as many blocks as the tile, or are more than
/// [`MAX_ROWS`].
pub(in crate::nn) fn integer_tile<C: KernelCodes, M: Minima>(
    cpu: Cpu,
    tile: &[Block<C, M>],
    span: RowSpan<'_>,
    products: &mut [Lanes; MAX_ROWS],
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = super::simd_avx2::Avx2::of(cpu) {
        return match span.count {
            1 => super::integer_avx2::tile(simd, tile, &span.take::<1>(), products),
            2 => super::integer_avx2::tile(simd, tile, &span.take::<2>(), products),
            3 => super::integer_avx2::tile(simd, tile, &span.take::<3>(), products),
            _ => super::integer_avx2::tile(simd, tile, &span.take::<4>(), products),
        };
    }
    let _ = cpu;
    for (index, products) in products.iter_mut().enumerate().take(span.count) {
        *products = portable_row(tile, span.rows.row(span.first + index));
    }
}

/// One row with one tile, in the operations of every other kernel: exact sums
/// within a block, then one fused product a block, in the order of the blocks.
fn portable_row<C: Codes, M: Minima>(tile: &[Block<C, M>], row: &[QuantizedBlock]) -> Lanes {
    assert_eq!(tile.len(), row.len(), "a row and a tile of different width");
    let mut total = [0.0_f32; LANES];
    for (weights, inputs) in tile.iter().zip(row) {
        let sums = block_sums(&weights.codes, inputs);
        let minima = weights.minima.bits();
        for output in 0..LANES {
            let scale = f16::from_bits(weights.scales[output / HALF][output % HALF]).to_f32()
                * inputs.scale;
            let mut sum = sums[output];
            if !M::PRESENT {
                sum -= C::OFFSET * inputs.sum;
            }
            total[output] = (sum as f32).mul_add(scale, total[output]);
            if M::PRESENT {
                let minimum = f16::from_bits(minima[output / HALF][output % HALF]).to_f32();
                total[output] = minimum.mul_add(inputs.scaled_sum, total[output]);
            }
        }
    }
    total
}

fn block_sums<C: Codes>(codes: &C, inputs: &QuantizedBlock) -> [i32; LANES] {
    let mut sums = [0; LANES];
    for input in 0..DEPTH {
        let value = i32::from(inputs.words[input / 4].to_le_bytes()[input % 4].cast_signed());
        for (output, sum) in sums.iter_mut().enumerate() {
            *sum += codes.get(output, input) * value;
        }
    }
    sums
}
