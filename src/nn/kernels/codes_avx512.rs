//! Sums of codes times inputs, for AVX-512 with VNNI.
//!
//! `vpdpbusd` adds four products of unsigned with signed bytes to a sum of 32 bits,
//! for sixteen outputs at once. No sum can overflow: a block has 32 products of at
//! most 255 * 127.

#![expect(unsafe_code, reason = "instructions that only some processors have")]
#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use std::{
    arch::x86_64::{
        __m512i, _mm512_and_si512, _mm512_dpbusd_epi32, _mm512_or_si512, _mm512_set1_epi8,
        _mm512_set1_epi32, _mm512_setzero_si512, _mm512_slli_epi16, _mm512_srli_epi16,
        _mm512_xor_si512,
    },
    mem::transmute,
    ops::Range,
};

use super::{
    activation::QuantizedBlock,
    codes::{Codes, Codes4, Codes5, Codes6, Codes8, Group},
    simd_avx512::Avx512,
};

/// Codes that AVX-512 can multiply.
pub(in crate::nn) trait Avx512Codes: Codes {
    /// What is added to the codes to make them unsigned.
    const SHIFT: i32;

    /// The codes of one group, unsigned.
    fn group(&self, simd: Avx512, group: usize) -> __m512i;
}

#[inline(always)]
fn loaded(_simd: Avx512, codes: &Group) -> __m512i {
    // SAFETY: both are 64 bytes.
    unsafe { transmute::<Group, __m512i>(*codes) }
}

/// The sums of unsigned codes times inputs, over some groups.
#[inline(always)]
pub(super) fn group_sums<C: Avx512Codes, const R: usize>(
    simd: Avx512,
    codes: &C,
    groups: Range<usize>,
    inputs: &[&QuantizedBlock; R],
) -> [__m512i; R] {
    // SAFETY: an `Avx512` is only made where the processor has the instruction.
    let mut sums = [unsafe { _mm512_setzero_si512() }; R];
    for group in groups {
        let weights = codes.group(simd, group);
        for row in 0..R {
            // SAFETY: as above.
            sums[row] = unsafe {
                let spread = _mm512_set1_epi32(inputs[row].words[group & 7]);
                _mm512_dpbusd_epi32(sums[row], weights, spread)
            };
        }
    }
    sums
}

/// The low or the high halves of bytes.
#[inline(always)]
fn four_bits(simd: Avx512, codes: &Codes4, group: usize) -> __m512i {
    let bytes = loaded(simd, &codes.0[group & 3]);
    // SAFETY: an `Avx512` is only made where the processor has the instructions.
    unsafe {
        let bytes = if group < 4 { bytes } else { _mm512_srli_epi16::<4>(bytes) };
        _mm512_and_si512(bytes, _mm512_set1_epi8(15))
    }
}

/// Adds the bits of `mask` of some bytes, after they were moved so that bit `from`
/// became bit 4. Bits of a neighbouring byte that come in are masked away.
#[inline(always)]
fn joined(_simd: Avx512, low: __m512i, bits: __m512i, from: usize, mask: i8) -> __m512i {
    // SAFETY: an `Avx512` is only made where the processor has the instructions.
    unsafe {
        let moved = match from {
            0 => _mm512_slli_epi16::<4>(bits),
            1 => _mm512_slli_epi16::<3>(bits),
            2 => _mm512_slli_epi16::<2>(bits),
            3 => _mm512_slli_epi16::<1>(bits),
            4 => bits,
            5 => _mm512_srli_epi16::<1>(bits),
            6 => _mm512_srli_epi16::<2>(bits),
            _ => _mm512_srli_epi16::<3>(bits),
        };
        _mm512_or_si512(low, _mm512_and_si512(moved, _mm512_set1_epi8(mask)))
    }
}

impl Avx512Codes for Codes4 {
    const SHIFT: i32 = 0;

    #[inline(always)]
    fn group(&self, simd: Avx512, group: usize) -> __m512i {
        four_bits(simd, self, group)
    }
}

impl Avx512Codes for Codes5 {
    const SHIFT: i32 = 0;

    #[inline(always)]
    fn group(&self, simd: Avx512, group: usize) -> __m512i {
        let low = four_bits(simd, &self.low, group);
        joined(simd, low, loaded(simd, &self.high), group, 16)
    }
}

impl Avx512Codes for Codes6 {
    const SHIFT: i32 = 0;

    #[inline(always)]
    fn group(&self, simd: Avx512, group: usize) -> __m512i {
        let low = four_bits(simd, &self.low, group);
        joined(simd, low, loaded(simd, &self.high[group / 4]), group % 4 * 2, 48)
    }
}

impl Avx512Codes for Codes8 {
    const SHIFT: i32 = 128;

    #[inline(always)]
    fn group(&self, simd: Avx512, group: usize) -> __m512i {
        let codes = loaded(simd, &self.0[group]);
        // SAFETY: an `Avx512` is only made where the processor has the instructions.
        // Turning the sign adds 128.
        unsafe { _mm512_xor_si512(codes, _mm512_set1_epi8(-128)) }
    }
}
