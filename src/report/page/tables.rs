//! Which tables a report has.

use std::fmt::Write;

use super::{
    Report, RunSummary,
    grid::{Cell, Grid, Kind, columns},
    text::{figure, percent},
};

/// The tables as files, name and content: `conditions`, `figures`, `comparisons`, `effects`,
/// `slices` and `failures`, each as `.csv`, `.md` and `.tex`. A table without rows is left out.
pub fn tables(report: &Report) -> Vec<(String, String)> {
    [
        conditions(report),
        all_figures(report),
        comparisons(report),
        effects(report),
        slices(report),
        failures(report),
    ]
    .iter()
    .filter(|grid| !grid.rows.is_empty())
    .flat_map(|grid| {
        let read = if grid.name == "conditions" { grid.only(&READ) } else { grid.clone() };
        [("csv", grid.csv()), ("md", read.markdown()), ("tex", read.latex())]
            .map(|(extension, content)| (format!("{}.{extension}", grid.name), content))
    })
    .collect()
}

/// The columns of the conditions that people read; the rest stands in notes under them.
const READ: [&str; 7] = ["run", "P", "R", "F1", "units per paragraph", "paragraphs", "standing"];

/// What intervals are, in words.
fn over(report: &Report) -> String {
    if report.level.is_empty() {
        return "without intervals".to_owned();
    }
    format!("{} % intervals over clusters by {}", percent(report.confidence), report.level)
}

/// The headline of each run.
pub(super) fn conditions(report: &Report) -> Grid {
    let rows = report.runs.iter().map(|run| {
        let headline = run.figures.first().cloned().unwrap_or_default();
        let bounds = |pick: fn((f64, f64)) -> f64| Cell::Figure(run.bounds.map(pick), 3);
        vec![
            Cell::words(&run.name),
            Cell::words(&run.model),
            Cell::words(&run.condition),
            Cell::Estimate(headline.precision),
            Cell::Estimate(headline.recall),
            Cell::Estimate(headline.f1),
            bounds(|bounds| bounds.0),
            bounds(|bounds| bounds.1),
            Cell::Figure(run.units_per_paragraph, 2),
            Cell::Count(headline.n_paragraphs),
            Cell::Count(headline.n_generated),
            Cell::Count(headline.n_gold),
            Cell::Words(coverage_words(run)),
            Cell::words(&run.scorer.scorer),
            Cell::Standing(standing(run), run.scorer.is_validated),
            Cell::words(&run.signature),
        ]
    });
    Grid {
        name: "conditions".to_owned(),
        caption: format!("Conditions: {}, {}.", headline_words(report), over(report)),
        columns: columns(&[
            ("run", Kind::Words),
            ("model", Kind::Words),
            ("condition", Kind::Words),
            ("P", Kind::Estimate),
            ("R", Kind::Estimate),
            ("F1", Kind::Estimate),
            ("F1 at least", Kind::Number),
            ("F1 at most", Kind::Number),
            ("units per paragraph", Kind::Number),
            ("paragraphs", Kind::Number),
            ("generated units", Kind::Number),
            ("gold units", Kind::Number),
            ("coverage", Kind::Words),
            ("scorer", Kind::Words),
            ("standing", Kind::Words),
            ("signature", Kind::Words),
        ]),
        rows: rows.collect(),
        notes: report.runs.iter().map(note).collect(),
    }
}

/// What a run is and rests on, in a line.
fn note(run: &RunSummary) -> String {
    let mut words = format!("{}: {}.", run.name, run.signature);
    if !run.coverage.is_empty() {
        let _ = write!(words, " Paragraphs: {}.", coverage_words(run));
    }
    if run.bounds.is_some() {
        let _ = write!(words, " Bounds: {}.", bounds_words(run));
    }
    words
}

/// What the headline figures are, as `full, soft`.
pub(super) fn headline_words(report: &Report) -> String {
    let found = report.runs.iter().find_map(|run| run.figures.first());
    found.map_or_else(
        || "no figures".to_owned(),
        |figures| format!("micro figures ({}, {})", figures.subset, figures.measure),
    )
}

/// Counts of paragraphs in words, as `evaluated 412, failed 3`.
pub(super) fn coverage_words(run: &RunSummary) -> String {
    let words: Vec<String> = run.coverage.iter().map(|(name, n)| format!("{name} {n}")).collect();
    words.join(", ")
}

/// Between what the soft F1 of the whole corpus lies, in words; empty where nothing failed.
pub(super) fn bounds_words(run: &RunSummary) -> String {
    run.bounds.map_or_else(String::new, |(low, high)| {
        let [low, high] = [low, high].map(|bound| figure(Some(bound), 3));
        format!("soft F1 of the whole corpus {low} to {high}")
    })
}

/// What the scorer's standing is, in words.
pub(super) fn standing(run: &RunSummary) -> String {
    if run.scorer.is_validated { run.scorer.words.clone() } else { "unvalidated".to_owned() }
}

/// Every subset and measure of each run.
pub(super) fn all_figures(report: &Report) -> Grid {
    let rows = report.runs.iter().flat_map(|run| {
        run.figures.iter().map(|figures| {
            vec![
                Cell::words(&run.name),
                Cell::words(&figures.subset),
                Cell::words(&figures.measure),
                Cell::Estimate(figures.precision),
                Cell::Estimate(figures.recall),
                Cell::Estimate(figures.f1),
                Cell::Count(figures.n_paragraphs),
                Cell::Count(figures.n_generated),
                Cell::Count(figures.n_gold),
            ]
        })
    });
    Grid {
        name: "figures".to_owned(),
        caption: format!("All subsets and measures: micro figures, {}.", over(report)),
        columns: columns(&[
            ("run", Kind::Words),
            ("subset", Kind::Words),
            ("measure", Kind::Words),
            ("P", Kind::Estimate),
            ("R", Kind::Estimate),
            ("F1", Kind::Estimate),
            ("paragraphs", Kind::Number),
            ("generated units", Kind::Number),
            ("gold units", Kind::Number),
        ]),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// The differences to the baseline.
pub(super) fn comparisons(report: &Report) -> Grid {
    let rows = report.comparisons.iter().map(|one| {
        vec![
            Cell::words(&one.run),
            Cell::words(&one.baseline),
            Cell::words(&one.part),
            Cell::words(&one.measure),
            Cell::words(&one.figure),
            Cell::Difference(one.difference),
            Cell::P(one.p_value),
            Cell::P(one.p_adjusted),
            Cell::Count(one.n_paragraphs),
            Cell::Count(one.n_clusters),
        ]
    });
    Grid {
        name: "comparisons".to_owned(),
        caption: format!(
            "Differences to the baseline on the paragraphs that both have, {}; p by randomisation \
             of whole clusters, adjusted by Holm.",
            over(report)
        ),
        columns: columns(&[
            ("run", Kind::Words),
            ("baseline", Kind::Words),
            ("part", Kind::Words),
            ("measure", Kind::Words),
            ("figure", Kind::Words),
            ("difference", Kind::Estimate),
            ("p", Kind::Number),
            ("adjusted p", Kind::Number),
            ("paragraphs", Kind::Number),
            ("clusters", Kind::Number),
        ]),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// A row for each pair of runs that a factor parts.
pub(super) fn effects(report: &Report) -> Grid {
    let rows = report.effects.iter().flat_map(|effect| {
        effect.pairs.iter().map(|(with, without, f1_with, f1_without)| {
            vec![
                Cell::words(&effect.factor),
                Cell::words(with),
                Cell::words(without),
                Cell::Figure(Some(*f1_with), 3),
                Cell::Figure(Some(*f1_without), 3),
                Cell::Gain(f1_with - f1_without),
                Cell::Gain(effect.mean_gain),
                Cell::Count(effect.wins),
                Cell::Count(effect.pairs.len()),
            ]
        })
    });
    Grid {
        name: "effects".to_owned(),
        caption: "Effects of the factors: pairs of runs that differ in one factor alone."
            .to_owned(),
        columns: columns(&[
            ("factor", Kind::Words),
            ("run with", Kind::Words),
            ("run without", Kind::Words),
            ("F1 with", Kind::Number),
            ("F1 without", Kind::Number),
            ("gain", Kind::Number),
            ("mean gain", Kind::Number),
            ("pairs won", Kind::Number),
            ("pairs", Kind::Number),
        ]),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// F1 of parts of the corpus.
pub(super) fn slices(report: &Report) -> Grid {
    let rows = report.slices.iter().map(|slice| {
        vec![
            Cell::words(&slice.by),
            Cell::words(&slice.part),
            Cell::words(&slice.run),
            Cell::Estimate(slice.f1),
            Cell::Count(slice.n_paragraphs),
        ]
    });
    Grid {
        name: "slices".to_owned(),
        caption: format!("Micro soft F1 of parts of the corpus, {}.", over(report)),
        columns: columns(&[
            ("by", Kind::Words),
            ("part", Kind::Words),
            ("run", Kind::Words),
            ("F1", Kind::Estimate),
            ("paragraphs", Kind::Number),
        ]),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// What failed.
pub(super) fn failures(report: &Report) -> Grid {
    let rows = report.runs.iter().flat_map(|run| {
        run.failures.iter().map(|(stage, error, n)| {
            vec![Cell::words(&run.name), Cell::words(stage), Cell::words(error), Cell::Count(*n)]
        })
    });
    Grid {
        name: "failures".to_owned(),
        caption: "Failures: the stage, the error, and on how many paragraphs.".to_owned(),
        columns: columns(&[
            ("run", Kind::Words),
            ("stage", Kind::Words),
            ("error", Kind::Words),
            ("paragraphs", Kind::Number),
        ]),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}
