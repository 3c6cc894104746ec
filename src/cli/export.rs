//! `unimatch export`: a run in the layout of the public release.

use std::io::Write;

use camino::Utf8PathBuf;

use super::{Ending, prepare::Prepared};
use crate::{
    experiment::Run,
    metrics::release,
    run::{RunStore, Silent},
};

/// Write a run in the layout of the public release, for its own code to read.
///
/// The folder gets `seg_model/`, `seg_annot/` and `stage1_scores.jsonl`; `unimatch match --release`
/// reads them back. Each unit of an instructor becomes an annotation of its own.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run directory
    #[arg(value_name = "RUN")]
    run: Utf8PathBuf,

    /// Folder to write to; it must not hold such files already
    #[arg(long, short, value_name = "DIR")]
    out: Utf8PathBuf,

    /// Name of the setting in `seg_model` [default: the run's condition]
    #[arg(long, value_name = "NAME")]
    setting: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let store = RunStore::open(&args.run)?;
    let prepared = Prepared::of_run(&store, None)?;
    let run = Run {
        plan: &prepared.plan,
        corpus: &prepared.corpus,
        library: &prepared.library,
        models: &prepared.models,
        store: &store,
        progress: &Silent,
    };
    let drafts = run.release_drafts()?;
    let setting = args.setting.clone().unwrap_or_else(|| prepared.plan.condition.to_string());
    release::write(&args.out, &setting, &drafts)?;
    writeln!(std::io::stdout().lock(), "{} drafts in {}", drafts.len(), args.out)?;
    Ok(Ending::Done)
}
