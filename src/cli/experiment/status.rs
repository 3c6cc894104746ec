//! `unimatch experiment status`: how far an experiment is.

use std::io::Write;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};

use super::COPY;
use crate::{
    cli::{Ending, duration::in_words},
    config::{Experiment, PlannedRun},
    experiment::{Journal, JournalEntry, JournalEvent, Pace, Results},
    generate::GenerateStage,
    report::{Table, render_text},
    run::{Outcome, RunError, RunStore, Stage as _},
};

/// Say which runs of an experiment are done, which failed and which are left, and how long those
/// will take.
///
/// Reads records alone, so it may be asked while the experiment runs.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The experiment's directory
    #[arg(value_name = "DIR")]
    dir: Utf8PathBuf,
}

/// How a run stands.
struct State {
    words: &'static str,
    n_paragraphs: Option<usize>,
    n_written: usize,
    n_failed: usize,
    f1: Option<f64>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let dir = &args.dir;
    let copy = dir.join(COPY);
    if !copy.exists() {
        anyhow::bail!(
            "{dir} holds no experiment: `unimatch experiment run FILE --out {dir}` begins one"
        );
    }
    let experiment = Experiment::load(&copy)?;
    let entries = Journal::of(dir).entries()?;
    let model_of = |name: &str| {
        experiment.runs.iter().find(|run| run.name() == name).map(|run| run.model.clone())
    };
    let mut pace = Pace::of(&entries, model_of);
    let mut states = Vec::new();
    for run in &experiment.runs {
        let last = entries.iter().rev().find(|entry| entry.run == run.name());
        let state = state(&dir.join(run.name()), last.map(|entry| &entry.event))?;
        if let Some((seconds, n_generated)) = last.and_then(|last| under_way(dir, last, &state)) {
            pace.add(&run.model, seconds, n_generated);
        }
        states.push((run, state));
    }
    let most = states.iter().filter_map(|(_, state)| state.n_paragraphs).max();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", render_text(&table(&states)))?;
    let count = |words: &str| states.iter().filter(|(_, state)| state.words == words).count();
    let counts = WORDS.map(|words| (count(words), words));
    let told: Vec<String> =
        counts.iter().filter(|(n, _)| 0 < *n).map(|(n, words)| format!("{n} {words}")).collect();
    writeln!(out, "{}: {}", experiment.name, told.join(", "))?;
    writeln!(out, "{}", estimate(&states, &pace, most))?;
    let is_done = states.iter().all(|(_, state)| state.words == DONE);
    Ok(if is_done { Ending::Done } else { Ending::Incomplete })
}

/// How long a run has been under way that was begun and has not ended, up to its last
/// reply, and the replies of this time.
fn under_way(dir: &Utf8Path, last: &JournalEntry, state: &State) -> Option<(f64, usize)> {
    let JournalEvent::Begun { n_written } = last.event else { return None };
    let folder = dir.join(&last.run).join(GenerateStage::NAME);
    let changes = folder.read_dir_utf8().ok()?.filter_map(|entry| {
        let changed = entry.ok()?.metadata().ok()?.modified().ok()?;
        jiff::Timestamp::try_from(changed).ok()
    });
    let begun: jiff::Timestamp = last.at.parse().ok()?;
    let seconds = changes.max()?.duration_since(begun).as_secs_f64();
    (0.0 < seconds).then(|| (seconds, state.n_written.saturating_sub(n_written)))
}

const DONE: &str = "done";
const GAPS: &str = "through, with gaps";
const STOPPED: &str = "stopped with an error";
const BEGUN: &str = "begun";
const LEFT: &str = "left";
const WORDS: [&str; 5] = [DONE, GAPS, STOPPED, BEGUN, LEFT];

fn state(dir: &Utf8Path, last: Option<&JournalEvent>) -> anyhow::Result<State> {
    let mut state = State { words: LEFT, n_paragraphs: None, n_written: 0, n_failed: 0, f1: None };
    if matches!(last, Some(JournalEvent::Stopped { .. })) {
        state.words = STOPPED;
    }
    let store = match RunStore::open(dir) {
        Ok(store) => store,
        Err(RunError::NoRun { .. }) => return Ok(state),
        Err(error) => return Err(error.into()),
    };
    if state.words == LEFT {
        state.words = BEGUN;
    }
    let n_paragraphs = store.manifest().spec.pointer("/corpus/n_paragraphs");
    state.n_paragraphs =
        n_paragraphs.and_then(serde_json::Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let records = store.records::<GenerateStage<'_>>()?;
    state.n_written =
        records.values().filter(|outcome| matches!(outcome, Outcome::Done(_))).count();
    state.n_failed = records.len() - state.n_written;
    let path = dir.join("results.json");
    if state.words == BEGUN && path.exists() {
        let text = fs_err::read_to_string(&path)?;
        let results: Results = serde_json::from_str(&text)
            .with_context(|| format!("{path} cannot be read: `unimatch match {dir}` mends it"))?;
        let coverage = results.evaluation.full.coverage;
        state.n_failed = coverage.paragraphs.n_failed;
        state.f1 = results.evaluation.full.estimate.soft.micro.f1;
        let has_gaps = 0 < coverage.paragraphs.n_failed + coverage.pairs.n_unscored;
        state.words = if has_gaps { GAPS } else { DONE };
    }
    Ok(state)
}

fn table(states: &[(&PlannedRun, State)]) -> Table {
    let mut table = Table::new(&["run", "state", "written", "of", "failed", "F1"]);
    for (run, state) in states {
        let of = state.n_paragraphs.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let f1 = state.f1.map_or_else(|| "-".to_owned(), |f1| format!("{f1:.3}"));
        table.push([
            run.name(),
            state.words.to_owned(),
            state.n_written.to_string(),
            of,
            state.n_failed.to_string(),
            f1,
        ]);
    }
    table
}

/// How long what is left will take, in words.
fn estimate(states: &[(&PlannedRun, State)], pace: &Pace, most: Option<usize>) -> String {
    let left: Vec<&(&PlannedRun, State)> =
        states.iter().filter(|(_, state)| state.words != DONE).collect();
    if left.is_empty() {
        return "nothing is left".to_owned();
    }
    let seconds: Option<f64> = left
        .iter()
        .map(|(run, state)| {
            let n_replies = state.n_paragraphs.or(most)?.saturating_sub(state.n_written);
            pace.seconds_for(&run.model, n_replies)
        })
        .sum();
    match seconds {
        Some(seconds) => format!(
            "about {} left, by the pace of {} so far",
            in_words(seconds),
            if pace.n_runs == 1 {
                "the run".to_owned()
            } else {
                format!("the {} runs", pace.n_runs)
            }
        ),
        None => "no estimate of the time yet: no run went through".to_owned(),
    }
}
