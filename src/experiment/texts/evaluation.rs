//! From entries to figures: units, ratings, metrics.

use std::collections::BTreeMap;

use super::{
    Entry, Instrument, Options, TextCoverage, TextOutcome, TextRecord, TextsEvaluation,
    pairing::{Paired, pair},
    units::{Cuts, Units},
};
use crate::{
    agreement::Standing,
    matching::CompleteScores,
    metrics::{Paragraph, State, evaluate as evaluate_paragraphs, measure},
    similarity::{Rating, ScoreMatrix, Scorer, UnitPair},
};

/// Evaluates candidates against references, each id as a paragraph.
///
/// Each distinct text is cut once and each distinct pair of units rated once, in
/// batches, in order of the id. A text that cannot be cut fails its id alone, and a
/// pair that cannot be rated is unscored; both are counted, never scored 0.
///
/// # Errors
///
/// If a candidate's id comes twice, if an id has one side only and must not, if no
/// id has both, or if the instrument breaks its contract.
pub fn evaluate(
    references: &[Entry],
    candidates: &[Entry],
    instrument: &Instrument<'_>,
    options: &Options,
) -> anyhow::Result<TextsEvaluation> {
    let mut coverage = TextCoverage::default();
    let paired = pair(references, candidates, options.unpaired, &mut coverage)?;
    let contents = paired.values().flat_map(|paired| {
        std::iter::once(paired.candidate).chain(paired.references.iter().copied())
    });
    let cuts = Cuts::make(contents, instrument.segmenter, options.batch_size)?;
    let items: Vec<(&str, Item)> = paired
        .into_iter()
        .map(|(id, paired)| (id, Item::of(&paired, &cuts, &mut coverage)))
        .collect();
    let ratings = rate(&items, instrument.scorer, options, &mut coverage)?;
    let (paragraphs, texts): (Vec<_>, Vec<_>) =
        items.into_iter().map(|(id, item)| item.finish(id, &ratings)).unzip();
    let metrics = evaluate_paragraphs(&paragraphs, options.empty_answers);
    Ok(TextsEvaluation { metrics, validation: Standing::default(), coverage, texts })
}

/// The units of one id.
struct Item {
    n_references: usize,
    generated: Vec<String>,
    gold: Vec<String>,
    /// Why a text of it could not be cut.
    failure: Option<String>,
}

impl Item {
    fn of(paired: &Paired<'_>, cuts: &Cuts<'_>, coverage: &mut TextCoverage) -> Self {
        let mut item =
            Self { n_references: 0, generated: Vec::new(), gold: Vec::new(), failure: None };
        match cuts.units(paired.candidate) {
            Ok(Units { texts, n_short }) => {
                coverage.n_short_units += n_short;
                item.generated = texts;
            }
            Err(error) => item.failure = Some(error),
        }
        for reference in &paired.references {
            match cuts.units(reference) {
                Ok(Units { texts, n_short }) => {
                    coverage.n_short_units += n_short;
                    coverage.n_references_without_unit += usize::from(texts.is_empty());
                    item.n_references += usize::from(!texts.is_empty());
                    item.gold.extend(texts);
                }
                Err(error) => {
                    item.n_references += 1;
                    item.failure = Some(error);
                }
            }
        }
        item
    }

    /// Its pairs, row by row; none where it failed.
    fn pairs(&self) -> impl Iterator<Item = UnitPair<'_>> {
        let generated = self.failure.is_none().then_some(&self.generated).into_iter().flatten();
        generated
            .flat_map(|generated| self.gold.iter().map(move |gold| UnitPair { generated, gold }))
    }

    fn finish(self, id: &str, ratings: &Ratings) -> (Paragraph, TextRecord) {
        let (state, outcome) = if let Some(error) = self.failure {
            let stage = "segment".to_owned();
            let outcome = TextOutcome::Failed { stage: stage.clone(), error: error.clone() };
            // A reference that could not be cut stands for one unit.
            let n_gold = self.gold.len().max(self.n_references);
            (State::Failed { stage, error, n_gold }, outcome)
        } else {
            let scores = ScoreMatrix::from_fn(self.generated.len(), self.gold.len(), |row, col| {
                ratings.get(&self.generated[row], &self.gold[col])
            });
            let outcome = match CompleteScores::of(&scores) {
                Some(scores) => TextOutcome::Measured(measure(&scores)),
                None => TextOutcome::Unscored { n_unscored: scores.n_unscored() },
            };
            (State::Rated(scores), outcome)
        };
        let paragraph = Paragraph { key: id.to_owned(), n_references: self.n_references, state };
        let record = TextRecord {
            id: id.to_owned(),
            n_references: self.n_references,
            generated: self.generated,
            gold: self.gold,
            outcome,
        };
        (paragraph, record)
    }
}

/// The ratings of distinct pairs, by generated and by gold unit.
struct Ratings(BTreeMap<String, BTreeMap<String, Option<Rating>>>);

impl Ratings {
    fn get(&self, generated: &str, gold: &str) -> Option<Rating> {
        self.0.get(generated)?.get(gold).copied().flatten()
    }
}

fn rate(
    items: &[(&str, Item)],
    scorer: &dyn Scorer,
    options: &Options,
    coverage: &mut TextCoverage,
) -> anyhow::Result<Ratings> {
    let mut ratings = Ratings(BTreeMap::new());
    let mut pending = Vec::new();
    for pair in items.iter().flat_map(|(_, item)| item.pairs()) {
        let row = ratings.0.entry(pair.generated.to_owned()).or_default();
        if row.insert(pair.gold.to_owned(), None).is_none() {
            pending.push(pair);
        }
    }
    for batch in pending.chunks(options.batch_size.get()) {
        let results = scorer.score(batch);
        anyhow::ensure!(
            results.len() == batch.len(),
            "scorer {} answered {} pairs of {}",
            scorer.id(),
            results.len(),
            batch.len()
        );
        for (pair, result) in batch.iter().zip(results) {
            match result {
                Ok(rating) => {
                    let row = ratings.0.entry(pair.generated.to_owned()).or_default();
                    row.insert(pair.gold.to_owned(), Some(rating));
                }
                Err(error) => {
                    let reason = format!("{:#}", anyhow::Error::from(error));
                    *coverage.score_errors.entry(reason).or_default() += 1;
                }
            }
        }
    }
    Ok(ratings)
}
