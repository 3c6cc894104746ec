//! Sums of codes times inputs, for AVX2.
//!
//! `vpmaddubsw` multiplies unsigned by signed bytes and adds neighbours in
//! sixteen bits, saturating; every use below says why it cannot saturate. Four
//! inputs of a row are spread over a register that holds four weights of each
//! of eight outputs, so that no sum ever crosses outputs.
//!
//! The loops over groups are to stay loops where there are many rows: unrolled, they
//! are turned inside out by the compiler, row after row, and the unpacked weights of a
//! whole block then go to memory and back.

#![expect(unsafe_code, reason = "instructions that only some processors have")]
#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use std::{
    arch::x86_64::{
        __m256i, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32, _mm256_and_si256,
        _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_or_si256, _mm256_set1_epi8,
        _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_sign_epi8,
        _mm256_slli_epi16, _mm256_srli_epi16,
    },
    mem::transmute,
};

use super::{
    activation::QuantizedBlock,
    codes::{Codes, Codes4, Codes5, Codes6, Codes8, Group},
    integer_avx2::Sums,
    simd_avx2::Avx2,
};

/// Codes that AVX2 can multiply.
pub(in crate::nn) trait Avx2Codes: Codes {
    /// The exact sums of codes times inputs of `R` rows.
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        loops: Loops,
        inputs: &[&QuantizedBlock; R],
    ) -> Sums<R>;
}

/// How often loops run, kept from the compiler where many rows are worked on: of few
/// rows all fits the registers, and unrolled loops are faster.
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct Loops {
    two: usize,
}

impl Loops {
    /// To be called once, outside of them.
    #[inline(always)]
    pub(super) fn new(n_rows: usize) -> Self {
        Self { two: if n_rows > 2 { std::hint::black_box(2) } else { 2 } }
    }
}

/// Four codes of each of sixteen outputs.
type Weights = [__m256i; 2];

#[inline(always)]
fn loaded(_simd: Avx2, codes: &Group) -> Weights {
    // SAFETY: both are 64 bytes.
    unsafe { transmute::<Group, Weights>(*codes) }
}

#[inline(always)]
fn zero<const R: usize>(_simd: Avx2) -> Sums<R> {
    // SAFETY: an `Avx2` is only made where the processor has the instruction.
    [[unsafe { _mm256_setzero_si256() }; R]; 2]
}

/// Adds to sixteen-bit sums the products with one group of weights.
#[inline(always)]
fn add_group<const R: usize>(
    _simd: Avx2,
    sums: &mut Sums<R>,
    weights: Weights,
    inputs: &[&QuantizedBlock; R],
    group: usize,
) {
    for row in 0..R {
        // SAFETY: an `Avx2` is only made where the processor has the instructions.
        unsafe {
            let spread = _mm256_set1_epi32(inputs[row].words[group & 7]);
            for half in 0..2 {
                let pairs = _mm256_maddubs_epi16(weights[half], spread);
                sums[half][row] = _mm256_add_epi16(sums[half][row], pairs);
            }
        }
    }
}

/// Adds neighbouring sixteen-bit sums, each times a factor, to sums of 32 bits.
#[inline(always)]
fn add_widened<const R: usize>(
    _simd: Avx2,
    totals: &mut Sums<R>,
    sums: &Sums<R>,
    factors: Weights,
) {
    for half in 0..2 {
        for row in 0..R {
            // SAFETY: an `Avx2` is only made where the processor has the instructions.
            unsafe {
                let widened = _mm256_madd_epi16(sums[half][row], factors[half]);
                totals[half][row] = _mm256_add_epi32(totals[half][row], widened);
            }
        }
    }
}

/// Factors that change nothing.
#[inline(always)]
fn ones(_simd: Avx2) -> Weights {
    // SAFETY: an `Avx2` is only made where the processor has the instruction.
    [unsafe { _mm256_set1_epi16(1) }; 2]
}

/// Both halves of bytes: of groups `index` and `index + 4`.
#[inline(always)]
fn four_bits(simd: Avx2, codes: &Codes4, index: usize) -> [Weights; 2] {
    let [a, b] = loaded(simd, &codes.0[index & 3]);
    // SAFETY: an `Avx2` is only made where the processor has the instructions.
    unsafe {
        let mask = _mm256_set1_epi8(15);
        let high = [_mm256_srli_epi16::<4>(a), _mm256_srli_epi16::<4>(b)];
        [
            [_mm256_and_si256(a, mask), _mm256_and_si256(b, mask)],
            [_mm256_and_si256(high[0], mask), _mm256_and_si256(high[1], mask)],
        ]
    }
}

/// Adds the bits of `mask` of some bytes, moved up by `BY`.
#[inline(always)]
fn joined<const BY: i32>(_simd: Avx2, low: Weights, bits: Weights, mask: i8) -> Weights {
    let mut all = low;
    for half in 0..2 {
        // SAFETY: an `Avx2` is only made where the processor has the instructions.
        // What a shift of sixteen-bit words brings in from the neighbouring byte is
        // masked away.
        unsafe {
            let moved = _mm256_slli_epi16::<BY>(bits[half]);
            let moved = _mm256_and_si256(moved, _mm256_set1_epi8(mask));
            all[half] = _mm256_or_si256(low[half], moved);
        }
    }
    all
}

/// Moves bits down. Those of a neighbouring byte come in above.
#[inline(always)]
fn shifted<const BY: i32>(_simd: Avx2, bits: Weights) -> Weights {
    // SAFETY: an `Avx2` is only made where the processor has the instruction.
    unsafe { [_mm256_srli_epi16::<BY>(bits[0]), _mm256_srli_epi16::<BY>(bits[1])] }
}

impl Avx2Codes for Codes4 {
    // A pair of products is at most 2 * 15 * 127 = 3,810 in size, and the eight
    // groups of a block at most 30,480: sixteen bits hold the whole block.
    #[inline(always)]
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        loops: Loops,
        inputs: &[&QuantizedBlock; R],
    ) -> Sums<R> {
        let mut sums = zero(simd);
        for index in 0..2 * loops.two {
            let [low, high] = four_bits(simd, self, index);
            add_group(simd, &mut sums, low, inputs, index);
            add_group(simd, &mut sums, high, inputs, index + 4);
        }
        let mut totals = zero(simd);
        add_widened(simd, &mut totals, &sums, ones(simd));
        totals
    }
}

impl Avx2Codes for Codes5 {
    // A pair of products is at most 2 * 31 * 127 = 7,874 in size, and four groups
    // at most 31,496: sixteen bits hold half a block.
    #[inline(always)]
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        loops: Loops,
        inputs: &[&QuantizedBlock; R],
    ) -> Sums<R> {
        let mut totals = zero(simd);
        let mut fifth = loaded(simd, &self.high);
        for part in 0..2 {
            let mut sums = zero(simd);
            for index in 0..2 * loops.two {
                let low = four_bits(simd, &self.low, index)[part];
                let weights = joined::<4>(simd, low, fifth, 16);
                fifth = shifted::<1>(simd, fifth);
                add_group(simd, &mut sums, weights, inputs, part * 4 + index);
            }
            add_widened(simd, &mut totals, &sums, ones(simd));
        }
        totals
    }
}

/// The sums of codes of six bits times inputs, those of the first and of the last
/// sixteen inputs times a factor each. Factors are a number of eight bits with a
/// sign in every sixteen bits.
#[inline(always)]
pub(super) fn side_sums<const R: usize>(
    simd: Avx2,
    loops: Loops,
    codes: &Codes6,
    factors: [Weights; 2],
    inputs: &[&QuantizedBlock; R],
) -> Sums<R> {
    let mut totals = zero(simd);
    for (side, factors) in factors.iter().enumerate() {
        let mut high = loaded(simd, &codes.high[side]);
        for part in 0..loops.two {
            // A pair of products is at most 2 * 63 * 127 = 16,002 in size, and two
            // groups at most 32,004: sixteen bits hold a quarter of a block.
            let mut sums = zero(simd);
            let low = four_bits(simd, &codes.low, part * 2)[side];
            let weights = joined::<4>(simd, low, high, 48);
            add_group(simd, &mut sums, weights, inputs, side * 4 + part * 2);
            let low = four_bits(simd, &codes.low, part * 2 + 1)[side];
            let weights = joined::<2>(simd, low, high, 48);
            add_group(simd, &mut sums, weights, inputs, side * 4 + part * 2 + 1);
            high = shifted::<4>(simd, high);
            add_widened(simd, &mut totals, &sums, *factors);
        }
    }
    totals
}

impl Avx2Codes for Codes8 {
    // The weights' signs move to the inputs: |weight| is at most 128 and an input
    // at most 127 in size, so a pair of products is at most 32,512. Another group
    // would not fit; each is widened at once.
    #[inline(always)]
    fn sums<const R: usize>(
        &self,
        simd: Avx2,
        loops: Loops,
        inputs: &[&QuantizedBlock; R],
    ) -> Sums<R> {
        let mut totals = zero(simd);
        for group in 0..4 * loops.two {
            let weights = loaded(simd, &self.0[group & 7]);
            let mut pairs = zero(simd);
            for row in 0..R {
                // SAFETY: an `Avx2` is only made where the processor has the
                // instructions.
                unsafe {
                    let spread = _mm256_set1_epi32(inputs[row].words[group & 7]);
                    for half in 0..2 {
                        let signed = _mm256_sign_epi8(spread, weights[half]);
                        let size = _mm256_abs_epi8(weights[half]);
                        pairs[half][row] = _mm256_maddubs_epi16(size, signed);
                    }
                }
            }
            add_widened(simd, &mut totals, &pairs, ones(simd));
        }
        totals
    }
}
