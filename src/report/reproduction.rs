//! Runs beside the published configurations, as tables.

use super::Table;
use crate::{
    experiment::published::{
        Claim, FigureReproduction, PublishedConfiguration, ReproducedFindings, Reproduction,
    },
    stats::Interval,
};

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

fn signed(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:+.3}"))
}

/// What the paper states, and what its table gives: a row for each statement.
pub fn claims_table(claims: &[Claim]) -> Table {
    let mut table = Table::new(&["finding", "figure", "stated", "from the table", "agrees"]);
    for claim in claims {
        let is_count = claim.tolerance == 0.0;
        let places = if is_count {
            0
        } else if claim.tolerance < 0.0005 {
            4
        } else {
            3
        };
        table.push([
            claim.finding.to_owned(),
            claim.figure.to_owned(),
            format!("{:.places$}", claim.stated),
            claim.computed.map_or_else(|| "-".to_owned(), |value| format!("{value:.places$}")),
            if claim.agrees() { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    table
}

/// The published table: a row for each configuration.
pub fn published_table(configurations: &[PublishedConfiguration]) -> Table {
    let mut table = Table::new(&[
        "model",
        "condition",
        "single P",
        "R",
        "F1",
        "units",
        "full P",
        "R",
        "F1",
        "units",
    ]);
    for found in configurations {
        let mut row = vec![found.model.clone(), found.condition.to_string()];
        for figures in [found.single, found.full] {
            row.extend(
                [figures.precision, figures.recall, figures.f1].map(|value| figure(Some(value))),
            );
            row.push(figures.n_units.to_string());
        }
        table.push(row);
    }
    table
}

/// Our figures beside theirs: a row for each run, subset and figure.
pub fn reproductions_table(reproductions: &[Reproduction]) -> Table {
    let mut table = Table::new(&[
        "run",
        "published model",
        "condition",
        "subset",
        "figure",
        "ours",
        "95 %",
        "published",
        "difference",
        "95 % of it",
        "units",
        "published units",
        "paragraphs",
    ]);
    for found in reproductions {
        for subset in &found.subsets {
            for own in &subset.figures {
                table.push([
                    found.run.clone(),
                    found.model.clone().unwrap_or_else(|| "-".to_owned()),
                    found.condition.to_string(),
                    subset.subset.to_owned(),
                    own.figure.name().to_owned(),
                    figure(own.ours),
                    own.interval.map_or_else(
                        || "-".to_owned(),
                        |Interval { low, high }| format!("[{low:.3}, {high:.3}]"),
                    ),
                    figure(own.published),
                    signed(own.difference()),
                    difference_interval(own),
                    subset.n_units.to_string(),
                    subset.published_units.map_or_else(|| "-".to_owned(), |n| n.to_string()),
                    subset.n_paragraphs.to_string(),
                ]);
            }
        }
    }
    table
}

/// The published figure is taken as exact: no interval of it is published.
fn difference_interval(own: &FigureReproduction) -> String {
    own.interval.zip(own.published).map_or_else(
        || "-".to_owned(),
        |(interval, published)| {
            format!("[{:+.3}, {:+.3}]", interval.low - published, interval.high - published)
        },
    )
}

/// What measured, ours and theirs: a row for each part and for each way ours was.
pub fn instruments_table(reproductions: &[Reproduction]) -> Table {
    let mut table = Table::new(&["part", "ours", "published", "runs"]);
    let parts: std::collections::BTreeSet<_> =
        reproductions.iter().flat_map(|found| &found.instrument).collect();
    for part in parts {
        let n_runs = reproductions.iter().filter(|found| found.instrument.contains(part)).count();
        table.push([
            part.part.to_owned(),
            part.ours.clone(),
            part.published.to_owned(),
            n_runs.to_string(),
        ]);
    }
    table
}

/// Effects of factors, ours and theirs.
pub fn effects_table(findings: &ReproducedFindings) -> Table {
    let mut table = Table::new(&[
        "factor",
        "pairs",
        "mean gain of F1",
        "wins",
        "published gain",
        "pairs there",
    ]);
    for found in &findings.effects {
        table.push([
            found.factor.to_owned(),
            found.n_pairs.to_string(),
            format!("{:+.3}", found.ours),
            found.wins.to_string(),
            signed(found.published),
            found.n_published.to_string(),
        ]);
    }
    table
}
