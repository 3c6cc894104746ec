//! The models that play the roles of a plan, each opened once and when needed.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use super::{CleanerName, Judging, Machine, ModelName, Plan, ScorerName, SegmenterName, Until};
use crate::{
    backend::{
        Backend,
        local::{LocalBackend, LocalOptions},
        scripted::Scripted,
    },
    distilled::Kind,
    generate::{Cleaner, JudgeCleaner},
    nn::{DeviceChoice, EncoderPrecision, WeightType},
    prompt::{Library, Prompt, TokenCounter},
    segment::{
        ClassifierSegmenter, DistilledSegmenter, JudgeSegmenter, MarkingSegmenter, SegmentMode,
        Segmenter, SentenceSegmenter,
    },
    similarity::{
        BertScorer, ClassifierScorer, DistilledScorer, EmbeddingScorer, JudgeMode, JudgeScorer,
        LexicalScorer, LogitScorer, Scorer,
    },
};

/// A text model that also counts tokens, and shows how it is asked.
pub trait TextModel: Backend + TokenCounter {
    /// A prompt as the model gets it.
    fn show(&self, prompt: &Prompt) -> anyhow::Result<String>;

    /// What reading some batches of prompts one after another would cost, without
    /// reading any; replies may have so many tokens each.
    fn prefill(&self, batches: &[&[Prompt]], max_new_tokens: usize) -> Prefill;
}

/// The tokens of some prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefill {
    /// Those that are read, what prompts begin with alike once.
    pub n_prefill_tokens: usize,
    /// Those that would be read if each prompt were read by itself.
    pub n_prefill_tokens_naive: usize,
}

impl TextModel for LocalBackend {
    fn show(&self, prompt: &Prompt) -> anyhow::Result<String> {
        self.show_prompt(prompt).map_err(anyhow::Error::msg)
    }

    fn prefill(&self, batches: &[&[Prompt]], max_new_tokens: usize) -> Prefill {
        let count = self.rehearse(batches, max_new_tokens);
        Prefill { n_prefill_tokens: count.n_read, n_prefill_tokens_naive: count.n_naive }
    }
}

impl TextModel for Scripted {
    fn show(&self, prompt: &Prompt) -> anyhow::Result<String> {
        Ok(prompt
            .system
            .iter()
            .chain([&prompt.user])
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n\n"))
    }

    fn prefill(&self, batches: &[&[Prompt]], _max_new_tokens: usize) -> Prefill {
        let count = |text: &String| self.count(text);
        let n_tokens = batches
            .iter()
            .copied()
            .flatten()
            .map(|prompt| prompt.system.as_ref().map_or(0, count) + count(&prompt.user))
            .sum();
        Prefill { n_prefill_tokens: n_tokens, n_prefill_tokens_naive: n_tokens }
    }
}

/// What cuts and what rates, for the stages that are driven.
pub struct Instruments {
    /// Who cuts, where that stage is driven.
    pub segmenter: Option<Box<dyn Segmenter>>,
    /// Who rates, where that stage is driven.
    pub scorer: Option<Box<dyn Scorer>>,
}

/// Opens models by name.
pub struct Models {
    machine: Machine,
    device: DeviceChoice,
    dtype: WeightType,
    open: RefCell<BTreeMap<ModelName, Arc<dyn TextModel>>>,
    /// Scorers without a judge, with what they remember of texts.
    scorers: RefCell<BTreeMap<String, Arc<dyn Scorer>>>,
    /// Segmenters without a judge.
    segmenters: RefCell<BTreeMap<String, Arc<dyn Segmenter>>>,
}

impl Models {
    /// With what may be used of the machine.
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            dtype: WeightType::default(),
            device: DeviceChoice::Cpu,
            open: RefCell::default(),
            scorers: RefCell::default(),
            segmenters: RefCell::default(),
        }
    }

    /// Keeps the matrices of local models as this type.
    #[must_use]
    pub fn with_dtype(mut self, dtype: WeightType) -> Self {
        self.dtype = dtype;
        self
    }

    /// Runs local models there.
    #[must_use]
    pub fn with_device(mut self, device: DeviceChoice) -> Self {
        self.device = device;
        self
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
            ModelName::Local(path) => {
                let options = LocalOptions {
                    cpu: self.machine.cpu,
                    kv_memory_bytes: self.machine.kv_memory_bytes,
                    ..LocalOptions::on(self.device.clone())
                };
                Arc::new(LocalBackend::open(path, self.dtype, &options)?)
            }
            ModelName::Scripted(path) => Arc::new(Scripted::load(path)?),
        };
        self.open.borrow_mut().insert(name.clone(), Arc::clone(&model));
        Ok(model)
    }

    /// Closes the text models that a plan does not name, so that their memory is free.
    pub fn keep_those_of(&self, plan: &Plan) {
        let judges = [
            match &plan.cleaner {
                CleanerName::Judge(model) => Some(model),
                _ => None,
            },
            match &plan.segmenter {
                SegmenterName::Judge(model) => Some(model),
                _ => None,
            },
            match &plan.scorer {
                ScorerName::Judge(model) => Some(model),
                _ => None,
            },
        ];
        let named: Vec<&ModelName> =
            judges.into_iter().flatten().chain([&plan.generator]).collect();
        self.open.borrow_mut().retain(|name, _| named.contains(&name));
    }

    /// Opens what the stages from one to another cut and rate with, so that a model
    /// that is broken or missing is known before the first stage works for hours.
    pub fn open_for(
        &self,
        plan: &Plan,
        library: &Arc<Library>,
        from: Until,
        until: Until,
    ) -> anyhow::Result<Instruments> {
        let is_driven = |stage| from <= stage && stage <= until;
        if is_driven(Until::Generate) {
            self.cleaner(&plan.cleaner, library, plan.judging)?;
        }
        let segmenter = is_driven(Until::Segment)
            .then(|| self.segmenter(&plan.segmenter, library, plan.judging))
            .transpose()?;
        let scorer = is_driven(Until::Score)
            .then(|| self.scorer(&plan.scorer, library, plan.judging))
            .transpose()?;
        Ok(Instruments { segmenter, scorer })
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

    /// Who cuts. Opened once, unless it is a judge, whose text model is.
    pub fn segmenter(
        &self,
        name: &SegmenterName,
        library: &Arc<Library>,
        judging: Judging,
    ) -> anyhow::Result<Box<dyn Segmenter>> {
        let cpu = self.machine.cpu;
        let known = self.segmenters.borrow().get(&name.to_string()).cloned();
        let opened: Arc<dyn Segmenter> = match (known, name) {
            (Some(known), _) => known,
            (None, SegmenterName::Sentence) => Arc::new(SentenceSegmenter),
            (None, SegmenterName::Classifier(folder)) => {
                Arc::new(ClassifierSegmenter::open(folder, cpu)?)
            }
            (None, SegmenterName::Distilled(source)) => {
                let files = source.open(Kind::Segmenter)?;
                Arc::new(DistilledSegmenter::new(&files, EncoderPrecision::default(), cpu)?)
            }
            (None, SegmenterName::Judge(model)) => {
                let (backend, library) = (self.open(model)?, Arc::clone(library));
                return Ok(match judging.segment_mode_for(model) {
                    SegmentMode::Copy => {
                        Box::new(JudgeSegmenter::new(backend, library, judging.settings())?)
                    }
                    SegmentMode::Scoring => Box::new(MarkingSegmenter::new(backend, library)?),
                });
            }
        };
        self.segmenters.borrow_mut().insert(name.to_string(), Arc::clone(&opened));
        Ok(Box::new(opened))
    }

    /// Who rates. Opened once, unless it is a judge, whose text model is.
    pub fn scorer(
        &self,
        name: &ScorerName,
        library: &Arc<Library>,
        judging: Judging,
    ) -> anyhow::Result<Box<dyn Scorer>> {
        let cpu = self.machine.cpu;
        let known = self.scorers.borrow().get(&name.to_string()).cloned();
        let opened: Arc<dyn Scorer> = match (known, name) {
            (Some(known), _) => known,
            (None, ScorerName::Chrf) => Arc::new(LexicalScorer::chrf()),
            (None, ScorerName::Bleu) => Arc::new(LexicalScorer::bleu()),
            (None, ScorerName::Embedding(folder)) => Arc::new(EmbeddingScorer::open(folder, cpu)?),
            (None, ScorerName::Classifier(folder)) => {
                Arc::new(ClassifierScorer::open(folder, cpu)?)
            }
            (None, ScorerName::Distilled(source)) => {
                let files = source.open(Kind::Scorer)?;
                Arc::new(DistilledScorer::new(&files, EncoderPrecision::default(), cpu)?)
            }
            (None, ScorerName::BertScore { folder, layer }) => {
                Arc::new(BertScorer::open(folder, *layer, cpu)?)
            }
            (None, ScorerName::Judge(model)) => {
                let (backend, library) = (self.open(model)?, Arc::clone(library));
                return Ok(match judging.mode_for(model) {
                    JudgeMode::Batch => {
                        let settings = judging.settings();
                        Box::new(JudgeScorer::new(backend, library, settings, judging.batch_size)?)
                    }
                    JudgeMode::Logits => {
                        Box::new(LogitScorer::new(backend, library, judging.rating)?)
                    }
                });
            }
        };
        self.scorers.borrow_mut().insert(name.to_string(), Arc::clone(&opened));
        Ok(Box::new(opened))
    }
}
