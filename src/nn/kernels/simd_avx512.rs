//! Sixteen numbers at a time, in one register of AVX-512.

#![expect(unsafe_code, reason = "instructions that only some processors have")]
#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use std::{
    arch::x86_64::{
        __m128i, __m256i, __m512, _mm_add_ps, _mm_cvtss_f32, _mm_max_ps, _mm_movehl_ps,
        _mm_shuffle_ps, _mm256_add_ps, _mm256_castpd_ps, _mm256_castps256_ps128,
        _mm256_extractf128_ps, _mm256_max_ps, _mm512_abs_ps, _mm512_add_epi32, _mm512_add_ps,
        _mm512_castps_pd, _mm512_castps_si512, _mm512_castps512_ps256, _mm512_castsi512_ps,
        _mm512_cvtepi32_epi8, _mm512_cvtepu16_epi32, _mm512_cvtph_ps, _mm512_cvtps_epi32,
        _mm512_div_ps, _mm512_extractf64x4_pd, _mm512_fmadd_ps, _mm512_max_ps, _mm512_min_ps,
        _mm512_mul_ps, _mm512_reduce_add_epi32, _mm512_set1_epi32, _mm512_set1_ps,
        _mm512_slli_epi32, _mm512_sub_ps,
    },
    mem::transmute,
};

use half::{bf16, f16};

use super::{
    Cpu, CpuLevel,
    simd::{LANES, Lanes, Simd},
};

/// The proof that this machine has AVX-512 with VNNI, and all that AVX2 has.
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct Avx512(());

impl Avx512 {
    /// The proof, where there is one.
    #[inline(always)]
    pub(super) fn of(cpu: Cpu) -> Option<Self> {
        // A `Cpu` of this level is only made where the features were seen.
        (cpu.level() == CpuLevel::Avx512Vnni).then_some(Self(()))
    }
}

/// An operation on sixteen lanes.
macro_rules! on_all {
    ($operation:ident $(, $argument:expr)*) => {
        // SAFETY: an `Avx512` is only made where the processor has the instructions.
        unsafe { $operation($($argument),*) }
    };
}

impl Simd for Avx512 {
    const HAS_MANY_REGISTERS: bool = true;

    type Lanes = __m512;

    #[inline(always)]
    fn load(self, values: &Lanes) -> __m512 {
        // SAFETY: both are sixteen numbers, of which every bit pattern is valid.
        unsafe { transmute::<Lanes, __m512>(*values) }
    }

    #[inline(always)]
    fn store(self, a: __m512) -> Lanes {
        // SAFETY: as in `load`.
        unsafe { transmute::<__m512, Lanes>(a) }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        on_all!(_mm512_set1_ps, value)
    }

    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        on_all!(_mm512_add_ps, a, b)
    }

    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        on_all!(_mm512_sub_ps, a, b)
    }

    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        on_all!(_mm512_mul_ps, a, b)
    }

    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        on_all!(_mm512_div_ps, a, b)
    }

    #[inline(always)]
    fn fused(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        on_all!(_mm512_fmadd_ps, a, b, c)
    }

    #[inline(always)]
    fn greater(self, a: __m512, b: __m512) -> __m512 {
        on_all!(_mm512_max_ps, a, b)
    }

    #[inline(always)]
    fn lesser(self, a: __m512, b: __m512) -> __m512 {
        on_all!(_mm512_min_ps, a, b)
    }

    #[inline(always)]
    fn abs(self, a: __m512) -> __m512 {
        on_all!(_mm512_abs_ps, a)
    }

    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        // SAFETY: an `Avx512` is only made where the processor has the instructions.
        unsafe {
            let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(a)));
            let eight = _mm256_add_ps(_mm512_castps512_ps256(a), high);
            let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ps(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }

    #[inline(always)]
    fn max(self, a: __m512) -> f32 {
        // SAFETY: an `Avx512` is only made where the processor has the instructions.
        unsafe {
            let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(a)));
            let eight = _mm256_max_ps(high, _mm512_castps512_ps256(a));
            let four = _mm_max_ps(_mm256_extractf128_ps::<1>(eight), _mm256_castps256_ps128(eight));
            let two = _mm_max_ps(_mm_movehl_ps(four, four), four);
            _mm_cvtss_f32(_mm_max_ps(_mm_shuffle_ps::<1>(two, two), two))
        }
    }

    #[inline(always)]
    fn to_bytes(self, a: __m512) -> ([i8; LANES], i32) {
        // SAFETY: an `Avx512` is only made where the processor has the instructions;
        // sixteen bytes are sixteen bytes.
        unsafe {
            let integers = _mm512_cvtps_epi32(a);
            let bytes = transmute::<__m128i, [i8; LANES]>(_mm512_cvtepi32_epi8(integers));
            (bytes, _mm512_reduce_add_epi32(integers))
        }
    }

    #[inline(always)]
    fn power_of_two(self, rounded: __m512) -> __m512 {
        // SAFETY: an `Avx512` is only made where the processor has the instructions.
        unsafe {
            let exponents = _mm512_add_epi32(_mm512_castps_si512(rounded), _mm512_set1_epi32(127));
            _mm512_castsi512_ps(_mm512_slli_epi32::<23>(exponents))
        }
    }

    #[inline(always)]
    fn load_f16(self, values: &[f16; LANES]) -> __m512 {
        // SAFETY: an `Avx512` is only made where the processor has the instruction;
        // half-precision numbers are two bytes each.
        unsafe { _mm512_cvtph_ps(transmute::<[f16; LANES], __m256i>(*values)) }
    }

    #[inline(always)]
    fn load_bf16(self, values: &[bf16; LANES]) -> __m512 {
        // SAFETY: as in `load_f16`.
        unsafe {
            let bits = _mm512_cvtepu16_epi32(transmute::<[bf16; LANES], __m256i>(*values));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits))
        }
    }
}
