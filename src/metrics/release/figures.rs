//! The figures in the structure in which the release gives them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    matching::Threshold,
    metrics::{Averages, Evaluation, Measures},
};

/// All that the release's code computes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Soft figures.
    pub soft: SoftSubsets,
    /// Threshold figures by threshold.
    pub threshold: ThresholdSubsets,
}

/// The subsets that soft figures are given for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SoftSubsets {
    /// All paragraphs.
    pub full: Row,
    /// Those with one usable comment.
    pub single_reference: Row,
    /// Those with several.
    pub multi_reference: Row,
}

/// The subsets that threshold figures are given for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThresholdSubsets {
    /// All paragraphs.
    pub full: BTreeMap<Threshold, Row>,
    /// Those with one usable comment.
    pub single_reference: BTreeMap<Threshold, Row>,
}

/// One result of the release. Where it would give 0 for want of any unit, there
/// is no figure here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of the release")]
pub struct Row {
    pub micro_precision: Option<f64>,
    pub micro_recall: Option<f64>,
    pub micro_f1: Option<f64>,
    pub macro_precision: Option<f64>,
    pub macro_recall: Option<f64>,
    pub macro_f1: Option<f64>,
    pub total_llm_segments: usize,
}

/// Takes the release's figures out of an evaluation. They are the release's own
/// where empty answers were left out.
pub fn figures(evaluation: &Evaluation) -> Figures {
    let Evaluation { full, single_reference, multi_reference, .. } = evaluation;
    let soft = |measures: &Measures| row(measures.soft, measures.n_generated);
    let threshold = |measures: &Measures| {
        let rows = measures.threshold.iter();
        rows.map(|(&tau, &averages)| (tau, row(averages, measures.n_generated))).collect()
    };
    Figures {
        soft: SoftSubsets {
            full: soft(&full.estimate),
            single_reference: soft(&single_reference.estimate),
            multi_reference: soft(&multi_reference.estimate),
        },
        threshold: ThresholdSubsets {
            full: threshold(&full.estimate),
            single_reference: threshold(&single_reference.estimate),
        },
    }
}

fn row(averages: Averages, n_generated: usize) -> Row {
    let Averages { micro, r#macro } = averages;
    Row {
        micro_precision: micro.precision,
        micro_recall: micro.recall,
        micro_f1: micro.f1,
        macro_precision: r#macro.precision,
        macro_recall: r#macro.recall,
        macro_f1: r#macro.f1,
        total_llm_segments: n_generated,
    }
}
