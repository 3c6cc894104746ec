//! Runs set against each other on the same paragraphs.
//!
//! Figures are *micro*: ratios of sums over paragraphs, with M the sum of the ratings of
//! aligned pairs in fours (soft), or the true positives at a threshold; P and G count
//! generated and gold units. Precision is M/P, recall M/G, and F1 = 2M/(P + G), which is
//! their harmonic mean. Paragraphs of one student are alike, so uncertainty is that of
//! drawing whole clusters of them.

mod clusters;
mod counts;
mod imputation;
mod instrument;
mod paired;
mod scorer_error;
mod shared;
mod sums;
mod verbosity;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::matching::Threshold;

pub use clusters::{Clusters, Level, clusters};
pub use counts::{CountedRun, Counts, counted};
pub use imputation::{Imputation, ImputedFigure, Maximisation};
pub use instrument::{InstrumentDifference, instrument_differences};
pub use paired::{
    ByClass, ComparisonSettings, LinearisedDifference, PairedFigure, RunComparison, compare,
    compare_by, counts_of,
};
pub use scorer_error::{RatingGivenScore, ScorerConfusion, whole};
pub use shared::shared_scores;
pub use sums::{FigureEstimate, cluster_sums, estimate};
pub use verbosity::{Verbosity, verbosity};

/// What a pair must reach to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// It counts as much as its rating.
    #[default]
    Soft,
    /// It counts whole from this rating on.
    Threshold(Threshold),
}

impl Measure {
    /// All of them, the headline first.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Soft).chain(Threshold::ALL.map(Self::Threshold))
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Soft => f.pad("soft"),
            Self::Threshold(threshold) => f.pad(&format!("threshold {threshold}")),
        }
    }
}

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    /// How much of what was generated is gold.
    Precision,
    /// How much of what is gold was generated.
    Recall,
    /// Their harmonic mean.
    F1,
}

impl Figure {
    /// All of them, as tables have them.
    pub const ALL: [Self; 3] = [Self::Precision, Self::Recall, Self::F1];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Precision => "precision",
            Self::Recall => "recall",
            Self::F1 => "F1",
        }
    }
}
