//! Sixteen numbers at a time.
//!
//! The loops below have a fixed length, so that the compiler turns them into
//! vector instructions of whatever width the calling function is compiled for.

#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]
#![expect(clippy::needless_range_loop, reason = "one index over several arrays of lanes")]

/// The lanes of every kernel. Sixteen is one register of AVX-512 and two of AVX2.
pub(in crate::nn) const LANES: usize = 16;

/// One number a lane.
pub(in crate::nn) type Lanes = [f32; LANES];

/// `a * b + c`, rounded once.
#[inline(always)]
pub(super) fn fused(a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    let mut out = [0.0; LANES];
    for i in 0..LANES {
        out[i] = a[i].mul_add(b[i], c[i]);
    }
    out
}

/// `a` times the same number in every lane.
#[inline(always)]
pub(super) fn scaled(a: &Lanes, factor: f32) -> Lanes {
    let mut out = [0.0; LANES];
    for i in 0..LANES {
        out[i] = a[i] * factor;
    }
    out
}

/// The sum over the lanes, in a fixed tree.
#[inline(always)]
pub(super) fn sum(mut a: Lanes) -> f32 {
    for width in [8, 4, 2, 1] {
        for i in 0..width {
            a[i] += a[i + width];
        }
    }
    a[0]
}

/// The greatest of the lanes.
#[inline(always)]
pub(super) fn max(mut a: Lanes) -> f32 {
    for width in [8, 4, 2, 1] {
        for i in 0..width {
            a[i] = if a[i + width] > a[i] { a[i + width] } else { a[i] };
        }
    }
    a[0]
}

/// Adding this to a number of modest size rounds it to an integer, ties to even,
/// and leaves the integer in the low bits.
const ROUNDER: f32 = 12_582_912.0;

/// The nearest integers, as numbers and as bits to be read below `2^22`.
#[inline(always)]
fn rounded(x: &Lanes) -> (Lanes, [u32; LANES]) {
    let mut whole = [0.0; LANES];
    let mut bits = [0; LANES];
    for i in 0..LANES {
        let shifted = x[i] + ROUNDER;
        whole[i] = shifted - ROUNDER;
        bits[i] = shifted.to_bits();
    }
    (whole, bits)
}

/// The nearest integers of numbers within `-128.5..127.5`, ties to even.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low byte is the number")]
#[expect(clippy::cast_possible_wrap, reason = "two's complement is meant")]
pub(super) fn to_bytes(x: &Lanes) -> [i8; LANES] {
    let (_, bits) = rounded(x);
    let mut out = [0; LANES];
    for i in 0..LANES {
        out[i] = bits[i].wrapping_sub(ROUNDER.to_bits()) as i8;
    }
    out
}

/// The exponential, within two units in the last place on `-87.3..=88.3`;
/// arguments outside are moved to the nearer end. Not a number stays what it is.
///
/// The polynomial is that of the Cephes library (`expf`).
#[inline(always)]
pub(super) fn exp(x: &Lanes) -> Lanes {
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    const COEFFICIENTS: [f32; 6] =
        [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5];
    let mut clamped = [0.0; LANES];
    let mut exponent = [0.0; LANES];
    for i in 0..LANES {
        let low = if x[i] < -87.3 { -87.3 } else { x[i] };
        clamped[i] = if low > 88.3 { 88.3 } else { low };
        exponent[i] = clamped[i] * LOG2_E;
    }
    let (whole, bits) = rounded(&exponent);
    let mut out = [0.0; LANES];
    for i in 0..LANES {
        let rest = whole[i].mul_add(-LN_2_HIGH, clamped[i]);
        let rest = whole[i].mul_add(-LN_2_LOW, rest);
        let mut value = COEFFICIENTS[0];
        for coefficient in &COEFFICIENTS[1..] {
            value = value.mul_add(rest, *coefficient);
        }
        let value = value.mul_add(rest * rest, rest) + 1.0;
        let power = f32::from_bits(bits[i].wrapping_add(127) << 23);
        out[i] = value * power;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_exponential_is_that_of_the_standard_library(x in -87.0f32..88.0) {
            let ours = exp(&[x; LANES])[3];
            let theirs = x.exp();
            prop_assert!((ours - theirs).abs() <= 3e-7 * theirs, "{x}: {ours} and {theirs}");
        }

        #[test]
        fn numbers_round_to_bytes_with_ties_to_even(x in -127.0f32..127.0) {
            prop_assert_eq!(f32::from(to_bytes(&[x; LANES])[0]), x.round_ties_even());
        }
    }

    #[test]
    fn the_exponential_of_no_number_is_none() {
        assert!(exp(&[f32::NAN; LANES])[0].is_nan());
        assert!(exp(&[f32::INFINITY; LANES])[0] > 1e38);
        assert!(exp(&[f32::NEG_INFINITY; LANES])[0] < 2e-38);
    }

    #[test]
    fn lanes_fold_to_their_sum_and_greatest() {
        let lanes: Lanes = std::array::from_fn(|i| i as f32);
        assert_eq!((sum(lanes), max(lanes)), (120.0, 15.0));
    }
}
