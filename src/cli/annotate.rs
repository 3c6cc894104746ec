//! `unimatch annotate`: pairs of a run for people to rate, texts for them to put in
//! order, and what they gave.

mod ranking;

use std::{io::Write, num::NonZeroUsize};

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use clap::{Subcommand, ValueEnum};

use super::{Ending, WrongUsage};
use crate::{
    agreement::{Candidate, Design, draw_pairs, import_sheets, write_pairs},
    experiment::ParagraphResult,
    report::pairs_sheet,
    run::{RunStore, write_atomically},
    text::unquoted_reason,
};

const EXAMPLES: &str = "\
Examples:
  unimatch annotate --from runs/first -n 120 --out sheet.html
      opens in any browser, without a network: rate with the keys 0 to 4, then export
  unimatch annotate import anna.jsonl ben.jsonl --out pairs.jsonl
  unimatch validate similarity pairs.jsonl --scorer embedding:FOLDER

The sheet hides ratings and who wrote which unit. `uniform` draws as many of each whole rating of
the run as there are, so that the whole scale is seen; `natural` draws pairs as often as they are.";

/// Draw pairs or texts of runs for people to rate, on a sheet that works offline; bring them
/// back.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// The run whose pairs are drawn; it must have been matched
    #[arg(long, value_name = "RUN")]
    from: Option<Utf8PathBuf>,

    /// Pairs to draw
    #[arg(long, short, value_name = "N", default_value = "120")]
    n: NonZeroUsize,

    /// How they are drawn
    #[arg(long, value_enum, default_value_t = DesignName::Uniform)]
    design: DesignName,

    /// What the draw hangs on
    #[arg(long, value_name = "N", default_value_t = 42, env = "UNIMATCH_SEED")]
    seed: u64,

    /// The sheet to write; it must not be there yet
    #[arg(long, short, value_name = "FILE", default_value = "sheet.html")]
    out: Utf8PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DesignName {
    /// Over the whole scale
    Uniform,
    /// By natural frequency
    Natural,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Bring together what sheets exported, one file or several of each rater
    Import(ImportArgs),
    Ranking(Box<ranking::Args>),
    ImportRanking(ranking::ImportArgs),
}

#[derive(Debug, clap::Args)]
struct ImportArgs {
    /// What sheets exported
    #[arg(value_name = "SHEET.jsonl", required = true)]
    sheets: Vec<Utf8PathBuf>,

    /// The annotations to write; they must not be there yet
    #[arg(long, short, value_name = "FILE")]
    out: Utf8PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.command {
        Some(Command::Import(args)) => return import(args),
        Some(Command::Ranking(args)) => return ranking::run(args),
        Some(Command::ImportRanking(args)) => return ranking::import(args),
        None => {}
    }
    let Some(from) = &args.from else {
        return Err(WrongUsage(anyhow::anyhow!("name a run with --from RUN")).into());
    };
    refuse_existing(&args.out)?;
    let (candidates, n_unrated) = candidates(from)?;
    let design = match args.design {
        DesignName::Uniform => Design::Uniform,
        DesignName::Natural => Design::Natural,
    };
    let pairs = draw_pairs(&candidates, args.n.get(), design, args.seed);
    let ids: Vec<&str> = pairs.iter().map(|pair| pair.id.as_str()).collect();
    let name = format!("sheet-{}", &blake3::hash(ids.join(" ").as_bytes()).to_hex()[..8]);
    write_atomically(&args.out, pairs_sheet(&name, &pairs)?.as_bytes())?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} pairs of {} on {}", pairs.len(), candidates.len(), args.out)?;
    if pairs.len() < args.n.get() {
        writeln!(out, "{} were asked for: the run has no more that differ", args.n)?;
    }
    if 0 < n_unrated {
        writeln!(out, "{n_unrated} pairs without a rating were left out")?;
    }
    Ok(Ending::Done)
}

/// Refuses to write over a file.
fn refuse_existing(path: &Utf8Path) -> anyhow::Result<()> {
    if path.exists() {
        bail!("{path} is there already: give another --out, or take it away");
    }
    Ok(())
}

/// The paragraphs of a run that was matched.
fn matched_paragraphs(run: &Utf8Path) -> anyhow::Result<Vec<ParagraphResult>> {
    RunStore::open(run)?;
    let path = run.join("paragraphs.jsonl");
    let text = fs_err::read_to_string(&path)
        .with_context(|| format!("{run} was not matched yet: give `unimatch match {run}` first"))?;
    let lines = (1..).zip(text.lines());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                anyhow::anyhow!("{path}, line {number}: {}", unquoted_reason(&error))
            })
        })
        .collect()
}

/// The draft and the paragraph of it.
fn place(result: &ParagraphResult) -> (&str, &str) {
    result.paragraph.rsplit_once('#').unwrap_or((&result.paragraph, "0"))
}

/// The rated pairs of a run, and how many are not rated.
fn candidates(run: &Utf8Path) -> anyhow::Result<(Vec<Candidate>, usize)> {
    let (mut candidates, mut n_unrated) = (Vec::new(), 0);
    for result in matched_paragraphs(run)? {
        let (draft, paragraph) = place(&result);
        for (generated, row) in result.generated.iter().zip(&result.ratings) {
            for (gold, rating) in result.gold.iter().zip(row) {
                let Some(rating) = *rating else {
                    n_unrated += 1;
                    continue;
                };
                candidates.push(Candidate {
                    draft: draft.to_owned(),
                    paragraph: paragraph.to_owned(),
                    generated: generated.clone(),
                    gold: gold.text.clone(),
                    rating,
                });
            }
        }
    }
    anyhow::ensure!(!candidates.is_empty(), "{run} has no rated pair");
    Ok((candidates, n_unrated))
}

fn import(args: &ImportArgs) -> anyhow::Result<Ending> {
    refuse_existing(&args.out)?;
    let imported = import_sheets(&args.sheets)?;
    write_atomically(&args.out, write_pairs(&imported.pairs)?.as_bytes())?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} pairs in {}", imported.pairs.len(), args.out)?;
    for (rater, n_rated) in &imported.by_rater {
        writeln!(out, "{rater}: {n_rated} rated")?;
    }
    writeln!(out, "{} rated by all", imported.n_by_all)?;
    Ok(Ending::Done)
}
