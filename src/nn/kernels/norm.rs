//! What encoders do to one row between the matrix products.

#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use super::simd::{LANES, Lanes, Simd, exp};

per_cpu! {
    /// `out = (row - mean) / sqrt(variance + epsilon) * weight + bias`
    /// (Ba, Kiros and Hinton 2016).
    ///
    /// # Panics
    ///
    /// If the rows differ in width.
    pub(in crate::nn) fn layer_norm(
        row: &[f32], weight: &[f32], bias: &[f32], epsilon: f32, out: &mut [f32],
    ) = layer_norm_any;
}

per_cpu! {
    /// `x = x * (1 + erf(x / sqrt(2))) / 2` for each number of a row (Hendrycks and
    /// Gimpel 2016), within `3e-7 * max(1, |x|)`.
    pub(in crate::nn) fn gelu(row: &mut [f32]) = gelu_any;
}

per_cpu! {
    /// The slope of [`gelu`]: `(1 + erf(x / sqrt(2))) / 2 + x * exp(-x^2 / 2) / sqrt(2 * pi)`
    /// for each number of a row.
    pub(in crate::nn) fn gelu_slope(row: &mut [f32]) = gelu_slope_any;
}

per_cpu! {
    /// [`gelu`] by its approximation with a hyperbolic tangent:
    /// `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2`.
    pub(in crate::nn) fn gelu_tanh(row: &mut [f32]) = gelu_tanh_any;
}

/// The last entries, fewer than sixteen, with zeros after them.
#[inline(always)]
fn padded(values: &[f32]) -> Lanes {
    let mut out = [0.0; LANES];
    out[..values.len()].copy_from_slice(values);
    out
}

#[inline(always)]
fn layer_norm_any<S: Simd>(
    simd: S,
    row: &[f32],
    weight: &[f32],
    bias: &[f32],
    epsilon: f32,
    out: &mut [f32],
) {
    let width = row.len();
    assert!(
        weight.len() == width && bias.len() == width && out.len() == width,
        "rows of different width"
    );
    let (whole, rest) = row.as_chunks::<LANES>();
    let mut sums = simd.splat(0.0);
    for values in whole {
        sums = simd.add(sums, simd.load(values));
    }
    let mean = simd.sum(simd.add(sums, simd.load(&padded(rest)))) / width as f32;
    let means = simd.splat(mean);
    let mut squares = simd.splat(0.0);
    for values in whole {
        let apart = simd.sub(simd.load(values), means);
        squares = simd.fused(apart, apart, squares);
    }
    // Lanes beyond the row are at the mean, and add nothing.
    let mut last = [mean; LANES];
    last[..rest.len()].copy_from_slice(rest);
    let apart = simd.sub(simd.load(&last), means);
    squares = simd.fused(apart, apart, squares);
    let variance = simd.sum(squares) / width as f32;
    let factor = simd.splat(1.0 / (variance + epsilon).sqrt());
    let (weights, weight) = weight.as_chunks::<LANES>();
    let (biases, bias) = bias.as_chunks::<LANES>();
    let (outs, out) = out.as_chunks_mut::<LANES>();
    for (((values, weight), bias), out) in whole.iter().zip(weights).zip(biases).zip(outs) {
        *out = normed(simd, values, (means, factor), weight, bias);
    }
    let last = normed(simd, &last, (means, factor), &padded(weight), &padded(bias));
    out.copy_from_slice(&last[..out.len()]);
}

// A closure would be compiled without its caller's instructions: hence functions.

#[inline(always)]
fn normed<S: Simd>(
    simd: S,
    values: &Lanes,
    (means, factor): (S::Lanes, S::Lanes),
    weight: &Lanes,
    bias: &Lanes,
) -> Lanes {
    let scaled = simd.mul(simd.sub(simd.load(values), means), factor);
    simd.store(simd.fused(scaled, simd.load(weight), simd.load(bias)))
}

#[inline(always)]
fn gelu_any<S: Simd>(simd: S, row: &mut [f32]) {
    let (whole, rest) = row.as_chunks_mut::<LANES>();
    for values in whole {
        *values = gelu_lanes(simd, values);
    }
    let last = gelu_lanes(simd, &padded(rest));
    rest.copy_from_slice(&last[..rest.len()]);
}

#[inline(always)]
fn gelu_lanes<S: Simd>(simd: S, values: &Lanes) -> Lanes {
    let x = simd.load(values);
    let error = erf(simd, simd.mul(x, simd.splat(std::f32::consts::FRAC_1_SQRT_2)));
    let half = simd.mul(x, simd.splat(0.5));
    simd.store(simd.fused(half, error, half))
}

#[inline(always)]
fn gelu_slope_any<S: Simd>(simd: S, row: &mut [f32]) {
    let (whole, rest) = row.as_chunks_mut::<LANES>();
    for values in whole {
        *values = gelu_slope_lanes(simd, values);
    }
    let last = gelu_slope_lanes(simd, &padded(rest));
    rest.copy_from_slice(&last[..rest.len()]);
}

#[inline(always)]
fn gelu_slope_lanes<S: Simd>(simd: S, values: &Lanes) -> Lanes {
    // One by the square root of two pi.
    const FACTOR: f32 = 0.398_942_3;
    let x = simd.load(values);
    let half = simd.splat(0.5);
    let error = erf(simd, simd.mul(x, simd.splat(std::f32::consts::FRAC_1_SQRT_2)));
    let density = exp(simd, simd.mul(simd.mul(x, x), simd.splat(-0.5)));
    let below = simd.fused(half, error, half);
    simd.store(simd.fused(simd.mul(x, simd.splat(FACTOR)), density, below))
}

#[inline(always)]
fn gelu_tanh_any<S: Simd>(simd: S, row: &mut [f32]) {
    let (whole, rest) = row.as_chunks_mut::<LANES>();
    for values in whole {
        *values = gelu_tanh_lanes(simd, values);
    }
    let last = gelu_tanh_lanes(simd, &padded(rest));
    rest.copy_from_slice(&last[..rest.len()]);
}

/// As `x * (1 + tanh(y)) / 2 = x / (1 + exp(-2 * y))`.
#[inline(always)]
fn gelu_tanh_lanes<S: Simd>(simd: S, values: &Lanes) -> Lanes {
    let x = simd.load(values);
    let square = simd.mul(x, x);
    let inner = simd.fused(square, simd.splat(0.044_715), simd.splat(1.0));
    let scaled = simd.mul(x, simd.splat(-1.595_769));
    let divisor = simd.add(exp(simd, simd.mul(scaled, inner)), simd.splat(1.0));
    simd.store(simd.div(x, divisor))
}

/// The error function, within four units in the last place: the quotient of two
/// polynomials that the Eigen library uses (`generic_fast_erf`), exact to single
/// precision up to 3.83, where the function is one but for the last bit.
#[inline(always)]
fn erf<S: Simd>(simd: S, x: S::Lanes) -> S::Lanes {
    const ABOVE: [f32; 7] = [
        -2.726_142_3e-10,
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_3e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const BELOW: [f32; 5] =
        [-1.456_607_2e-5, -2.133_740_5e-4, -1.682_827e-3, -7.373_329e-3, -1.426_474e-2];
    const END: f32 = 3.832_507;
    let x = simd.greater(simd.splat(-END), x);
    let x = simd.lesser(simd.splat(END), x);
    let square = simd.mul(x, x);
    simd.div(simd.mul(x, polynomial(simd, square, &ABOVE)), polynomial(simd, square, &BELOW))
}

#[inline(always)]
fn polynomial<S: Simd>(simd: S, x: S::Lanes, coefficients: &[f32]) -> S::Lanes {
    let mut value = simd.splat(coefficients[0]);
    for coefficient in &coefficients[1..] {
        value = simd.fused(value, x, simd.splat(*coefficient));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::kernels::{Cpu, CpuLevel};
    use proptest::prelude::*;

    /// What every level of this machine makes of a row; all the same.
    fn on_all_levels(row: &[f32], work: impl Fn(Cpu, &mut [f32])) -> Vec<f32> {
        let mut results = CpuLevel::ALL.into_iter().filter_map(|level| {
            let mut row = row.to_vec();
            work(Cpu::with_level(level).ok()?, &mut row);
            Some(row)
        });
        let first = results.next().unwrap();
        for other in results {
            let bits = |row: &[f32]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&other), bits(&first));
        }
        first
    }

    /// The error function by its Maclaurin series, in double precision.
    fn true_erf(x: f64) -> f64 {
        if x.abs() > 5.0 {
            return x.signum();
        }
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    }

    #[test]
    fn the_gelu_is_the_exact_one_to_single_precision() {
        let row: Vec<f32> = (-12_000..=12_003).map(|i| i as f32 / 1000.0).collect();
        let ours = on_all_levels(&row, gelu);
        for (&x, &ours) in row.iter().zip(&ours) {
            let x = f64::from(x);
            let expected = x * (1.0 + true_erf(x / 2.0_f64.sqrt())) / 2.0;
            let error = (f64::from(ours) - expected).abs();
            assert!(error <= 3e-7 * x.abs().max(1.0), "{x}: {ours} and {expected}");
        }
    }

    #[test]
    fn the_slope_of_the_gelu_is_what_its_values_rise_by() {
        let row: Vec<f32> = (-6_000..=6_003).map(|i| i as f32 / 1000.0).collect();
        let ours = on_all_levels(&row, gelu_slope);
        let exact = |x: f64| x * (1.0 + true_erf(x / 2.0_f64.sqrt())) / 2.0;
        for (&x, &ours) in row.iter().zip(&ours) {
            let x = f64::from(x);
            // Further out the series of `true_erf` has too few digits for a difference.
            let expected = if x.abs() < 3.0 {
                (exact(x + 1e-5) - exact(x - 1e-5)) / 2e-5
            } else {
                let density = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
                f64::midpoint(1.0, true_erf(x / 2.0_f64.sqrt())) + x * density
            };
            assert!((f64::from(ours) - expected).abs() < 1e-6, "{x}: {ours} and {expected}");
        }
    }

    #[test]
    fn the_approximate_gelu_is_as_defined() {
        let row: Vec<f32> = (-12_000..=12_003).map(|i| i as f32 / 1000.0).collect();
        let ours = on_all_levels(&row, gelu_tanh);
        for (&x, &ours) in row.iter().zip(&ours) {
            let x = f64::from(x);
            let inner = std::f64::consts::FRAC_2_PI.sqrt() * (x + 0.044_715 * x.powi(3));
            let expected = x * (1.0 + inner.tanh()) / 2.0;
            let error = (f64::from(ours) - expected).abs();
            assert!(error <= 1e-6 * x.abs().max(1.0), "{x}: {ours} and {expected}");
        }
    }

    #[test]
    fn what_is_no_number_stays_none() {
        for work in [gelu, gelu_tanh] {
            assert!(on_all_levels(&[1.0, f32::NAN], work)[1].is_nan());
        }
    }

    proptest! {
        #[test]
        fn a_normed_row_has_mean_and_variance_as_asked(
            row in proptest::collection::vec(-8.0f32..8.0, 2..70), shift in -50.0f32..50.0
        ) {
            let row: Vec<f32> = row.iter().map(|x| x + shift).collect();
            let width = row.len() as f64;
            let weight: Vec<f32> = (0..row.len()).map(|i| 0.5 + i as f32 / 64.0).collect();
            let bias: Vec<f32> = (0..row.len()).map(|i| i as f32 / 16.0 - 2.0).collect();
            let ours = on_all_levels(&row, |cpu, row| {
                let before = row.to_vec();
                layer_norm(cpu, &before, &weight, &bias, 1e-3, row);
            });
            let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / width;
            let squares = row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>();
            let deviation = (squares / width + 1e-3).sqrt();
            for (index, ours) in ours.iter().enumerate() {
                let scaled = (f64::from(row[index]) - mean) / deviation;
                let expected = scaled * f64::from(weight[index]) + f64::from(bias[index]);
                prop_assert!((f64::from(*ours) - expected).abs() < 1e-3, "{ours} {expected}");
            }
        }
    }
}
