//! The vectors of texts, each made once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{ScoreError, UnitPair, memory::Generations};
use crate::nn::{Embedding, SentenceEncoder};

/// The vectors that are kept: of 384 numbers each, about 100 MB.
const N_KEPT: usize = 1 << 16;

/// An encoder that remembers what it has read: an instructor's unit meets the units
/// of every model and condition, and is read once.
///
/// It keeps 65,536 vectors, those used last, by the digests of their texts. What
/// it remembers changes no bit, since a text's vector depends on the text alone.
pub struct RememberingEncoder {
    encoder: SentenceEncoder,
    known: Mutex<Generations<[u8; 32], Arc<Embedding>>>,
}

/// How alike the vectors of a pair are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairCosine {
    /// The cosine, within `-1.0..=1.0`.
    pub cosine: f64,
    /// Whether one of the texts is longer than what the encoder reads at once.
    pub was_long: bool,
}

/// A vector, or why there is none.
type Vector = Result<Arc<Embedding>, String>;

impl RememberingEncoder {
    /// With nothing in mind yet.
    pub fn new(encoder: SentenceEncoder) -> Self {
        Self { encoder, known: Mutex::new(Generations::new(N_KEPT)) }
    }

    /// The encoder.
    pub fn encoder(&self) -> &SentenceEncoder {
        &self.encoder
    }

    /// The texts whose vectors are kept.
    pub fn n_known(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The cosine of each pair, in order. A pair with an empty text has none.
    pub fn pair_cosines(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<PairCosine, ScoreError>> {
        let mut texts: Vec<&str> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut place = |text| {
            *places.entry(text).or_insert_with(|| {
                texts.push(text);
                texts.len() - 1
            })
        };
        let places: Vec<[usize; 2]> =
            pairs.iter().map(|pair| [place(pair.generated), place(pair.gold)]).collect();
        let vectors = self.vectors(&texts);
        let pair_cosine = |[generated, gold]: [usize; 2]| {
            let vector = |place: usize| {
                vectors[place].as_ref().map_err(|why| ScoreError::Model(why.clone()))
            };
            let (generated, gold) = (vector(generated)?, vector(gold)?);
            let cosine = generated
                .cosine(gold)
                .ok_or_else(|| ScoreError::Model("a vector without a direction".to_owned()))?;
            Ok(PairCosine { cosine, was_long: generated.was_long() || gold.was_long() })
        };
        places.into_iter().map(pair_cosine).collect()
    }

    /// The vectors of distinct texts, in order; those that are not known are made
    /// together.
    fn vectors(&self, texts: &[&str]) -> Vec<Vector> {
        let keys: Vec<[u8; 32]> =
            texts.iter().map(|text| *blake3::hash(text.as_bytes()).as_bytes()).collect();
        let mut vectors: Vec<Option<Vector>> = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let of = |(text, key): (&&str, &[u8; 32])| match text.trim() {
                "" => Some(Err("an empty text says nothing to compare".to_owned())),
                _ => known.get(key).map(Ok),
            };
            texts.iter().zip(&keys).map(of).collect()
        };
        let missing: Vec<usize> =
            (0..texts.len()).filter(|index| vectors[*index].is_none()).collect();
        let unread: Vec<&str> = missing.iter().map(|index| texts[*index]).collect();
        let made = self.encoder.encode(&unread);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, embedding) in missing.into_iter().zip(made) {
            let vector = embedding.map(Arc::new).map_err(|error| error.to_string());
            if let Ok(vector) = &vector {
                known.insert(keys[index], Arc::clone(vector));
            }
            vectors[index] = Some(vector);
        }
        let none = || Err("the encoder gave too few vectors".to_owned());
        vectors.into_iter().map(|vector| vector.unwrap_or_else(none)).collect()
    }
}
