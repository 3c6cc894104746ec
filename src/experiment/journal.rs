//! What happened in the directory of an experiment, and how long it took.

use std::{collections::BTreeMap, io::Write};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

/// The file name of the journal.
const JOURNAL: &str = "experiment.jsonl";

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalEntry {
    /// When, in UTC.
    pub at: String,
    /// The run's name.
    pub run: String,
    /// What happened to it.
    pub event: JournalEvent,
}

/// What happened to a run of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalEvent {
    /// It was begun, or continued.
    Begun {
        /// The replies that were there already.
        n_written: usize,
    },
    /// It went through.
    Ended {
        /// How long it took, in seconds.
        seconds: f64,
        /// The replies that were written in this time.
        n_generated: usize,
    },
    /// It stopped.
    Stopped {
        /// Why.
        error: String,
    },
}

/// The journal of an experiment. It is only ever appended to, and nothing but estimates of
/// time hang on it.
#[derive(Clone, Debug)]
pub struct Journal {
    path: Utf8PathBuf,
}

impl Journal {
    /// That of the experiment in `dir`.
    pub fn of(dir: &Utf8Path) -> Self {
        Self { path: dir.join(JOURNAL) }
    }

    /// Adds a line. One that was torn by a kill is closed before.
    pub fn note(&self, run: &str, event: JournalEvent) -> anyhow::Result<()> {
        let at = jiff::Timestamp::now().to_string();
        let entry = JournalEntry { at, run: run.to_owned(), event };
        let is_torn = self.path.exists() && !fs_err::read(&self.path)?.ends_with(b"\n");
        let mut file = fs_err::OpenOptions::new().create(true).append(true).open(&self.path)?;
        let line = serde_json::to_string(&entry)?;
        writeln!(file, "{}{line}", if is_torn { "\n" } else { "" })?;
        Ok(())
    }

    /// All lines, in order. Those that are none, as a kill leaves them, are passed over.
    pub fn entries(&self) -> anyhow::Result<Vec<JournalEntry>> {
        if !self.path.exists() {
            return Ok(Vec::new());
        }
        let bytes = fs_err::read(&self.path)?;
        let lines = bytes.split(|&byte| byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}

/// How long a reply takes with all that comes after it, as measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pace {
    /// By the model's name in the experiment: seconds, and replies written in them.
    by_model: BTreeMap<String, (f64, usize)>,
    /// Runs that it rests on.
    pub n_runs: usize,
}

impl Pace {
    /// Measures from a journal; `model_of` tells the model of a run by the run's name.
    pub fn of(entries: &[JournalEntry], model_of: impl Fn(&str) -> Option<String>) -> Self {
        let mut pace = Self::default();
        for entry in entries {
            let JournalEvent::Ended { seconds, n_generated } = entry.event else { continue };
            let Some(model) = model_of(&entry.run).filter(|_| 0 < n_generated) else { continue };
            pace.add(&model, seconds, n_generated);
        }
        pace
    }

    /// Adds what a run has done that is still under way.
    pub fn add(&mut self, model: &str, seconds: f64, n_generated: usize) {
        if 0 < n_generated {
            let (sum, n) = self.by_model.entry(model.to_owned()).or_default();
            *sum += seconds;
            *n += n_generated;
            self.n_runs += 1;
        }
    }

    /// Seconds that some replies of a model will take: as its own did, or where it has none
    /// as those of the others did. `None` where nothing was measured yet.
    pub fn seconds_for(&self, model: &str, n_replies: usize) -> Option<f64> {
        let all = || {
            let sums = self.by_model.values();
            sums.fold((0.0, 0), |(seconds, n), (own, own_n)| (seconds + own, n + own_n))
        };
        let (seconds, n) = self.by_model.get(model).copied().unwrap_or_else(all);
        (0 < n).then(|| seconds / n as f64 * n_replies as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_costs_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let journal = Journal::of(dir);
        assert!(journal.entries().unwrap().is_empty());
        journal.note("a-v1", JournalEvent::Begun { n_written: 0 }).unwrap();
        let path = dir.join(JOURNAL);
        let mut bytes = fs_err::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"at\":\"20");
        fs_err::write(&path, bytes).unwrap();
        let ended = JournalEvent::Ended { seconds: 30.0, n_generated: 10 };
        journal.note("a-v1", ended.clone()).unwrap();
        let entries = journal.entries().unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[1].event, ended);
    }

    #[test]
    fn a_model_goes_at_its_own_pace_and_an_unknown_one_at_that_of_all() {
        let ended = |run: &str, seconds, n_generated| JournalEntry {
            at: String::new(),
            run: run.to_owned(),
            event: JournalEvent::Ended { seconds, n_generated },
        };
        let entries = [ended("a-v1", 30.0, 10), ended("b-v1", 10.0, 10), ended("b-v2", 0.1, 0)];
        let pace = Pace::of(&entries, |run| run.split_once('-').map(|(model, _)| model.to_owned()));
        assert_eq!(pace.n_runs, 2);
        let close = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-9;
        assert!(close(pace.seconds_for("a", 5), 15.0));
        assert!(close(pace.seconds_for("c", 5), 10.0));
        assert_eq!(Pace::default().seconds_for("a", 5), None);
    }
}
