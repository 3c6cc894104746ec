//! Sixteen numbers at a time, on any processor.

#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use half::{bf16, f16};

/// The lanes of every kernel. Sixteen is one register of AVX-512 and two of AVX2.
pub(in crate::nn) const LANES: usize = 16;

/// One number a lane, in memory.
pub(in crate::nn) type Lanes = [f32; LANES];

/// A processor's operations on sixteen numbers.
///
/// A value of such a type is the proof that this machine has the instructions,
/// so the operations are safe to call. They are fast only where they are inlined
/// into a function compiled for these instructions, as `per_cpu!` makes. All
/// implementations give the same bits.
pub(in crate::nn) trait Simd: Copy {
    /// Whether sixteen lanes fit thirty-two registers, and not eight.
    const HAS_MANY_REGISTERS: bool = false;

    /// One number a lane, in registers.
    type Lanes: Copy;

    /// From memory.
    fn load(self, values: &Lanes) -> Self::Lanes;
    /// To memory.
    fn store(self, a: Self::Lanes) -> Lanes;
    /// The same number in every lane.
    fn splat(self, value: f32) -> Self::Lanes;
    /// `a + b`.
    fn add(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `a - b`.
    fn sub(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `a * b`.
    fn mul(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `a / b`.
    fn div(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `a * b + c`, rounded once.
    fn fused(self, a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes;
    /// `a` where it is greater, else `b`; so `b` where either is not a number.
    fn greater(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `a` where it is less, else `b`; so `b` where either is not a number.
    fn lesser(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// Without the sign.
    fn abs(self, a: Self::Lanes) -> Self::Lanes;
    /// The sum over the lanes, in a fixed tree: lane `i` takes lane `i + 8`, then
    /// `i + 4`, `i + 2` and `i + 1`.
    fn sum(self, a: Self::Lanes) -> f32;
    /// The greatest of the lanes, folded as in [`sum`](Self::sum), where a lane gives
    /// way only to a greater one.
    fn max(self, a: Self::Lanes) -> f32;
    /// The nearest integers, ties to even, and their sum. The numbers must lie
    /// within `-128..=127`; others give any bytes.
    fn to_bytes(self, a: Self::Lanes) -> ([i8; LANES], i32);
    /// `2^n` for an integer `n` of `-126..=127` that was added to [`ROUNDER`].
    fn power_of_two(self, rounded: Self::Lanes) -> Self::Lanes;
    /// From half precision, exactly.
    fn load_f16(self, values: &[f16; LANES]) -> Self::Lanes;
    /// From the short form of single precision, exactly.
    fn load_bf16(self, values: &[bf16; LANES]) -> Self::Lanes;
}

/// Adding this to a number of modest size rounds it to an integer, ties to even,
/// and leaves the integer in the low bits.
pub(super) const ROUNDER: f32 = 12_582_912.0;

/// The exponential, within two units in the last place on `-87.3..=88.3`;
/// arguments outside are moved to the nearer end. Not a number stays what it is.
///
/// The polynomial is that of the Cephes library (`expf`).
#[inline(always)]
pub(super) fn exp<S: Simd>(simd: S, x: S::Lanes) -> S::Lanes {
    // The natural logarithm of two, and what its rounding leaves.
    const LN_2: f32 = 0.693_359_4;
    const REMAINDER: f32 = -2.121_944_4e-4;
    const COEFFICIENTS: [f32; 6] =
        [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5];
    let x = simd.greater(simd.splat(-87.3), x);
    let x = simd.lesser(simd.splat(88.3), x);
    let shift = simd.splat(ROUNDER);
    let rounded = simd.fused(x, simd.splat(std::f32::consts::LOG2_E), shift);
    let whole = simd.sub(rounded, shift);
    let rest = simd.fused(whole, simd.splat(-LN_2), x);
    let rest = simd.fused(whole, simd.splat(-REMAINDER), rest);
    let mut value = simd.splat(COEFFICIENTS[0]);
    for coefficient in &COEFFICIENTS[1..] {
        value = simd.fused(value, rest, simd.splat(*coefficient));
    }
    let value = simd.fused(value, simd.mul(rest, rest), rest);
    let value = simd.add(value, simd.splat(1.0));
    simd.mul(value, simd.power_of_two(rounded))
}

/// The operations in terms that every processor has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

/// One operation on each lane.
#[inline(always)]
fn each(a: &Lanes, b: &Lanes, operation: impl Fn(f32, f32) -> f32) -> Lanes {
    let mut out = [0.0; LANES];
    for i in 0..LANES {
        out[i] = operation(a[i], b[i]);
    }
    out
}

impl Simd for Portable {
    type Lanes = Lanes;

    #[inline(always)]
    fn load(self, values: &Lanes) -> Lanes {
        *values
    }

    #[inline(always)]
    fn store(self, a: Lanes) -> Lanes {
        a
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Lanes {
        [value; LANES]
    }

    #[inline(always)]
    fn add(self, a: Lanes, b: Lanes) -> Lanes {
        each(&a, &b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, a: Lanes, b: Lanes) -> Lanes {
        each(&a, &b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, a: Lanes, b: Lanes) -> Lanes {
        each(&a, &b, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, a: Lanes, b: Lanes) -> Lanes {
        each(&a, &b, |a, b| a / b)
    }

    #[inline(always)]
    fn fused(self, a: Lanes, b: Lanes, mut c: Lanes) -> Lanes {
        for i in 0..LANES {
            c[i] = a[i].mul_add(b[i], c[i]);
        }
        c
    }

    #[inline(always)]
    fn greater(self, a: Lanes, b: Lanes) -> Lanes {
        each(&a, &b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn lesser(self, a: Lanes, b: Lanes) -> Lanes {
        each(&a, &b, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn abs(self, a: Lanes) -> Lanes {
        each(&a, &a, |a, _| a.abs())
    }

    #[inline(always)]
    fn sum(self, mut a: Lanes) -> f32 {
        for width in [8, 4, 2, 1] {
            for i in 0..width {
                a[i] += a[i + width];
            }
        }
        a[0]
    }

    #[inline(always)]
    fn max(self, mut a: Lanes) -> f32 {
        for width in [8, 4, 2, 1] {
            for i in 0..width {
                a[i] = if a[i + width] > a[i] { a[i + width] } else { a[i] };
            }
        }
        a[0]
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "within a byte, by contract")]
    fn to_bytes(self, a: Lanes) -> ([i8; LANES], i32) {
        let mut out = [0; LANES];
        let mut sum = 0;
        for i in 0..LANES {
            out[i] = (a[i] + ROUNDER - ROUNDER) as i8;
            sum += i32::from(out[i]);
        }
        (out, sum)
    }

    #[inline(always)]
    fn power_of_two(self, rounded: Lanes) -> Lanes {
        each(&rounded, &rounded, |a, _| f32::from_bits(a.to_bits().wrapping_add(127) << 23))
    }

    #[inline(always)]
    fn load_f16(self, values: &[f16; LANES]) -> Lanes {
        values.map(f16::to_f32)
    }

    #[inline(always)]
    fn load_bf16(self, values: &[bf16; LANES]) -> Lanes {
        values.map(bf16::to_f32)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "rounding to integers is exact")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_exponential_is_that_of_the_standard_library(x in -87.0f32..88.0) {
            let ours = exp(Portable, [x; LANES])[3];
            let theirs = x.exp();
            prop_assert!((ours - theirs).abs() <= 3e-7 * theirs, "{x}: {ours} and {theirs}");
        }

        #[test]
        fn numbers_round_to_bytes_with_ties_to_even(x in -127.0f32..127.0) {
            let (bytes, sum) = Portable.to_bytes([x; LANES]);
            prop_assert_eq!(f32::from(bytes[0]), x.round_ties_even());
            prop_assert_eq!(sum, 16 * i32::from(bytes[0]));
        }
    }

    #[test]
    fn the_exponential_of_no_number_is_none() {
        assert!(exp(Portable, [f32::NAN; LANES])[0].is_nan());
        assert!(exp(Portable, [f32::INFINITY; LANES])[0] > 1e38);
        assert!(exp(Portable, [f32::NEG_INFINITY; LANES])[0] < 2e-38);
    }
}
