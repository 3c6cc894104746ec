//! How likely a judge holds each rating to be.

use super::Rating;

/// The probabilities of the ratings 0, 1, 2, 3 and 4, which sum to one.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "[f64; 5]", into = "[f64; 5]")]
pub struct Probabilities([f64; 5]);

impl Probabilities {
    /// All on 4.
    pub const EQUIVALENT: Self = Self([0.0, 0.0, 0.0, 0.0, 1.0]);

    /// Takes five probabilities.
    pub fn new(values: [f64; 5]) -> Option<Self> {
        let sum: f64 = values.iter().sum();
        let are_probabilities = values.iter().all(|value| (0.0..=1.0).contains(value));
        (are_probabilities && (sum - 1.0).abs() < 1e-6).then_some(Self(values))
    }

    /// The softmax of five logarithms, each up to a constant that all share. `None`
    /// unless there are five and the greatest is finite.
    pub fn from_logarithms(logarithms: &[f64]) -> Option<Self> {
        let logarithms: [f64; 5] = logarithms.try_into().ok()?;
        let greatest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !greatest.is_finite() || logarithms.iter().any(|value| value.is_nan()) {
            return None;
        }
        let weights = logarithms.map(|value| (value - greatest).exp());
        let sum: f64 = weights.iter().sum();
        Self::new(weights.map(|weight| weight / sum))
    }

    /// By rating, from 0 to 4.
    pub fn get(self) -> [f64; 5] {
        self.0
    }

    /// The likeliest rating; of several the lowest.
    pub fn likeliest(self) -> Rating {
        let mut best = (0, 0.0);
        for (value, probability) in (0_u8..).zip(self.0) {
            if probability > best.1 {
                best = (value, probability);
            }
        }
        Rating::from_int(best.0).unwrap_or(Rating::LOWEST)
    }

    /// The mean rating.
    pub fn expectation(self) -> Rating {
        let mean: f64 = (0_u8..).zip(self.0).map(|(value, p)| f64::from(value) * p).sum();
        Rating::new(mean.min(Rating::MAX)).unwrap_or(Rating::LOWEST)
    }
}

impl From<Probabilities> for [f64; 5] {
    fn from(probabilities: Probabilities) -> Self {
        probabilities.0
    }
}

impl TryFrom<[f64; 5]> for Probabilities {
    type Error = String;

    fn try_from(values: [f64; 5]) -> Result<Self, String> {
        Self::new(values).ok_or_else(|| format!("{values:?} are no probabilities that sum to one"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_become_probabilities_whatever_they_share() {
        let values = [0.1_f64, 0.2, 0.4, 0.25, 0.05];
        for shared in [0.0, -700.0, 300.0] {
            let logarithms = values.map(|value| value.ln() + shared);
            let found = Probabilities::from_logarithms(&logarithms).unwrap();
            for (found, value) in found.get().iter().zip(values) {
                assert!((found - value).abs() < 1e-12);
            }
            assert_eq!(found.likeliest(), Rating::from_int(2).unwrap());
            assert!((found.expectation().get() - 1.95).abs() < 1e-12);
        }
    }

    #[test]
    fn of_equally_likely_ratings_the_lowest_is_taken() {
        let even = Probabilities::from_logarithms(&[-3.0; 5]).unwrap();
        assert_eq!(even.likeliest(), Rating::LOWEST);
        let never = f64::NEG_INFINITY;
        let sure = Probabilities::from_logarithms(&[never, never, never, never, -9.0]).unwrap();
        assert_eq!((sure.likeliest(), sure.expectation()), (Rating::HIGHEST, Rating::HIGHEST));
    }

    #[test]
    fn what_is_no_five_probabilities_is_refused() {
        assert_eq!(Probabilities::from_logarithms(&[0.0; 4]), None);
        assert_eq!(Probabilities::from_logarithms(&[f64::NEG_INFINITY; 5]), None);
        assert_eq!(Probabilities::from_logarithms(&[0.0, 0.0, f64::NAN, 0.0, 0.0]), None);
        assert_eq!(Probabilities::new([0.5, 0.5, 0.5, -0.5, 0.0]), None);
        serde_json::from_str::<Probabilities>("[0.1, 0.1, 0.1, 0.1, 0.1]").unwrap_err();
    }
}
