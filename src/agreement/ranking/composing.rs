//! Texts of units that come near a wanted F1, for people to put in order.

use rand::{Rng, RngExt, seq::SliceRandom};

use crate::{
    matching::CompleteScores,
    metrics::measure,
    similarity::{Rating, ScoreMatrix},
};

/// The soft F1 that the texts of a set should come near.
pub const TARGETS: [f64; 3] = [0.0, 0.5, 1.0];

/// The texts of a set.
const N_TEXTS: usize = TARGETS.len();

/// How many choices of units are tried for a text.
const N_TRIES: usize = 400;

/// What F1 may be given up to take a generated unit in place of the instructor's own.
const WORTH_OF_GENERATED: f64 = 0.1;

/// The units that texts on a paragraph may be made of, each with its ratings against the
/// instructor's units, `0.0..=4.0`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Material {
    /// How many units the instructor has.
    pub n_gold: usize,
    /// The units.
    pub units: Vec<String>,
    /// Their ratings, a row a unit, a column a unit of the instructor.
    pub ratings: Vec<Vec<f64>>,
    /// Which of them are the instructor's own.
    pub is_own: Vec<bool>,
}

/// A text that was put together.
#[derive(Clone, Debug, PartialEq)]
pub struct ComposedText {
    /// Its units, in the order in which they stand.
    pub units: Vec<String>,
    /// Its soft F1.
    pub f1: f64,
    /// How many of its units are the instructor's own.
    pub n_own: usize,
}

/// The texts of a paragraph, in the order of [`TARGETS`].
pub type ComposedSet = [ComposedText; N_TEXTS];

/// Puts together three texts at soft F1 near 0, 0.5 and 1, of about as many units as the
/// instructor has. Many choices are drawn and the nearest is taken; of two
/// about as near, that with fewer of the instructor's own units, since a text that copies
/// the instructor is easy to tell. `None` where a text is further than `tolerance` off.
pub fn compose(material: &Material, tolerance: f64, mut rng: &mut impl Rng) -> Option<ComposedSet> {
    let n_units = material.units.len();
    if n_units == 0 || material.n_gold == 0 {
        return None;
    }
    let mut best: [Option<(f64, Vec<usize>, f64)>; N_TEXTS] = [const { None }; N_TEXTS];
    // The instructor's own units by themselves are the sure way to the top.
    let mut own: Vec<usize> = (0..n_units).filter(|unit| material.is_own[*unit]).collect();
    own.shuffle(&mut rng);
    let drawn = (0..N_TRIES).map(|_| {
        let size = rng.random_range(1..=(material.n_gold + 2).min(n_units));
        let mut chosen: Vec<usize> = (0..n_units).collect();
        for at in 0..size {
            chosen.swap(at, rng.random_range(at..n_units));
        }
        chosen.truncate(size);
        chosen
    });
    for chosen in drawn.chain([own]) {
        let Some(f1) = soft_f1(material, &chosen) else { continue };
        let n_own = chosen.iter().filter(|unit| material.is_own[**unit]).count();
        let share = n_own as f64 / chosen.len() as f64;
        for (best, target) in best.iter_mut().zip(TARGETS) {
            let cost = (f1 - target).abs() + WORTH_OF_GENERATED * share;
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                *best = Some((cost, chosen.clone(), f1));
            }
        }
    }
    let mut texts = Vec::new();
    for (best, target) in best.into_iter().zip(TARGETS) {
        let (_, chosen, f1) = best?;
        if tolerance < (f1 - target).abs() {
            return None;
        }
        let n_own = chosen.iter().filter(|unit| material.is_own[**unit]).count();
        let units = chosen.iter().map(|unit| material.units[*unit].clone()).collect();
        texts.push(ComposedText { units, f1, n_own });
    }
    texts.try_into().ok()
}

fn soft_f1(material: &Material, chosen: &[usize]) -> Option<f64> {
    let scores = ScoreMatrix::from_fn(chosen.len(), material.n_gold, |unit, gold| {
        Rating::new(*material.ratings[chosen[unit]].get(gold)?)
    });
    measure(&CompleteScores::of(&scores)?).soft.f1
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn draw() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(1)
    }

    /// Two units of the instructor, which are rated 4 with themselves; a generated one as
    /// good as the first; three of nothing.
    fn material() -> Material {
        let rows: [[f64; 2]; 6] =
            [[4.0, 0.0], [0.0, 4.0], [4.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]];
        Material {
            n_gold: 2,
            units: (0..6).map(|unit| format!("unit {unit}")).collect(),
            ratings: rows.map(|row| row.to_vec()).into(),
            is_own: vec![true, true, false, false, false, false],
        }
    }

    #[test]
    fn texts_come_near_their_targets_with_few_units_of_the_instructor() {
        let texts = compose(&material(), 0.1, &mut draw()).unwrap();
        for (text, target) in texts.iter().zip(TARGETS) {
            assert!((text.f1 - target).abs() < 0.1, "{text:?}");
        }
        assert_eq!((texts[0].n_own, texts[1].n_own), (0, 0));
        assert!(texts[2].units.contains(&"unit 2".to_owned()), "{:?}", texts[2]);
        assert_eq!(compose(&material(), 0.1, &mut draw()).unwrap(), texts);
    }

    #[test]
    fn a_paragraph_whose_texts_stay_far_off_makes_no_set() {
        let mut poor = material();
        poor.ratings[1] = vec![0.0, 1.0];
        assert_eq!(compose(&poor, 0.1, &mut draw()), None);
        assert_eq!(compose(&Material::default(), 0.1, &mut draw()), None);
    }
}
