//! The figures of agreement of cuts with those of people.

use serde::{Deserialize, Serialize};

use super::{
    Boundaries, BoundaryEdits, WindowDiff, boundary_edits,
    span_overlap::{UnitOverlap, unit_overlap},
    window_diff,
};
use crate::stats::mean;

/// The agreement of two segmentations of some texts. Figures are of the sums over texts
/// where nothing else is said; `null` where there is nothing to take one of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentationFigures {
    /// The texts.
    pub n: usize,
    /// Their boundaries in the reference, ends of texts not counted.
    pub n_boundaries: usize,
    /// Their boundaries in the hypothesis.
    pub n_boundaries_found: usize,
    /// WindowDiff over all windows of all texts; less is better.
    pub window_diff: Option<f64>,
    /// The mean of the texts' own WindowDiff.
    pub window_diff_mean: Option<f64>,
    /// The share of found boundaries that are in the reference.
    pub boundary_precision: Option<f64>,
    /// The share of the reference's boundaries that were found.
    pub boundary_recall: Option<f64>,
    /// Their harmonic mean.
    pub boundary_f1: Option<f64>,
    /// Boundary similarity: near misses count half.
    pub boundary_similarity: Option<f64>,
    /// F1 of units that are the same stretch of words in both.
    pub unit_f1: Option<f64>,
    /// F1 of units matched one to one by their overlap in words.
    pub unit_overlap_f1: Option<f64>,
    /// Units of the reference.
    pub n_units: usize,
    /// Units of the hypothesis.
    pub n_units_found: usize,
}

/// What one text adds to the figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TextCounts {
    pub(super) group: usize,
    windows: WindowDiff,
    n_reference: usize,
    n_hypothesis: usize,
    edits: BoundaryEdits,
    n_shared: usize,
    units: UnitOverlap,
}

/// Compares two segmentations of a text.
pub(super) fn compare(
    reference: &Boundaries,
    hypothesis: &Boundaries,
    k: usize,
    group: usize,
) -> TextCounts {
    let count = |gaps: &[bool]| gaps.iter().filter(|&&gap| gap).count();
    let shared = reference.gaps().iter().zip(hypothesis.gaps()).filter(|&(&a, &b)| a && b).count();
    TextCounts {
        group,
        windows: window_diff(reference, hypothesis, k),
        n_reference: count(reference.gaps()),
        n_hypothesis: count(hypothesis.gaps()),
        edits: boundary_edits(reference, hypothesis),
        n_shared: shared,
        units: unit_overlap(reference, hypothesis),
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (0.0 < whole).then(|| part / whole)
}

/// The figures of some texts, each with its reference and its hypothesis; windows of `k`
/// words.
///
/// # Panics
///
/// As [`window_diff`].
pub fn segmentation_figures(texts: &[(Boundaries, Boundaries)], k: usize) -> SegmentationFigures {
    let compared = |(group, (reference, hypothesis)): (usize, &(Boundaries, Boundaries))| {
        compare(reference, hypothesis, k, group)
    };
    figures(&texts.iter().enumerate().map(compared).collect::<Vec<_>>())
}

/// The figures of some texts.
pub(super) fn figures(texts: &[TextCounts]) -> SegmentationFigures {
    let sum = |count: fn(&TextCounts) -> usize| texts.iter().map(count).sum::<usize>();
    let windows = WindowDiff {
        n_windows: sum(|text| text.windows.n_windows),
        n_different: sum(|text| text.windows.n_different),
    };
    let shares: Vec<f64> = texts.iter().filter_map(|text| text.windows.share()).collect();
    let edits = texts.iter().fold(BoundaryEdits::default(), |edits, text| edits.plus(text.edits));
    let (n_reference, n_hypothesis) = (sum(|text| text.n_reference), sum(|text| text.n_hypothesis));
    let (n_units, n_units_found) =
        (sum(|text| text.units.n_reference), sum(|text| text.units.n_hypothesis));
    let n_hits = sum(|text| text.n_shared) as f64;
    let all_units = (n_units + n_units_found) as f64;
    let overlap: f64 = texts.iter().map(|text| text.units.overlap).sum();
    SegmentationFigures {
        n: texts.len(),
        n_boundaries: n_reference,
        n_boundaries_found: n_hypothesis,
        window_diff: windows.share(),
        window_diff_mean: mean(&shares),
        boundary_precision: ratio(n_hits, n_hypothesis as f64),
        boundary_recall: ratio(n_hits, n_reference as f64),
        boundary_f1: ratio(2.0 * n_hits, (n_reference + n_hypothesis) as f64),
        boundary_similarity: edits.similarity(),
        unit_f1: ratio(2.0 * sum(|text| text.units.n_same) as f64, all_units),
        unit_overlap_f1: ratio(2.0 * overlap, all_units),
        n_units,
        n_units_found,
    }
}
