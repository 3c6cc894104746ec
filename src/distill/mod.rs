//! Training the small models that rate and cut.
//!
//! # Data
//!
//! Files of annotations, as `unimatch validate` reads them: rated pairs
//! ([`load_pairs`](crate::agreement::load_pairs)) and cut texts
//! ([`load_segmentations`](crate::agreement::load_segmentations)). Of several raters the
//! mean is learnt, of several cuts of a text the first. `kind` may be anything; figures
//! are given with and without the kinds that begin with `variant`.
//!
//! What is tried out on is never what was learnt from: students are kept apart. Whose a
//! line is says `student`, else the student in the name of the `draft`, else the draft,
//! else the `id` up to its first `-`.

mod base;
mod batches;
mod checkpoint;
mod curve;
mod figures;
mod folder;
mod marked;
mod model;
mod pairs;
mod scorer;
mod segmenter;
mod settings;
mod task;
mod tower;
mod training;

pub use figures::Figures;
pub use marked::{MarkedText, load_marked};
pub use model::{distill_scorer, distill_segmenter};
pub use pairs::{RatedPair, load_rated};
pub use settings::{
    Decay, EncoderSettings, Keep, ScorerHead, ScorerSettings, SegmenterHead, SegmenterSettings,
    Settings, StepSettings,
};
pub use task::{Distilled, Report};
pub use training::Watch;

use camino::Utf8PathBuf;

use crate::{agreement::AnnotationError, distilled::DistilledError, nn::ModelError};

/// Why no model was trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DistillError {
    /// The data cannot be used.
    #[error(transparent)]
    Data(#[from] AnnotationError),
    /// A line of the settings cannot be used.
    #[error("{path}, line {line}: {reason}")]
    Line {
        /// The file.
        path: Utf8PathBuf,
        /// The line, counted from one.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file cannot be used.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The settings make no sense.
    #[error("{0}")]
    Settings(String),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The computation failed.
    #[error("the training failed")]
    Tensor(#[from] candle_core::Error),
    /// The model that training begins from cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What was made cannot be read back.
    #[error(transparent)]
    Distilled(#[from] DistilledError),
}
