//! `unimatch experiment run`: what is missing of an experiment.

use std::{io::Write, rc::Rc, time::Instant};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};

use super::{
    COPY,
    planned::{self, Planned},
};
use crate::{
    cli::{
        Ending,
        duration::in_words,
        prepare::{Prepared, open_models},
        run::{drive_quietly, open},
        summary,
    },
    config::RunOptions,
    experiment::{Driven, Journal, JournalEvent, Models, Pace, Until, cuts_alike},
    generate::GenerateStage,
    report::{Table, render_text},
    run::{Outcome, RunStore, write_atomically},
};

/// Run what is missing of an experiment, one run after another.
///
/// Given again after an interruption, it goes on where it stopped, also inside a run. A run that
/// fails is told and the next one is begun. Models stay open from run to run, and units of
/// instructors' comments that one run cut are taken over by the others with the same segmenter.
/// Exit codes: 0 done; 2 wrong usage; 3 some run failed or is not complete: the same command tries
/// again.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    planned: planned::Choice,

    /// The experiment's directory; each run gets one in it
    #[arg(long, short, value_name = "DIR")]
    out: Utf8PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (_, planned) = args.planned.planned()?;
    fs_err::create_dir_all(&args.out)?;
    write_atomically(&args.out.join(COPY), &fs_err::read(&args.planned.file)?)?;
    let journal = Journal::of(&args.out);
    let mut workshop = Workshop { models: None, donors: Vec::new() };
    let mut rows = Vec::new();
    for (index, one) in planned.iter().enumerate() {
        say_where(&journal, &planned, index)?;
        let name = one.run.name();
        let n_written = n_written(&args.out.join(&name));
        journal.note(&name, JournalEvent::Begun { n_written })?;
        let begun = Instant::now();
        let worked = workshop.work(one, &args.out.join(&name));
        let seconds = begun.elapsed().as_secs_f64();
        match &worked {
            Ok(driven) => {
                let n_generated = n_generated(driven);
                journal.note(&name, JournalEvent::Ended { seconds, n_generated })?;
            }
            Err(error) => {
                journal.note(&name, JournalEvent::Stopped { error: format!("{error:#}") })?;
            }
        }
        rows.push((name, worked, seconds));
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", render_text(&table(&rows)))?;
    for (name, worked, _) in &rows {
        if let Err(error) = worked {
            writeln!(out, "{name} FAILED: {error:#}")?;
        }
    }
    let is_done = |worked: &anyhow::Result<Driven>| {
        worked.as_ref().is_ok_and(|driven| summary::ending(driven) == Ending::Done)
    };
    let n_done = rows.iter().filter(|(_, worked, _)| is_done(worked)).count();
    writeln!(out, "{n_done} of {} runs are done in {}", rows.len(), args.out)?;
    Ok(if n_done == rows.len() { Ending::Done } else { Ending::Incomplete })
}

/// What passes from run to run.
struct Workshop {
    /// The models that are open, with the settings that they were opened by.
    models: Option<(RunOptions, Rc<Models>)>,
    /// Runs that are through.
    donors: Vec<RunStore>,
}

impl Workshop {
    fn work(&mut self, one: &Planned, dir: &Utf8Path) -> anyhow::Result<Driven> {
        let models = self.models_for(&one.run.options)?;
        models.keep_those_of(&one.plan);
        let prepared = Prepared::with_models(&one.run.options, models)?;
        let store = open(&prepared, dir)?;
        let donor = self.donors.iter().find(|donor| cuts_alike(donor, &store));
        let driven = drive_quietly(&prepared, &store, donor, (Until::Generate, Until::Match))
            .with_context(|| format!("cannot go on with {dir}"))?;
        self.donors.push(store);
        Ok(driven)
    }

    /// The open models, if these settings open them in the same way; else others, once
    /// those before are closed.
    fn models_for(&mut self, options: &RunOptions) -> anyhow::Result<Rc<Models>> {
        let key = RunOptions {
            threads: options.threads,
            kv_memory: options.kv_memory,
            batch_size: options.batch_size,
            device: options.device.clone(),
            dtype: options.dtype.clone(),
            cpu: options.cpu.clone(),
            ..RunOptions::default()
        };
        if let Some((known, models)) = &self.models
            && *known == key
        {
            return Ok(Rc::clone(models));
        }
        self.models = None;
        let models = Rc::new(open_models(options)?);
        self.models = Some((key, Rc::clone(&models)));
        Ok(models)
    }
}

/// The replies that a run has already; none where it cannot be read, which opening it tells.
fn n_written(dir: &Utf8Path) -> usize {
    let records = RunStore::open(dir).and_then(|store| store.records::<GenerateStage<'_>>());
    let is_done = |outcome: &&Outcome<_>| matches!(outcome, Outcome::Done(_));
    records.map_or(0, |records| records.values().filter(is_done).count())
}

/// The replies that were written now.
fn n_generated(driven: &Driven) -> usize {
    let tally = driven.tallies.iter().find(|(stage, _)| *stage == "generate");
    tally.map_or(0, |(_, tally)| tally.n_items - tally.n_done_before)
}

/// Says on standard error which run is begun, and how long those that are left will take.
fn say_where(journal: &Journal, planned: &[Planned], index: usize) -> anyhow::Result<()> {
    let entries = journal.entries()?;
    let of_run = |name: &str| planned.iter().find(|one| one.run.name() == name);
    let pace = Pace::of(&entries, |name| of_run(name).map(|one| one.run.model.clone()));
    let was_run = |one: &Planned| {
        let name = one.run.name();
        entries
            .iter()
            .any(|entry| entry.run == name && matches!(entry.event, JournalEvent::Ended { .. }))
    };
    let most = entries.iter().filter_map(|entry| match entry.event {
        JournalEvent::Ended { n_generated, .. } => Some(n_generated),
        _ => None,
    });
    let n_replies = most.max().unwrap_or_default();
    let left = planned.iter().skip(index).filter(|one| !was_run(one));
    let seconds: Option<f64> =
        left.map(|one| pace.seconds_for(&one.run.model, n_replies)).sum::<Option<f64>>();
    let Some(one) = planned.get(index) else { return Ok(()) };
    let estimate = seconds.filter(|seconds| 0.0 < *seconds);
    let estimate =
        estimate.map_or_else(String::new, |left| format!("; about {} left", in_words(left)));
    let mut err = std::io::stderr().lock();
    writeln!(err, "run {} of {}: {}{estimate}", index + 1, planned.len(), one.run.name())?;
    Ok(())
}

fn table(rows: &[(String, anyhow::Result<Driven>, f64)]) -> Table {
    let mut table =
        Table::new(&["run", "P", "R", "F1", "paragraphs", "left out", "units", "seconds"]);
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.3}"));
    for (name, worked, seconds) in rows {
        let mut row = vec![name.clone()];
        match worked.as_ref().ok().and_then(|driven| driven.results.as_ref()) {
            None => row.extend((0..6).map(|_| "-".to_owned())),
            Some((results, _)) => {
                let full = &results.evaluation.full;
                let micro = full.estimate.soft.micro;
                let paragraphs = full.coverage.paragraphs;
                row.extend([micro.precision, micro.recall, micro.f1].map(figure));
                row.push(full.estimate.n_paragraphs.to_string());
                row.push((paragraphs.n_failed + paragraphs.n_with_unscored_pairs).to_string());
                row.push(full.estimate.n_generated.to_string());
            }
        }
        row.push(format!("{seconds:.1}"));
        table.push(row);
    }
    table
}
