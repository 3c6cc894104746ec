//! `unimatch segment` and `unimatch score`: one stage of a run that was begun.

use camino::Utf8PathBuf;

use super::{Ending, prepare::Prepared, run::drive};
use crate::{experiment::Until, run::RunStore};

/// What a command takes that works on a run directory.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run directory, as `unimatch run` or `unimatch generate` left it
    #[arg(value_name = "RUN")]
    run: Utf8PathBuf,

    /// Threads [default: the cores this process may use]
    #[arg(long, short = 'j', value_name = "N", env = "UNIMATCH_THREADS")]
    threads: Option<usize>,
}

/// Drives one stage with the settings that lie in the run directory.
pub(super) fn run(args: &Args, stage: Until) -> anyhow::Result<Ending> {
    let store = RunStore::open(&args.run)?;
    let prepared = Prepared::of_run(&store, args.threads)?;
    drive(&prepared, &store, stage, stage)
}
