//! What happens to one row between the matrix products.

#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use super::simd::{LANES, Lanes, Simd, exp};

per_cpu! {
    /// `out = row / sqrt(mean(row^2) + epsilon) * weight` (Zhang and Sennrich 2019).
    pub(in crate::nn) fn rms_norm(
        row: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32],
    ) = rms_norm_any;
}

per_cpu! {
    /// `out = silu(gate) * up`, where `silu(x) = x / (1 + exp(-x))`.
    pub(in crate::nn) fn silu_product(gate: &[f32], up: &[f32], out: &mut [f32])
        = gated_product_any::<_, Silu>;
}

per_cpu! {
    /// `out = gelu(gate) * up`, where `gelu(x) = x / (1 + exp(-2 u))` and
    /// `u = sqrt(2 / pi) (x + 0.044715 x^3)`: another way to write
    /// `x (1 + tanh(u)) / 2`.
    pub(in crate::nn) fn gelu_product(gate: &[f32], up: &[f32], out: &mut [f32])
        = gated_product_any::<_, GeluTanh>;
}

per_cpu! {
    /// `out += terms`.
    pub(in crate::nn) fn add(out: &mut [f32], terms: &[f32]) = add_any;
}

per_cpu! {
    /// Turns scores into `exp(score - greatest)` and returns the sum of these, so
    /// that a caller may divide later. At least one score is needed.
    pub(in crate::nn) fn softmax(scores: &mut [f32]) -> f32 = softmax_any;
}

per_cpu! {
    /// Rotates the pairs `(x[2i], x[2i + 1])` of a head by the angles.
    pub(in crate::nn) fn rotate_pairs(head: &mut [f32], cosines: &[f32], sines: &[f32])
        = rotate_pairs_any;
}

per_cpu! {
    /// Rotates the pairs `(x[i], x[i + n / 2])` of a head of `n` by the angles.
    pub(in crate::nn) fn rotate_halves(head: &mut [f32], cosines: &[f32], sines: &[f32])
        = rotate_halves_any;
}

/// The last entries, fewer than sixteen, with zeros after them.
#[inline(always)]
fn padded(values: &[f32]) -> Lanes {
    let mut out = [0.0; LANES];
    for (out, value) in out.iter_mut().zip(values) {
        *out = *value;
    }
    out
}

#[inline(always)]
fn rms_norm_any<S: Simd>(simd: S, row: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    assert!(row.len() == weight.len() && row.len() == out.len(), "rows of different width");
    let (whole, rest) = row.as_chunks::<LANES>();
    let mut squares = simd.splat(0.0);
    for values in whole {
        let values = simd.load(values);
        squares = simd.fused(values, values, squares);
    }
    let last = simd.load(&padded(rest));
    squares = simd.fused(last, last, squares);
    let mean = simd.sum(squares) / row.len() as f32;
    let factor = simd.splat(1.0 / (mean + epsilon).sqrt());
    let (whole_weights, weights) = weight.as_chunks::<LANES>();
    let (whole_out, out) = out.as_chunks_mut::<LANES>();
    for ((values, weights), out) in whole.iter().zip(whole_weights).zip(whole_out) {
        let scaled = simd.mul(simd.load(values), factor);
        *out = simd.store(simd.mul(scaled, simd.load(weights)));
    }
    let weights = simd.load(&padded(weights));
    let last = simd.store(simd.mul(simd.mul(last, factor), weights));
    out.copy_from_slice(&last[..out.len()]);
}

/// A function `x / (1 + exp(-exponent(x)))`.
trait Gate {
    fn exponent<S: Simd>(simd: S, x: S::Lanes) -> S::Lanes;
}

/// `exponent(x) = x`.
struct Silu;

impl Gate for Silu {
    #[inline(always)]
    fn exponent<S: Simd>(_simd: S, x: S::Lanes) -> S::Lanes {
        x
    }
}

/// `exponent(x) = 2 sqrt(2 / pi) (x + 0.044715 x^3)`.
struct GeluTanh;

impl Gate for GeluTanh {
    #[inline(always)]
    fn exponent<S: Simd>(simd: S, x: S::Lanes) -> S::Lanes {
        let (linear, cubic) = (simd.splat(1.595_769_2), simd.splat(0.071_354_814));
        simd.mul(x, simd.fused(simd.mul(x, x), cubic, linear))
    }
}

#[inline(always)]
fn gated_product_any<S: Simd, G: Gate>(simd: S, gate: &[f32], up: &[f32], out: &mut [f32]) {
    assert!(gate.len() == up.len() && gate.len() == out.len(), "rows of different width");
    let (gates, gate) = gate.as_chunks::<LANES>();
    let (ups, up) = up.as_chunks::<LANES>();
    let (outs, out) = out.as_chunks_mut::<LANES>();
    for ((gate, up), out) in gates.iter().zip(ups).zip(outs) {
        *out = gated_product_lanes::<S, G>(simd, gate, up);
    }
    let last = gated_product_lanes::<S, G>(simd, &padded(gate), &padded(up));
    out.copy_from_slice(&last[..out.len()]);
}

#[inline(always)]
fn gated_product_lanes<S: Simd, G: Gate>(simd: S, gate: &Lanes, up: &Lanes) -> Lanes {
    let (gate, up) = (simd.load(gate), simd.load(up));
    let exponential = exp(simd, simd.sub(simd.splat(0.0), G::exponent(simd, gate)));
    let divisor = simd.add(exponential, simd.splat(1.0));
    simd.store(simd.div(simd.mul(gate, up), divisor))
}

#[inline(always)]
fn add_any<S: Simd>(simd: S, out: &mut [f32], terms: &[f32]) {
    assert_eq!(out.len(), terms.len(), "rows of different width");
    let (outs, out) = out.as_chunks_mut::<LANES>();
    let (whole, rest) = terms.as_chunks::<LANES>();
    for (out, terms) in outs.iter_mut().zip(whole) {
        *out = simd.store(simd.add(simd.load(out), simd.load(terms)));
    }
    for (out, term) in out.iter_mut().zip(rest) {
        *out += term;
    }
}

#[inline(always)]
fn softmax_any<S: Simd>(simd: S, scores: &mut [f32]) -> f32 {
    let (whole, rest) = scores.as_chunks_mut::<LANES>();
    let mut greatest = simd.splat(f32::NEG_INFINITY);
    for values in whole.iter() {
        greatest = simd.greater(simd.load(values), greatest);
    }
    let mut greatest = simd.max(greatest);
    for value in rest.iter() {
        greatest = if *value > greatest { *value } else { greatest };
    }
    let greatest = simd.splat(greatest);
    let mut sums = simd.splat(0.0);
    for values in whole {
        let weights = exp(simd, simd.sub(simd.load(values), greatest));
        sums = simd.add(sums, weights);
        *values = simd.store(weights);
    }
    let weights = simd.store(exp(simd, simd.sub(simd.load(&padded(rest)), greatest)));
    rest.copy_from_slice(&weights[..rest.len()]);
    simd.sum(simd.add(sums, simd.load(&padded(rest))))
}

#[inline(always)]
fn rotate_pairs_any<S: Simd>(_simd: S, head: &mut [f32], cosines: &[f32], sines: &[f32]) {
    let (pairs, _) = head.as_chunks_mut::<2>();
    for (pair, (cosine, sine)) in pairs.iter_mut().zip(cosines.iter().zip(sines)) {
        let [a, b] = *pair;
        *pair = [a * cosine - b * sine, a * sine + b * cosine];
    }
}

#[inline(always)]
fn rotate_halves_any<S: Simd>(_simd: S, head: &mut [f32], cosines: &[f32], sines: &[f32]) {
    let middle = head.len() / 2;
    let (low, high) = head.split_at_mut(middle);
    let angles = cosines.iter().zip(sines);
    for ((a, b), (cosine, sine)) in low.iter_mut().zip(high).zip(angles) {
        (*a, *b) = (*a * cosine - *b * sine, *a * sine + *b * cosine);
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "all levels give the same bits")]
mod tests {
    use super::*;
    use crate::nn::kernels::{Cpu, CpuLevel};
    use proptest::prelude::*;

    /// Every level that this machine has.
    fn cpus() -> impl Iterator<Item = Cpu> {
        CpuLevel::ALL.into_iter().filter_map(|level| Cpu::with_level(level).ok())
    }

    fn row(width: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f32>> {
        proptest::collection::vec(-8.0f32..8.0, width)
    }

    /// The results of all levels are the same, and each is near the expected ones.
    fn check(results: &[Vec<f32>], expected: &[f64]) {
        for result in results {
            assert_eq!(result, &results[0]);
        }
        for (ours, expected) in results[0].iter().zip(expected) {
            let error = (f64::from(*ours) - expected).abs();
            assert!(error <= 1e-5 * expected.abs().max(0.1), "{ours} and {expected}");
        }
    }

    proptest! {
        #[test]
        fn a_normed_row_has_a_mean_square_of_one(row in row(1..70)) {
            let weight: Vec<f32> = (0..row.len()).map(|i| 0.5 + i as f32 / 64.0).collect();
            let results: Vec<Vec<f32>> = cpus()
                .map(|cpu| {
                    let mut out = vec![0.0; row.len()];
                    rms_norm(cpu, &row, &weight, 1e-5, &mut out);
                    out
                })
                .collect();
            let squares: f64 = row.iter().map(|&x| f64::from(x).powi(2)).sum();
            let factor = (squares / row.len() as f64 + 1e-5).sqrt();
            let expected: Vec<f64> =
                row.iter().zip(&weight).map(|(&x, &w)| f64::from(x) / factor * f64::from(w)).collect();
            check(&results, &expected);
        }

        #[test]
        fn a_row_gated_by_gelu_is_as_defined(gate in row(1..70)) {
            let up: Vec<f32> = gate.iter().rev().map(|x| x + 1.0).collect();
            let results: Vec<Vec<f32>> = cpus()
                .map(|cpu| {
                    let mut out = vec![0.0; gate.len()];
                    gelu_product(cpu, &gate, &up, &mut out);
                    out
                })
                .collect();
            let gelu = |x: f64| {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
                0.5 * x * (1.0 + inner.tanh())
            };
            let expected: Vec<f64> =
                gate.iter().zip(&up).map(|(&g, &u)| gelu(f64::from(g)) * f64::from(u)).collect();
            check(&results, &expected);
        }

        #[test]
        fn a_gated_row_is_as_defined(gate in row(1..70)) {
            let up: Vec<f32> = gate.iter().rev().map(|x| x + 1.0).collect();
            let results: Vec<Vec<f32>> = cpus()
                .map(|cpu| {
                    let mut out = vec![0.0; gate.len()];
                    silu_product(cpu, &gate, &up, &mut out);
                    out
                })
                .collect();
            let expected: Vec<f64> = gate
                .iter()
                .zip(&up)
                .map(|(&g, &u)| f64::from(g) / (1.0 + (-f64::from(g)).exp()) * f64::from(u))
                .collect();
            check(&results, &expected);
        }

        #[test]
        fn weights_are_the_exponentials_of_scores_below_the_greatest(scores in row(1..70)) {
            let results: Vec<Vec<f32>> = cpus()
                .map(|cpu| {
                    let mut out = scores.clone();
                    let sum = softmax(cpu, &mut out);
                    out.push(sum);
                    out
                })
                .collect();
            let greatest = scores.iter().copied().fold(f32::MIN, f32::max);
            let mut expected: Vec<f64> =
                scores.iter().map(|&x| f64::from(x - greatest).exp()).collect();
            expected.push(expected.iter().sum());
            check(&results, &expected);
        }

        #[test]
        fn a_rotation_keeps_the_length_and_both_styles_agree(head in proptest::array::uniform8(-3.0f32..3.0)) {
            let angles: Vec<f32> = (0..4).map(|i| i as f32 + 0.3).collect();
            let cosines: Vec<f32> = angles.iter().map(|x| x.cos()).collect();
            let sines: Vec<f32> = angles.iter().map(|x| x.sin()).collect();
            let halves_of_pairs = [0, 2, 4, 6, 1, 3, 5, 7];
            for cpu in cpus() {
                let mut pairs = head;
                rotate_pairs(cpu, &mut pairs, &cosines, &sines);
                let mut halves = halves_of_pairs.map(|i| head[i]);
                rotate_halves(cpu, &mut halves, &cosines, &sines);
                prop_assert_eq!(halves, halves_of_pairs.map(|i| pairs[i]));
                let length = |x: &[f32]| x.iter().map(|x| x * x).sum::<f32>();
                prop_assert!((length(&pairs) - length(&head)).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn a_score_far_below_the_greatest_weighs_nothing_that_shows() {
        let mut scores = [-1e4, 0.0, f32::NEG_INFINITY];
        let sum = softmax(Cpu::detect(), &mut scores);
        assert!((sum - 1.0).abs() < 1e-6 && scores[0] < 1e-37 && scores[2] < 1e-37);
    }
}
