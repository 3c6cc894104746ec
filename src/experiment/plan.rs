//! What is run: one condition on one corpus, and who does what.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::{CleanerName, ModelName, ScorerName, SegmenterName};
use crate::{
    backend::judge::JudgeSettings,
    corpus::Selection,
    metrics::EmptyAnswers,
    nn::{Cpu, DeviceChoice, WeightType},
    prompt::{Condition, GenerationSettings, Preset, PromptFormat},
    segment::SegmentMode,
    similarity::{DEFAULT_BATCH_SIZE, JudgeMode, JudgeRating},
};

/// All that a run's records and results depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The folder of drafts.
    pub corpus: Utf8PathBuf,
    /// Which of them.
    pub selection: Selection,
    /// Who writes.
    pub generator: ModelName,
    /// What the matrices of local models are kept as.
    pub dtype: WeightType,
    /// What the prompt shows.
    pub condition: Condition,
    /// Where the context budget comes from.
    pub preset: Preset,
    /// How a local model is shown the prompt.
    pub format: PromptFormat,
    /// How replies are drawn, the run's seed among it.
    pub settings: GenerationSettings,
    /// A folder of templates instead of the built-in ones.
    pub prompts: Option<Utf8PathBuf>,
    /// Who cleans.
    pub cleaner: CleanerName,
    /// What becomes of a constrained reply in its format.
    pub constrained_units: ConstrainedUnits,
    /// Who cuts.
    pub segmenter: SegmenterName,
    /// Who rates.
    pub scorer: ScorerName,
    /// How judges are asked.
    pub judging: Judging,
    /// What an empty answer counts for.
    pub empty_answers: EmptyAnswers,
    /// Where local models run; of this only the kind changes records.
    pub device: DeviceChoice,
}

/// What becomes of a reply that keeps to the format of a constrained prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConstrainedUnits {
    /// It is one unit, as it was asked for.
    #[default]
    One,
    /// The segmenter cuts it like any other, as in the paper.
    Segment,
}

/// How judges are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judging {
    /// The seed of the run.
    pub seed: u64,
    /// Pairs in one request.
    pub batch_size: usize,
    /// How often a judge is asked again after a reply that cannot be read.
    pub n_retries: usize,
    /// How one is asked to rate; `None` for what suits it best.
    pub mode: Option<JudgeMode>,
    /// What the probabilities of the ratings come to, where it is asked for those.
    pub rating: JudgeRating,
    /// How one is asked to cut; `None` for what suits it best.
    pub segment_mode: Option<SegmentMode>,
}

impl Default for Judging {
    /// 50 pairs in a request, two retries, the paper's seed, and the likeliest rating.
    fn default() -> Self {
        Self {
            seed: 42,
            batch_size: DEFAULT_BATCH_SIZE,
            n_retries: 2,
            mode: None,
            rating: JudgeRating::Argmax,
            segment_mode: None,
        }
    }
}

impl Judging {
    /// How this model is asked to rate: unless another way was chosen, a local one is
    /// asked for the probabilities of the ratings, and any other for a reply.
    pub fn mode_for(self, model: &ModelName) -> JudgeMode {
        self.mode.unwrap_or(match model {
            ModelName::Local(_) => JudgeMode::Logits,
            ModelName::Scripted(_) => JudgeMode::Batch,
        })
    }

    /// How this model is asked to cut: unless another way was chosen, a local one is
    /// led along the text, and any other copies it.
    pub fn segment_mode_for(self, model: &ModelName) -> SegmentMode {
        self.segment_mode.unwrap_or(match model {
            ModelName::Local(_) => SegmentMode::Scoring,
            ModelName::Scripted(_) => SegmentMode::Copy,
        })
    }

    /// The same, as judges take it.
    pub fn settings(self) -> JudgeSettings {
        JudgeSettings { seed: self.seed, n_retries: self.n_retries, ..JudgeSettings::default() }
    }
}

/// What a run may use of the machine. Nothing here changes a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Threads.
    pub n_threads: usize,
    /// Memory for keys and values of a local model.
    pub kv_memory_bytes: usize,
    /// Items that a stage is given at once.
    pub batch_size: usize,
    /// Instructions of the processor.
    pub cpu: Cpu,
}
