//! `unimatch experiment check`: whether a file is sound, before nights are spent on it.

use std::{collections::BTreeMap, io::Write};

use camino::Utf8PathBuf;

use super::planned;
use crate::{
    cli::{self, Ending},
    corpus::{Corpus, Selection},
    report::{Table, render_text},
};

/// Say what an experiment would run, and whether all that it names is there.
///
/// Every run's settings are checked, the corpus is loaded and the models are looked for; no model
/// is opened. Exit codes: 0 sound; 2 a setting cannot be; 3 something is not there.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    planned: planned::Choice,
}

/// What a corpus holds for its runs, or why it cannot be loaded.
type Loaded = Result<usize, String>;

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (experiment, planned) = args.planned.planned()?;
    let mut corpora: BTreeMap<String, Loaded> = BTreeMap::new();
    let mut problems: BTreeMap<String, usize> = BTreeMap::new();
    let mut table = Table::new(&["run", "generator", "paragraphs", "scorer", "segmenter"]);
    for one in &planned {
        let (path, selection) = (&one.plan.corpus, &one.plan.selection);
        let loaded = corpora
            .entry(format!("{path} {selection:?}"))
            .or_insert_with(|| load(path, selection).map_err(|error| format!("{error:#}")));
        if let Err(error) = loaded {
            *problems.entry(error.clone()).or_default() += 1;
        }
        if let Some(path) = one.missing_model() {
            *problems.entry(format!("no model lies at {path}")).or_default() += 1;
        }
        table.push([
            one.run.name(),
            one.plan.generator.to_string(),
            loaded.as_ref().map_or_else(|_| "?".to_owned(), ToString::to_string),
            one.plan.scorer.to_string(),
            one.plan.segmenter.to_string(),
        ]);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", render_text(&table))?;
    let models =
        planned.iter().map(|one| &one.run.model).collect::<std::collections::BTreeSet<_>>();
    writeln!(
        out,
        "{}: {} of {}",
        experiment.name,
        counted(planned.len(), "run"),
        counted(models.len(), "model")
    )?;
    for (problem, n_runs) in &problems {
        writeln!(out, "{}: {problem}", counted(*n_runs, "run"))?;
    }
    Ok(if problems.is_empty() { Ending::Done } else { Ending::Incomplete })
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn load(path: &Utf8PathBuf, selection: &Selection) -> anyhow::Result<usize> {
    let corpus: Corpus = cli::corpus::load(path)?.select(selection)?;
    Ok(corpus.scorable_targets().count())
}
