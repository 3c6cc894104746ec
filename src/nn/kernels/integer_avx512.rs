//! Products of eight-bit rows with quantised weights, for AVX-512 with VNNI.
//!
//! Up to eight rows meet sixteen outputs at a time. The tests run this level wherever
//! the processor has it; so far that was an emulated one, so its speed is not known.

#![expect(unsafe_code, reason = "instructions that only some processors have")]
#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use std::{
    arch::x86_64::{
        __m128i, __m256i, __m512, __m512i, _mm512_add_epi32, _mm512_cvtepi8_epi32,
        _mm512_cvtepi32_ps, _mm512_cvtepu8_epi32, _mm512_cvtph_ps, _mm512_fmadd_ps, _mm512_mul_ps,
        _mm512_mullo_epi32, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_sub_epi32,
    },
    mem::transmute,
};

use super::{
    activation::{EMPTY, QuantizedBlock},
    block::{Block, Halves, Minima},
    codes::{Codes, Codes6, HALF},
    codes_avx2::Avx2Codes,
    codes_avx512::{Avx512Codes, group_sums},
    integer::{MAX_ROWS, RowSpan},
    integer_avx2::Avx2Format,
    simd::Lanes,
    simd_avx512::Avx512,
    super_block::{SubBlock6, SuperBlock, SuperBlock6},
};

/// Formats that AVX-512 can multiply with. The methods give what those of
/// [`Format`](super::block::Format) give, for all outputs.
pub(in crate::nn) trait Avx512Format: Avx2Format {
    /// The sums of `R` rows.
    fn wide_sums<const R: usize>(
        &self,
        simd: Avx512,
        block: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m512i; R];
    /// The scales.
    fn wide_scales(&self, simd: Avx512, block: usize) -> __m512;
    /// The minima.
    fn wide_minima(&self, simd: Avx512, block: usize) -> __m512;
}

/// As [`integer_tile`](super::integer_tile).
pub(super) fn tile<F: Avx512Format>(
    simd: Avx512,
    tile: &[F],
    span: RowSpan<'_>,
    products: &mut [Lanes],
) {
    const { assert!(MAX_ROWS == 8) };
    // SAFETY: an `Avx512` is only made where the processor has these instructions.
    unsafe {
        match products.len() {
            1 => rows::<F, 1>(simd, tile, span, products),
            2 => rows::<F, 2>(simd, tile, span, products),
            3 => rows::<F, 3>(simd, tile, span, products),
            4 => rows::<F, 4>(simd, tile, span, products),
            5 => rows::<F, 5>(simd, tile, span, products),
            6 => rows::<F, 6>(simd, tile, span, products),
            7 => rows::<F, 7>(simd, tile, span, products),
            _ => rows::<F, 8>(simd, tile, span, products),
        }
    }
}

/// The products with the `R` rows of a span.
///
/// # Panics
///
/// Unless the rows have as many blocks as the tile.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn rows<F: Avx512Format, const R: usize>(
    simd: Avx512,
    tile: &[F],
    span: RowSpan<'_>,
    products: &mut [Lanes],
) {
    let n_blocks = tile.len() * F::N_BLOCKS;
    // No closures here: they would not be compiled for these instructions.
    let mut rows: [&[QuantizedBlock]; R] = [&[]; R];
    for (index, row) in rows.iter_mut().enumerate() {
        *row = span.row(index);
        assert!(row.len() == n_blocks, "a row and a tile differ in width");
    }
    let mut inputs = [&EMPTY; R];
    let mut totals = [_mm512_setzero_ps(); R];
    for (index, weights) in tile.iter().enumerate() {
        for block in 0..F::N_BLOCKS {
            for row in 0..R {
                inputs[row] = &rows[row][index * F::N_BLOCKS + block];
            }
            let sums = weights.wide_sums(simd, block, &inputs);
            let scales = weights.wide_scales(simd, block);
            for row in 0..R {
                let scale = _mm512_mul_ps(scales, _mm512_set1_ps(inputs[row].scale));
                totals[row] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[row]), scale, totals[row]);
            }
            if F::HAS_MINIMA {
                let minima = weights.wide_minima(simd, block);
                for row in 0..R {
                    let scaled_sum = _mm512_set1_ps(inputs[row].scaled_sum);
                    totals[row] = _mm512_fmadd_ps(minima, scaled_sum, totals[row]);
                }
            }
        }
    }
    for (row, products) in products.iter_mut().enumerate().take(R) {
        // SAFETY: both are sixteen numbers.
        *products = unsafe { transmute::<__m512, Lanes>(totals[row]) };
    }
}

/// Sixteen numbers in half precision, widened.
#[inline(always)]
fn singles(_simd: Avx512, bits: &Halves) -> __m512 {
    // SAFETY: sixteen numbers of two bytes are 32 bytes; an `Avx512` is only made
    // where the processor has the instruction.
    unsafe { _mm512_cvtph_ps(transmute::<Halves, __m256i>(*bits)) }
}

/// Sixteen numbers in half precision, each times a whole one.
#[inline(always)]
fn scaled(simd: Avx512, bits: &Halves, factors: &[[u8; HALF]; 2]) -> __m512 {
    let numbers = singles(simd, bits);
    // SAFETY: sixteen bytes are sixteen bytes; an `Avx512` is only made where the
    // processor has the instructions.
    unsafe {
        let bytes = transmute::<[[u8; HALF]; 2], __m128i>(*factors);
        _mm512_mul_ps(numbers, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes)))
    }
}

/// Takes as many times the sum of inputs off.
#[inline(always)]
fn lowered<const R: usize>(
    _simd: Avx512,
    mut sums: [__m512i; R],
    times: i32,
    inputs: &[&QuantizedBlock; R],
) -> [__m512i; R] {
    for row in 0..R {
        // SAFETY: an `Avx512` is only made where the processor has the instructions.
        sums[row] =
            unsafe { _mm512_sub_epi32(sums[row], _mm512_set1_epi32(times * inputs[row].sum)) };
    }
    sums
}

impl<C: Avx2Codes + Avx512Codes, M: Minima> Avx512Format for Block<C, M> {
    #[inline(always)]
    fn wide_sums<const R: usize>(
        &self,
        simd: Avx512,
        _block: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m512i; R] {
        let sums = group_sums(simd, &self.codes, 0..8, inputs);
        let times = C::SHIFT + if M::PRESENT { 0 } else { C::OFFSET };
        if times == 0 { sums } else { lowered(simd, sums, times, inputs) }
    }

    #[inline(always)]
    fn wide_scales(&self, simd: Avx512, _block: usize) -> __m512 {
        singles(simd, &self.scales)
    }

    #[inline(always)]
    fn wide_minima(&self, simd: Avx512, _block: usize) -> __m512 {
        singles(simd, self.minima.bits())
    }
}

impl<C: Avx2Codes + Avx512Codes> Avx512Format for SuperBlock<C> {
    #[inline(always)]
    fn wide_sums<const R: usize>(
        &self,
        simd: Avx512,
        block: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m512i; R] {
        group_sums(simd, &self.blocks[block].codes, 0..8, inputs)
    }

    #[inline(always)]
    fn wide_scales(&self, simd: Avx512, block: usize) -> __m512 {
        scaled(simd, &self.scales, &self.blocks[block].scales)
    }

    #[inline(always)]
    fn wide_minima(&self, simd: Avx512, block: usize) -> __m512 {
        scaled(simd, &self.minima, &self.blocks[block].minima)
    }
}

impl Avx512Format for SuperBlock6 {
    #[inline(always)]
    fn wide_sums<const R: usize>(
        &self,
        simd: Avx512,
        block: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m512i; R] {
        let SubBlock6 { scales, codes } = &self.blocks[block];
        // SAFETY: an `Avx512` is only made where the processor has the instruction.
        let mut totals = [unsafe { _mm512_set1_epi32(0) }; R];
        for (side, scales) in scales.iter().enumerate() {
            let sums = group_sums(simd, codes, side * 4..side * 4 + 4, inputs);
            for row in 0..R {
                let offset = Codes6::OFFSET * inputs[row].side_sums()[side];
                // SAFETY: sixteen bytes are sixteen bytes; an `Avx512` is only made
                // where the processor has the instructions.
                totals[row] = unsafe {
                    let bytes = transmute::<[[i8; HALF]; 2], __m128i>(*scales);
                    let sum = _mm512_sub_epi32(sums[row], _mm512_set1_epi32(offset));
                    let scaled = _mm512_mullo_epi32(sum, _mm512_cvtepi8_epi32(bytes));
                    _mm512_add_epi32(totals[row], scaled)
                };
            }
        }
        totals
    }

    #[inline(always)]
    fn wide_scales(&self, simd: Avx512, _block: usize) -> __m512 {
        singles(simd, &self.scales)
    }

    #[inline(always)]
    fn wide_minima(&self, _simd: Avx512, _block: usize) -> __m512 {
        // SAFETY: an `Avx512` is only made where the processor has the instruction.
        unsafe { _mm512_setzero_ps() }
    }
}
