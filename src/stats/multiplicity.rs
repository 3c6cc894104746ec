//! P-values corrected for how many there are.

/// Holm's step-down correction (1979): the i-th smallest of m is multiplied by m - i + 1,
/// made at least as large as those before it, and cut at 1. It bounds the chance of any
/// false finding in the family. In the order given.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let n = p_values.len();
    let mut adjusted = vec![0.0; n];
    let mut most = 0.0_f64;
    for (rank, place) in ascending(p_values).into_iter().enumerate() {
        most = most.max((p_values[place] * (n - rank) as f64).min(1.0));
        adjusted[place] = most;
    }
    adjusted
}

/// Benjamini & Hochberg's step-up correction (1995): the i-th smallest of m is multiplied by
/// m / i and made at most as large as those after it. It bounds the expected share of false
/// findings among the findings. In the order given.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let n = p_values.len();
    let mut adjusted = vec![0.0; n];
    let mut least = 1.0_f64;
    for (rank, place) in ascending(p_values).into_iter().enumerate().rev() {
        least = least.min(p_values[place] * n as f64 / (rank + 1) as f64);
        adjusted[place] = least;
    }
    adjusted
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..p_values.len()).collect();
    places.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    places
}
