//! Sixteen numbers at a time, in two registers of AVX2.

#![expect(unsafe_code, reason = "instructions that only some processors have")]
#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use std::{
    arch::x86_64::{
        __m128i, __m256, __m256i, _mm_add_epi32, _mm_add_ps, _mm_cvtsi128_si32, _mm_cvtss_f32,
        _mm_max_ps, _mm_movehl_ps, _mm_packs_epi16, _mm_packs_epi32, _mm_shuffle_epi32,
        _mm_shuffle_ps, _mm256_add_epi32, _mm256_add_ps, _mm256_and_ps, _mm256_castps_si256,
        _mm256_castps256_ps128, _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cvtepu16_epi32,
        _mm256_cvtph_ps, _mm256_cvtps_epi32, _mm256_div_ps, _mm256_extractf128_ps,
        _mm256_extracti128_si256, _mm256_fmadd_ps, _mm256_max_ps, _mm256_min_ps, _mm256_mul_ps,
        _mm256_set1_epi32, _mm256_set1_ps, _mm256_slli_epi32, _mm256_sub_ps,
    },
    mem::transmute,
};

use half::{bf16, f16};

use super::{
    Cpu, CpuLevel,
    simd::{LANES, Lanes, Simd},
};

/// The proof that this machine has AVX2, FMA and F16C.
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct Avx2(());

impl Avx2 {
    /// The proof, where there is one.
    #[inline(always)]
    pub(super) fn of(cpu: Cpu) -> Option<Self> {
        // A `Cpu` of this level or one above is only made where the features were seen.
        (cpu.level() >= CpuLevel::Avx2).then_some(Self(()))
    }
}

/// An operation on the low and on the high eight lanes.
macro_rules! on_both {
    ($operation:ident, $a:expr $(, $more:expr)*) => {
        // SAFETY: an `Avx2` is only made where the processor has the instructions.
        unsafe { [$operation($a[0] $(, $more[0])*), $operation($a[1] $(, $more[1])*)] }
    };
}

/// Moves the low bits to where the exponent of a number is.
///
/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn high_bits(a: __m256i) -> __m256i {
    // SAFETY: by the caller's word.
    unsafe { _mm256_slli_epi32::<23>(a) }
}

/// Eight integers in sixteen bits each.
///
/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn shortened(a: __m256i) -> __m128i {
    // SAFETY: by the caller's word.
    unsafe { _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a)) }
}

/// Eight numbers whose low bits were left out.
///
/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn widened(a: __m128i) -> __m256 {
    // SAFETY: by the caller's word.
    unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(a))) }
}

impl Simd for Avx2 {
    type Lanes = [__m256; 2];

    #[inline(always)]
    fn load(self, values: &Lanes) -> Self::Lanes {
        // SAFETY: both are sixteen numbers, of which every bit pattern is valid.
        unsafe { transmute::<Lanes, Self::Lanes>(*values) }
    }

    #[inline(always)]
    fn store(self, a: Self::Lanes) -> Lanes {
        // SAFETY: as in `load`.
        unsafe { transmute::<Self::Lanes, Lanes>(a) }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Lanes {
        let value = [value; 2];
        on_both!(_mm256_set1_ps, value)
    }

    #[inline(always)]
    fn add(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        on_both!(_mm256_add_ps, a, b)
    }

    #[inline(always)]
    fn sub(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        on_both!(_mm256_sub_ps, a, b)
    }

    #[inline(always)]
    fn mul(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        on_both!(_mm256_mul_ps, a, b)
    }

    #[inline(always)]
    fn div(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        on_both!(_mm256_div_ps, a, b)
    }

    #[inline(always)]
    fn fused(self, a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes {
        on_both!(_mm256_fmadd_ps, a, b, c)
    }

    #[inline(always)]
    fn greater(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        on_both!(_mm256_max_ps, a, b)
    }

    #[inline(always)]
    fn lesser(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        on_both!(_mm256_min_ps, a, b)
    }

    #[inline(always)]
    fn abs(self, a: Self::Lanes) -> Self::Lanes {
        let mask = [f32::from_bits(0x7fff_ffff); 2];
        let mask: Self::Lanes = on_both!(_mm256_set1_ps, mask);
        on_both!(_mm256_and_ps, a, mask)
    }

    #[inline(always)]
    fn sum(self, a: Self::Lanes) -> f32 {
        // SAFETY: an `Avx2` is only made where the processor has the instructions.
        unsafe {
            let eight = _mm256_add_ps(a[0], a[1]);
            let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ps(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }

    #[inline(always)]
    fn max(self, a: Self::Lanes) -> f32 {
        // SAFETY: an `Avx2` is only made where the processor has the instructions.
        unsafe {
            let eight = _mm256_max_ps(a[1], a[0]);
            let four = _mm_max_ps(_mm256_extractf128_ps::<1>(eight), _mm256_castps256_ps128(eight));
            let two = _mm_max_ps(_mm_movehl_ps(four, four), four);
            _mm_cvtss_f32(_mm_max_ps(_mm_shuffle_ps::<1>(two, two), two))
        }
    }

    #[inline(always)]
    fn to_bytes(self, a: Self::Lanes) -> ([i8; LANES], i32) {
        let integers: [__m256i; 2] = on_both!(_mm256_cvtps_epi32, a);
        let shorts: [__m128i; 2] = on_both!(shortened, integers);
        // SAFETY: an `Avx2` is only made where the processor has the instructions;
        // sixteen bytes are sixteen bytes.
        unsafe {
            let eight = _mm256_add_epi32(integers[0], integers[1]);
            let high = _mm256_extracti128_si256::<1>(eight);
            let four = _mm_add_epi32(_mm256_castsi256_si128(eight), high);
            let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b1110>(four));
            let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b01>(two));
            let bytes = _mm_packs_epi16(shorts[0], shorts[1]);
            (transmute::<__m128i, [i8; LANES]>(bytes), _mm_cvtsi128_si32(one))
        }
    }

    #[inline(always)]
    fn power_of_two(self, rounded: Self::Lanes) -> Self::Lanes {
        // SAFETY: an `Avx2` is only made where the processor has the instructions.
        let bias = unsafe { _mm256_set1_epi32(127) };
        let bias = [bias; 2];
        let integers: [__m256i; 2] = on_both!(_mm256_castps_si256, rounded);
        let exponents: [__m256i; 2] = on_both!(_mm256_add_epi32, integers, bias);
        let shifted: [__m256i; 2] = on_both!(high_bits, exponents);
        on_both!(_mm256_castsi256_ps, shifted)
    }

    #[inline(always)]
    fn load_f16(self, values: &[f16; LANES]) -> Self::Lanes {
        // SAFETY: an `Avx2` is only made where the processor has the instructions;
        // half-precision numbers are two bytes each.
        unsafe {
            let halves = transmute::<[f16; LANES], [__m128i; 2]>(*values);
            [_mm256_cvtph_ps(halves[0]), _mm256_cvtph_ps(halves[1])]
        }
    }

    #[inline(always)]
    fn load_bf16(self, values: &[bf16; LANES]) -> Self::Lanes {
        // SAFETY: as in `load_f16`.
        unsafe {
            let halves = transmute::<[bf16; LANES], [__m128i; 2]>(*values);
            [widened(halves[0]), widened(halves[1])]
        }
    }
}
