//! What each stage works on, made from the corpus and the stages before.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ConstrainedUnits, Plan,
    driver::{Failures, NOT_DONE},
};
use crate::{
    corpus::{Corpus, ParagraphId, Target},
    generate::{CleanRecord, FeedbackRequest, Reply, ReplyRecord},
    metrics::{Paragraph, State},
    prompt::{
        ContextUse, FeedbackPrompts, Library, Prompt, PromptError, RenderedPrompt, TokenCounter,
    },
    run::{Outcome, Stage},
    segment::{Extent, Passage, SegmentStage, Source, UnitsRecord},
    similarity::{PairBatch, Rating, ScoreMatrix, ScoreRecord, UnitPair},
};

/// The records of a stage, by key.
pub(super) type Records<T> = BTreeMap<String, Outcome<T>>;

/// The requests for feedback on every paragraph that can be scored, in the order
/// of the corpus. `counter` counts as the generating model does.
///
/// # Errors
///
/// If the templates cannot serve the condition. A paragraph for which no prompt
/// can be made carries the reason.
pub fn prompts(
    plan: &Plan,
    corpus: &Corpus,
    library: &Library,
    counter: &dyn TokenCounter,
) -> Result<Vec<FeedbackRequest>, PromptError> {
    let prompts =
        FeedbackPrompts::new(library, plan.condition, plan.preset, &plan.settings, counter)?;
    let mut requests = Vec::new();
    for draft in corpus.drafts() {
        let targets: Vec<Target<'_>> =
            draft.targets().filter(|target| !target.comments.is_empty()).collect();
        if targets.is_empty() {
            continue;
        }
        let draft_prompts = prompts.for_draft(draft);
        for target in targets {
            let (prompt, context) = match draft_prompts.render(target.index) {
                Ok(RenderedPrompt { prompt, context }) => {
                    (Ok(Prompt { format: plan.format, ..prompt }), context)
                }
                Err(error) => (Err(error.to_string()), ContextUse::default()),
            };
            requests.push(FeedbackRequest { paragraph: target.id(), prompt, context });
        }
    }
    Ok(requests)
}

/// The replies that came, to be cleaned, in the order of the corpus.
pub(super) fn replies(corpus: &Corpus, generated: &Records<ReplyRecord>) -> Vec<Reply> {
    corpus
        .scorable_targets()
        .filter_map(|target| match generated.get(&target.id().to_string()) {
            Some(Outcome::Done(record)) => {
                Some(Reply { paragraph: target.id(), text: record.reply.clone() })
            }
            _ => None,
        })
        .collect()
}

/// Feedback that was cleaned, by paragraph.
pub(super) struct Cleaned<'a> {
    /// The outcome for each reply that came.
    pub(super) by_paragraph: BTreeMap<ParagraphId, &'a Outcome<CleanRecord>>,
    /// What becomes of constrained replies.
    pub(super) constrained_units: ConstrainedUnits,
}

impl Cleaned<'_> {
    /// The passage of one paragraph's feedback.
    fn passage(&self, paragraph: &ParagraphId) -> Option<Passage> {
        let Some(Outcome::Done(record)) = self.by_paragraph.get(paragraph) else {
            return None;
        };
        let one = record.is_one_unit() && self.constrained_units == ConstrainedUnits::One;
        Some(Passage {
            paragraph: paragraph.clone(),
            source: Source::Generated,
            annotation: 0,
            text: record.feedback.clone(),
            extent: if one { Extent::OneUnit } else { Extent::Unknown },
        })
    }
}

fn gold_passages(target: &Target<'_>) -> Vec<Passage> {
    target
        .comments
        .iter()
        .map(|&(annotation, comment)| Passage {
            paragraph: target.id(),
            source: Source::Gold,
            annotation,
            text: comment.to_owned(),
            extent: Extent::Unknown,
        })
        .collect()
}

/// The instructors' comments and the models' feedback, to be cut into units.
pub(super) fn passages(corpus: &Corpus, cleaned: &Cleaned<'_>) -> Vec<Passage> {
    let mut passages = Vec::new();
    for target in corpus.scorable_targets() {
        passages.extend(gold_passages(&target));
        passages.extend(cleaned.passage(&target.id()));
    }
    passages
}

/// The units of one paragraph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Units {
    /// The model's, in order: rows.
    pub(super) generated: Vec<String>,
    /// The instructor's, in the order of the annotations: columns, each with
    /// its annotation.
    pub(super) gold: Vec<(usize, String)>,
}

/// A paragraph after segmentation.
pub(super) struct CutParagraph<'a> {
    /// The paragraph.
    pub(super) target: Target<'a>,
    /// Its units, or the stage that failed, with the number of gold units.
    pub(super) units: Result<Units, StageFailure>,
}

impl CutParagraph<'_> {
    /// The words of the instructor's units; none where a stage failed.
    pub(super) fn gold_texts(&self) -> Vec<String> {
        self.units.iter().flat_map(|units| &units.gold).map(|(_, text)| text.clone()).collect()
    }
}

/// A stage that failed on a paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StageFailure {
    stage: &'static str,
    error: String,
    n_gold: usize,
}

/// The units of every paragraph, in the order of the corpus.
pub(super) fn cut_paragraphs<'a>(
    corpus: &'a Corpus,
    failures: &Failures,
    cleaned: &Cleaned<'_>,
    segmented: &Records<UnitsRecord>,
) -> Vec<CutParagraph<'a>> {
    let units_of = |passage: &Passage| match segmented.get(&passage.key()) {
        Some(Outcome::Done(record)) => Ok(record.units.clone()),
        Some(Outcome::Failed { error }) => Err(error.clone()),
        None => Err(NOT_DONE.to_owned()),
    };
    corpus
        .scorable_targets()
        .map(|target| {
            let mut gold = Vec::new();
            let mut gold_error = None;
            for passage in gold_passages(&target) {
                match units_of(&passage) {
                    Ok(units) => {
                        gold.extend(units.into_iter().map(|unit| (passage.annotation, unit)));
                    }
                    Err(error) => gold_error = Some(error),
                }
            }
            let n_gold = if gold_error.is_some() { target.comments.len() } else { gold.len() };
            let failure = |stage, error| Err(StageFailure { stage, error, n_gold });
            let units = match (cleaned.passage(&target.id()), gold_error) {
                (None, _) => {
                    let (stage, error) = failures
                        .get(&target.id())
                        .cloned()
                        .unwrap_or(("generate", "not done yet".to_owned()));
                    failure(stage, error)
                }
                (Some(_), Some(error)) => failure(SegmentStage::NAME, error),
                (Some(passage), None) => match units_of(&passage) {
                    Ok(generated) => Ok(Units { generated, gold }),
                    Err(error) => failure(SegmentStage::NAME, error),
                },
            };
            CutParagraph { target, units }
        })
        .collect()
}

/// All pairs to rate, each once, where it occurs first, in batches that do not
/// reach over a draft.
pub(super) fn batches(paragraphs: &[CutParagraph<'_>], batch_size: usize) -> Vec<PairBatch> {
    let mut seen = BTreeSet::new();
    let mut batches: Vec<PairBatch> = Vec::new();
    for paragraph in paragraphs {
        let Ok(units) = &paragraph.units else { continue };
        let draft = &paragraph.target.draft.id;
        for generated in &units.generated {
            for (_, gold) in &units.gold {
                if !seen.insert((generated.as_str(), gold.as_str())) {
                    continue;
                }
                let pair = (generated.clone(), gold.clone());
                match batches.last_mut() {
                    Some(last) if last.draft == *draft && last.pairs.len() < batch_size => {
                        last.pairs.push(pair);
                    }
                    last => {
                        let index = match last {
                            Some(last) if last.draft == *draft => last.index + 1,
                            _ => 0,
                        };
                        batches.push(PairBatch { draft: draft.clone(), index, pairs: vec![pair] });
                    }
                }
            }
        }
    }
    batches
}

/// The ratings of some batches, by pair.
pub(super) fn ratings<'a>(
    batches: &[PairBatch],
    scored: &'a Records<ScoreRecord>,
) -> BTreeMap<UnitPair<'a>, Rating> {
    let mut ratings = BTreeMap::new();
    for batch in batches {
        if let Some(Outcome::Done(record)) = scored.get(&batch.key()) {
            for rated in &record.pairs {
                let pair = UnitPair { generated: &rated.generated, gold: &rated.gold };
                ratings.insert(pair, rated.rating);
            }
        }
    }
    ratings
}

/// The paragraphs as the metrics take them.
pub(super) fn rated(
    paragraphs: &[CutParagraph<'_>],
    ratings: &BTreeMap<UnitPair<'_>, Rating>,
) -> Vec<Paragraph> {
    paragraphs
        .iter()
        .map(|paragraph| Paragraph {
            key: paragraph.target.id().to_string(),
            n_references: paragraph.target.comments.len(),
            state: match &paragraph.units {
                Ok(Units { generated, gold }) => State::Rated(ScoreMatrix::from_fn(
                    generated.len(),
                    gold.len(),
                    |row, column| {
                        let pair = UnitPair { generated: &generated[row], gold: &gold[column].1 };
                        ratings.get(&pair).copied()
                    },
                )),
                Err(StageFailure { stage, error, n_gold }) => State::Failed {
                    stage: (*stage).to_owned(),
                    error: error.clone(),
                    n_gold: *n_gold,
                },
            },
        })
        .collect()
}
