//! Comparisons of runs as tables.

use super::Table;
use crate::{
    experiment::comparison::{LinearisedDifference, PairedFigure, RunComparison},
    stats::Interval,
};

fn three(value: f64) -> String {
    format!("{value:.3}")
}

fn signed(value: f64) -> String {
    format!("{value:+.3}")
}

fn between(interval: Interval) -> String {
    format!("[{:+.3}, {:+.3}]", interval.low, interval.high)
}

/// A p-value to three places; the smallest as what they are below.
pub(super) fn p_value(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) => three(p),
    }
}

fn or_dash<T>(value: Option<T>, render: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), render)
}

fn lines(comparisons: &[RunComparison]) -> impl Iterator<Item = (&RunComparison, &PairedFigure)> {
    comparisons
        .iter()
        .flat_map(|comparison| comparison.figures.iter().map(move |figure| (comparison, figure)))
}

/// How far each run lies above the baseline: a row for each run, measure and figure.
pub fn differences(comparisons: &[RunComparison]) -> Table {
    let mut table = Table::new(&[
        "run",
        "measure",
        "figure",
        "baseline",
        "run's",
        "difference",
        "95 %",
        "p",
        "Holm",
        "95 % by class",
        "p by class",
        "units/paragraph",
        "F1 at matched units",
    ]);
    for (comparison, found) in lines(comparisons) {
        let by_class = found.by_class;
        let pair = |of: fn(&crate::experiment::comparison::Verbosity) -> Option<f64>, places| {
            let figure = |value: Option<f64>| or_dash(value, |value| format!("{value:.places$}"));
            let (baseline, run) =
                (of(&comparison.baseline_verbosity), of(&comparison.run_verbosity));
            format!("{} vs {}", figure(run), figure(baseline))
        };
        table.push([
            comparison.run.clone(),
            found.measure.to_string(),
            found.figure.name().to_owned(),
            three(found.baseline),
            three(found.run),
            signed(found.run - found.baseline),
            or_dash(found.linearised, |found| between(found.interval)),
            p_value(found.randomisation.map(|test| test.p_value)),
            p_value(found.p_holm),
            or_dash(by_class, |found| between(found.linearised.interval)),
            p_value(by_class.and_then(|found| found.p_value)),
            pair(|own| Some(own.units_per_paragraph), 2),
            pair(|own| own.f1_at_matched_counts, 3),
        ]);
    }
    table
}

/// What else is known of the differences: bootstrap intervals, equivalence within the
/// margin, the difference that would be found, and the share of false discoveries.
pub fn certainty(comparisons: &[RunComparison]) -> Table {
    let mut table = Table::new(&[
        "run",
        "measure",
        "figure",
        "SE",
        "bootstrap (BCa)",
        "students x classes",
        "90 %",
        "equivalent",
        "p (TOST)",
        "detectable",
        "q",
        "wild p by class",
    ]);
    for (comparison, found) in lines(comparisons) {
        let bca = found.bootstrap.map(|bootstrap| bootstrap.bca.unwrap_or(bootstrap.percentile));
        table.push([
            comparison.run.clone(),
            found.measure.to_string(),
            found.figure.name().to_owned(),
            or_dash(found.linearised, |LinearisedDifference { standard_error, .. }| {
                format!("{standard_error:.4}")
            }),
            or_dash(bca, between),
            or_dash(found.crossed, |found| between(found.interval)),
            or_dash(found.equivalence, |test| between(test.interval)),
            or_dash(found.equivalence, |test| {
                if test.is_equivalent { "yes" } else { "not shown" }.to_owned()
            }),
            p_value(found.equivalence.map(|test| test.p_value)),
            or_dash(found.detectable, three),
            p_value(found.q_value),
            p_value(found.by_class.and_then(|by_class| by_class.wild_p_value)),
        ]);
    }
    table
}
