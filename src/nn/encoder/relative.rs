//! What the distance between two tokens adds to the score of one for the other, in
//! MPNet as in T5 (Raffel et al. 2020).

/// Beyond this distance all are of one class.
const MAX_DISTANCE: f64 = 128.0;

/// A bias for each head and class of distances. Half of the classes are for keys
/// before the query, half for those after it; half of each are single distances, the
/// rest ever wider ranges.
#[derive(Debug)]
pub(super) struct RelativeBias {
    /// By class, then by head.
    values: Vec<f32>,
    n_heads: usize,
}

impl RelativeBias {
    /// From the table of the model: a row for each class, a number in it for each
    /// head.
    pub(super) fn new(values: Vec<f32>, n_heads: usize) -> Self {
        Self { values, n_heads }
    }

    /// Adds the bias to the scores that one query has for the keys of its text.
    pub(super) fn add(&self, head: usize, query: usize, scores: &mut [f32]) {
        let n_classes = self.values.len() / self.n_heads;
        for (key, score) in scores.iter_mut().enumerate() {
            *score += self.values[class(query, key, n_classes) * self.n_heads + head];
        }
    }
}

/// The class of the distance from a query to a key, of so many.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a class is a small number that is not negative"
)]
fn class(query: usize, key: usize, n_classes: usize) -> usize {
    let half = n_classes / 2;
    let side = if query < key { half } else { 0 };
    let distance = query.abs_diff(key);
    let exact = half / 2;
    if distance < exact {
        return side + distance;
    }
    let share = (distance as f64 / exact as f64).ln() / (MAX_DISTANCE / exact as f64).ln();
    side + (exact + (share * (half - exact) as f64) as usize).min(half - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_distances_have_classes_of_their_own_and_far_ones_share_them() {
        let classes: Vec<usize> =
            [0, 1, 7, 8, 11, 12, 16, 127, 128, 400].map(|key| class(0, key, 32)).to_vec();
        assert_eq!(classes, [0, 17, 23, 24, 24, 25, 26, 31, 31, 31]);
        assert_eq!([class(7, 0, 32), class(400, 0, 32)], [7, 15]);
    }
}
