//! The results of a run as tables.

use super::Table;
use crate::metrics::{Averages, Evaluation, Measures, PrecisionRecall, SubsetMetrics};

/// The figures that people look at first: a row for each subset and measure.
pub fn figures(evaluation: &Evaluation) -> Table {
    let mut table = Table::new(&[
        "subset",
        "measure",
        "P",
        "R",
        "F1",
        "macro P",
        "macro R",
        "macro F1",
        "paragraphs",
        "units",
        "gold units",
    ]);
    for (subset, metrics) in evaluation.subsets() {
        let measures = &metrics.estimate;
        for (measure, averages) in named_averages(measures) {
            let mut row = vec![subset.replace('_', " "), measure];
            row.extend([averages.micro, averages.r#macro].iter().flat_map(figures_of));
            row.extend(
                [measures.n_paragraphs, measures.n_generated, measures.n_gold]
                    .map(|count| count.to_string()),
            );
            table.push(row);
        }
    }
    table
}

/// Soft and threshold averages with their names, in order.
fn named_averages(measures: &Measures) -> Vec<(String, &Averages)> {
    let thresholds = measures
        .threshold
        .iter()
        .map(|(threshold, averages)| (format!("threshold {threshold}"), averages));
    std::iter::once(("soft".to_owned(), &measures.soft)).chain(thresholds).collect()
}

fn figures_of(figures: &PrecisionRecall) -> [String; 3] {
    [figures.precision, figures.recall, figures.f1].map(figure)
}

/// A figure to three places; `-` where it has no value.
fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// What the figures rest on: a row for each subset.
pub fn coverage(evaluation: &Evaluation) -> Table {
    let mut table = Table::new(&[
        "subset",
        "paragraphs",
        "evaluated",
        "empty answers",
        "failed",
        "with unscored pairs",
        "pairs",
        "scored",
        "unscored",
        "soft F1 within",
    ]);
    for (subset, SubsetMetrics { coverage, estimate: _, bounds }) in evaluation.subsets() {
        let (paragraphs, pairs) = (coverage.paragraphs, coverage.pairs);
        let counts = [
            paragraphs.n_total,
            paragraphs.n_evaluated,
            paragraphs.n_empty_answers,
            paragraphs.n_failed,
            paragraphs.n_with_unscored_pairs,
            pairs.n_total,
            pairs.n_scored,
            pairs.n_unscored,
        ];
        let bounds = bounds.as_ref().map_or_else(String::new, |bounds| {
            let f1 = |measures: &Measures| figure(measures.soft.micro.f1);
            format!("{} - {}", f1(&bounds.lower), f1(&bounds.upper))
        });
        let mut row = vec![subset.replace('_', " ")];
        row.extend(counts.map(|count| count.to_string()));
        row.push(bounds);
        table.push(row);
    }
    table
}

/// Every figure, a row each, for `results.csv`.
///
/// Columns: `subset`, `figures` (`estimate`, `lower`, `upper`), `measure` (`soft`,
/// `threshold 1` to `threshold 4`), `average` (`micro`, `macro`), `precision`,
/// `recall`, `f1` (empty where there is no value), `n_paragraphs`, `n_generated`,
/// `n_gold`.
pub fn all_figures(evaluation: &Evaluation) -> Table {
    let mut table = Table::new(&[
        "subset",
        "figures",
        "measure",
        "average",
        "precision",
        "recall",
        "f1",
        "n_paragraphs",
        "n_generated",
        "n_gold",
    ]);
    for (subset, metrics) in evaluation.subsets() {
        let bounds = metrics.bounds.as_ref();
        let kinds = std::iter::once(("estimate", &metrics.estimate))
            .chain(bounds.map(|bounds| ("lower", &bounds.lower)))
            .chain(bounds.map(|bounds| ("upper", &bounds.upper)));
        for (kind, measures) in kinds {
            push_measures(&mut table, subset, kind, measures);
        }
    }
    table
}

fn push_measures(table: &mut Table, subset: &str, kind: &str, measures: &Measures) {
    let thresholds =
        measures.threshold.iter().map(|(tau, averages)| (format!("threshold {tau}"), averages));
    for (measure, averages) in
        std::iter::once(("soft".to_owned(), &measures.soft)).chain(thresholds)
    {
        for (average, figures) in [("micro", averages.micro), ("macro", averages.r#macro)] {
            let exact =
                |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            table.push([
                subset.to_owned(),
                kind.to_owned(),
                measure.clone(),
                average.to_owned(),
                exact(figures.precision),
                exact(figures.recall),
                exact(figures.f1),
                measures.n_paragraphs.to_string(),
                measures.n_generated.to_string(),
                measures.n_gold.to_string(),
            ]);
        }
    }
}
