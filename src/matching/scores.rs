//! A score matrix without a gap.

use crate::similarity::{Rating, ScoreMatrix};

/// The ratings of all pairs on one paragraph, with none missing: a row for each
/// generated unit, a column for each gold unit.
#[derive(Clone, Debug, PartialEq)]
pub struct CompleteScores {
    n_generated: usize,
    n_gold: usize,
    ratings: Vec<Rating>,
}

impl CompleteScores {
    /// Takes a score matrix as it is. Returns `None` where a pair is unscored.
    pub fn of(scores: &ScoreMatrix) -> Option<Self> {
        let ratings = cells(scores).collect::<Option<_>>()?;
        Some(Self { n_generated: scores.n_generated(), n_gold: scores.n_gold(), ratings })
    }

    /// The least that the ratings can be: 0 for every unscored pair.
    pub fn lower(scores: &ScoreMatrix) -> Self {
        Self::filled(scores, Rating::LOWEST)
    }

    /// The most that the ratings can be: 4 for every unscored pair.
    pub fn upper(scores: &ScoreMatrix) -> Self {
        Self::filled(scores, Rating::HIGHEST)
    }

    fn filled(scores: &ScoreMatrix, unscored: Rating) -> Self {
        let ratings = cells(scores).map(|rating| rating.unwrap_or(unscored)).collect();
        Self { n_generated: scores.n_generated(), n_gold: scores.n_gold(), ratings }
    }

    /// The number of generated units: rows.
    pub fn n_generated(&self) -> usize {
        self.n_generated
    }

    /// The number of gold units: columns.
    pub fn n_gold(&self) -> usize {
        self.n_gold
    }

    /// The rating of one pair.
    ///
    /// # Panics
    ///
    /// If there is no such unit.
    pub fn get(&self, generated: usize, gold: usize) -> Rating {
        assert!(gold < self.n_gold, "no gold unit {gold} among {}", self.n_gold);
        self.ratings[generated * self.n_gold + gold]
    }
}

/// The cells of a score matrix, row by row.
fn cells(scores: &ScoreMatrix) -> impl Iterator<Item = Option<Rating>> {
    (0..scores.n_generated()).flat_map(move |generated| {
        (0..scores.n_gold()).map(move |gold| scores.get(generated, gold))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_has_no_value_and_two_bounds() {
        let three = Rating::from_int(3);
        let scores = ScoreMatrix::from_fn(1, 2, |_, gold| (gold == 0).then_some(three).flatten());
        assert_eq!(CompleteScores::of(&scores), None);
        let bounds = [CompleteScores::lower(&scores), CompleteScores::upper(&scores)];
        let gap = bounds.each_ref().map(|scores| scores.get(0, 1));
        assert_eq!(gap, [Rating::LOWEST, Rating::HIGHEST]);
        assert_eq!(bounds.each_ref().map(|scores| Some(scores.get(0, 0))), [three, three]);
    }

    #[test]
    fn empty_answer_is_complete() {
        let scores = CompleteScores::of(&ScoreMatrix::from_fn(0, 2, |_, _| None)).unwrap();
        assert_eq!((scores.n_generated(), scores.n_gold()), (0, 2));
    }
}
