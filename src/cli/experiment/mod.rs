//! `unimatch experiment`: many runs from one file.

mod check;
mod paper;
mod planned;
mod run;
mod status;

use clap::Subcommand;

use super::Ending;

const EXAMPLES: &str = "\
Examples:
  unimatch experiment paper > paper.toml           the paper's 74 configurations, to be edited
  unimatch experiment check mine.toml              is it sound, and what would be run?
  unimatch experiment run mine.toml --out runs/mine
  unimatch experiment status runs/mine             done, left, and how long it will take
  unimatch compare runs/mine/a-v1 runs/mine/a-v2   what came of it
  unimatch report runs/mine/*/ --out report";

/// Run many conditions and models from one file, and see how far they are.
///
/// The file (TOML) holds `format_version = 1`, a `name`, `[settings]` of every run as in a run's
/// config.toml, a table `[models.NAME]` with a `generator` for each model, and what to run:
/// `[[matrix]]` with lists of models, templates (v1, v2, cot), shots (zero, few), guided and rubric
/// (true, false), every combination of which is a run, or `[[runs]]` with one model and one
/// condition. Each run lies in its own directory, as MODEL-CONDITION.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Check(check::Args),
    Run(run::Args),
    Status(status::Args),
    Paper(paper::Args),
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.action {
        Action::Check(args) => check::run(args),
        Action::Run(args) => run::run(args),
        Action::Status(args) => status::run(args),
        Action::Paper(args) => paper::run(args),
    }
}

/// The name of the copy of its file that an experiment's directory holds.
const COPY: &str = "experiment.toml";
