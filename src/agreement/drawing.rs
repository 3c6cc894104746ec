//! Pairs of units drawn for people to rate.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// A pair that may be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The draft that both units speak of.
    pub draft: String,
    /// The paragraph of the draft.
    pub paragraph: String,
    /// The model's unit.
    pub generated: String,
    /// The instructor's unit.
    pub gold: String,
    /// What a scorer gave them, from 0 to 4.
    pub rating: f64,
}

/// How pairs are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// As many of each whole rating as there are, so that the whole scale is seen.
    Uniform,
    /// As often as they are.
    Natural,
}

/// A pair on a sheet. The rating it was drawn by is not on it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnPair {
    /// Its name, a hash of its place and words, the same on every sheet.
    pub id: String,
    /// The draft.
    pub draft: String,
    /// The paragraph of the draft.
    pub paragraph: String,
    /// The model's unit.
    pub a: String,
    /// The instructor's unit.
    pub b: String,
    /// Whether the second is shown first, so that nobody can tell whose is whose.
    pub flip: bool,
}

/// Draws `n` distinct pairs by a seed, in an order that says nothing of their ratings, or
/// as many as there are. With [`Design::Uniform`], a whole rating that has too few gives
/// its share to the others.
pub fn draw_pairs(candidates: &[Candidate], n: usize, design: Design, seed: u64) -> Vec<DrawnPair> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut met = BTreeSet::new();
    let mut distinct: Vec<&Candidate> = candidates
        .iter()
        .filter(|candidate| met.insert((&candidate.generated, &candidate.gold)))
        .collect();
    shuffle(&mut distinct, &mut rng);
    let mut drawn: Vec<&Candidate> = match design {
        Design::Natural => distinct.into_iter().take(n).collect(),
        Design::Uniform => {
            let mut levels: Vec<Vec<&Candidate>> = vec![Vec::new(); 5];
            for candidate in distinct {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "0 to 4"
                )]
                let level = candidate.rating.clamp(0.0, 4.0).round() as usize;
                levels[level].push(candidate);
            }
            let mut drawn = Vec::new();
            while drawn.len() < n && levels.iter().any(|level| !level.is_empty()) {
                // The upper end is rare, so it is served first.
                for level in levels.iter_mut().rev() {
                    if drawn.len() < n {
                        drawn.extend(level.pop());
                    }
                }
            }
            drawn
        }
    };
    shuffle(&mut drawn, &mut rng);
    drawn
        .into_iter()
        .map(|candidate| DrawnPair {
            id: pair_id([
                &candidate.draft,
                &candidate.paragraph,
                &candidate.generated,
                &candidate.gold,
            ]),
            draft: candidate.draft.clone(),
            paragraph: candidate.paragraph.clone(),
            a: candidate.generated.clone(),
            b: candidate.gold.clone(),
            flip: rng.random_bool(0.5),
        })
        .collect()
}

/// The name of a pair: a hash of its draft, paragraph, generated and gold unit.
pub fn pair_id(place_and_words: [&str; 4]) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in place_and_words {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Puts things in an order that is drawn (Fisher and Yates).
pub(super) fn shuffle<T>(things: &mut [T], rng: &mut ChaCha8Rng) {
    for at in (1..things.len()).rev() {
        things.swap(at, rng.random_range(0..=at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates() -> Vec<Candidate> {
        (0..100)
            .map(|at| Candidate {
                draft: format!("D{}", at / 10),
                paragraph: "1".to_owned(),
                generated: format!("g{at}"),
                gold: "say more".to_owned(),
                // Ninety of a hundred are zero.
                rating: if at % 10 == 0 { f64::from(1 + (at / 10) % 4) } else { 0.0 },
            })
            .collect()
    }

    fn rating_of(pair: &DrawnPair) -> f64 {
        candidates().into_iter().find(|candidate| candidate.generated == pair.a).unwrap().rating
    }

    #[test]
    fn the_whole_scale_is_drawn_or_what_is_frequent() {
        let uniform = draw_pairs(&candidates(), 15, Design::Uniform, 1);
        let n_zero = uniform.iter().filter(|pair| rating_of(pair) < 0.5).count();
        assert_eq!((uniform.len(), n_zero), (15, 5), "10 above zero, and zeros for what lacks");
        let natural = draw_pairs(&candidates(), 50, Design::Natural, 1);
        assert!(40 <= natural.iter().filter(|pair| rating_of(pair) < 0.5).count());
    }

    #[test]
    fn a_seed_gives_one_sheet_and_no_pair_comes_twice() {
        let mut doubled = candidates();
        doubled.extend(candidates());
        let all = draw_pairs(&doubled, 500, Design::Natural, 1);
        assert_eq!(all.len(), 100);
        assert_eq!(all, draw_pairs(&doubled, 500, Design::Natural, 1));
        assert_ne!(all, draw_pairs(&doubled, 500, Design::Natural, 2));
        assert!(all.iter().any(|pair| pair.flip) && all.iter().any(|pair| !pair.flip));
    }
}
