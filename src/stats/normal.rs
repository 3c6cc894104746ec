//! The normal distribution.

use std::f64::consts::TAU;

/// From here on the continued fraction of the tail is taken.
const TAIL: f64 = 2.5;

/// The probability that a standard normal variable is at most `z`: near the middle by the
/// power series of the integral over the density, further out by Laplace's continued
/// fraction of the tail (Abramowitz and Stegun 1964, 26.2.11 and 26.2.14). Good to about
/// 15 digits, and to about 13 digits of itself far below zero. Not a number only of what
/// is none.
pub fn normal_cdf(z: f64) -> f64 {
    if z.is_nan() {
        return z;
    }
    if z.abs() < TAIL {
        return 0.5 + density(z) * series(z);
    }
    let tail = tail(z.abs());
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// What a standard normal variable stays below with `probability`, found by halving an
/// interval. `None` unless that lies between zero and one, both left out.
pub fn normal_quantile(probability: f64) -> Option<f64> {
    if !(0.0 < probability && probability < 1.0) {
        return None;
    }
    // Below the middle no digit of the probability is lost.
    if 0.5 < probability {
        return normal_quantile(1.0 - probability).map(|z| -z);
    }
    let (mut low, mut high) = (-40.0, 0.0);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || high <= middle {
            return Some(high);
        }
        if normal_cdf(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
}

fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / TAU.sqrt()
}

/// z + z³/3 + z⁵/(3·5) + …
fn series(z: f64) -> f64 {
    let (mut sum, mut term, mut odd) = (z, z, 1.0);
    while f64::EPSILON * 1e-2 * sum.abs() < term.abs() {
        odd += 2.0;
        term *= z * z / odd;
        sum += term;
    }
    sum
}

/// The probability above z: φ(z)/(z + 1/(z + 2/(z + …))), from its far end on.
fn tail(z: f64) -> f64 {
    if z.is_infinite() {
        return 0.0;
    }
    density(z) / (1..=200_u8).rev().fold(z, |below, step| z + f64::from(step) / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_and_fraction_meet() {
        let by_series = 0.5 - density(TAIL) * series(TAIL);
        assert!((by_series - tail(TAIL)).abs() < 1e-16, "{by_series} {}", tail(TAIL));
    }

    #[test]
    fn both_sides_mirror_and_the_ends_are_none() {
        for z in [0.0, 0.3, 1.0, 2.4, 2.6, 5.0, f64::INFINITY] {
            assert!((normal_cdf(z) + normal_cdf(-z) - 1.0).abs() < 1e-15);
        }
        assert!(normal_quantile(0.5).unwrap().abs() < 1e-15);
        for none in [0.0, 1.0, -0.1, f64::NAN] {
            assert_eq!(normal_quantile(none), None);
        }
        assert!(normal_cdf(f64::NAN).is_nan());
    }
}
