//! Equivalence, and the difference that would have been found.

use serde::Serialize;

use super::{Interval, RatioEstimate, student_cdf, student_quantile};

/// Whether a difference lies within a margin on either side of zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Equivalence {
    /// The larger of the two one-sided p-values.
    pub p_value: f64,
    /// The difference's interval that holds 1 - 2 alpha: equivalence is shown where it lies
    /// within the margin.
    pub interval: Interval,
    /// Whether equivalence is shown.
    pub is_equivalent: bool,
}

/// Two one-sided t tests (Schuirmann 1987): that the difference is not at or below -margin,
/// and not at or above margin. `None` unless the margin is above zero, alpha lies between 0
/// and 0.5, and there is an error.
pub fn equivalence(estimate: &RatioEstimate, margin: f64, alpha: f64) -> Option<Equivalence> {
    let RatioEstimate { estimate: difference, standard_error, degrees, .. } = *estimate;
    if !(0.0 < margin && margin.is_finite() && 0.0 < alpha && alpha < 0.5) {
        return None;
    }
    let half = student_quantile(1.0 - alpha, degrees)? * standard_error;
    let interval = Interval { low: difference - half, high: difference + half };
    let p_value = if standard_error == 0.0 {
        // Without an error the difference is what it is.
        if difference.abs() < margin { 0.0 } else { 1.0 }
    } else {
        let above = 1.0 - student_cdf((difference + margin) / standard_error, degrees)?;
        let below = student_cdf((difference - margin) / standard_error, degrees)?;
        above.max(below)
    };
    Some(Equivalence { p_value, interval, is_equivalent: p_value < alpha })
}

/// The least difference that a two-sided t test at `alpha` finds with `power`: (t at 1 -
/// alpha/2 plus t at the power) standard errors (Bloom 1995). `None` where one of them is no
/// share or the error is not above zero.
pub fn minimum_detectable_difference(
    standard_error: f64,
    degrees: f64,
    alpha: f64,
    power: f64,
) -> Option<f64> {
    let multiple =
        student_quantile(1.0 - alpha / 2.0, degrees)? + student_quantile(power, degrees)?;
    (0.0 < standard_error && standard_error.is_finite()).then_some(multiple * standard_error)
}
