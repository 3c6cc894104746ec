//! `unimatch run` and `unimatch generate`: a run from its settings.

use std::io::Write;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use super::{
    Ending,
    prepare::Prepared,
    progress::Bars,
    rehearsal::{self, CountFormat},
    summary,
};
use crate::{
    agreement::Cards,
    config::{self, RunOptions},
    experiment::{Driven, Run, Until, specification},
    run::{MANIFEST, Manifest, RunStore, write_atomically},
};

/// What `run` and `generate` take.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    options: RunOptions,

    /// File of settings; a run directory has one as config.toml
    #[arg(long, value_name = "FILE", env = "UNIMATCH_CONFIG")]
    config: Option<Utf8PathBuf>,

    /// Say what would be done, with counts, tokens and an estimate of the time, and stop
    #[arg(long)]
    dry_run: bool,

    /// How --dry-run prints: text, or json with nothing but counts
    #[arg(short = 'f', long, value_enum, default_value_t = CountFormat::Text, requires = "dry_run")]
    dry_run_format: CountFormat,

    /// Folder of cards, which say whether the scorer was validated (see `unimatch validate`)
    /// [default: unimatch/cards in the user's data folder]
    #[arg(long, value_name = "DIR", env = "UNIMATCH_CARDS")]
    cards: Option<Utf8PathBuf>,

    /// Print the first N prompts as the model gets them, and stop
    #[arg(long, value_name = "N")]
    print_prompts: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  Evaluate a local model on the first six drafts of a corpus:
    unimatch run SEFORA --limit 6 --generator local:SmolLM2-135M-Instruct.Q4_1.gguf \\
        --scorer embedding:all-MiniLM-L6-v2 --out runs/first

  Go on after an interruption: give the same command again, or
    unimatch run --config runs/first/config.toml

  Another prompt in another directory, eight threads:
    unimatch run SEFORA --condition v1+guided+rubric --generator local:model.gguf -j 8

  See the prompts, or what it would cost:
    unimatch run SEFORA --generator local:model.gguf --print-prompts 2
    unimatch run SEFORA --generator local:model.gguf --dry-run

Exit codes: 0 done; 1 failed, with a message; 2 wrong usage; 3 went through, but some items
failed: the same command tries those again.";

/// Runs all stages, or only the first.
pub(super) fn run(args: &Args, until: Until) -> anyhow::Result<Ending> {
    let options = match &args.config {
        Some(path) => args.options.over(&load_config(path)?)?,
        None => args.options.clone(),
    };
    let mut prepared = Prepared::new(&options)?;
    if let Some(folder) = &args.cards {
        prepared.cards = Cards::load(Some(folder))?;
    }
    if let Some(n_prompts) = args.print_prompts {
        return rehearsal::print_prompts(&prepared, n_prompts);
    }
    if args.dry_run {
        return rehearsal::print_counts(&prepared, until, args.dry_run_format);
    }
    let out = options.out.clone().unwrap_or_else(|| config::default_out(&prepared.plan));
    let store = open(&prepared, &out)?;
    drive(&prepared, &store, Until::Generate, until)
}

/// The settings in a file. Those that lie in a run directory are of the run there,
/// also after it was moved or copied.
fn load_config(path: &Utf8Path) -> anyhow::Result<RunOptions> {
    let mut options = RunOptions::load(path)?;
    if let Some(dir) = path.parent().filter(|dir| dir.join(MANIFEST).exists()) {
        options.out = Some(dir.to_owned());
    }
    Ok(options)
}

/// Opens the run directory, or begins it.
pub(super) fn open(prepared: &Prepared, out: &Utf8Path) -> anyhow::Result<RunStore> {
    let spec = specification(&prepared.plan, &prepared.corpus, &prepared.library)?;
    let provenance = json!({
        "unimatch": env!("CARGO_PKG_VERSION"),
        "begun": jiff::Timestamp::now().to_string(),
        "argv": std::env::args().collect::<Vec<_>>(),
        "corpus": prepared.plan.corpus,
        "generator": prepared.plan.generator.to_string(),
        "segmenter": prepared.plan.segmenter.to_string(),
        "scorer": prepared.plan.scorer.to_string(),
        "templates": prepared.library.origin(),
        "device": prepared.plan.device.to_string(),
    });
    let store = RunStore::open_or_create(out, Manifest::new(spec, provenance))?;
    let path = out.join("config.toml");
    if !path.exists() || !store.has_records()? {
        let options = config::options(&prepared.plan, out, prepared.models.machine());
        let text = format!(
            "# The settings of this run: `unimatch run --config {path}` goes on with it, or repeats\n\
             # it with another `out`. Relative paths start where that command is given.\n{}",
            options.render()?
        );
        write_atomically(&path, text.as_bytes())?;
    }
    Ok(store)
}

/// Drives some stages of an open run, and says what came out.
pub(super) fn drive(
    prepared: &Prepared,
    store: &RunStore,
    from: Until,
    until: Until,
) -> anyhow::Result<Ending> {
    let driven = drive_quietly(prepared, store, None, (from, until))?;
    let mut out = std::io::stdout().lock();
    summary::print(&mut out, store.dir(), &driven)?;
    out.flush()?;
    Ok(summary::ending(&driven))
}

/// The same without a word but for bars: the stages from one to another, with a run whose
/// units may be taken over.
pub(super) fn drive_quietly(
    prepared: &Prepared,
    store: &RunStore,
    donor: Option<&RunStore>,
    (from, until): (Until, Until),
) -> anyhow::Result<Driven> {
    store.note_invocation(&json!({
        "at": jiff::Timestamp::now().to_string(),
        "unimatch": env!("CARGO_PKG_VERSION"),
        "argv": std::env::args().collect::<Vec<_>>(),
        "n_threads": prepared.models.machine().n_threads,
    }))?;
    let progress = Bars::default();
    let run = Run {
        plan: &prepared.plan,
        corpus: &prepared.corpus,
        library: &prepared.library,
        models: &prepared.models,
        store,
        progress: &progress,
        cards: &prepared.cards,
        donor,
    };
    let driven = run.drive(from, until)?;
    if let Some((results, paragraphs)) = &driven.results {
        summary::write_files(store.dir(), results, paragraphs)
            .with_context(|| format!("cannot write the results to {}", store.dir()))?;
    }
    Ok(driven)
}
