//! `unimatch corpus`: look at a corpus before working on it.

mod check;
mod stats;
mod page;
mod marks;
mod show;

use std::io::{self, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Subcommand, ValueEnum};

use super::Ending;
use crate::corpus::Corpus;

/// Look at a corpus: count it, check it, read a draft.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Look at a corpus: count it, check it, read a draft.\n\n\
        A corpus is a folder of drafts, one JSON file each, in the layout of SEFORA \
        (Batch_*/Course_*/Class_*/Essay_*/<Stage>/*.json) or all in one folder, with \
        the assignments and rubrics beside them as .txt files. A part of a corpus, or \
        a single draft, will do as well.",
    after_help = "Examples:\n  \
        unimatch corpus stats path/to/SEFORA\n  \
        unimatch corpus check path/to/SEFORA -f csv > findings.csv\n  \
        unimatch corpus show Essay_1_Final_ID0003 --corpus path/to/SEFORA | less -R"
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Stats(stats::Args),
    Check(check::Args),
    Show(show::Args),
}

/// How a result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// Comma-separated values with a line of headings.
    Csv,
}

/// Runs `unimatch corpus`.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.command {
        Command::Stats(args) => stats::run(args),
        Command::Check(args) => check::run(args),
        Command::Show(args) => show::run(args),
    }
}

/// Loads a corpus, and warns of every field in it that nothing reads.
pub(super) fn load(path: &Utf8Path) -> anyhow::Result<Corpus> {
    let corpus = Corpus::load(path)?;
    let mut stderr = io::stderr().lock();
    for field in corpus.unknown_fields() {
        writeln!(stderr, "warning: {field}")?;
    }
    Ok(corpus)
}

/// The corpus that a subcommand works on.
#[derive(Debug, clap::Args)]
struct CorpusPath {
    /// The folder of the corpus, a part of it, or a single draft.
    #[arg(value_name = "PATH", env = "UNIMATCH_CORPUS")]
    path: Utf8PathBuf,
}

/// A count with its thousands set apart: `8,186`.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index != 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of things: `1 draft`, `1,200 drafts`.
fn counted(count: usize, thing: &str) -> String {
    format!("{} {thing}{}", grouped(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_000, 136_555].map(grouped), ["0", "999", "1,000", "136,555"]);
    }
}
