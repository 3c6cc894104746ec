//! Training the small models that rate and cut.
//!
//! # Data
//!
//! A line of a file of rated pairs is an object:
//!
//! ```json
//! {"id": "7", "draft": "Batch_1_..._ID0017", "paragraph": 3, "kind": "natural",
//!  "a": "Say why.", "b": "Give a reason.", "ratings": [3, 4]}
//! ```
//!
//! `ratings` are one or more raters' integers from 0 to 4; the model learns their mean.
//! `kind` may be anything; figures are given with and without the kinds that begin with
//! `variant`. A line of a file of cut texts is
//!
//! ```json
//! {"id": "7-a", "source": "instructor", "text": "Good. But why?", "segmented": "Good.$$ But why?$$"}
//! ```
//!
//! where `segmented` without its `$$` is `text`. What is tried out on is never what was
//! learnt from: students are kept apart. Whose a line is says `student`, else the
//! student in the name of the `draft`, else the draft, else the `id` up to its first
//! `-`. Other fields are ignored. Blank lines are passed over.

mod base;
mod batches;
mod checkpoint;
mod curve;
mod figures;
mod folder;
mod lines;
mod marked;
mod model;
mod pairs;
mod scorer;
mod segmenter;
mod settings;
mod tower;
mod training;

pub use figures::Figures;
pub use marked::{MarkedText, load_marked};
pub use model::{Distilled, Report, distill_scorer, distill_segmenter};
pub use pairs::{RatedPair, load_pairs};
pub use settings::{
    Decay, EncoderSettings, Keep, ScorerHead, ScorerSettings, SegmenterHead, SegmenterSettings,
    Settings, StepSettings,
};
pub use training::{Silent, Watch};

use camino::Utf8PathBuf;

use crate::{
    distilled::DistilledError,
    nn::{DeviceError, ModelError},
};

/// Why no model was trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DistillError {
    /// A line of the data cannot be used.
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
    /// There is no such device.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
