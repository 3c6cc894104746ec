//! The card of a segmenter: how far its cuts agree with those of people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    AnnotationsNote, Boundaries, SegmentationFigures, TextAnnotation,
    segmentation_figures::{TextCounts, compare, figures},
    similarity_card::BootstrapNote,
};
use crate::{
    segment::Segmentation,
    stats::{Draws, Interval, grouped_bootstrap},
};

/// How far the cuts of a segmenter agree with those of people; written as `card.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentationCard {
    /// The version of this structure.
    pub format_version: u32,
    /// `segmentation`.
    pub measure: String,
    /// The version of this program.
    pub unimatch: String,
    /// Who cut.
    pub segmenter: String,
    /// All that the cuts depend on.
    pub segmenter_spec: Value,
    /// What it was measured on.
    pub annotations: AnnotationsNote,
    /// The width of WindowDiff's windows, in gaps between words.
    pub k: usize,
    /// The texts that the figures are taken of.
    pub n: usize,
    /// The texts that the segmenter could not cut; they are in no figure.
    pub n_failed: usize,
    /// Why, and how many for that reason.
    pub segment_errors: BTreeMap<String, usize>,
    /// WindowDiff over all windows.
    pub window_diff: Option<f64>,
    /// The mean of the texts' own.
    pub window_diff_mean: Option<f64>,
    /// Boundary precision.
    pub boundary_precision: Option<f64>,
    /// Boundary recall.
    pub boundary_recall: Option<f64>,
    /// Boundary F1.
    pub boundary_f1: Option<f64>,
    /// Boundary similarity.
    pub boundary_similarity: Option<f64>,
    /// F1 of units that are the same.
    pub unit_f1: Option<f64>,
    /// F1 of units matched by their overlap.
    pub unit_overlap_f1: Option<f64>,
    /// How the intervals were drawn: text by text.
    pub bootstrap: BootstrapNote,
    /// What boundary F1 lies between.
    pub boundary_f1_interval: Option<Interval>,
    /// What WindowDiff lies between.
    pub window_diff_interval: Option<Interval>,
    /// The figures by source.
    pub sources: BTreeMap<String, SegmentationFigures>,
    /// Those of the annotators with each other, each with the first, where there are several.
    pub annotators: Option<SegmentationFigures>,
    /// What another segmenter would make of a run, where one was named.
    pub effect: Option<SegmenterEffect>,
}

/// What this segmenter in place of a run's own makes of the run's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmenterEffect {
    /// The run.
    pub run: String,
    /// Soft micro precision, recall and F1 as they are.
    pub before: [Option<f64>; 3],
    /// The same with this segmenter.
    pub after: [Option<f64>; 3],
    /// Generated and gold units as they are.
    pub n_units_before: [usize; 2],
    /// The same with this segmenter.
    pub n_units_after: [usize; 2],
}

/// What a card is made with.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentationCardOptions {
    /// The width of WindowDiff's windows.
    pub k: usize,
    /// How intervals are drawn.
    pub draws: Draws,
}

/// Makes the card of a segmenter from its cuts, which are in the order of the texts.
/// Where several annotators cut a text, the first is the reference.
///
/// # Panics
///
/// If there are not as many cuts as texts.
pub fn segmentation_card(
    texts: &[TextAnnotation],
    cuts: &[Result<Segmentation, String>],
    annotations: AnnotationsNote,
    options: &SegmentationCardOptions,
) -> SegmentationCard {
    assert_eq!(texts.len(), cuts.len(), "cuts and texts differ in number");
    let mut errors: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_source: BTreeMap<String, Vec<TextCounts>> = BTreeMap::new();
    let (mut all, mut annotators) = (Vec::new(), Vec::new());
    for (at, (text, cut)) in texts.iter().zip(cuts).enumerate() {
        let mut copies = text.segmentations.iter().map(|cut| Boundaries::of(&text.text, cut));
        let Some(reference) = copies.next() else { continue };
        annotators.extend(copies.map(|copy| compare(&reference, &copy, options.k, at)));
        match cut {
            Ok(cut) => {
                let counts = compare(&reference, &Boundaries::of(&text.text, cut), options.k, at);
                all.push(counts);
                if let Some(source) = &text.source {
                    by_source.entry(source.clone()).or_default().push(counts);
                }
            }
            Err(error) => *errors.entry(error.clone()).or_default() += 1,
        }
    }
    let found = figures(&all);
    let interval = |figure: fn(SegmentationFigures) -> Option<f64>| {
        grouped_bootstrap(&all, |text| text.group, options.draws, |texts| figure(figures(texts)))
    };
    SegmentationCard {
        format_version: 1,
        measure: "segmentation".to_owned(),
        unimatch: env!("CARGO_PKG_VERSION").to_owned(),
        segmenter: String::new(),
        segmenter_spec: Value::Null,
        annotations,
        k: options.k,
        n: all.len(),
        n_failed: texts.len() - all.len(),
        segment_errors: errors,
        window_diff: found.window_diff,
        window_diff_mean: found.window_diff_mean,
        boundary_precision: found.boundary_precision,
        boundary_recall: found.boundary_recall,
        boundary_f1: found.boundary_f1,
        boundary_similarity: found.boundary_similarity,
        unit_f1: found.unit_f1,
        unit_overlap_f1: found.unit_overlap_f1,
        bootstrap: BootstrapNote {
            n_draws: options.draws.n,
            seed: options.draws.seed,
            level: options.draws.level,
            n_groups: all.len(),
        },
        boundary_f1_interval: interval(|figures| figures.boundary_f1),
        window_diff_interval: interval(|figures| figures.window_diff),
        sources: by_source.iter().map(|(name, texts)| (name.clone(), figures(texts))).collect(),
        annotators: (!annotators.is_empty()).then(|| figures(&annotators)),
        effect: None,
    }
}
