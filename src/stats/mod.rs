//! Agreement and uncertainty: statistics that know nothing of feedback.
//!
//! Every function takes plain slices and says what it does with ties and with input
//! that has no answer: then it gives `None`, and never a number that is not one.
//! Slices that stand for the two sides of pairs must be of one length; the shorter one
//! would be a slip of the caller, so that is a panic. Whatever is drawn is drawn from
//! `ChaCha8` by a seed, and does not depend on the number of threads.

mod alternative_annotator;
mod bootstrap;
mod calibration;
mod correlation;
mod deviation;
mod kappa;
mod krippendorff;
mod pairwise;
mod ranks;
mod reliability;
mod student;

pub use alternative_annotator::{AlternativeAnnotator, AnnotatorTest, alternative_annotator_test};
pub use bootstrap::{Difference, Draws, Interval, grouped_bootstrap, paired_bootstrap};
pub use calibration::{Bin, Reliability, reliability};
pub use correlation::{kendall_tau_b, pearson, spearman};
pub use deviation::{bias, mean_absolute_error, slope};
pub use kappa::quadratic_kappa;
pub use krippendorff::ordinal_alpha;
pub use pairwise::{MOST_ITEMS, PairwiseAccuracy, pairwise_accuracy};
pub use ranks::average_ranks;
pub use reliability::{ceiling, icc_2_1, mean_correlation};
pub use student::{student_cdf, student_quantile};

/// The mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Panics unless both sides are of one length.
#[track_caller]
fn assert_paired(x: &[f64], y: &[f64]) {
    assert_eq!(x.len(), y.len(), "the two sides of pairs differ in number");
}
