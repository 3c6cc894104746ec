//! All stages of a run, one after another.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Models, ParagraphResult, Plan, Results,
    results::{count_replies, paragraph_results},
    spec::signature,
    work::{self, Cleaned, CutParagraph, Records},
};
use crate::{
    agreement::Cards,
    backend::Sampling,
    corpus::{Corpus, ParagraphId},
    generate::{CleanStage, GenerateStage},
    metrics::{Paragraph, evaluate},
    prompt::Library,
    run::{Drive, Outcome, Progress, RunStore, Shard, Stage, Tally, drive},
    segment::{SegmentStage, Segmenter},
    similarity::{ScoreStage, Scorer},
};

/// How far a run is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// Feedback is written and cleaned.
    Generate,
    /// It is cut into units, and so are the instructors' comments.
    Segment,
    /// Pairs of units are rated.
    Score,
    /// Units are matched and results computed.
    Match,
}

/// A run that is ready to be driven.
pub struct Run<'a> {
    /// What is run.
    pub plan: &'a Plan,
    /// The drafts of the plan.
    pub corpus: &'a Corpus,
    /// The templates of the plan.
    pub library: &'a Arc<Library>,
    /// The models of the plan.
    pub models: &'a Models,
    /// Where the records are.
    pub store: &'a RunStore,
    /// Who is told how far it is.
    pub progress: &'a dyn Progress,
    /// What is known of scorers.
    pub cards: &'a Cards,
    /// Another run, whose units are taken over where they were cut by the same means.
    pub donor: Option<&'a RunStore>,
}

/// What driving a run came to.
#[derive(Clone, Debug)]
pub struct Driven {
    /// How each stage stands, in order.
    pub tallies: Vec<(&'static str, Tally)>,
    /// The paragraphs that a stage driven alone found nothing for, since those
    /// before it are not done.
    pub n_unready: usize,
    /// The results, where it was driven to the end.
    pub results: Option<(Results, Vec<ParagraphResult>)>,
}

impl Run<'_> {
    /// Drives the stages in order up to `until`. What is done already is not
    /// done again. A stage works on what those before it left, so that one
    /// driven alone takes what is there.
    pub fn drive(&self, from: Until, until: Until) -> anyhow::Result<Driven> {
        let mut tallies = Vec::new();
        let mut n_unready = 0;
        let instruments = self.models.open_for(self.plan, self.library, from, until)?;
        if from <= Until::Generate {
            tallies.push(self.generate()?);
            tallies.push(self.clean()?);
        }
        if let Some(segmenter) = &instruments.segmenter {
            if from == Until::Segment {
                n_unready = self.with_cleaned(|_, failures| Ok(failures.len()))?;
            }
            tallies.push(self.segment(&**segmenter)?);
        }
        if let Some(scorer) = &instruments.scorer {
            if from == Until::Score {
                let is_unready = |cut: &&CutParagraph<'_>| cut.units.is_err();
                n_unready = self.with_cut(|cut| Ok(cut.iter().filter(is_unready).count()))?;
            }
            tallies.push(self.score(&**scorer)?);
        }
        let results = if until == Until::Match { Some(self.results()?) } else { None };
        Ok(Driven { tallies, n_unready, results })
    }

    fn settings(&self) -> Drive<'_> {
        Drive {
            store: self.store,
            shard: Shard::WHOLE,
            batch_size: self.models.machine().batch_size,
            progress: self.progress,
            donor: None,
        }
    }

    fn generate(&self) -> anyhow::Result<(&'static str, Tally)> {
        let records = self.store.records::<GenerateStage<'_>>()?;
        let n_items = self.corpus.scorable_targets().count();
        let n_done = records.values().filter(|outcome| matches!(outcome, Outcome::Done(_))).count();
        if n_done == n_items {
            // Nothing is left to write, so the model need not be opened.
            let tally = Tally { n_items, n_done_before: n_items, ..Tally::default() };
            return Ok((GenerateStage::NAME, tally));
        }
        let model = self.models.open(&self.plan.generator)?;
        let requests = work::prompts(self.plan, self.corpus, self.library, &*model)?;
        let stage = GenerateStage { backend: &*model, sampling: sampling(self.plan) };
        Ok((GenerateStage::NAME, drive(&stage, requests, self.settings())?))
    }

    pub(super) fn clean_stage(&self) -> anyhow::Result<CleanStage> {
        let form = self.library.reply_form(self.plan.condition)?;
        let cleaner = self.models.cleaner(&self.plan.cleaner, self.library, self.plan.judging)?;
        Ok(CleanStage { form, cleaner })
    }

    fn clean(&self) -> anyhow::Result<(&'static str, Tally)> {
        let generated = self.store.records::<GenerateStage<'_>>()?;
        let replies = work::replies(self.corpus, &generated);
        Ok((CleanStage::NAME, drive(&self.clean_stage()?, replies, self.settings())?))
    }

    fn segment(&self, segmenter: &dyn Segmenter) -> anyhow::Result<(&'static str, Tally)> {
        let stage = SegmentStage { segmenter };
        let settings = Drive {
            donor: self.donor.filter(|donor| cuts_alike(donor, self.store)),
            ..self.settings()
        };
        let tally = self.with_cleaned(|cleaned, _| {
            Ok(drive(&stage, work::passages(self.corpus, cleaned), settings)?)
        })?;
        Ok((SegmentStage::NAME, tally))
    }

    fn score(&self, scorer: &dyn Scorer) -> anyhow::Result<(&'static str, Tally)> {
        let stage = ScoreStage { scorer };
        let tally = self.with_cut(|cut| {
            let batches = work::batches(cut, self.plan.judging.batch_size);
            let settings = Drive { batch_size: 1, ..self.settings() };
            Ok(drive(&stage, batches, settings)?)
        })?;
        Ok((ScoreStage::NAME, tally))
    }

    fn results(&self) -> anyhow::Result<(Results, Vec<ParagraphResult>)> {
        let generated = self.store.records::<GenerateStage<'_>>()?;
        let cleaned = self.store.records::<CleanStage>()?;
        self.with_rated(|cut, rated| {
            let (replies, context) = count_replies(rated.len(), &generated, &cleaned);
            let manifest = self.store.manifest();
            let scorer = &manifest.spec["scorer"];
            let validation = self.cards.standing(scorer);
            let results = Results {
                format_version: Results::FORMAT_VERSION,
                signature: signature(manifest, &validation),
                validation,
                fingerprint: manifest.fingerprint.clone(),
                evaluation: evaluate(rated, self.plan.empty_answers),
                replies,
                context,
            };
            Ok((results, paragraph_results(cut, rated)))
        })
    }

    /// Hands over the paragraphs cut into units, and with their ratings.
    pub(super) fn with_rated<T>(
        &self,
        work: impl FnOnce(&[CutParagraph<'_>], &[Paragraph]) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let scored = self.store.records::<ScoreStage<'_>>()?;
        self.with_cut(|cut| {
            let batches = work::batches(cut, self.plan.judging.batch_size);
            let ratings = work::ratings(&batches, &scored);
            work(cut, &work::rated(cut, &ratings))
        })
    }

    /// Hands over what the cleaned feedback is, and where it is missing why.
    fn with_cleaned<T>(
        &self,
        work: impl FnOnce(&Cleaned<'_>, &Failures) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let generated = self.store.records::<GenerateStage<'_>>()?;
        let records = self.store.records::<CleanStage>()?;
        let mut failures = Failures::new();
        for target in self.corpus.scorable_targets() {
            let error = match generated.get(&target.id().to_string()) {
                Some(Outcome::Done(_)) => continue,
                Some(Outcome::Failed { error }) => error.clone(),
                None => NOT_DONE.to_owned(),
            };
            failures.insert(target.id(), (GenerateStage::NAME, error));
        }
        let mut by_paragraph = BTreeMap::new();
        for reply in work::replies(self.corpus, &generated) {
            match records.get(&reply.key()) {
                Some(Outcome::Failed { error }) => {
                    failures.insert(reply.paragraph, (CleanStage::NAME, error.clone()));
                }
                Some(outcome) => {
                    by_paragraph.insert(reply.paragraph, outcome);
                }
                None => {
                    failures.insert(reply.paragraph, (CleanStage::NAME, NOT_DONE.to_owned()));
                }
            }
        }
        let cleaned = Cleaned { by_paragraph, constrained_units: self.plan.constrained_units };
        work(&cleaned, &failures)
    }

    /// Hands over the paragraphs cut into units.
    fn with_cut<T>(
        &self,
        work: impl FnOnce(&[CutParagraph<'_>]) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let segmented: Records<_> = self.store.records::<SegmentStage<'_>>()?;
        self.with_cleaned(|cleaned, failures| {
            work(&work::cut_paragraphs(self.corpus, failures, cleaned, &segmented))
        })
    }
}

/// Whether two runs cut by the same means: then a passage has the same units in both.
pub fn cuts_alike(first: &RunStore, other: &RunStore) -> bool {
    ["/segmenter", "/sampling/seed", "/judge_retries", "/device"].iter().all(|pointer| {
        first.manifest().spec.pointer(pointer) == other.manifest().spec.pointer(pointer)
    })
}

/// Why there is nothing of a stage that was not driven so far.
pub(super) const NOT_DONE: &str = "not done yet";

/// Where feedback is missing: the stage that failed, and why.
pub(super) type Failures = BTreeMap<ParagraphId, (&'static str, String)>;

/// How the replies of a plan are drawn; the seed is the run's.
pub fn sampling(plan: &Plan) -> Sampling {
    let settings = &plan.settings;
    Sampling {
        temperature: settings.temperature,
        top_p: settings.top_p,
        top_k: settings.top_k,
        repetition_penalty: settings.repetition_penalty,
        max_new_tokens: settings.max_new_tokens,
        seed: settings.seed,
        stop: Vec::new(),
    }
}
