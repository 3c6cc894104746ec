//! The normal distribution.

/// The probability that a standard normal variable is at most `z`: half of erfc(-z/√2), by
/// the series of erf near zero and the continued fraction of erfc farther out (Abramowitz &
/// Stegun 1964, 7.1.6 and 7.1.14). Good to about 14 digits, in the lower tail too.
pub fn normal_cdf(z: f64) -> f64 {
    if z.is_nan() {
        return f64::NAN;
    }
    let x = z.abs() / std::f64::consts::SQRT_2;
    let tail = if x < 2.0 { 0.5 - 0.5 * erf(x) } else { 0.5 * erfc(x) };
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// The z that a standard normal variable stays below with `probability`, found by halving an
/// interval. `None` unless it lies between zero and one, both left out.
pub fn normal_quantile(probability: f64) -> Option<f64> {
    if !(0.0 < probability && probability < 1.0) {
        return None;
    }
    // In the upper half one less the probability has more digits.
    if 0.5 < probability {
        return normal_quantile(1.0 - probability).map(|z| -z);
    }
    let (mut low, mut high) = (-40.0, 0.0);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || high <= middle {
            return Some(middle);
        }
        if normal_cdf(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// erf by its series, for x below 2.
fn erf(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..200 {
        let n = f64::from(n);
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
        if term < 1e-18 * sum {
            break;
        }
    }
    2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp() * sum
}

/// erfc by its continued fraction, for x from 2 on.
fn erfc(x: f64) -> f64 {
    let mut fraction = x;
    for n in (1..200).rev() {
        fraction = x + f64::from(n) / 2.0 / fraction;
    }
    (-x * x).exp() / (std::f64::consts::PI.sqrt() * fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_where_the_distribution_says() {
        for probability in [1e-12, 0.001, 0.025, 0.3, 0.5, 0.84, 0.975] {
            let z = normal_quantile(probability).unwrap();
            assert!((normal_cdf(z) / probability - 1.0).abs() < 1e-12, "{probability}");
        }
        assert!((normal_quantile(0.975).unwrap() - 1.959_963_984_540_054).abs() < 1e-12);
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (None, None));
        // The two ways meet.
        let [below, above] = [1.999_999_9, 2.000_000_1].map(|x| normal_cdf(-x * 2.0_f64.sqrt()));
        assert!((below / above - 1.0).abs() < 1e-5);
    }
}
