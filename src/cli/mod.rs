//! The command line: the only module that prints, reads the environment or exits.
//!
//! One file a subcommand. Each has an `Args` that clap parses and a `run` that
//! returns how the process ends.

mod matching;
mod rate;

use std::{io, process::ExitCode};

use clap::{Parser, Subcommand};

/// Evaluate feedback on student writing against what instructors wrote.
#[derive(Debug, Parser)]
#[command(name = "unimatch", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Match(matching::Args),
    Rate(rate::Args),
}

/// How a command ends that did not fail outright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All was done: exit code 0.
    Done,
    /// The command went through, but some items failed: exit code 3.
    Incomplete,
}

/// The exit code of a command that failed.
const FAILED: u8 = 1;

/// Parses the command line and runs it.
///
/// Exit codes: 0 done; 1 failed, with one message on standard error; 2 the
/// command line is wrong; 3 went through, but some items failed.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Incomplete) => ExitCode::from(3),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            write_error(&error);
            ExitCode::from(FAILED)
        }
    }
}

fn run(command: Command) -> anyhow::Result<Ending> {
    match command {
        Command::Match(args) => matching::run(&args),
        Command::Rate(args) => rate::run(&args),
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
