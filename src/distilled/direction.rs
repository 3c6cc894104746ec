//! Where the states of several tokens point together.

/// The mean over states of so many dimensions, scaled to the length of the root of their
/// number. The length of the mean itself says little, so it is not kept.
pub fn direction(states: &[f32], n_dimensions: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f64; n_dimensions];
    for state in states.chunks(n_dimensions) {
        for (sum, number) in sum.iter_mut().zip(state) {
            *sum += f64::from(*number);
        }
    }
    let norm = sum.iter().map(|number| number * number).sum::<f64>().sqrt();
    let factor = (n_dimensions as f64).sqrt() / norm;
    #[expect(clippy::cast_possible_truncation, reason = "the states were f32 to begin with")]
    sum.into_iter().map(|number| (number * factor) as f32).collect()
}
