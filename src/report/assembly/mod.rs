//! From finished runs to the data of a report.

mod differences;
mod paragraphs;
mod runs;
mod slices;

use crate::{
    agreement::Cards,
    corpus::Corpus,
    experiment::{
        FinishedRun,
        comparison::{ComparisonSettings, clusters, counted},
        factors::{Cell, Factor, effect},
    },
    metrics::PrecisionRecall,
    prompt::Condition,
    report::page::{Effect, Report},
};

/// What a report is made of.
pub struct Material<'a> {
    /// What stands above it.
    pub title: String,
    /// The runs, the baseline first.
    pub runs: &'a [FinishedRun],
    /// The corpus of the runs, for the text of paragraphs and the marks in it; without it,
    /// and in a redacted report, there is neither.
    pub corpus: Option<&'a Corpus>,
    /// What is known of scorers.
    pub cards: &'a Cards,
    /// How runs are compared.
    pub settings: &'a ComparisonSettings,
    /// Whether students' and instructors' words are left out.
    pub is_redacted: bool,
    /// What a reader must know besides.
    pub notes: Vec<String>,
}

/// Puts a report together.
///
/// # Errors
///
/// If a run's condition cannot be read.
pub fn assemble(material: &Material<'_>) -> anyhow::Result<Report> {
    let Material { runs, settings, .. } = *material;
    let mut notes = material.notes.clone();
    notes.extend(notes_of(material));
    let summaries = runs
        .iter()
        .map(|run| runs::summary(run, material.cards, settings))
        .collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Report {
        title: material.title.clone(),
        program: format!("unimatch {}", env!("CARGO_PKG_VERSION")),
        level: settings.level.to_string(),
        confidence: settings.draws.level,
        effects: effects(runs)?,
        comparisons: differences::comparisons(runs, settings),
        slices: slices::slices(material),
        paragraphs: paragraphs::views(material),
        runs: summaries,
        notes,
        is_redacted: material.is_redacted,
    })
}

/// The effects of the design's factors over the runs.
fn effects(runs: &[FinishedRun]) -> anyhow::Result<Vec<Effect>> {
    let mut cells: Vec<(String, Cell)> = Vec::new();
    for run in runs {
        let full = &run.results.evaluation.full.estimate;
        let PrecisionRecall { precision, recall, f1 } = full.soft.micro;
        let condition: Condition = run.condition()?;
        // A run whose figures have no value is no part of a mean.
        if let (Some(recall), Some(f1)) = (recall, f1) {
            let cell = Cell {
                model: run.role("/generator"),
                condition,
                precision: precision.unwrap_or_default(),
                recall,
                f1,
                n_units: full.n_generated as f64,
            };
            cells.push((run.name.clone(), cell));
        }
    }
    let (names, cells): (Vec<String>, Vec<Cell>) = cells.into_iter().unzip();
    let of = |factor| {
        let found = effect(&cells, factor, |_| true)?;
        let pairs = found.pairs.iter().map(|&(with, without)| {
            (names[with].clone(), names[without].clone(), cells[with].f1, cells[without].f1)
        });
        Some(Effect {
            factor: found.factor.to_owned(),
            pairs: pairs.collect(),
            mean_gain: found.mean_f1_gain,
            wins: found.wins,
        })
    };
    Ok(Factor::ALL.into_iter().filter_map(of).collect())
}

/// What a reader must know of the runs.
fn notes_of(material: &Material<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some((baseline, others)) = material.runs.split_first() {
        for other in others {
            for found in crate::experiment::comparison::instrument_differences(baseline, other) {
                notes.push(format!(
                    "{} and {} differ in the instrument: {found}",
                    baseline.name, other.name
                ));
            }
        }
    }
    for run in material.runs {
        let paragraphs = counted(run).paragraphs;
        let keys = paragraphs.iter().map(|paragraph| paragraph.paragraph.as_str());
        let found = clusters(keys, material.settings.level);
        if found.names.len() < 10 {
            notes.push(format!(
                "{}: {} clusters are few, so that intervals are wide, and rather too narrow than \
                 too wide",
                run.name,
                found.names.len()
            ));
        }
        if 0 < found.n_untold {
            notes.push(format!(
                "{}: the drafts' names of {} paragraphs tell neither student nor class; each such \
                 draft stands for a student and a class of its own",
                run.name, found.n_untold
            ));
        }
    }
    notes
}
