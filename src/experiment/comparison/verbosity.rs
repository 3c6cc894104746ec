//! How much runs write, and what is left of a difference where they write as much.

use rand::{SeedableRng, seq::index};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use super::{Counts, Figure};
use crate::{
    matching::{AlignmentKind, CompleteScores, covered},
    similarity::{Rating, ScoreMatrix},
};

/// How many units a run writes beside another, and its F1 if it wrote no more than that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Verbosity {
    /// Generated units on a paragraph, on the average.
    pub units_per_paragraph: f64,
    /// Soft F1 with as many units on each paragraph as the run has that wrote fewer there.
    pub f1_at_matched_counts: Option<f64>,
}

/// The draws of units that an F1 at matched counts is the mean of.
const N_DRAWS: usize = 32;

/// How much two runs write on the same paragraphs.
///
/// At *matched counts* both have on each paragraph as many units as the one with fewer:
/// k of its n units are drawn at random, each k of them as likely, and the ratings that
/// align are averaged over 32 draws. So the F1 of the wordier run is what a reader gets
/// who reads as much of it as of the other.
pub fn verbosity(
    first: &[&CompleteScores],
    other: &[&CompleteScores],
    kind: AlignmentKind,
    seed: u64,
) -> [Verbosity; 2] {
    let of = |own: &[&CompleteScores], their: &[&CompleteScores]| {
        let counts: Vec<Counts> = own
            .par_iter()
            .zip(their)
            .enumerate()
            .map(|(place, (own, their))| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                rng.set_stream(place as u64);
                at_count(own, own.n_generated().min(their.n_generated()), kind, &mut rng)
            })
            .collect();
        let n_units: usize = own.iter().map(|scores| scores.n_generated()).sum();
        Verbosity {
            units_per_paragraph: if own.is_empty() {
                0.0
            } else {
                n_units as f64 / own.len() as f64
            },
            f1_at_matched_counts: counts.into_iter().sum::<Counts>().figure(Figure::F1),
        }
    };
    [of(first, other), of(other, first)]
}

/// The mean counts of a paragraph with so many of its generated units.
fn at_count(
    scores: &CompleteScores,
    n_units: usize,
    kind: AlignmentKind,
    rng: &mut ChaCha8Rng,
) -> Counts {
    let (n_generated, n_gold) = (scores.n_generated(), scores.n_gold());
    let n_draws = if n_units == n_generated { 1 } else { N_DRAWS };
    let mut mean =
        Counts { n_generated: n_units as f64, n_gold: n_gold as f64, ..Counts::default() };
    for _ in 0..n_draws {
        let mut rows = index::sample(rng, n_generated, n_units).into_vec();
        rows.sort_unstable();
        let drawn = ScoreMatrix::from_fn(n_units, n_gold, |row, column| {
            rows.get(row).map(|&row| scores.get(row, column))
        });
        let Some(drawn) = CompleteScores::of(&drawn) else { continue };
        let matched = covered(&drawn, kind);
        let share = Rating::MAX * f64::from(u32::try_from(n_draws).unwrap_or(u32::MAX));
        mean.matched_generated += matched.generated / share;
        mean.matched_gold += matched.gold / share;
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(rows: &[&[u8]]) -> CompleteScores {
        let n_gold = rows[0].len();
        let matrix = ScoreMatrix::from_fn(rows.len(), n_gold, |row, column| {
            Rating::from_int(rows[row][column])
        });
        CompleteScores::of(&matrix).unwrap()
    }

    #[test]
    fn the_wordier_run_is_cut_to_the_other_and_the_other_is_left_alone() {
        let terse = scores(&[&[4, 0]]);
        let wordy = scores(&[&[4, 0], &[0, 0], &[0, 0], &[0, 0]]);
        let [first, other] = verbosity(&[&terse], &[&wordy], AlignmentKind::Best, 1);
        assert!((first.units_per_paragraph - 1.0).abs() < 1e-12);
        assert!((first.f1_at_matched_counts.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert!((other.units_per_paragraph - 4.0).abs() < 1e-12);
        // One unit in four is the good one, so about a quarter of 2/3.
        let f1 = other.f1_at_matched_counts.unwrap();
        assert!((0.02..0.35).contains(&f1), "{f1}");
        let again = verbosity(&[&terse], &[&wordy], AlignmentKind::Best, 1);
        assert_eq!(again[1].f1_at_matched_counts, Some(f1));
    }
}
