//! Student's t distribution.

/// The probability that Student's t with `degrees` of freedom is at most `t`: by the
/// regularised incomplete beta function `I_x(degrees/2, 1/2)` with x =
/// degrees/(degrees + t²), the continued fraction of which is taken as Lentz does. Good to about 12 digits.
/// `None` unless `degrees` is above zero and `t` is a number.
pub fn student_cdf(t: f64, degrees: f64) -> Option<f64> {
    if t.is_nan() || !(0.0 < degrees && degrees.is_finite()) {
        return None;
    }
    if t * t < degrees {
        // Near the middle the other end of the fraction is taken, so that no digit is lost.
        let half = 0.5 * incomplete_beta(0.5, degrees / 2.0, t * t / (degrees + t * t));
        return Some(0.5 + half.copysign(t));
    }
    let tail = 0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t));
    Some(if t < 0.0 { tail } else { 1.0 - tail })
}

/// The t that Student's t with `degrees` of freedom stays below with `probability`, found
/// by halving an interval. `None` unless `degrees` is above zero and `probability` lies
/// between zero and one, both left out.
pub fn student_quantile(probability: f64, degrees: f64) -> Option<f64> {
    if !(0.0 < probability && probability < 1.0) {
        return None;
    }
    let (mut low, mut high) = (-1.0, 1.0);
    while probability < student_cdf(low, degrees)? && low > f64::MIN / 4.0 {
        low *= 2.0;
    }
    while student_cdf(high, degrees)? < probability && high < f64::MAX / 4.0 {
        high *= 2.0;
    }
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || high <= middle {
            return Some(middle);
        }
        if student_cdf(middle, degrees)? < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// `I_x(a, b)`.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if 1.0 <= x {
        return 1.0;
    }
    let front =
        (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(a, b, x) / a
    } else {
        1.0 - front * continued_fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function.
#[expect(clippy::many_single_char_names, reason = "the names that the formula has")]
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let safe = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / safe(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        for step in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / safe(1.0 + step * d);
            c = safe(1.0 + step / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

/// The logarithm of the gamma function above zero (Lanczos, g = 7, nine terms).
fn log_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let mut sum = 0.999_999_999_999_809_9;
    for (at, term) in (1_u8..).zip(TERMS) {
        sum += term / (x + f64::from(at));
    }
    let t = x + 7.5;
    0.5 * std::f64::consts::TAU.ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_where_the_distribution_says() {
        for degrees in [1.0, 2.0, 12.0, 120.0] {
            for probability in [0.001, 0.025, 0.5, 0.975] {
                let t = student_quantile(probability, degrees).unwrap();
                assert!((student_cdf(t, degrees).unwrap() - probability).abs() < 1e-12);
            }
        }
        assert_eq!(student_quantile(1.0, 3.0), None);
        assert_eq!(student_cdf(1.0, 0.0), None);
    }
}
