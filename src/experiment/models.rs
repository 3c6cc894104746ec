//! The models that play the roles of a plan, each opened once and when needed.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use super::{CleanerName, Judging, Machine, ModelName, ScorerName, SegmenterName};
use crate::{
    backend::{Backend, scripted::Scripted},
    generate::{Cleaner, JudgeCleaner},
    prompt::{Library, TokenCounter},
    segment::{JudgeSegmenter, Segmenter, SentenceSegmenter},
    similarity::{JudgeScorer, LexicalScorer, Scorer},
};

/// A text model that also counts tokens.
pub trait TextModel: Backend + TokenCounter {}

impl<T: Backend + TokenCounter> TextModel for T {}

/// Opens models by name.
pub struct Models {
    machine: Machine,
    open: RefCell<BTreeMap<ModelName, Arc<dyn TextModel>>>,
}

impl Models {
    /// With what may be used of the machine.
    pub fn new(machine: Machine) -> Self {
        Self { machine, open: RefCell::default() }
    }

    /// What may be used of the machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The model of this name.
    pub fn open(&self, name: &ModelName) -> anyhow::Result<Arc<dyn TextModel>> {
        if let Some(model) = self.open.borrow().get(name) {
            return Ok(Arc::clone(model));
        }
        let model: Arc<dyn TextModel> = match name {
            ModelName::Local(path) => anyhow::bail!("{path}"),
            ModelName::Scripted(path) => Arc::new(Scripted::load(path)?),
        };
        self.open.borrow_mut().insert(name.clone(), Arc::clone(&model));
        Ok(model)
    }

    /// Who cleans; nobody where the plan says so.
    pub fn cleaner(
        &self,
        name: &CleanerName,
        library: &Arc<Library>,
        judging: Judging,
    ) -> anyhow::Result<Cleaner> {
        Ok(match name {
            CleanerName::None => Cleaner::None,
            CleanerName::Rules => Cleaner::Rules,
            CleanerName::Judge(model) => Cleaner::Judge(JudgeCleaner::new(
                self.open(model)?,
                Arc::clone(library),
                judging.settings(),
            )?),
        })
    }

    /// Who cuts.
    pub fn segmenter(
        &self,
        name: &SegmenterName,
        library: &Arc<Library>,
        judging: Judging,
    ) -> anyhow::Result<Box<dyn Segmenter>> {
        Ok(match name {
            SegmenterName::Sentence => Box::new(SentenceSegmenter),
            SegmenterName::Judge(model) => Box::new(JudgeSegmenter::new(
                self.open(model)?,
                Arc::clone(library),
                judging.settings(),
            )?),
        })
    }

    /// Who rates.
    pub fn scorer(
        &self,
        name: &ScorerName,
        library: &Arc<Library>,
        judging: Judging,
    ) -> anyhow::Result<Box<dyn Scorer>> {
        Ok(match name {
            ScorerName::Chrf => Box::new(LexicalScorer::chrf()),
            ScorerName::Bleu => Box::new(LexicalScorer::bleu()),
            ScorerName::Embedding(folder) => anyhow::bail!("{folder}"),
            ScorerName::Judge(model) => Box::new(JudgeScorer::new(
                self.open(model)?,
                Arc::clone(library),
                judging.settings(),
                judging.batch_size,
            )?),
        })
    }
}
