//! P-values of many tests, held to what they say together.

/// P-values adjusted by Holm's step-down procedure (1979), in the order given: rejecting
/// those at most α errs at all with a probability of at most α, however the tests hang
/// together. What is no number counts as one.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least = 0.0_f64;
    for (n_below, (at, p_value)) in ascending(p_values).into_iter().enumerate() {
        least = least.max(p_value * (p_values.len() - n_below) as f64).min(1.0);
        put(&mut adjusted, at, least);
    }
    adjusted
}

/// P-values adjusted by Benjamini and Hochberg's step-up procedure (1995), in the order
/// given: of those at most α a share of at most α is expected to be false, where the tests
/// are independent or hang together positively. What is no number counts as one.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let n = p_values.len() as f64;
    let mut adjusted = vec![1.0; p_values.len()];
    let mut most = 1.0_f64;
    for (n_below, (at, p_value)) in ascending(p_values).into_iter().enumerate().rev() {
        most = most.min(p_value * (n / (n_below as f64 + 1.0)));
        put(&mut adjusted, at, most);
    }
    adjusted
}

/// Places and p-values from the smallest on.
fn ascending(p_values: &[f64]) -> Vec<(usize, f64)> {
    let sound = |p_value: f64| if p_value.is_nan() { 1.0 } else { p_value.clamp(0.0, 1.0) };
    let mut placed: Vec<(usize, f64)> = p_values.iter().copied().map(sound).enumerate().collect();
    placed.sort_by(|one, other| one.1.total_cmp(&other.1));
    placed
}

fn put(values: &mut [f64], at: usize, value: f64) {
    if let Some(place) = values.get_mut(at) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_test_nothing_changes_and_of_none_there_is_none() {
        for adjust in [holm, benjamini_hochberg] {
            assert_eq!(adjust(&[0.03]), [0.03]);
            assert!(adjust(&[]).is_empty());
            assert_eq!(adjust(&[f64::NAN, 2.0, 0.0]), [1.0, 1.0, 0.0]);
        }
    }

    #[test]
    fn tests_that_tie_stay_tied() {
        assert_eq!(holm(&[0.02, 0.5, 0.02]), [0.06, 0.5, 0.06]);
        let found = benjamini_hochberg(&[0.02, 0.5, 0.02]);
        assert!((found[0] - 0.03).abs() < 1e-15 && (found[0] - found[2]).abs() < 1e-15);
    }
}
