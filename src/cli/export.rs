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
/// reads them back. Each unit of an instructor becomes an annotation of its own, so that figures on
/// all paragraphs agree, and subsets by number of references count units in place of comments.
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
        cards: &prepared.cards,
        donor: None,
    };
    let (drafts, n_partial) = run.release_drafts()?;
    let setting = args.setting.clone().unwrap_or_else(|| prepared.plan.condition.to_string());
    release::write(&args.out, &setting, &drafts)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} drafts in {}", drafts.len(), args.out)?;
    if n_partial == 0 {
        return Ok(Ending::Done);
    }
    writeln!(
        out,
        "{n_partial} paragraphs are not there in full: a stage failed on them, or is not done"
    )?;
    Ok(Ending::Incomplete)
}
