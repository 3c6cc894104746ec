//! `unimatch match`: from rated units to precision, recall and F1.

use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use clap::ValueEnum;

use super::{Ending, prepare::Prepared, run::drive};
use crate::metrics::{
    EmptyAnswers, evaluate,
    release::{self, MissingPairs, ReadOptions, Release},
};
use crate::{experiment::Until, report, run::RunStore};

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

    /// With --release: the file of scores, where DIR holds several or none. Its companion
    /// (the same name with `_g1GT` before `.jsonl`) is read too, if it is there.
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    scores: Option<Utf8PathBuf>,

    /// With --release: what an answer without any unit counts for (a run says it itself).
    #[arg(long, value_enum, default_value_t = Empty::Skip, conflicts_with = "run")]
    empty: Empty,

    /// With --release: what to do about a pair of units without a score.
    #[arg(long, value_enum, default_value_t = Missing::Refuse, conflicts_with = "run")]
    missing_pairs: Missing,

    /// With --release: how to print the figures (a run leaves all of them in its files).
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

fn match_release(args: &Args, release_dir: &Utf8Path) -> anyhow::Result<Ending> {
    let missing_pairs = match args.missing_pairs {
        Missing::Refuse => MissingPairs::Refuse,
        Missing::Unscored => MissingPairs::Unscored,
    };
    let options = ReadOptions { scores: args.scores.clone(), missing_pairs };
    let release = release::load(release_dir, &options)?;
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
        Format::Csv => {
            write!(out, "{}", report::render_csv(&report::all_figures(&evaluation))?)?;
        }
        Format::Text => {
            writeln!(out, "{}", report::render_text(&report::figures(&evaluation)))?;
            writeln!(out, "{}", report::render_text(&report::coverage(&evaluation)))?;
            let version = env!("CARGO_PKG_VERSION");
            let empty = match args.empty {
                Empty::Skip => "skip",
                Empty::Count => "count",
            };
            writeln!(out, "unimatch {version} | release {release_dir} | empty answers {empty}")?;
        }
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
