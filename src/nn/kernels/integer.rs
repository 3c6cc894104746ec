//! Products of eight-bit rows with quantised weights.

#[cfg(not(target_arch = "x86_64"))]
pub(in crate::nn) use super::block::Format as KernelFormat;
#[cfg(target_arch = "x86_64")]
pub(in crate::nn) use super::integer_avx2::Avx2Format as KernelFormat;
use super::{
    Cpu, QuantizedRows,
    activation::QuantizedBlock,
    block::Format,
    simd::{LANES, Lanes},
};

/// The most rows that a tile takes at once.
pub(in crate::nn) const MAX_ROWS: usize = 8;

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
    /// One of them.
    pub(super) fn row(self, index: usize) -> &'a [QuantizedBlock] {
        self.rows.row(self.first + index)
    }
}

/// The products of some rows with the sixteen outputs of a tile, whose weights
/// follow each other along the inputs. Fills the first entries of `products`.
///
/// # Panics
///
/// If the rows have not as many blocks as the tile, or are more than
/// [`MAX_ROWS`].
pub(in crate::nn) fn integer_tile<F: KernelFormat>(
    cpu: Cpu,
    tile: &[F],
    span: RowSpan<'_>,
    products: &mut [Lanes; MAX_ROWS],
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = super::simd_avx2::Avx2::of(cpu) {
        return super::integer_avx2::tile(simd, tile, span, &mut products[..span.count]);
    }
    let _ = cpu;
    for (index, products) in products[..span.count].iter_mut().enumerate() {
        *products = portable_row(tile, span.row(index));
    }
}

/// One row with one tile, in the operations of every other kernel: exact sums
/// within a block, then one fused product a block, in the order of the blocks.
fn portable_row<F: Format>(tile: &[F], row: &[QuantizedBlock]) -> Lanes {
    assert_eq!(tile.len() * F::N_BLOCKS, row.len(), "a row and a tile of different width");
    let mut total = [0.0_f32; LANES];
    for (weights, inputs) in tile.iter().zip(row.chunks(F::N_BLOCKS)) {
        for (block, inputs) in inputs.iter().enumerate() {
            for (output, total) in total.iter_mut().enumerate() {
                let sum = weights.sum(block, output, inputs);
                let scale = weights.scale(block, output) * inputs.scale;
                *total = (sum as f32).mul_add(scale, *total);
                if F::HAS_MINIMA {
                    *total = weights.minimum(block, output).mul_add(inputs.scaled_sum, *total);
                }
            }
        }
    }
    total
}
