//! The models that play the roles of a plan, each opened once and when needed.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use super::{CleanerName, Machine, ModelName, Plan, ScorerName, SegmenterName};
use crate::{
    backend::{Backend, Scripted, local::LocalBackend},
    generate::Cleaner,
    prompt::{Library, TokenCounter},
    segment::{JudgeSegmenter, Segmenter, SentenceSegmenter},
    similarity::{Calibration, EmbeddingScorer, JudgeScorer, LexicalScorer, Scorer},
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
            ModelName::Local(path) => Arc::new(LocalBackend::open(path, &self.machine.into())?),
            ModelName::Scripted(path) => Arc::new(Scripted::load(path)?),
        };
        self.open.borrow_mut().insert(name.clone(), Arc::clone(&model));
        Ok(model)
    }
}
