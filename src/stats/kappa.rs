//! Cohen's kappa, weighed by the square of the distance.

/// Quadratic weighted kappa (Cohen 1968): 1 - sum w O / sum w E with w = (i - j)²; O
/// are the counts of pairs of categories, E those expected of the margins. A category
/// is its number, so that 0 and 4 are four apart whether or not 1 to 3 occur.
///
/// `None` of no pair, and where both sides are one and the same constant, for then
/// nothing but agreement was to be expected.
///
/// # Panics
///
/// If the sides differ in number.
pub fn quadratic_kappa(x: &[i32], y: &[i32]) -> Option<f64> {
    assert_eq!(x.len(), y.len(), "the two sides of pairs differ in number");
    let n = x.len() as f64;
    let square = |x: i32, y: i32| (f64::from(x) - f64::from(y)).powi(2);
    let observed: f64 = x.iter().zip(y).map(|(&x, &y)| square(x, y)).sum();
    // The mean over all pairs of a value of one side with one of the other.
    let sums = |values: &[i32]| {
        values.iter().fold((0.0, 0.0), |(sum, squares), &value| {
            (sum + f64::from(value), squares + f64::from(value).powi(2))
        })
    };
    let ((sum_x, squares_x), (sum_y, squares_y)) = (sums(x), sums(y));
    let expected = squares_x + squares_y - 2.0 * sum_x * sum_y / n;
    (0.0 < expected).then(|| 1.0 - observed / expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_that_could_not_fail_is_none() {
        assert_eq!(quadratic_kappa(&[2, 2], &[2, 2]), None);
        assert_eq!(quadratic_kappa(&[], &[]), None);
        assert_eq!(quadratic_kappa(&[2, 2], &[3, 3]), Some(0.0));
        assert_eq!(quadratic_kappa(&[0, 4], &[4, 0]), Some(-1.0));
    }
}
