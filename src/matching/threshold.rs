//! Matching of the pairs rated at a threshold or above.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::CompleteScores;
use crate::bipartite::max_cardinality_matching;

/// The lowest rating that counts as a match: 1 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Threshold(u8);

impl Threshold {
    /// All thresholds, rising.
    pub const ALL: [Self; 4] = [Self(1), Self(2), Self(3), Self(4)];

    /// Takes an integer from one to four.
    pub fn new(tau: u8) -> Option<Self> {
        (1..=4).contains(&tau).then_some(Self(tau))
    }

    /// The threshold as an integer from one to four.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl From<Threshold> for u8 {
    fn from(threshold: Threshold) -> Self {
        threshold.0
    }
}

impl TryFrom<u8> for Threshold {
    type Error = String;

    fn try_from(tau: u8) -> Result<Self, String> {
        Self::new(tau).ok_or_else(|| format!("{tau} is not a threshold from 1 to 4"))
    }
}

/// Matches as many units one to one as can be, a pair being a match where its
/// rating is at least the threshold: a maximum matching of the relation
/// `rating >= tau`. Pairs of generated and gold unit, in order of the generated
/// unit; how many there are is the number of true positives.
pub fn match_at(scores: &CompleteScores, threshold: Threshold) -> Vec<(usize, usize)> {
    max_cardinality_matching(scores.n_generated(), scores.n_gold(), |generated, gold| {
        f64::from(threshold.0) <= scores.get(generated, gold).get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::{Rating, ScoreMatrix};

    #[test]
    fn each_threshold_has_its_own_matching() {
        let ratings = [[4, 2], [3, 0], [1, 1]];
        let scores = ScoreMatrix::from_fn(3, 2, |row, col| Rating::from_int(ratings[row][col]));
        let scores = CompleteScores::of(&scores).unwrap();
        let matched = Threshold::ALL.map(|threshold| match_at(&scores, threshold).len());
        assert_eq!(matched, [2, 2, 1, 1]);
        let [_, two, ..] = Threshold::ALL;
        assert_eq!(match_at(&scores, two), [(0, 1), (1, 0)]);
    }

    #[test]
    fn threshold_is_an_integer_from_one_to_four() {
        assert_eq!(serde_json::from_str::<Threshold>("4").unwrap().get(), 4);
        assert!(serde_json::from_str::<Threshold>("0").is_err());
        assert_eq!(Threshold::new(5), None);
    }
}
