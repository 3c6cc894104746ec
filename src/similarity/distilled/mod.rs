//! Ratings by a small model of our own.

mod head;

pub use head::{Feature, PairHead};

use rayon::prelude::*;

use super::{
    Probabilities, ScoreError, Scorer, UnitPair, Weighed,
    memory::{Known, Memory, distinct},
    of_worded,
};
use crate::{
    distilled::{DistilledError, DistilledFiles, Kind, SharedEncoder, TOKENIZER},
    nn::{Cpu, EncoderPrecision},
    similarity::Rating,
};
use head::Head;

/// Rates a pair by a model that was trained on rated pairs: each unit becomes a vector
/// once, the mean state of its tokens, and a small network makes the probabilities of
/// the five ratings of what two vectors have in common and where they differ.
///
/// Symmetric in the two units, to the last bit; a unit and itself are rated 4, as the
/// scale has it. A rating depends on its pair alone. A
/// unit longer than what the encoder reads at once is read in windows of equal length,
/// and its vector is the mean over the tokens of all of them.
pub struct DistilledScorer {
    id: String,
    encoder: SharedEncoder,
    head: Head,
    known: Memory<Vec<f32>>,
}

impl DistilledScorer {
    /// Takes a scorer's files; records carry their digest and the precision.
    pub fn new(
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
            id: format!("distilled#{digest}/{precision}"),
            encoder,
            head,
            known: Memory::new(),
        })
    }

    /// The vector of each text.
    fn read(&self, texts: &[&str]) -> Vec<Result<Vec<f32>, String>> {
        let rows: Vec<Result<Vec<Vec<u32>>, String>> =
            texts.par_iter().map(|text| unit_rows(&self.encoder, text)).collect();
        let flat: Vec<Vec<u32>> = rows.iter().flatten().flatten().cloned().collect();
        let mut states = self.encoder.states(&flat).into_iter();
        rows.into_iter()
            .map(|rows| {
                let n_rows = rows.as_ref().map_or(0, Vec::len);
                let own: Vec<_> = states.by_ref().take(n_rows).collect();
                rows?;
                let own: Vec<Vec<f32>> = own.into_iter().collect::<Result<_, _>>()?;
                Ok(self.head.unit(&own.concat()))
            })
            .collect()
    }

    fn weigh_worded(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Weighed, ScoreError>> {
        let (texts, places) = distinct(pairs);
        let vectors = self.known.recall(&texts, |texts| self.read(texts));
        places
            .into_par_iter()
            .zip(pairs)
            .map(|(places, pair)| {
                let mut probabilities = self.probabilities(places.map(|place| &vectors[place]))?;
                if pair.generated.trim() == pair.gold.trim() {
                    probabilities = Probabilities::EQUIVALENT;
                }
                Ok(Weighed {
                    rating: probabilities.expectation(),
                    probabilities: Some(probabilities),
                })
            })
            .collect()
    }

    fn probabilities(&self, pair: [&Known<Vec<f32>>; 2]) -> Result<Probabilities, ScoreError> {
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
    encoder.reader().rows(text)
}

impl Scorer for DistilledScorer {
    fn id(&self) -> &str {
        &self.id
    }

    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>> {
        self.weigh(pairs).into_iter().map(|weighed| weighed.map(|it| it.rating)).collect()
    }

    fn weigh(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Weighed, ScoreError>> {
        of_worded(pairs, |pairs| self.weigh_worded(pairs))
    }
}
