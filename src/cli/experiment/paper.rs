//! `unimatch experiment paper`: the paper's experiment as a file.

use std::io::Write;

use crate::{cli::Ending, config::PAPER_EXPERIMENT};

/// Print the experiment of the paper, 74 configurations, as a file to be edited.
///
/// The models' paths and the corpus' are those of nobody: put yours in their place. The published
/// figures stand beside yours in `unimatch reproduce`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> anyhow::Result<Ending> {
    let mut out = std::io::stdout().lock();
    out.write_all(PAPER_EXPERIMENT.as_bytes())?;
    Ok(Ending::Done)
}
