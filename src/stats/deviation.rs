//! How far values lie from those they should be.

use super::{assert_paired, correlation::is_constant, mean};

/// The mean of |value - gold|. `None` of no pair.
///
/// # Panics
///
/// If the sides differ in number.
pub fn mean_absolute_error(values: &[f64], gold: &[f64]) -> Option<f64> {
    assert_paired(values, gold);
    let errors: Vec<f64> =
        values.iter().zip(gold).map(|(value, gold)| (value - gold).abs()).collect();
    mean(&errors)
}

/// The mean of value - gold: above zero where values are too high. `None` of no pair.
///
/// # Panics
///
/// If the sides differ in number.
pub fn bias(values: &[f64], gold: &[f64]) -> Option<f64> {
    assert_paired(values, gold);
    let errors: Vec<f64> = values.iter().zip(gold).map(|(value, gold)| value - gold).collect();
    mean(&errors)
}

/// The slope of the least-squares line of values over gold: below one where values
/// are drawn to the middle. `None` where gold does not vary.
///
/// # Panics
///
/// If the sides differ in number.
pub fn slope(values: &[f64], gold: &[f64]) -> Option<f64> {
    assert_paired(values, gold);
    let (mean_value, mean_gold) = (mean(values)?, mean(gold)?);
    if is_constant(gold) {
        return None;
    }
    let products: f64 = values
        .iter()
        .zip(gold)
        .map(|(value, gold)| (value - mean_value) * (gold - mean_gold))
        .sum();
    let squares: f64 = gold.iter().map(|gold| (gold - mean_gold).powi(2)).sum();
    let slope = products / squares;
    slope.is_finite().then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_all_too_high_have_a_bias_and_no_slope_where_gold_is_constant() {
        let (values, gold) = ([1.0, 2.0, 3.0], [0.0, 1.0, 2.0]);
        assert_eq!(bias(&values, &gold), Some(1.0));
        assert_eq!(mean_absolute_error(&gold, &values), Some(1.0));
        assert_eq!(slope(&values, &gold), Some(1.0));
        assert_eq!(slope(&values, &[2.0; 3]), None);
        assert_eq!(
            (bias(&[], &[]), mean_absolute_error(&[], &[]), slope(&[], &[])),
            (None, None, None)
        );
    }
}
