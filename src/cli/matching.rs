//! `unimatch match`: from rated units to precision, recall and F1.

use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use clap::ValueEnum;

use super::{Ending, prepare::Prepared, run::drive};
use crate::metrics::{
    Averages, EmptyAnswers, Evaluation, PrecisionRecall, SubsetMetrics, evaluate,
    release::{self, MissingPairs, ReadOptions, Release},
};
use crate::{experiment::Until, run::RunStore};

const EXAMPLES: &str = "\
Examples:
  unimatch match runs/first                        the last stage of a run, and its tables
  unimatch match --release ./s1                    a table to read
  unimatch match --release ./s1 -f json            the figures in the release's own structure
  unimatch match --release ./s1 --empty count      an answer without a unit costs recall";

/// Match generated with gold units one to one, and compute precision, recall and F1.
///
/// Works on ratings that are there already: those of a run, or those in the layout of the public
/// release, a folder with `seg_model/`, `seg_annot/` and `stage1_scores*.jsonl`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Run directory
    #[arg(value_name = "RUN", required_unless_present = "release")]
    run: Option<Utf8PathBuf>,

    /// Folder with `seg_model/`, `seg_annot/` and `stage1_scores*.jsonl`
    #[arg(long, value_name = "DIR", conflicts_with = "run")]
    release: Option<Utf8PathBuf>,

    /// The file of scores, where DIR holds several or none. Its companion
    /// (the same name with `_g1GT` before `.jsonl`) is read too, if it is there.
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    scores: Option<Utf8PathBuf>,

    /// What an answer without any unit counts for.
    #[arg(long, value_enum, default_value_t = Empty::Skip, conflicts_with = "run")]
    empty: Empty,

    /// What to do about a pair of units without a score.
    #[arg(long, value_enum, default_value_t = Missing::Refuse, conflicts_with = "run")]
    missing_pairs: Missing,

    /// How to print the figures.
    #[arg(short, long, value_enum, default_value_t = Format::Text, conflicts_with = "run")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Empty {
    /// Nothing: it is left out, as in the public release.
    Skip,
    /// All gold units on its paragraph are missed.
    Count,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Missing {
    /// Stop with an error that names the first one.
    Refuse,
    /// Leave its paragraph out of the figures, and bound what they could be.
    Unscored,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A table, with what the figures rest on.
    Text,
    /// The structure that the release's code gives, and nothing else.
    Json,
    /// A row for each subset, measure and kind of average.
    Csv,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    match (&args.run, &args.release) {
        (Some(run), _) => match_run(run),
        (None, Some(release)) => match_release(args, release),
        (None, None) => anyhow::bail!("name a run directory, or a folder with --release"),
    }
}

/// The last stage of a run.
fn match_run(run: &Utf8Path) -> anyhow::Result<Ending> {
    let store = RunStore::open(run)?;
    let prepared = Prepared::of_run(&store, None)?;
    drive(&prepared, &store, Until::Match, Until::Match)
}

fn match_release(args: &Args, release: &Utf8Path) -> anyhow::Result<Ending> {
    let missing_pairs = match args.missing_pairs {
        Missing::Refuse => MissingPairs::Refuse,
        Missing::Unscored => MissingPairs::Unscored,
    };
    let options = ReadOptions { scores: args.scores.clone(), missing_pairs };
    let release = release::load(release, &options)?;
    let empty_answers = match args.empty {
        Empty::Skip => EmptyAnswers::Skip,
        Empty::Count => EmptyAnswers::Count,
    };
    let evaluation = evaluate(&release.paragraphs(), empty_answers);
    let mut out = io::stdout().lock();
    match args.format {
        Format::Json => {
            let figures = release::figures(&evaluation);
            writeln!(out, "{}", serde_json::to_string_pretty(&figures)?)?;
        }
        Format::Csv => write_csv(&mut out, &evaluation)?,
        Format::Text => write_text(&mut out, &evaluation)?,
    }
    out.flush()?;
    write_notes(&release)?;
    // What was not generated or cut is no failure of this command.
    let is_complete = evaluation.full.coverage.pairs.n_unscored == 0;
    Ok(if is_complete { Ending::Done } else { Ending::Incomplete })
}

/// What was not used goes to standard error, so that the figures stand alone.
fn write_notes(release: &Release) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    for note in &release.notes {
        writeln!(stderr, "note: {note}")?;
    }
    Ok(())
}

fn write_text(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    let empty = match evaluation.empty_answers {
        EmptyAnswers::Count => "count as missing every gold unit",
        EmptyAnswers::Skip => "are left out",
    };
    writeln!(out, "Empty answers {empty}.")?;
    for (name, subset) in evaluation.subsets() {
        writeln!(out)?;
        write_coverage(out, name, subset)?;
        writeln!(out, "{:24}{:^24}{:^24}", "", "micro", "macro")?;
        let headings = ["P", "R", "F1", "P", "R", "F1"];
        write!(out, "{:24}", "")?;
        for heading in headings {
            write!(out, "{heading:>8}")?;
        }
        writeln!(out)?;
        for (measure, averages) in measures(&subset.estimate) {
            write_row(out, &measure, averages)?;
        }
        if let Some(bounds) = &subset.bounds {
            write_row(out, "soft, at least", bounds.lower.soft)?;
            write_row(out, "soft, at most", bounds.upper.soft)?;
        }
    }
    if evaluation.full.bounds.is_some() {
        writeln!(out)?;
        writeln!(
            out,
            "At least and at most: over all paragraphs, with 0 and 4 for every unscored"
        )?;
        writeln!(
            out,
            "pair, and an empty and a perfect answer where there is none. The bounds of"
        )?;
        writeln!(out, "the threshold figures are in -f csv.")?;
    }
    Ok(())
}

fn write_coverage(out: &mut impl Write, name: &str, subset: &SubsetMetrics) -> io::Result<()> {
    let (paragraphs, pairs) = (subset.coverage.paragraphs, subset.coverage.pairs);
    writeln!(
        out,
        "{name}: {} of {} paragraphs evaluated, with {} generated and {} gold units",
        paragraphs.n_evaluated,
        paragraphs.n_total,
        subset.estimate.n_generated,
        subset.estimate.n_gold
    )?;
    for (count, what) in [
        (paragraphs.n_empty_answers, "paragraphs with an answer without any unit"),
        (paragraphs.n_failed, "paragraphs with no feedback, or with none that is cut into units"),
        (paragraphs.n_with_unscored_pairs, "paragraphs with an unscored pair"),
        (pairs.n_unscored, "unscored pairs"),
    ] {
        if 0 < count {
            writeln!(out, "  {what}: {count}")?;
        }
    }
    Ok(())
}

fn write_row(out: &mut impl Write, name: &str, averages: Averages) -> io::Result<()> {
    write!(out, "  {name:22}")?;
    for PrecisionRecall { precision, recall, f1 } in [averages.micro, averages.r#macro] {
        for figure in [precision, recall, f1] {
            match figure {
                Some(value) => write!(out, "{value:>8.4}")?,
                None => write!(out, "{:>8}", "-")?,
            }
        }
    }
    writeln!(out)
}

/// The soft figures and those of each threshold, with their names.
fn measures(measures: &crate::metrics::Measures) -> Vec<(String, Averages)> {
    let mut rows = vec![("soft".to_owned(), measures.soft)];
    let thresholds = measures.threshold.iter();
    rows.extend(thresholds.map(|(tau, &averages)| (format!("threshold {tau}"), averages)));
    rows
}

fn write_csv(out: &mut impl Write, evaluation: &Evaluation) -> anyhow::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
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
    ])?;
    for (name, subset) in evaluation.subsets() {
        let bounds = subset.bounds.as_ref();
        let figures = [
            ("estimate", Some(&subset.estimate)),
            ("lower", bounds.map(|bounds| &bounds.lower)),
            ("upper", bounds.map(|bounds| &bounds.upper)),
        ];
        for (kind, figures) in figures {
            let Some(figures) = figures else { continue };
            for (measure, averages) in measures(figures) {
                for (average, values) in [("micro", averages.micro), ("macro", averages.r#macro)] {
                    let cell = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
                    csv.write_record([
                        name,
                        kind,
                        &measure,
                        average,
                        &cell(values.precision),
                        &cell(values.recall),
                        &cell(values.f1),
                        &figures.n_paragraphs.to_string(),
                        &figures.n_generated.to_string(),
                        &figures.n_gold.to_string(),
                    ])?;
                }
            }
        }
    }
    csv.flush()?;
    Ok(())
}
