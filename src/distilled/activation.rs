//! What the heads do between their layers.

/// `x * (1 + erf(x / sqrt(2))) / 2`, with the error function to within 1.5e-7
/// (Abramowitz and Stegun 1964, 7.1.26).
pub fn gelu(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / 0.327_591_1_f64.mul_add(z, 1.0);
    let polynomial = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592]
        .iter()
        .fold(0.0, |sum: f64, coefficient| sum.mul_add(t, *coefficient));
    x * (1.0 + (1.0 - polynomial * t * (-z * z).exp()).copysign(x)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gelu_is_the_exact_one() {
        // From scipy 1.15: x * scipy.stats.norm.cdf(x).
        let expected = [(-3.0, -0.004_049_695), (-0.5, -0.154_268_77), (1.0, 0.841_344_75)];
        for (x, value) in expected {
            assert!((gelu(x) - value).abs() < 1e-6, "{x}: {}", gelu(x));
        }
        assert!(gelu(f64::NAN).is_nan());
    }
}
