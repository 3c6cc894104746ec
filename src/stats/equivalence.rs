//! Whether a difference is too small to matter, and which ones could have been seen.

use super::clusters::is_share;
use super::{Interval, RatioEstimate, student_cdf, student_quantile};

/// What two one-sided tests say.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalence {
    /// The larger of the two p-values.
    pub p_value: f64,
    /// The interval that holds a share of 1−2α: within the margins where equivalent.
    pub interval: Interval,
    /// Whether the p-value is at most α.
    pub is_equivalent: bool,
}

/// Two one-sided tests (Schuirmann 1987) of a difference lying outside −`margin` to
/// `margin`. Without a standard error the difference is taken as it stands.
///
/// `None` unless the margin is above zero and finite, `alpha` lies between zero and a
/// half, and the estimate is one.
pub fn equivalence(estimate: &RatioEstimate, margin: f64, alpha: f64) -> Option<Equivalence> {
    let RatioEstimate { estimate, standard_error, degrees, .. } = *estimate;
    let is_sound = estimate.is_finite() && 0.0 <= standard_error && standard_error.is_finite();
    if !(is_sound && 0.0 < margin && margin.is_finite() && 0.0 < alpha && alpha < 0.5) {
        return None;
    }
    let nearer = margin - estimate.abs();
    let p_value = if 0.0 < standard_error {
        student_cdf(-nearer / standard_error, degrees)?
    } else {
        f64::from(u8::from(nearer <= 0.0))
    };
    let half = student_quantile(1.0 - alpha, degrees)? * standard_error;
    let interval = Interval { low: estimate - half, high: estimate + half };
    Some(Equivalence { p_value, interval, is_equivalent: p_value <= alpha })
}

/// The smallest true difference that a two-sided test at `alpha` finds with a probability
/// of `power`: (t of 1 − α/2, plus t of the power) standard errors (Bloom 1995).
///
/// `None` unless the standard error is at least zero and finite, the degrees of freedom are
/// above zero, and the power lies between half of `alpha` and one.
pub fn minimum_detectable_difference(
    standard_error: f64,
    degrees: f64,
    alpha: f64,
    power: f64,
) -> Option<f64> {
    let is_sound = 0.0 <= standard_error && is_share(alpha) && alpha / 2.0 < power;
    if !is_sound {
        return None;
    }
    let beyond = student_quantile(1.0 - alpha / 2.0, degrees)? + student_quantile(power, degrees)?;
    Some(beyond * standard_error).filter(|difference| difference.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(estimate: f64, standard_error: f64) -> RatioEstimate {
        let interval = Interval { low: 0.0, high: 0.0 };
        RatioEstimate { estimate, standard_error, degrees: 20.0, interval }
    }

    #[test]
    fn equivalent_is_what_has_its_interval_within_the_margins() {
        for at in -40..=40_i8 {
            let found = equivalence(&estimate(f64::from(at) / 200.0, 0.03), 0.1, 0.05).unwrap();
            let is_within = -0.1 < found.interval.low && found.interval.high < 0.1;
            assert_eq!(found.is_equivalent, is_within, "{at}");
            let mirrored = equivalence(&estimate(f64::from(-at) / 200.0, 0.03), 0.1, 0.05).unwrap();
            assert_eq!(found.p_value.to_bits(), mirrored.p_value.to_bits());
        }
    }

    #[test]
    fn without_an_error_the_difference_is_as_it_stands() {
        let is_equivalent = |at| equivalence(&estimate(at, 0.0), 0.1, 0.05).unwrap().is_equivalent;
        assert!(is_equivalent(0.05));
        assert!(!is_equivalent(0.1) && !is_equivalent(-0.2));
    }

    #[test]
    fn what_has_no_answer_has_none() {
        let good = estimate(0.0, 0.1);
        for (margin, alpha) in [(0.0, 0.05), (-1.0, 0.05), (f64::NAN, 0.05), (0.1, 0.5), (0.1, 0.0)]
        {
            assert_eq!(equivalence(&good, margin, alpha), None);
        }
        assert_eq!(equivalence(&estimate(f64::NAN, 0.1), 0.1, 0.05), None);
        assert_eq!(equivalence(&estimate(0.0, f64::NAN), 0.1, 0.05), None);
        assert_eq!(equivalence(&RatioEstimate { degrees: 0.0, ..good }, 0.1, 0.05), None);
        for (error, degrees, alpha, power) in [
            (-1.0, 9.0, 0.05, 0.8),
            (f64::INFINITY, 9.0, 0.05, 0.8),
            (1.0, 0.0, 0.05, 0.8),
            (1.0, 9.0, 1.0, 0.8),
            (1.0, 9.0, 0.05, 1.0),
            (1.0, 9.0, 0.05, 0.02),
        ] {
            assert_eq!(minimum_detectable_difference(error, degrees, alpha, power), None);
        }
    }
}
