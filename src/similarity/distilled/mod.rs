//! Ratings by a small model of our own.

mod head;

pub use head::{Feature, PairHead};

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rayon::prelude::*;

use super::{Probabilities, ScoreError, Scorer, UnitPair, Weighed, memory::Generations};
use crate::{
    distilled::{DistilledError, DistilledFiles, Kind, SharedEncoder, TOKENIZER},
    nn::{Cpu, EncoderPrecision},
    similarity::Rating,
};
use head::Head;

/// The unit vectors that are kept: of 384 numbers each, about 100 MB.
const N_KEPT: usize = 1 << 16;

/// Rates a pair by a model that was trained on rated pairs: each unit becomes a vector
/// once, the mean state of its tokens, and a small network makes the probabilities of
/// the five ratings of what two vectors have in common and where they differ.
///
/// Symmetric in the two units, to the last bit. A rating depends on its pair alone. A
/// unit longer than what the encoder reads at once is read in windows of equal length,
/// and its vector is the mean over the tokens of all of them.
pub struct DistilledScorer {
    id: String,
    encoder: SharedEncoder,
    head: Head,
    known: Mutex<Generations<[u8; 32], Arc<Vec<f32>>>>,
}

/// A unit's vector, or why there is none.
type UnitVector = Result<Arc<Vec<f32>>, String>;

impl DistilledScorer {
    /// Takes a scorer's files; records carry `name`, the digest of the files, and the
    /// precision.
    pub fn new(
        name: &str,
        files: &DistilledFiles,
        precision: EncoderPrecision,
        cpu: Cpu,
    ) -> Result<Self, DistilledError> {
        let parsed = files.parse()?;
        let path = files.path(TOKENIZER);
        let encoder = SharedEncoder::new(&parsed, (files.tokenizer(), &path), precision, cpu)?;
        let wrong = |reason: String| DistilledError::File {
            path: files.path(Kind::Scorer.file_name()),
            reason,
        };
        let head: PairHead = serde_json::from_value(parsed.own_description.head.clone())
            .map_err(|error| wrong(format!("its head: {error}")))?;
        let head = Head::load(head, encoder.hidden_size(), &parsed.own)?;
        let digest: String = files.digest().chars().take(8).collect();
        Ok(Self {
            id: format!("{name}#{digest}/{precision}"),
            encoder,
            head,
            known: Mutex::new(Generations::new(N_KEPT)),
        })
    }

    /// The vectors of distinct texts, in order; those that are not known are made
    /// together.
    fn vectors(&self, texts: &[&str]) -> Vec<UnitVector> {
        let keys: Vec<[u8; 32]> =
            texts.par_iter().map(|text| *blake3::hash(text.as_bytes()).as_bytes()).collect();
        let mut vectors: Vec<Option<UnitVector>> = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            keys.iter().map(|key| known.get(key).map(Ok)).collect()
        };
        let missing: Vec<usize> =
            (0..texts.len()).filter(|index| vectors[*index].is_none()).collect();
        let unread: Vec<&str> = missing.iter().map(|index| texts[*index]).collect();
        let made = self.read(&unread);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, vector) in missing.into_iter().zip(made) {
            if let Ok(vector) = &vector {
                known.insert(keys[index], Arc::clone(vector));
            }
            vectors[index] = Some(vector);
        }
        let none = || Err("the encoder gave too few vectors".to_owned());
        vectors.into_iter().map(|vector| vector.unwrap_or_else(none)).collect()
    }

    fn read(&self, texts: &[&str]) -> Vec<UnitVector> {
        let rows: Vec<Result<Vec<Vec<u32>>, String>> =
            texts.par_iter().map(|text| unit_rows(&self.encoder, text)).collect();
        let flat: Vec<Vec<u32>> = rows.iter().flatten().flatten().cloned().collect();
        let mut states = self.encoder.states(&flat).into_iter();
        rows.into_iter()
            .map(|rows| {
                let mut own = states.by_ref().take(rows.as_ref().map_or(0, Vec::len));
                let first = own.next();
                let others: Vec<_> = own.collect();
                rows?;
                let states: Result<Vec<Vec<f32>>, String> =
                    first.into_iter().chain(others).collect();
                Ok(Arc::new(self.head.unit(&states?.concat())))
            })
            .collect()
    }

    fn probabilities(&self, pair: [&UnitVector; 2]) -> Result<Probabilities, ScoreError> {
        let [left, right] = pair.map(|vector| vector.as_ref().map_err(Clone::clone));
        let (left, right) = (left.map_err(ScoreError::Model)?, right.map_err(ScoreError::Model)?);
        self.head
            .probabilities(left, right)
            .ok_or_else(|| ScoreError::Model("the model gave no probabilities".to_owned()))
    }
}

/// The rows of tokens that a unit is read in: one, or for a long unit the fewest of
/// equal length.
pub fn unit_rows(encoder: &SharedEncoder, text: &str) -> Result<Vec<Vec<u32>>, String> {
    if text.trim().is_empty() {
        return Err("an empty text says nothing to compare".to_owned());
    }
    let ids = encoder.read(text)?.ids;
    let n_windows = ids.len().div_ceil(encoder.window()).max(1);
    let bound = |index: usize| ids.len() * index / n_windows;
    Ok((0..n_windows).map(|index| encoder.around(&ids[bound(index)..bound(index + 1)])).collect())
}

impl Scorer for DistilledScorer {
    fn id(&self) -> &str {
        &self.id
    }

    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>> {
        self.weigh(pairs).into_iter().map(|weighed| weighed.map(|it| it.rating)).collect()
    }

    fn weigh(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Weighed, ScoreError>> {
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
        places
            .into_par_iter()
            .map(|places| {
                let probabilities = self.probabilities(places.map(|place| &vectors[place]))?;
                Ok(Weighed {
                    rating: probabilities.expectation(),
                    probabilities: Some(probabilities),
                })
            })
            .collect()
    }
}
