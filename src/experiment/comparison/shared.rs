//! The paragraphs that two runs share, with the ratings of both.

use std::collections::BTreeMap;

use super::CountedRun;
use crate::matching::CompleteScores;

/// The names of the paragraphs that two runs share, and their ratings in the one and in the
/// other.
pub fn shared_scores<'a>(
    first: &CountedRun<'a>,
    other: &CountedRun<'_>,
) -> (Vec<&'a str>, Vec<CompleteScores>, Vec<CompleteScores>) {
    let Shared { keys, first, other, .. } = Shared::of(first, other);
    (keys, first, other)
}

/// The paragraphs that two runs share.
pub(super) struct Shared<'a> {
    pub(super) keys: Vec<&'a str>,
    pub(super) first: Vec<CompleteScores>,
    pub(super) other: Vec<CompleteScores>,
    pub(super) n_first_alone: usize,
    pub(super) n_other_alone: usize,
}

impl<'a> Shared<'a> {
    pub(super) fn of(first: &CountedRun<'a>, other: &CountedRun<'_>) -> Self {
        let places: BTreeMap<&str, usize> = other
            .paragraphs
            .iter()
            .enumerate()
            .map(|(place, paragraph)| (paragraph.paragraph.as_str(), place))
            .collect();
        let mut shared = Self {
            keys: Vec::new(),
            first: Vec::new(),
            other: Vec::new(),
            n_first_alone: 0,
            n_other_alone: 0,
        };
        for (paragraph, scores) in first.paragraphs.iter().zip(&first.scores) {
            let key = paragraph.paragraph.as_str();
            match places.get(key).and_then(|&place| other.scores.get(place)) {
                Some(theirs) => {
                    shared.keys.push(key);
                    shared.first.push(scores.clone());
                    shared.other.push(theirs.clone());
                }
                None => shared.n_first_alone += 1,
            }
        }
        shared.n_other_alone = other.scores.len() - shared.keys.len();
        shared
    }

    /// The part whose names pass.
    pub(super) fn part(&self, is_in: impl Fn(&str) -> bool) -> Self {
        let places: Vec<usize> =
            (0..self.keys.len()).filter(|&place| is_in(self.keys[place])).collect();
        Self {
            keys: places.iter().map(|&place| self.keys[place]).collect(),
            first: places.iter().map(|&place| self.first[place].clone()).collect(),
            other: places.iter().map(|&place| self.other[place].clone()).collect(),
            n_first_alone: 0,
            n_other_alone: 0,
        }
    }
}
