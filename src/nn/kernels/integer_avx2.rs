//! Products of eight-bit rows with quantised weights, for AVX2.
//!
//! Four rows meet sixteen outputs at a time: the eight sums of a block then stay in
//! registers, four inputs of a row are spread over a register once for both halves
//! of the outputs, and weights are unpacked once for the four rows.

#![expect(unsafe_code, reason = "instructions that only some processors have")]
#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use std::{
    arch::x86_64::{
        __m128i, __m256, __m256i, _MM_HINT_T0, _mm_cvtsi64_si128, _mm_prefetch, _mm256_blend_epi16,
        _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi32, _mm256_cvtph_ps,
        _mm256_fmadd_ps, _mm256_madd_epi16, _mm256_mul_ps, _mm256_set1_epi32, _mm256_set1_ps,
        _mm256_setzero_ps, _mm256_slli_epi32, _mm256_sub_epi32,
    },
    mem::transmute,
};

use super::{
    activation::{EMPTY, QuantizedBlock},
    block::{Block, Format, Halves, Minima},
    codes::{Codes, Codes6, HALF},
    codes_avx2::{Avx2Codes, Loops, side_sums},
    integer::RowSpan,
    simd::Lanes,
    simd_avx2::Avx2,
    super_block::{SubBlock6, SuperBlock, SuperBlock6},
};

/// How far ahead weights are fetched: the processor itself stops at the end of a
/// page, and a step of one row needs them faster than memory answers.
const BYTES_AHEAD: usize = 2048;

/// Whole numbers of both halves of the outputs, for each of `R` rows.
pub(super) type Sums<const R: usize> = [[__m256i; R]; 2];

/// Formats that AVX2 can multiply with. The methods give what those of [`Format`]
/// give, for all outputs.
pub(in crate::nn) trait Avx2Format: Format {
    /// The sums of `R` rows.
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        loops: Loops,
        block: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> Sums<R>;
    /// The scales.
    fn scales(&self, simd: Avx2, block: usize) -> [__m256; 2];
    /// The minima.
    fn minima(&self, simd: Avx2, block: usize) -> [__m256; 2];
}

/// As [`integer_tile`](super::integer_tile).
pub(super) fn tile<F: Avx2Format>(
    simd: Avx2,
    tile: &[F],
    span: RowSpan<'_>,
    products: &mut [Lanes],
) {
    let mut first = 0;
    for products in products.chunks_mut(4) {
        // SAFETY: an `Avx2` is only made where the processor has AVX2, FMA and F16C.
        unsafe {
            match products.len() {
                1 => rows::<F, 1>(simd, tile, span, first, products),
                2 => rows::<F, 2>(simd, tile, span, first, products),
                3 => rows::<F, 3>(simd, tile, span, first, products),
                _ => rows::<F, 4>(simd, tile, span, first, products),
            }
        }
        first += products.len();
    }
}

/// The products with `R` rows of a span, from number `first` on.
///
/// # Panics
///
/// Unless the rows have as many blocks as the tile.
#[target_feature(enable = "avx2,fma,f16c")]
fn rows<F: Avx2Format, const R: usize>(
    simd: Avx2,
    tile: &[F],
    span: RowSpan<'_>,
    first: usize,
    products: &mut [Lanes],
) {
    let n_blocks = tile.len() * F::N_BLOCKS;
    // No closures here: they would not be compiled for these instructions.
    let mut rows: [&[QuantizedBlock]; R] = [&[]; R];
    for (index, row) in rows.iter_mut().enumerate() {
        *row = span.row(first + index);
        assert!(row.len() == n_blocks, "a row and a tile differ in width");
    }
    let mut inputs = [&EMPTY; R];
    let loops = Loops::new(R);
    let mut totals = [[_mm256_setzero_ps(); R]; 2];
    for (index, weights) in tile.iter().enumerate() {
        for block in 0..F::N_BLOCKS {
            fetch(simd, weights, block);
            for row in 0..R {
                inputs[row] = &rows[row][index * F::N_BLOCKS + block];
            }
            let sums = weights.sums(simd, loops, block, &inputs);
            let scales = weights.scales(simd, block);
            for row in 0..R {
                let scale = _mm256_set1_ps(inputs[row].scale);
                for half in 0..2 {
                    let scale = _mm256_mul_ps(scales[half], scale);
                    let sum = _mm256_cvtepi32_ps(sums[half][row]);
                    totals[half][row] = _mm256_fmadd_ps(sum, scale, totals[half][row]);
                }
            }
            if F::HAS_MINIMA {
                let minima = weights.minima(simd, block);
                for row in 0..R {
                    let scaled_sum = _mm256_set1_ps(inputs[row].scaled_sum);
                    for half in 0..2 {
                        totals[half][row] =
                            _mm256_fmadd_ps(minima[half], scaled_sum, totals[half][row]);
                    }
                }
            }
        }
    }
    for (row, products) in products.iter_mut().enumerate().take(R) {
        // SAFETY: both are sixteen numbers.
        *products = unsafe { transmute::<[__m256; 2], Lanes>([totals[0][row], totals[1][row]]) };
    }
}

/// Asks for weights that will be needed soon.
#[inline(always)]
fn fetch<F: Format>(_simd: Avx2, weights: &F, block: usize) {
    let size = size_of::<F>() / F::N_BLOCKS;
    let ahead = std::ptr::from_ref(weights).cast::<i8>().wrapping_add(BYTES_AHEAD + block * size);
    for line in 0..size.div_ceil(64) {
        // SAFETY: a prefetch may have any address, and every x86-64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(64 * line)) };
    }
}

/// Sixteen numbers in half precision, widened.
#[inline(always)]
fn singles(_simd: Avx2, bits: &Halves) -> [__m256; 2] {
    // SAFETY: eight numbers of two bytes are sixteen bytes; an `Avx2` is only made
    // where the processor has the instruction.
    unsafe {
        let [low, high] = transmute::<Halves, [__m128i; 2]>(*bits);
        [_mm256_cvtph_ps(low), _mm256_cvtph_ps(high)]
    }
}

/// Sixteen numbers in half precision, each times a whole one.
#[inline(always)]
fn scaled(simd: Avx2, bits: &Halves, factors: &[[u8; HALF]; 2]) -> [__m256; 2] {
    let mut numbers = singles(simd, bits);
    for half in 0..2 {
        // SAFETY: an `Avx2` is only made where the processor has the instructions.
        unsafe {
            let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(factors[half]));
            let factors = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
            numbers[half] = _mm256_mul_ps(numbers[half], factors);
        }
    }
    numbers
}

/// Eight bytes with a sign, widened.
#[inline(always)]
fn integers(_simd: Avx2, bytes: &[i8; HALF]) -> __m256i {
    // SAFETY: eight bytes are eight bytes; an `Avx2` is only made where the processor
    // has the instructions.
    unsafe { _mm256_cvtepi8_epi32(_mm_cvtsi64_si128(transmute::<[i8; HALF], i64>(*bytes))) }
}

/// The low sixteen bits of both.
#[inline(always)]
fn paired(_simd: Avx2, low: [__m256i; 2], high: [__m256i; 2]) -> [__m256i; 2] {
    let mut pairs = low;
    for half in 0..2 {
        // SAFETY: an `Avx2` is only made where the processor has the instructions.
        unsafe {
            let high = _mm256_slli_epi32::<16>(high[half]);
            pairs[half] = _mm256_blend_epi16::<0xaa>(low[half], high);
        }
    }
    pairs
}

impl<C: Avx2Codes, M: Minima> Avx2Format for Block<C, M> {
    #[inline(always)]
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        loops: Loops,
        _block: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> Sums<R> {
        let mut sums = self.codes.sums(simd, loops, inputs);
        if M::PRESENT || C::OFFSET == 0 {
            return sums;
        }
        for row in 0..R {
            // SAFETY: an `Avx2` is only made where the processor has the instructions.
            unsafe {
                let offset = _mm256_set1_epi32(C::OFFSET * inputs[row].sum);
                for sums in &mut sums {
                    sums[row] = _mm256_sub_epi32(sums[row], offset);
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn scales(&self, simd: Avx2, _block: usize) -> [__m256; 2] {
        singles(simd, &self.scales)
    }

    #[inline(always)]
    fn minima(&self, simd: Avx2, _block: usize) -> [__m256; 2] {
        singles(simd, self.minima.bits())
    }
}

impl<C: Avx2Codes> Avx2Format for SuperBlock<C> {
    #[inline(always)]
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        loops: Loops,
        block: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> Sums<R> {
        self.blocks[block].codes.sums(simd, loops, inputs)
    }

    #[inline(always)]
    fn scales(&self, simd: Avx2, block: usize) -> [__m256; 2] {
        scaled(simd, &self.scales, &self.blocks[block].scales)
    }

    #[inline(always)]
    fn minima(&self, simd: Avx2, block: usize) -> [__m256; 2] {
        scaled(simd, &self.minima, &self.blocks[block].minima)
    }
}

impl Avx2Format for SuperBlock6 {
    #[inline(always)]
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        loops: Loops,
        block: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> Sums<R> {
        let SubBlock6 { scales, codes } = &self.blocks[block];
        let first = [integers(simd, &scales[0][0]), integers(simd, &scales[0][1])];
        let second = [integers(simd, &scales[1][0]), integers(simd, &scales[1][1])];
        let factors = [paired(simd, first, first), paired(simd, second, second)];
        let both = paired(simd, first, second);
        let mut sums = side_sums(simd, loops, codes, factors, inputs);
        for row in 0..R {
            // SAFETY: an `Avx2` is only made where the processor has the instructions.
            unsafe {
                let inputs = _mm256_set1_epi32(inputs[row].side_sums);
                for half in 0..2 {
                    // Thirty-two times the scaled sums of inputs.
                    const { assert!(Codes6::OFFSET == 32) };
                    let offset = _mm256_slli_epi32::<5>(_mm256_madd_epi16(both[half], inputs));
                    sums[half][row] = _mm256_sub_epi32(sums[half][row], offset);
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn scales(&self, simd: Avx2, _block: usize) -> [__m256; 2] {
        singles(simd, &self.scales)
    }

    #[inline(always)]
    fn minima(&self, _simd: Avx2, _block: usize) -> [__m256; 2] {
        // SAFETY: an `Avx2` is only made where the processor has the instruction.
        [unsafe { _mm256_setzero_ps() }; 2]
    }
}
