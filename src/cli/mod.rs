//! The command line: the only module that prints, reads the environment or exits.
//!
//! One file a subcommand. Each has an `Args` that clap parses and a `run` that
//! returns how the process ends.

mod annotate;
mod compare;
mod corpus;
mod distill;
mod duration;
mod eval;
mod experiment;
mod export;
mod folders;
mod machine;
mod matching;
mod parse;
mod prepare;
mod progress;
mod prompts;
mod rate;
mod rehearsal;
mod report;
mod reproduce;
mod run;
mod scorer_error;
mod stages;
mod summary;
mod validate;

use std::{io, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::experiment::Until;

/// Evaluate feedback on student writing against what instructors wrote.
#[derive(Debug, Parser)]
#[command(
    name = "unimatch",
    version,
    propagate_version = true,
    max_term_width = 100,
    args_override_self = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything: write feedback, cut it, rate it, match it, and give the figures
    Run(run::Args),
    /// Have a model write feedback, and clean it; the first stage alone
    Generate(run::Args),
    /// Cut the feedback of a run, and its instructors' comments, into units
    Segment(stages::Args),
    /// Rate the pairs of units of a run from 0 to 4
    Score(stages::Args),
    Match(matching::Args),
    Eval(eval::Args),
    Experiment(experiment::Args),
    Compare(compare::Args),
    Reproduce(reproduce::Args),
    Report(report::Args),
    Export(export::Args),
    Corpus(corpus::Args),
    Parse(parse::Args),
    Prompts(prompts::Args),
    Rate(rate::Args),
    Distill(distill::Args),
    Validate(validate::Args),
    Annotate(annotate::Args),
}

/// How a command ends that did not fail outright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All was done: exit code 0.
    Done,
    /// The command went through, but some items failed: exit code 3.
    Incomplete,
    /// A figure missed a bound that was set for it: exit code 4.
    Missed,
}

/// The exit code of a command that failed.
const FAILED: u8 = 1;

/// The exit code of a command that was given what cannot be.
const WRONG_USAGE: u8 = 2;

/// A setting that has no value it needs, or one that cannot be.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
struct WrongUsage(anyhow::Error);

/// Parses the command line and runs it.
///
/// Exit codes: 0 done; 1 failed, with one message on standard error; 2 the
/// command line is wrong; 3 went through, but some items failed; 4 a figure missed a
/// bound that was set for it.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli.command) {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Incomplete) => ExitCode::from(3),
        Ok(Ending::Missed) => ExitCode::from(4),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            write_error(&error);
            let wrong_usage = error.downcast_ref::<WrongUsage>().is_some();
            ExitCode::from(if wrong_usage { WRONG_USAGE } else { FAILED })
        }
    }
}

fn dispatch(command: Command) -> anyhow::Result<Ending> {
    match command {
        Command::Run(args) => run::run(&args, Until::Match),
        Command::Generate(args) => run::run(&args, Until::Generate),
        Command::Segment(args) => stages::run(&args, Until::Segment),
        Command::Score(args) => stages::run(&args, Until::Score),
        Command::Match(args) => matching::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Experiment(args) => experiment::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Corpus(args) => corpus::run(&args),
        Command::Parse(args) => parse::run(&args),
        Command::Prompts(args) => prompts::run(&args),
        Command::Rate(args) => rate::run(&args),
        Command::Distill(args) => distill::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Annotate(args) => annotate::run(&args),
    }
}

/// One message: the error and the chain of its causes, a line each.
fn write_error(error: &anyhow::Error) {
    let mut message = format!("error: {error}");
    for cause in error.chain().skip(1) {
        message.push_str("\n  because: ");
        message.push_str(&cause.to_string());
    }
    let mut stderr = io::stderr().lock();
    // Nothing is left to be told where standard error itself is closed.
    let _ = io::Write::write_all(&mut stderr, format!("{message}\n").as_bytes());
}

/// Whether the reader of standard output went away, as `| head` does.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
