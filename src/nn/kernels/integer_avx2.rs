//! Products of eight-bit rows with quantised weights, for AVX2.
//!
//! `vpmaddubsw` multiplies unsigned by signed bytes and adds neighbours in
//! sixteen bits, saturating; every use below says why it cannot saturate. Four
//! inputs of a row are spread over a register that holds four weights of each
//! of eight outputs, so that no sum ever crosses outputs.

#![expect(unsafe_code, reason = "instructions that only some processors have")]
#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use std::{
    arch::x86_64::{
        __m128i, __m256, __m256i, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32,
        _mm256_and_si256, _mm256_cvtepi32_ps, _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_madd_epi16,
        _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi16,
        _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256,
        _mm256_sign_epi8, _mm256_slli_epi16, _mm256_srli_epi16, _mm256_sub_epi32,
    },
    mem::transmute,
};

use super::{
    activation::QuantizedBlock,
    block::{Block, Codes, Codes4, Codes5, Codes8, HALF, Minima},
    integer::MAX_ROWS,
    simd::Lanes,
    simd_avx2::Avx2,
};

/// Codes that AVX2 can multiply.
pub(in crate::nn) trait Avx2Codes: Codes {
    /// The exact sums of codes times inputs, of the eight outputs of one half
    /// and of `R` rows.
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        half: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m256i; R];
}

/// As [`integer_tile`](super::integer_tile) for `R` rows.
///
/// # Panics
///
/// Unless the rows have as many blocks as the tile.
pub(super) fn tile<C: Avx2Codes, M: Minima, const R: usize>(
    simd: Avx2,
    tile: &[Block<C, M>],
    rows: &[&[QuantizedBlock]; R],
    products: &mut [Lanes; MAX_ROWS],
) {
    assert!(rows.iter().all(|row| row.len() == tile.len()), "a row and a tile differ in width");
    // SAFETY: an `Avx2` is only made where the processor has AVX2, FMA and F16C.
    unsafe {
        if R <= 2 {
            halves::<C, M, R, 2>(simd, tile, 0, rows, products);
        } else {
            // The totals of all outputs would not fit the registers.
            halves::<C, M, R, 1>(simd, tile, 0, rows, products);
            halves::<C, M, R, 1>(simd, tile, 1, rows, products);
        }
    }
}

/// The products with the outputs of `H` halves from `first` on.
#[target_feature(enable = "avx2,fma,f16c")]
fn halves<C: Avx2Codes, M: Minima, const R: usize, const H: usize>(
    simd: Avx2,
    tile: &[Block<C, M>],
    first: usize,
    rows: &[&[QuantizedBlock]; R],
    products: &mut [Lanes; MAX_ROWS],
) {
    assert!(first + H <= 2 && R <= MAX_ROWS);
    let mut totals = [[_mm256_setzero_ps(); R]; H];
    for (index, weights) in tile.iter().enumerate() {
        let mut inputs = [&EMPTY; R];
        for row in 0..R {
            inputs[row] = &rows[row][index];
        }
        for half in 0..H {
            let totals = &mut totals[half];
            let half = first + half;
            let sums = weights.codes.sums(simd, half, &inputs);
            let scales = singles(simd, &weights.scales[half]);
            for row in 0..R {
                let mut sum = sums[row];
                if !M::PRESENT && C::OFFSET != 0 {
                    sum = _mm256_sub_epi32(sum, _mm256_set1_epi32(C::OFFSET * inputs[row].sum));
                }
                let scale = _mm256_mul_ps(scales, _mm256_set1_ps(inputs[row].scale));
                totals[row] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), scale, totals[row]);
            }
            if M::PRESENT {
                let minima = singles(simd, &weights.minima.bits()[half]);
                for row in 0..R {
                    let scaled_sum = _mm256_set1_ps(inputs[row].scaled_sum);
                    totals[row] = _mm256_fmadd_ps(minima, scaled_sum, totals[row]);
                }
            }
        }
    }
    for half in 0..H {
        for row in 0..R {
            // SAFETY: both are eight numbers.
            let lanes = unsafe { transmute::<__m256, [f32; HALF]>(totals[half][row]) };
            products[row][(first + half) * HALF..][..HALF].copy_from_slice(&lanes);
        }
    }
}

const EMPTY: QuantizedBlock = QuantizedBlock { words: [0; 8], scale: 0.0, sum: 0, scaled_sum: 0.0 };

/// Eight numbers in half precision, widened.
#[inline(always)]
fn singles(_simd: Avx2, bits: &[u16; HALF]) -> __m256 {
    // SAFETY: eight numbers of two bytes are sixteen bytes; an `Avx2` is only made
    // where the processor has the instruction.
    unsafe { _mm256_cvtph_ps(transmute::<[u16; HALF], __m128i>(*bits)) }
}

/// Four codes of each of eight outputs.
#[inline(always)]
fn loaded(_simd: Avx2, codes: &[u8; 4 * HALF]) -> __m256i {
    // SAFETY: both are 32 bytes.
    unsafe { transmute::<[u8; 4 * HALF], __m256i>(*codes) }
}

/// Adds neighbouring sixteen-bit sums into 32 bits: an output's four inputs.
#[inline(always)]
fn widened(_simd: Avx2, sums: __m256i) -> __m256i {
    // SAFETY: an `Avx2` is only made where the processor has the instructions.
    unsafe { _mm256_madd_epi16(sums, _mm256_set1_epi16(1)) }
}

/// Adds to each row's sixteen-bit sums the products with one group of weights.
#[inline(always)]
fn add_group<const R: usize>(
    _simd: Avx2,
    sums: &mut [__m256i; R],
    weights: __m256i,
    inputs: &[&QuantizedBlock; R],
    group: usize,
) {
    for row in 0..R {
        // SAFETY: an `Avx2` is only made where the processor has the instructions.
        sums[row] = unsafe {
            let spread = _mm256_set1_epi32(inputs[row].words[group]);
            _mm256_add_epi16(sums[row], _mm256_maddubs_epi16(weights, spread))
        };
    }
}

/// The low and the high halves of bytes.
#[inline(always)]
fn half_bytes(_simd: Avx2, bytes: __m256i) -> (__m256i, __m256i) {
    // SAFETY: an `Avx2` is only made where the processor has the instructions.
    unsafe {
        let mask = _mm256_set1_epi8(15);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), mask);
        (_mm256_and_si256(bytes, mask), high)
    }
}

impl Avx2Codes for Codes4 {
    // A pair of products is at most 2 * 15 * 127 = 3,810 in size, and the eight
    // groups of a block at most 30,480: sixteen bits hold the whole block.
    #[inline(always)]
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        half: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m256i; R] {
        // SAFETY: an `Avx2` is only made where the processor has the instruction.
        let mut sums = [unsafe { _mm256_setzero_si256() }; R];
        for group in 0..4 {
            let (low, high) = half_bytes(simd, loaded(simd, &self.0[group][half]));
            add_group(simd, &mut sums, low, inputs, group);
            add_group(simd, &mut sums, high, inputs, group + 4);
        }
        for sum in &mut sums {
            *sum = widened(simd, *sum);
        }
        sums
    }
}

impl Avx2Codes for Codes5 {
    // A pair of products is at most 2 * 31 * 127 = 7,874 in size, and four groups
    // at most 31,496: sixteen bits hold half a block.
    #[inline(always)]
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        half: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m256i; R] {
        let bits = loaded(simd, &self.high[half]);
        // SAFETY: an `Avx2` is only made where the processor has the instructions.
        // What a shift of sixteen-bit words brings in from the neighbouring byte
        // is masked away.
        let (mut low_sums, mut high_sums, fifth) = unsafe {
            let bit = _mm256_set1_epi8(16);
            let fifth = [
                _mm256_and_si256(_mm256_slli_epi16::<4>(bits), bit),
                _mm256_and_si256(_mm256_slli_epi16::<3>(bits), bit),
                _mm256_and_si256(_mm256_slli_epi16::<2>(bits), bit),
                _mm256_and_si256(_mm256_slli_epi16::<1>(bits), bit),
                _mm256_and_si256(bits, bit),
                _mm256_and_si256(_mm256_srli_epi16::<1>(bits), bit),
                _mm256_and_si256(_mm256_srli_epi16::<2>(bits), bit),
                _mm256_and_si256(_mm256_srli_epi16::<3>(bits), bit),
            ];
            ([_mm256_setzero_si256(); R], [_mm256_setzero_si256(); R], fifth)
        };
        for group in 0..4 {
            let (low, high) = half_bytes(simd, loaded(simd, &self.low.0[group][half]));
            // SAFETY: an `Avx2` is only made where the processor has the instruction.
            let (low, high) = unsafe {
                (_mm256_or_si256(low, fifth[group]), _mm256_or_si256(high, fifth[group + 4]))
            };
            add_group(simd, &mut low_sums, low, inputs, group);
            add_group(simd, &mut high_sums, high, inputs, group + 4);
        }
        for row in 0..R {
            let (low, high) = (widened(simd, low_sums[row]), widened(simd, high_sums[row]));
            // SAFETY: an `Avx2` is only made where the processor has the instruction.
            low_sums[row] = unsafe { _mm256_add_epi32(low, high) };
        }
        low_sums
    }
}

impl Avx2Codes for Codes8 {
    // The weights' signs move to the inputs: |weight| is at most 128 and an input
    // at most 127 in size, so a pair of products is at most 32,512. Another group
    // would not fit; each is widened at once.
    #[inline(always)]
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        half: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m256i; R] {
        // SAFETY: an `Avx2` is only made where the processor has the instruction.
        let mut sums = [unsafe { _mm256_setzero_si256() }; R];
        for group in 0..8 {
            let weights = loaded(simd, &self.0[group][half]);
            for row in 0..R {
                // SAFETY: an `Avx2` is only made where the processor has the
                // instructions.
                sums[row] = unsafe {
                    let spread = _mm256_set1_epi32(inputs[row].words[group]);
                    let signed = _mm256_sign_epi8(spread, weights);
                    let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(weights), signed);
                    _mm256_add_epi32(sums[row], widened(simd, pairs))
                };
            }
        }
        sums
    }
}
