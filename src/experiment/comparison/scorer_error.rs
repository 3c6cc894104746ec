//! What a scorer's errors do to a figure: ratings drawn anew as people might have given
//! them, and matched again.

use anyhow::{Context, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    matching::CompleteScores,
    similarity::{Rating, ScoreMatrix},
};

/// The whole ratings, 0 to 4.
const N: usize = 5;

/// How often a scorer says what of pairs that people rate so: counts of a validation set,
/// by whole gold (rows) and whole rating (columns).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScorerConfusion(pub [[usize; N]; N]);

/// What a scorer's whole rating tells of the rating that people would give: for each of the
/// scorer's (rows) the probabilities of people's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingGivenScore([[f64; N]; N]);

impl ScorerConfusion {
    /// What ratings tell in a run where the scorer gave each whole rating so often.
    ///
    /// A validation set holds its own mixture of alike and unlike pairs, and a run another:
    /// what carries over is how often the scorer says what of pairs of one gold rating. So
    /// the shares of gold ratings in the run are estimated from its own scores by EM
    /// (Saerens, Latinne & Decaestecker 2002), and Bayes' rule gives the rest. The rows of
    /// the counts are drawn anew from themselves first, so that what a small validation set
    /// leaves open is in the draws (the approximate Bayesian bootstrap, Rubin & Schenker
    /// 1986); half a pair is added to each cell, so that nothing is impossible.
    ///
    /// # Errors
    ///
    /// If some gold rating has no pair in the validation set.
    pub fn rating_given_score(
        &self,
        n_scores: &[usize; N],
        rng: &mut ChaCha8Rng,
    ) -> anyhow::Result<RatingGivenScore> {
        let mut score_given_rating = [[0.0; N]; N];
        for (gold, row) in self.0.iter().enumerate() {
            let n_pairs: usize = row.iter().sum();
            ensure!(
                0 < n_pairs,
                "the validation set has no pair of gold rating {gold}, so that nothing is known of \
                 them"
            );
            let mut drawn = [0.5; N];
            for _ in 0..n_pairs {
                drawn[place_in(row, rng.random_range(0..n_pairs))] += 1.0;
            }
            let total: f64 = drawn.iter().sum();
            score_given_rating[gold] = drawn.map(|count| count / total);
        }
        Ok(posterior(&score_given_rating, &shares(&score_given_rating, n_scores)))
    }
}

/// The bin that the `target`-th of some counted things lies in.
fn place_in(counts: &[usize; N], target: usize) -> usize {
    let mut passed = 0;
    for (place, count) in counts.iter().enumerate() {
        passed += count;
        if target < passed {
            return place;
        }
    }
    N - 1
}

/// The shares of gold ratings that make the scores likeliest, by EM.
fn shares(score_given_rating: &[[f64; N]; N], n_scores: &[usize; N]) -> [f64; N] {
    const MOST_STEPS: usize = 10_000;
    const ENOUGH: f64 = 1e-10;
    let total: usize = n_scores.iter().sum();
    let mut shares = [1.0 / N as f64; N];
    if total == 0 {
        return shares;
    }
    for _ in 0..MOST_STEPS {
        let given = posterior(score_given_rating, &shares).0;
        let mut next = [0.0; N];
        for (score, &count) in n_scores.iter().enumerate() {
            for (rating, share) in next.iter_mut().enumerate() {
                *share += given[score][rating] * count as f64 / total as f64;
            }
        }
        let change = shares.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        shares = next;
        if change < ENOUGH {
            break;
        }
    }
    shares
}

fn posterior(score_given_rating: &[[f64; N]; N], shares: &[f64; N]) -> RatingGivenScore {
    let mut given = [[0.0; N]; N];
    for (score, row) in given.iter_mut().enumerate() {
        for (rating, probability) in row.iter_mut().enumerate() {
            *probability = score_given_rating[rating][score] * shares[rating];
        }
        let total: f64 = row.iter().sum();
        if 0.0 < total {
            *row = row.map(|probability| probability / total);
        }
    }
    RatingGivenScore(given)
}

/// A rating as a whole one, halves upward: from 0 to 4.
pub fn whole(rating: Rating) -> usize {
    (0..N - 1).filter(|&step| step as f64 + 0.5 <= rating.get()).count()
}

/// How often a scorer gave each whole rating.
pub(super) fn whole_counts<'a>(scores: impl IntoIterator<Item = &'a CompleteScores>) -> [usize; N] {
    let mut counts = [0; N];
    for scores in scores {
        for (row, column) in cells(scores) {
            counts[whole(scores.get(row, column))] += 1;
        }
    }
    counts
}

fn cells(scores: &CompleteScores) -> impl Iterator<Item = (usize, usize)> {
    let n_gold = scores.n_gold();
    (0..scores.n_generated()).flat_map(move |row| (0..n_gold).map(move |column| (row, column)))
}

impl RatingGivenScore {
    /// Ratings as people might have given them: one drawn for each pair, by itself.
    ///
    /// # Errors
    ///
    /// If a score is none of the scale's; that would be a slip here.
    pub fn draw(
        &self,
        scores: &CompleteScores,
        rng: &mut ChaCha8Rng,
    ) -> anyhow::Result<CompleteScores> {
        let drawn = ScoreMatrix::from_fn(scores.n_generated(), scores.n_gold(), |row, column| {
            let given = &self.0[whole(scores.get(row, column))];
            let target: f64 = rng.random();
            let mut passed = 0.0;
            let rating = given.iter().position(|probability| {
                passed += probability;
                target < passed
            });
            Rating::new(rating.unwrap_or(N - 1) as f64)
        });
        CompleteScores::of(&drawn).context("a rating was drawn that is none")
    }
}

/// The generator of one draw.
pub(super) fn stream(seed: u64, draw: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(draw as u64);
    rng
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scorer that is right on three pairs in four, and else one off.
    const CONFUSION: [[usize; N]; N] = [
        [300, 100, 0, 0, 0],
        [50, 300, 50, 0, 0],
        [0, 50, 300, 50, 0],
        [0, 0, 50, 300, 50],
        [0, 0, 0, 100, 300],
    ];

    #[test]
    fn the_shares_of_gold_ratings_come_out_of_the_scores() {
        let confusion = CONFUSION.map(|row| row.map(|count| count as f64 / 400.0));
        let truth = [0.7, 0.15, 0.1, 0.04, 0.01];
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let n_scores: [usize; N] = std::array::from_fn(|score| {
            let share: f64 = (0..N).map(|gold| truth[gold] * confusion[gold][score]).sum();
            (share * 100_000.0).round() as usize
        });
        for (found, wanted) in shares(&confusion, &n_scores).iter().zip(truth) {
            assert!((found - wanted).abs() < 1e-3, "{found} {wanted}");
        }
    }

    #[test]
    fn a_gold_rating_without_a_pair_is_told() {
        let mut confusion = CONFUSION;
        confusion[4] = [0; N];
        let error = ScorerConfusion(confusion)
            .rating_given_score(&[1; N], &mut stream(1, 0))
            .unwrap_err()
            .to_string();
        assert!(error.contains("gold rating 4"), "{error}");
    }

    #[test]
    fn halves_go_upward() {
        let found =
            [0.0, 0.49, 0.5, 1.5, 3.49, 3.5, 4.0].map(|value| whole(Rating::new(value).unwrap()));
        assert_eq!(found, [0, 0, 1, 2, 3, 4, 4]);
    }
}
