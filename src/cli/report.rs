//! `unimatch report`: runs as a page, figures and tables.

use std::io::Write;

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};

use super::{Ending, WrongUsage, folders};
use crate::{
    agreement::Cards,
    config::RunOptions,
    corpus::{Corpus, Selection},
    experiment::{
        FinishedRun,
        comparison::{ComparisonSettings, Level},
        load_runs,
    },
    report::{Material, assemble, page},
    run::write_atomically,
};

const EXAMPLES: &str = "\
Examples:
  unimatch report runs/first --out report
  unimatch report runs/v1 runs/v2 --out report        differences to v1 too
  unimatch report runs/mine/*/ --out report --redact   nothing that a student or instructor wrote

Open DIR/index.html in a browser; it needs no network. DIR/figures holds SVG files, DIR/tables CSV,
Markdown and LaTeX. Exit codes: 0 done; 1 failed; 2 wrong usage.";

/// Write a report of finished runs: one page to read, figures and tables for a paper.
///
/// The first run is the baseline of differences. Paragraphs are shown with the instructor's and the
/// model's units, and lines between those that were matched.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Run directories, the baseline first
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<Utf8PathBuf>,

    /// Folder to write to; a report that is there is replaced
    #[arg(long, short, value_name = "DIR")]
    out: Utf8PathBuf,

    /// Leave out all that students, instructors and models wrote
    #[arg(long)]
    redact: bool,

    /// Where the corpus lies [default: as the first run's config.toml says]
    #[arg(long, value_name = "DIR")]
    corpus: Option<Utf8PathBuf>,

    /// What stands above the page
    #[arg(long, value_name = "TEXT", default_value = "Feedback on student writing")]
    title: String,

    /// What is drawn whole, in intervals and tests: paragraph, draft, student or class
    #[arg(long, value_name = "LEVEL", default_value_t = Level::Student)]
    level: Level,

    /// Paragraphs on a page; more go to pages of their own
    #[arg(long, value_name = "N", default_value_t = 500)]
    per_page: usize,

    /// Folder of cards (see `unimatch validate`) [default: unimatch/cards in the user's data
    /// folder]
    #[arg(long, value_name = "DIR", env = "UNIMATCH_CARDS")]
    cards: Option<Utf8PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    if args.per_page == 0 {
        return Err(WrongUsage(anyhow::anyhow!("--per-page: 0 is not above 0")).into());
    }
    let runs = load_runs(&args.runs)?;
    refuse_foreign(&args.out)?;
    let cards = Cards::load(folders::known_cards(args.cards.as_ref()).as_deref())?;
    let settings = ComparisonSettings { level: args.level, ..ComparisonSettings::default() };
    let (corpus, notes) = if args.redact { (None, Vec::new()) } else { args.corpus_of(&runs)? };
    let report = assemble(&Material {
        title: args.title.clone(),
        runs: &runs,
        corpus: corpus.as_ref(),
        cards: &cards,
        settings: &settings,
        is_redacted: args.redact,
        notes,
    })?;
    let pages = page::html_pages(&report, args.per_page);
    let (figures, tables) = (page::figures(&report), page::tables(&report));
    for (folder, files) in [("", &pages), ("figures", &figures), ("tables", &tables)] {
        let folder = args.out.join(folder);
        fs_err::create_dir_all(&folder)?;
        for (name, content) in files {
            write_atomically(&folder.join(name), content.as_bytes())?;
        }
    }
    remove_old_pages(&args.out, &pages)?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{} paragraphs of {} runs: {}",
        report.paragraphs.len(),
        runs.len(),
        args.out.join(INDEX)
    )?;
    writeln!(out, "pages: {}; figures: {}; tables: {}", pages.len(), figures.len(), tables.len())?;
    for note in &report.notes {
        writeln!(out, "note: {note}")?;
    }
    Ok(Ending::Done)
}

/// The page that is opened first.
const INDEX: &str = "index.html";

/// Refuses to write into a folder that holds other things than a report.
fn refuse_foreign(out: &Utf8Path) -> anyhow::Result<()> {
    if !out.exists() || out.join(INDEX).exists() {
        return Ok(());
    }
    match out.read_dir_utf8()?.next() {
        None => Ok(()),
        Some(entry) => {
            let name = entry?.file_name().to_owned();
            bail!("{out} holds {name} and no report: name a new folder for it")
        }
    }
}

/// Removes the pages that an older and longer report left.
fn remove_old_pages(out: &Utf8Path, pages: &[(String, String)]) -> anyhow::Result<()> {
    for entry in out.read_dir_utf8()? {
        let entry = entry?;
        let name = entry.file_name();
        let is_page = name.starts_with("paragraphs-") && entry.path().extension() == Some("html");
        if is_page && !pages.iter().any(|(written, _)| written == name) {
            fs_err::remove_file(entry.path())?;
        }
    }
    Ok(())
}

impl Args {
    /// The corpus of the runs, and what a reader must know of it.
    fn corpus_of(&self, runs: &[FinishedRun]) -> anyhow::Result<(Option<Corpus>, Vec<String>)> {
        let Some(first) = runs.first() else { return Ok((None, Vec::new())) };
        let config = first.dir.join("config.toml");
        let options = RunOptions::load(&config)?;
        let way_out = "name the corpus with --corpus DIR, or leave all text out with --redact";
        let path = self
            .corpus
            .clone()
            .or(options.corpus)
            .with_context(|| format!("{config} names no corpus: {way_out}"))?;
        let all = super::corpus::load(&path)
            .with_context(|| format!("the text of the paragraphs cannot be shown: {way_out}"))?;
        let selection = Selection {
            names: options.sample_id.unwrap_or_default(),
            list: options.subset,
            limit: options.limit,
        };
        let corpus = all.select(&selection)?;
        let digest = corpus.digest().to_hex();
        let mut notes = Vec::new();
        for run in runs {
            if run.setting("/corpus/digest") == digest.as_str() {
                continue;
            }
            if run.name == first.name {
                bail!("{path} is not the corpus that {} was run on: {way_out}", run.dir);
            }
            notes.push(format!(
                "{} was run on other drafts than {}: text is shown for those of the latter alone",
                run.name, first.name
            ));
        }
        Ok((Some(corpus), notes))
    }
}
