//! The stage that rates pairs of units.

use serde::{Deserialize, Serialize};

use super::{Probabilities, Rating, ScoreError, Scorer, UnitPair};
use crate::{
    corpus::DraftId,
    run::{Emit, Outcome, RunError, Stage},
};

/// Rates batches of pairs with one scorer.
pub struct ScoreStage<'a> {
    /// Who rates.
    pub scorer: &'a dyn Scorer,
}

/// Pairs that are rated in one request.
///
/// Which pairs share a batch is fixed before any is rated, since a judge may
/// read one pair in the light of its neighbours: a batch that failed is asked
/// again as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairBatch {
    /// The draft in which its pairs occur first.
    pub draft: DraftId,
    /// Its place among the batches of that draft.
    pub index: usize,
    /// The distinct pairs: generated unit, gold unit.
    pub pairs: Vec<(String, String)>,
}

impl PairBatch {
    /// Names the batch by its place and its pairs.
    pub fn key(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (generated, gold) in &self.pairs {
            for text in [generated, gold] {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            }
        }
        let hash = hasher.finalize().to_hex();
        format!("{}/{}:{}", self.draft, self.index, &hash[..12])
    }
}

/// The ratings of one batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreRecord {
    /// Who rated.
    pub scorer: String,
    /// The pairs and their ratings. A pair with a unit that holds no word is not among
    /// them: no later try would rate it either.
    pub pairs: Vec<RatedPair>,
}

/// A pair and its rating.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatedPair {
    /// The model's unit.
    pub generated: String,
    /// The instructor's unit.
    pub gold: String,
    /// From 0 to 4.
    pub rating: Rating,
    /// How likely each rating is, where the scorer knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Probabilities>,
}

impl Stage for ScoreStage<'_> {
    type Item = PairBatch;
    type Record = ScoreRecord;

    const NAME: &'static str = "score";

    fn key(&self, batch: &PairBatch) -> String {
        batch.key()
    }

    fn process(
        &self,
        batches: &[PairBatch],
        emit: &mut Emit<'_, ScoreRecord>,
    ) -> Result<(), RunError> {
        for (index, batch) in batches.iter().enumerate() {
            emit(index, self.rate(batch))?;
        }
        Ok(())
    }
}

impl ScoreStage<'_> {
    fn rate(&self, batch: &PairBatch) -> Outcome<ScoreRecord> {
        let pairs: Vec<UnitPair<'_>> =
            batch.pairs.iter().map(|(generated, gold)| UnitPair { generated, gold }).collect();
        let weighed = self.scorer.weigh(&pairs);
        if weighed.len() != pairs.len() {
            let error = format!("{} ratings for {} pairs", weighed.len(), pairs.len());
            return Outcome::Failed { error };
        }
        let rated = pairs.iter().zip(weighed).filter_map(|(pair, weighed)| match weighed {
            Ok(weighed) => Some(Ok(RatedPair {
                generated: pair.generated.to_owned(),
                gold: pair.gold.to_owned(),
                rating: weighed.rating,
                probabilities: weighed.probabilities,
            })),
            Err(ScoreError::Wordless) => None,
            Err(error) => Some(Err(error)),
        });
        match rated.collect() {
            Ok(pairs) => Outcome::Done(ScoreRecord { scorer: self.scorer.id().to_owned(), pairs }),
            Err(error) => Outcome::Failed { error: format!("{:#}", anyhow::Error::new(error)) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::LexicalScorer;

    #[test]
    fn a_pair_without_a_word_costs_its_batch_no_rating() {
        let scorer = LexicalScorer::chrf();
        let stage = ScoreStage { scorer: &scorer };
        let pair = |generated: &str| (generated.to_owned(), "Who is Alex?".to_owned());
        let pairs = vec![pair("???"), pair("Who is Alex?")];
        let batch = PairBatch { draft: DraftId::new("D"), index: 0, pairs };
        let Outcome::Done(record) = stage.rate(&batch) else { panic!("the batch failed") };
        let rated: Vec<&str> = record.pairs.iter().map(|pair| pair.generated.as_str()).collect();
        assert_eq!(rated, ["Who is Alex?"]);
    }
}
