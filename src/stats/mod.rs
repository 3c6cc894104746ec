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
mod clusters;
mod correlation;
mod deviation;
mod equivalence;
mod kappa;
mod krippendorff;
mod linearised;
mod multiplicity;
mod normal;
mod pairwise;
mod randomisation;
mod ranks;
mod ratio_bootstrap;
mod reliability;
mod student;
mod wild;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod simulation;

pub use alternative_annotator::{AlternativeAnnotator, AnnotatorTest, alternative_annotator_test};
pub use bootstrap::{Difference, Draws, Interval, grouped_bootstrap, paired_bootstrap};
pub use calibration::{Bin, Reliability, reliability};
pub use clusters::ClusterSums;
pub use correlation::{kendall_tau_b, pearson, spearman};
pub use deviation::{bias, mean_absolute_error, slope};
pub use equivalence::{Equivalence, equivalence, minimum_detectable_difference};
pub use kappa::quadratic_kappa;
pub use krippendorff::ordinal_alpha;
pub use linearised::{
    RatioEstimate, difference_linearised, ratio_linearised, two_way_difference_linearised,
    two_way_linearised,
};
pub use multiplicity::{benjamini_hochberg, holm};
pub use normal::{normal_cdf, normal_quantile};
pub use pairwise::{MOST_ITEMS, PairwiseAccuracy, pairwise_accuracy};
pub use randomisation::{RandomisationTest, randomisation_test};
pub use ranks::average_ranks;
pub use ratio_bootstrap::{RatioBootstrap, difference_bootstrap, ratio_bootstrap};
pub use reliability::{ceiling, icc_2_1, mean_correlation};
pub use student::{student_cdf, student_quantile};
pub use wild::{WildBootstrap, wild_cluster_bootstrap};

/// The mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Panics unless both sides are of one length.
#[track_caller]
fn assert_paired<T, U>(x: &[T], y: &[U]) {
    assert_eq!(x.len(), y.len(), "the two sides of pairs differ in number");
}
