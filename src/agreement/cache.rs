//! What an instrument said before, so that nothing is asked twice.
//!
//! A cache is a run directory of its own, whose specification is that of the instrument:
//! records are appended as they come, survive a kill, and fit no other instrument.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    run::{Drive, Emit, Outcome, Progress, RunError, RunStore, Shard, Stage, drive},
    segment::{Segmentation, Segmenter},
    similarity::{Probabilities, Rating, Scorer, UnitPair, Weighed},
};

/// The stage that rates pairs one by one, so that each is found again.
pub struct RatePairs<'a> {
    scorer: &'a dyn Scorer,
}

/// The rating of one pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rated {
    /// Who rated.
    pub scorer: String,
    /// From 0 to 4.
    pub rating: Rating,
    /// How likely each rating is, where the scorer knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Probabilities>,
}

impl Stage for RatePairs<'_> {
    type Item = (String, String);
    type Record = Rated;

    const NAME: &'static str = "rate";

    fn key(&self, (generated, gold): &(String, String)) -> String {
        pair_key(generated, gold)
    }

    fn process(
        &self,
        pairs: &[(String, String)],
        emit: &mut Emit<'_, Rated>,
    ) -> Result<(), RunError> {
        let units: Vec<UnitPair<'_>> =
            pairs.iter().map(|(generated, gold)| UnitPair { generated, gold }).collect();
        for (index, weighed) in self.scorer.weigh(&units).into_iter().enumerate() {
            let outcome = match weighed {
                Ok(Weighed { rating, probabilities }) => {
                    let scorer = self.scorer.id().to_owned();
                    Outcome::Done(Rated { scorer, rating, probabilities })
                }
                Err(error) => Outcome::Failed { error: format!("{:#}", anyhow::Error::new(error)) },
            };
            emit(index, outcome)?;
        }
        Ok(())
    }
}

fn pair_key(generated: &str, gold: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in [generated, gold] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The rating of each pair, in order, or why there is none. What the cache holds is not
/// asked again, and where it holds all, the scorer is not even opened; what failed
/// before is tried again. `batch_size` pairs are asked at once and a kill loses no more.
///
/// # Errors
///
/// If the cache cannot be read or written, or the scorer cannot be opened.
pub fn rate_pairs<'s>(
    cache: &RunStore,
    pairs: &[(String, String)],
    batch_size: usize,
    progress: &dyn Progress,
    open: impl FnOnce() -> anyhow::Result<Box<dyn Scorer + 's>>,
) -> anyhow::Result<Vec<Result<Rated, String>>> {
    let mut records = cache.records::<RatePairs<'_>>()?;
    let keys: Vec<String> = pairs.iter().map(|(a, b)| pair_key(a, b)).collect();
    if keys.iter().any(|key| !matches!(records.get(key), Some(Outcome::Done(_)))) {
        let scorer = open()?;
        let stage = RatePairs { scorer: &*scorer };
        let settings =
            Drive { store: cache, shard: Shard::WHOLE, batch_size, progress, donor: None };
        drive(&stage, pairs.to_vec(), settings)?;
        records = cache.records::<RatePairs<'_>>()?;
    }
    Ok(keys.iter().map(|key| outcome(records.get(key))).collect())
}

fn outcome<T: Clone>(record: Option<&Outcome<T>>) -> Result<T, String> {
    match record {
        Some(Outcome::Done(record)) => Ok(record.clone()),
        Some(Outcome::Failed { error }) => Err(error.clone()),
        None => Err("it was not worked on".to_owned()),
    }
}

/// The stage that cuts texts one by one, so that each is found again.
pub struct CutTexts<'a> {
    segmenter: &'a dyn Segmenter,
}

/// Where one text was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutRecord {
    /// Who cut.
    pub segmenter: String,
    /// The byte offsets at which units end.
    pub ends: Vec<usize>,
}

impl Stage for CutTexts<'_> {
    type Item = String;
    type Record = CutRecord;

    const NAME: &'static str = "cut";

    fn key(&self, text: &String) -> String {
        text_key(text)
    }

    fn process(&self, texts: &[String], emit: &mut Emit<'_, CutRecord>) -> Result<(), RunError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (index, cut) in self.segmenter.segment(&texts).into_iter().enumerate() {
            let outcome = match cut {
                Ok(cut) => Outcome::Done(CutRecord {
                    segmenter: self.segmenter.id().to_owned(),
                    ends: cut.ends().to_vec(),
                }),
                Err(error) => Outcome::Failed { error: format!("{:#}", anyhow::Error::new(error)) },
            };
            emit(index, outcome)?;
        }
        Ok(())
    }
}

/// Where each text was cut, or why it was not.
pub type Cuts = Vec<Result<Segmentation, String>>;

fn text_key(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// Who cut, and where each text was cut, in order, or why it was not; as [`rate_pairs`].
///
/// # Errors
///
/// If the cache cannot be read or written, or the segmenter cannot be opened.
pub fn cut_texts<'s>(
    cache: &RunStore,
    texts: &[&str],
    batch_size: usize,
    progress: &dyn Progress,
    open: impl FnOnce() -> anyhow::Result<Box<dyn Segmenter + 's>>,
) -> anyhow::Result<(BTreeSet<String>, Cuts)> {
    let mut records = cache.records::<CutTexts<'_>>()?;
    let keys: Vec<String> = texts.iter().map(|text| text_key(text)).collect();
    if keys.iter().any(|key| !matches!(records.get(key), Some(Outcome::Done(_)))) {
        let segmenter = open()?;
        let stage = CutTexts { segmenter: &*segmenter };
        let settings =
            Drive { store: cache, shard: Shard::WHOLE, batch_size, progress, donor: None };
        drive(&stage, texts.iter().map(|&text| text.to_owned()).collect(), settings)?;
        records = cache.records::<CutTexts<'_>>()?;
    }
    let mut names = BTreeSet::new();
    let cuts = keys
        .iter()
        .zip(texts)
        .map(|(key, text)| {
            let record = outcome(records.get(key))?;
            names.insert(record.segmenter);
            Segmentation::new(text, record.ends)
                .ok_or_else(|| "the cache holds cuts that do not fit the text".to_owned())
        })
        .collect();
    Ok((names, cuts))
}
