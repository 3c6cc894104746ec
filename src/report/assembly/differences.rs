//! What a report says of differences between runs.

use crate::{
    corpus::ParagraphId,
    experiment::{
        FinishedRun,
        comparison::{
            ComparisonSettings, Figure, PairedFigure, RunComparison, compare, compare_by,
        },
    },
    report::page::{Comparison, Estimate},
};

/// Differences to the first run: of precision, recall and F1 over all, and of F1 by class.
pub(super) fn comparisons(runs: &[FinishedRun], settings: &ComparisonSettings) -> Vec<Comparison> {
    let Some(baseline) = runs.first().map(|run| run.name.as_str()) else { return Vec::new() };
    let mut all = Vec::new();
    for comparison in compare(runs, settings) {
        all.extend(
            comparison.figures.iter().map(|figure| entry(baseline, "all", &comparison, figure)),
        );
    }
    for (class, comparison) in compare_by(runs, settings, class_of) {
        let figures = comparison.figures.iter().filter(|found| found.figure == Figure::F1);
        all.extend(figures.map(|figure| entry(baseline, &class, &comparison, figure)));
    }
    all
}

/// The class of a paragraph, as `1.2.1`; of a name that tells none, `unknown`.
pub(super) fn class_of(key: &str) -> String {
    let class = |id: &ParagraphId| {
        let class = id.draft.parts()?.class;
        Some(format!("{}.{}.{}", class.batch, class.course, class.class))
    };
    key.parse::<ParagraphId>().ok().as_ref().and_then(class).unwrap_or_else(|| "unknown".to_owned())
}

fn entry(
    baseline: &str,
    part: &str,
    comparison: &RunComparison,
    found: &PairedFigure,
) -> Comparison {
    Comparison {
        baseline: baseline.to_owned(),
        run: comparison.run.clone(),
        part: part.to_owned(),
        measure: found.measure.to_string(),
        figure: found.figure.name().to_owned(),
        difference: Estimate {
            value: Some(found.run - found.baseline),
            interval: found.linearised.map(|own| (own.interval.low, own.interval.high)),
        },
        p_value: found.randomisation.map(|test| test.p_value),
        p_adjusted: found.p_holm,
        n_paragraphs: comparison.n_paragraphs,
        n_clusters: comparison.n_clusters,
    }
}
