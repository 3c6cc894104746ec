//! Runs of ours beside the published configurations.

use serde::Serialize;

use super::{PublishedConfiguration, PublishedFigures, published_model};
use crate::{
    experiment::{
        FinishedRun,
        comparison::{
            Counts, Figure, FigureEstimate, Level, Measure, clusters, counted, counts_of, estimate,
        },
        factors::{Cell, Factor, effect},
    },
    matching::{AlignmentKind, Threshold},
    prompt::Condition,
    stats::{Interval, spearman},
};

/// A run beside its published configuration.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// The run's name.
    pub run: String,
    /// Who wrote in it.
    pub generator: String,
    /// The published model that it is set beside, where there is one.
    pub model: Option<String>,
    /// What the model was shown.
    pub condition: Condition,
    /// The figures: single reference, then full.
    pub subsets: Vec<SubsetReproduction>,
    /// What measured ours and theirs.
    pub instrument: Vec<InstrumentPart>,
}

/// The figures of a subset, ours and theirs.
#[derive(Clone, Debug, Serialize)]
pub struct SubsetReproduction {
    /// `single reference` or `full`.
    pub subset: &'static str,
    /// Our paragraphs.
    pub n_paragraphs: usize,
    /// Our generated units.
    pub n_units: usize,
    /// Theirs.
    pub published_units: Option<usize>,
    /// Precision, recall and F1.
    pub figures: Vec<FigureReproduction>,
}

/// A figure, ours and theirs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FigureReproduction {
    /// Which.
    pub figure: Figure,
    /// Ours; `None` where it has no value.
    pub ours: Option<f64>,
    /// What ours lies between.
    pub interval: Option<Interval>,
    /// Theirs; no interval is published.
    pub published: Option<f64>,
}

impl FigureReproduction {
    /// Ours less theirs.
    pub fn difference(&self) -> Option<f64> {
        Some(self.ours? - self.published?)
    }

    /// Whether theirs lies in our interval.
    pub fn holds_published(&self) -> Option<bool> {
        let (interval, published) = (self.interval?, self.published?);
        Some(interval.low <= published && published <= interval.high)
    }
}

/// A part of what measures, ours and theirs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct InstrumentPart {
    /// Which.
    pub part: &'static str,
    /// Ours.
    pub ours: String,
    /// Theirs, as the paper says.
    pub published: &'static str,
}

/// Sets a run beside the published configuration of its model and condition.
///
/// The model is `named` where that is given, else the one that the generator's name tells
/// of, else the one that the run's own name begins with, as `Llama-v2`.
///
/// # Errors
///
/// If the run's condition cannot be read.
pub fn reproduce(
    run: &FinishedRun,
    configurations: &[PublishedConfiguration],
    named: Option<&str>,
    level: Level,
    confidence: f64,
) -> anyhow::Result<Reproduction> {
    let condition = run.condition()?;
    let generator = run.model();
    let of_name = || {
        let end = run.dir.file_name().unwrap_or_default();
        let mut models = configurations.iter().map(|found| found.model.as_str());
        models.find(|model| end.strip_prefix(model).is_some_and(|rest| rest.starts_with('-')))
    };
    let model = named.or_else(|| published_model(&generator)).or_else(of_name).map(str::to_owned);
    let published = configurations
        .iter()
        .find(|found| Some(&found.model) == model.as_ref() && found.condition == condition);
    let counted = counted(run);
    let counts = counts_of(&counted.scores, Measure::Soft, AlignmentKind::Best);
    let subset = |subset, is_in: &dyn Fn(usize) -> bool, theirs: Option<PublishedFigures>| {
        let places: Vec<usize> = (0..counts.len())
            .filter(|&place| is_in(counted.paragraphs[place].n_references))
            .collect();
        let own: Vec<Counts> = places.iter().map(|&place| counts[place]).collect();
        let keys = places.iter().map(|&place| counted.paragraphs[place].paragraph.as_str());
        let groups = clusters(keys, level);
        let figures = Figure::ALL.map(|figure| {
            let FigureEstimate { value, estimate } = estimate(&own, &groups, figure, confidence);
            FigureReproduction {
                figure,
                ours: value,
                interval: estimate.map(|found| found.interval),
                published: theirs.map(|theirs| match figure {
                    Figure::Precision => theirs.precision,
                    Figure::Recall => theirs.recall,
                    Figure::F1 => theirs.f1,
                }),
            }
        });
        SubsetReproduction {
            subset,
            n_paragraphs: own.len(),
            n_units: places.iter().map(|&place| counted.paragraphs[place].generated.len()).sum(),
            published_units: theirs.map(|theirs| theirs.n_units),
            figures: figures.to_vec(),
        }
    };
    let subsets = vec![
        subset("single reference", &|n| n == 1, published.map(|found| found.single)),
        subset("full", &|_| true, published.map(|found| found.full)),
    ];
    Ok(Reproduction {
        run: run.name.clone(),
        generator,
        model,
        condition,
        subsets,
        instrument: instrument(run),
    })
}

/// What measured a run, beside what the paper says of its own.
fn instrument(run: &FinishedRun) -> Vec<InstrumentPart> {
    let provenance = &run.manifest.provenance;
    let templates = provenance.get("templates").and_then(serde_json::Value::as_str);
    let scorer = format!("{} ({})", run.role("/scorer"), run.results.validation.in_words());
    let corpus = format!(
        "{} drafts, {} paragraphs",
        run.setting("/corpus/n_drafts"),
        run.setting("/corpus/n_paragraphs")
    );
    vec![
        InstrumentPart {
            part: "corpus",
            ours: corpus,
            published: "SEFORA: 564 drafts, 3431 paragraphs with a usable comment",
        },
        InstrumentPart { part: "scorer", ours: scorer, published: "Gemini 3.1 flash-lite" },
        InstrumentPart { part: "segmenter", ours: run.role("/segmenter"), published: "GPT-5-nano" },
        InstrumentPart {
            part: "prompts",
            ours: templates.unwrap_or("unknown").to_owned(),
            published: "the release's own",
        },
        InstrumentPart {
            part: "preset",
            ours: run.setting("/preset"),
            published: "a context of 8192 tokens (paper)",
        },
        InstrumentPart {
            part: "empty answers",
            ours: run.setting("/empty_answers"),
            published: "skip",
        },
    ]
}

/// What our runs show together, beside what the same configurations show as published.
#[derive(Clone, Debug, Serialize)]
pub struct ReproducedFindings {
    /// Configurations that have a published counterpart.
    pub n_configurations: usize,
    /// Spearman's correlation of our F1 and theirs, from three configurations on.
    pub rank_agreement: Option<f64>,
    /// The same of our soft F1 and our F1 at each threshold, over all runs.
    pub soft_and_threshold: Vec<(u8, Option<f64>)>,
    /// Mean gains of F1 by factor: over our pairs, and over theirs for the same pairs.
    pub effects: Vec<ReproducedEffect>,
}

/// The mean gain by a factor, ours and theirs.
#[derive(Clone, Debug, Serialize)]
pub struct ReproducedEffect {
    /// What is set against what.
    pub factor: &'static str,
    /// Our pairs.
    pub n_pairs: usize,
    /// Our mean gain of F1.
    pub ours: f64,
    /// Our pairs in which F1 rose.
    pub wins: usize,
    /// Their mean gain, over those of our pairs that are published.
    pub published: Option<f64>,
    /// How many those are.
    pub n_published: usize,
}

/// Rank agreement and effects over some runs.
pub fn findings(
    runs: &[FinishedRun],
    reproductions: &[Reproduction],
    configurations: &[PublishedConfiguration],
) -> ReproducedFindings {
    let f1 = |subset: &SubsetReproduction| {
        subset.figures.iter().find(|found| found.figure == Figure::F1).copied()
    };
    let full =
        |found: &Reproduction| found.subsets.iter().find(|own| own.subset == "full").and_then(f1);
    let pairs: Vec<(f64, f64)> = reproductions
        .iter()
        .filter_map(full)
        .filter_map(|found| found.ours.zip(found.published))
        .collect();
    let (ours, theirs): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let of_measure = |measure| -> Vec<Option<f64>> {
        runs.iter()
            .map(|run| {
                let counts = counts_of(&counted(run).scores, measure, AlignmentKind::Best);
                counts.into_iter().sum::<Counts>().figure(Figure::F1)
            })
            .collect()
    };
    let soft = of_measure(Measure::Soft);
    let soft_and_threshold = Threshold::ALL.map(|threshold| {
        let at = of_measure(Measure::Threshold(threshold));
        let both: Vec<(f64, f64)> =
            soft.iter().zip(&at).filter_map(|(soft, at)| (*soft).zip(*at)).collect();
        let (soft, at): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
        (threshold.get(), ranked(&soft, &at))
    });
    ReproducedFindings {
        n_configurations: pairs.len(),
        rank_agreement: ranked(&ours, &theirs),
        soft_and_threshold: soft_and_threshold.to_vec(),
        effects: effects(reproductions, configurations),
    }
}

fn ranked(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() < 3 { None } else { spearman(x, y) }
}

fn effects(
    reproductions: &[Reproduction],
    configurations: &[PublishedConfiguration],
) -> Vec<ReproducedEffect> {
    let cells: Vec<Cell> = reproductions.iter().filter_map(cell).collect();
    let theirs: Vec<Cell> = configurations.iter().map(PublishedConfiguration::cell).collect();
    let find = |own: &Cell| {
        theirs.iter().find(|found| found.model == own.model && found.condition == own.condition)
    };
    let of_factor = |factor| {
        let found = effect(&cells, factor, |_| true)?;
        let gains: Vec<f64> = found
            .pairs
            .iter()
            .filter_map(|&(with, without)| Some(find(&cells[with])?.f1 - find(&cells[without])?.f1))
            .collect();
        Some(ReproducedEffect {
            factor: found.factor,
            n_pairs: found.pairs.len(),
            ours: found.mean_f1_gain,
            wins: found.wins,
            published: crate::stats::mean(&gains),
            n_published: gains.len(),
        })
    };
    Factor::ALL.into_iter().filter_map(of_factor).collect()
}

/// Our figures on all paragraphs, as a cell of the design; the model is the published one
/// where there is one.
fn cell(found: &Reproduction) -> Option<Cell> {
    let full = found.subsets.iter().find(|own| own.subset == "full")?;
    let value = |figure| full.figures.iter().find(|own| own.figure == figure)?.ours;
    Some(Cell {
        model: found.model.clone().unwrap_or_else(|| found.generator.clone()),
        condition: found.condition,
        precision: value(Figure::Precision)?,
        recall: value(Figure::Recall)?,
        f1: value(Figure::F1)?,
        n_units: full.n_units as f64,
    })
}
