//! Whether probabilities mean what they say.

/// How well probabilities of some classes are calibrated.
#[derive(Clone, Debug, PartialEq)]
pub struct Reliability {
    /// The bins that hold anything, by rising confidence.
    pub bins: Vec<Bin>,
    /// The expected calibration error: the mean over items of |accuracy - confidence| of
    /// their bins (Naeini, Cooper and Hauskrecht 2015).
    pub expected_calibration_error: f64,
    /// The Brier score (Brier 1950): the mean over items of the sum over classes of
    /// (probability - [it is the class])², from 0 to 2.
    pub brier: f64,
}

/// Items whose likeliest class is about equally likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// How many.
    pub n: usize,
    /// The mean probability of the likeliest class.
    pub confidence: f64,
    /// How often it was the class.
    pub accuracy: f64,
}

/// The calibration of probabilities of classes 0 to N-1 against the classes that were
/// right, in `n_bins` bins of equal width by the probability of the likeliest class, of
/// several the lowest. A bin takes in its lower end, as scikit-learn's
/// `calibration_curve` does. `None` of no item and of no bin.
///
/// # Panics
///
/// If the two differ in number, or a class is not below N.
pub fn reliability<const N: usize>(
    probabilities: &[[f64; N]],
    classes: &[usize],
    n_bins: usize,
) -> Option<Reliability> {
    assert_eq!(probabilities.len(), classes.len(), "probabilities and classes differ in number");
    if classes.is_empty() || n_bins == 0 || N == 0 {
        return None;
    }
    let n = classes.len() as f64;
    // Number, sum of confidences, number of those that were right.
    let mut sums = vec![(0_usize, 0.0_f64, 0.0_f64); n_bins];
    let mut brier = 0.0;
    for (probabilities, &class) in probabilities.iter().zip(classes) {
        assert!(class < N, "class {class} of {N}");
        let (mut likeliest, mut confidence) = (0, f64::NEG_INFINITY);
        for (at, &probability) in probabilities.iter().enumerate() {
            brier += (probability - f64::from(u8::from(at == class))).powi(2);
            if confidence < probability {
                (likeliest, confidence) = (at, probability);
            }
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a bin's place"
        )]
        let bin = ((confidence * n_bins as f64) as usize).min(n_bins - 1);
        let (count, confidences, right) = &mut sums[bin];
        *count += 1;
        *confidences += confidence;
        *right += f64::from(u8::from(likeliest == class));
    }
    let bins: Vec<Bin> = sums
        .into_iter()
        .filter(|sums| 0 < sums.0)
        .map(|(n, confidences, right)| Bin {
            n,
            confidence: confidences / n as f64,
            accuracy: right / n as f64,
        })
        .collect();
    let expected_calibration_error =
        bins.iter().map(|bin| bin.n as f64 / n * (bin.accuracy - bin.confidence).abs()).sum();
    Some(Reliability { bins, expected_calibration_error, brier: brier / n })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_is_sure_and_wrong_is_off_by_all() {
        let found = reliability(&[[1.0, 0.0], [1.0, 0.0]], &[1, 1], 10).unwrap();
        assert!((found.expected_calibration_error - 1.0).abs() < 1e-12);
        assert!((found.brier - 2.0).abs() < 1e-12);
        assert_eq!(found.bins, [Bin { n: 2, confidence: 1.0, accuracy: 0.0 }]);
        assert_eq!(reliability::<2>(&[], &[], 10), None);
    }
}
