//! Products of eight-bit rows with quantised weights, for AVX2.
//!
//! `vpmaddubsw` multiplies unsigned by signed bytes and adds neighbours in
//! sixteen bits, saturating; every use below says why it cannot saturate. Four
//! inputs of a row are spread over a register that holds four weights of each
//! of eight outputs, so that no sum ever crosses outputs.

#![expect(unsafe_code, reason = "instructions that only some processors have")]

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _mm_loadu_si128, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32,
    _mm256_and_si256, _mm256_cvtepi32_ps, _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_or_si256, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256,
    _mm256_sign_epi8, _mm256_slli_epi16, _mm256_srli_epi16, _mm256_storeu_ps, _mm256_sub_epi32,
};

use super::{
    Cpu, CpuLevel,
    activation::QuantizedBlock,
    block::{Block, Codes, Codes4, Codes5, Codes8, HALF, Minima},
    integer::MAX_ROWS,
    lanes::{LANES, Lanes},
};

/// Codes that AVX2 can multiply.
pub(in crate::nn) trait Avx2Codes: Codes {
    /// The exact sums of codes times inputs, of the eight outputs of one half
    /// and of `R` rows.
    ///
    /// # Safety
    ///
    /// The processor has AVX2.
    unsafe fn sums<const R: usize>(
        &self,
        half: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m256i; R];
}

/// As [`integer_tile`](super::integer_tile) for `R` rows.
///
/// # Panics
///
/// Unless `cpu` has AVX2 and the rows have as many blocks as the tile.
pub(super) fn tile<C: Avx2Codes, M: Minima, const R: usize>(
    cpu: Cpu,
    tile: &[Block<C, M>],
    rows: &[&[QuantizedBlock]; R],
    products: &mut [Lanes; MAX_ROWS],
) {
    assert_eq!(cpu.level(), CpuLevel::Avx2);
    assert!(rows.iter().all(|row| row.len() == tile.len()), "a row and a tile differ in width");
    for half in 0..2 {
        // SAFETY: a `Cpu` of this level is only made where the processor was
        // seen to have AVX2, FMA and F16C.
        let lanes = unsafe { half_tile(tile, half, rows) };
        for (products, lanes) in products.iter_mut().zip(lanes) {
            products[half * HALF..][..HALF].copy_from_slice(&lanes);
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn half_tile<C: Avx2Codes, M: Minima, const R: usize>(
    tile: &[Block<C, M>],
    half: usize,
    rows: &[&[QuantizedBlock]; R],
) -> [[f32; HALF]; R] {
    let mut totals = [_mm256_setzero_ps(); R];
    for (index, weights) in tile.iter().enumerate() {
        let inputs: [&QuantizedBlock; R] = std::array::from_fn(|row| &rows[row][index]);
        // SAFETY: this function is compiled for AVX2 as well.
        let sums = unsafe { weights.codes.sums(half, &inputs) };
        let scales = singles(&weights.scales, half);
        for row in 0..R {
            let mut sum = sums[row];
            if !M::PRESENT && C::OFFSET != 0 {
                sum = _mm256_sub_epi32(sum, _mm256_set1_epi32(C::OFFSET * inputs[row].sum));
            }
            let scale = _mm256_mul_ps(scales, _mm256_set1_ps(inputs[row].scale));
            totals[row] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), scale, totals[row]);
        }
        if M::PRESENT {
            let minima = singles(&weights.minima.bits(), half);
            for row in 0..R {
                let scaled_sum = _mm256_set1_ps(inputs[row].scaled_sum);
                totals[row] = _mm256_fmadd_ps(minima, scaled_sum, totals[row]);
            }
        }
    }
    totals.map(|total| stored(total))
}

/// Eight numbers in half precision, widened.
#[target_feature(enable = "avx2,f16c")]
#[inline]
fn singles(bits: &[u16; LANES], half: usize) -> __m256 {
    let bits = &bits[half * HALF..][..HALF];
    // SAFETY: the slice has sixteen bytes, and the load asks for no alignment.
    _mm256_cvtph_ps(unsafe { _mm_loadu_si128(bits.as_ptr().cast::<__m128i>()) })
}

/// Four codes of each of eight outputs.
#[target_feature(enable = "avx2")]
#[inline]
fn loaded(codes: &[u8; 4 * HALF]) -> __m256i {
    // SAFETY: the array has 32 bytes, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(codes.as_ptr().cast::<__m256i>()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn stored(lanes: __m256) -> [f32; HALF] {
    let mut out = [0.0; HALF];
    // SAFETY: the array has 32 bytes, and the store asks for no alignment.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), lanes) };
    out
}

/// Adds neighbouring sixteen-bit sums into 32 bits: an output's four inputs.
#[target_feature(enable = "avx2")]
#[inline]
fn widened(sums: __m256i) -> __m256i {
    _mm256_madd_epi16(sums, _mm256_set1_epi16(1))
}

/// Adds to each row's sixteen-bit sums the products with one group of weights.
#[target_feature(enable = "avx2")]
#[inline]
fn add_group<const R: usize>(
    sums: &mut [__m256i; R],
    weights: __m256i,
    inputs: &[&QuantizedBlock; R],
    group: usize,
) {
    for row in 0..R {
        let spread = _mm256_set1_epi32(inputs[row].words[group]);
        sums[row] = _mm256_add_epi16(sums[row], _mm256_maddubs_epi16(weights, spread));
    }
}

impl Avx2Codes for Codes4 {
    // A pair of products is at most 2 * 15 * 127 = 3,810 in size, and the eight
    // groups of a block at most 30,480: sixteen bits hold the whole block.
    #[target_feature(enable = "avx2")]
    unsafe fn sums<const R: usize>(
        &self,
        half: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m256i; R] {
        let mask = _mm256_set1_epi8(15);
        let mut sums = [_mm256_setzero_si256(); R];
        for group in 0..4 {
            let pair = loaded(&self.0[group][half]);
            let low = _mm256_and_si256(pair, mask);
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(pair), mask);
            add_group(&mut sums, low, inputs, group);
            add_group(&mut sums, high, inputs, group + 4);
        }
        for sum in &mut sums {
            *sum = widened(*sum);
        }
        sums
    }
}

impl Avx2Codes for Codes5 {
    // A pair of products is at most 2 * 31 * 127 = 7,874 in size, and four groups
    // at most 31,496: sixteen bits hold half a block.
    #[target_feature(enable = "avx2")]
    unsafe fn sums<const R: usize>(
        &self,
        half: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m256i; R] {
        let mask = _mm256_set1_epi8(15);
        let bit = _mm256_set1_epi8(16);
        let bits = loaded(&self.high[half]);
        let mut low_sums = [_mm256_setzero_si256(); R];
        let mut high_sums = [_mm256_setzero_si256(); R];
        // What a shift of sixteen-bit words brings in from the neighbouring byte
        // is masked away.
        let fifth = [
            _mm256_slli_epi16::<4>(bits),
            _mm256_slli_epi16::<3>(bits),
            _mm256_slli_epi16::<2>(bits),
            _mm256_slli_epi16::<1>(bits),
            bits,
            _mm256_srli_epi16::<1>(bits),
            _mm256_srli_epi16::<2>(bits),
            _mm256_srli_epi16::<3>(bits),
        ];
        for group in 0..4 {
            let pair = loaded(&self.low.0[group][half]);
            let low = _mm256_and_si256(pair, mask);
            let low = _mm256_or_si256(low, _mm256_and_si256(fifth[group], bit));
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(pair), mask);
            let high = _mm256_or_si256(high, _mm256_and_si256(fifth[group + 4], bit));
            add_group(&mut low_sums, low, inputs, group);
            add_group(&mut high_sums, high, inputs, group + 4);
        }
        for row in 0..R {
            low_sums[row] = _mm256_add_epi32(widened(low_sums[row]), widened(high_sums[row]));
        }
        low_sums
    }
}

impl Avx2Codes for Codes8 {
    // The weights' signs move to the inputs: |weight| is at most 128 and an input
    // at most 127 in size, so a pair of products is at most 32,512. Another group
    // would not fit; each is widened at once.
    #[target_feature(enable = "avx2")]
    unsafe fn sums<const R: usize>(
        &self,
        half: usize,
        inputs: &[&QuantizedBlock; R],
    ) -> [__m256i; R] {
        let mut sums = [_mm256_setzero_si256(); R];
        for group in 0..8 {
            let weights = loaded(&self.0[group][half]);
            let sizes = _mm256_abs_epi8(weights);
            for row in 0..R {
                let spread = _mm256_set1_epi32(inputs[row].words[group]);
                let signed = _mm256_sign_epi8(spread, weights);
                let pairs = _mm256_maddubs_epi16(sizes, signed);
                sums[row] = _mm256_add_epi32(sums[row], widened(pairs));
            }
        }
        sums
    }
}
