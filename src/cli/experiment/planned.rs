//! The runs of an experiment's file, with settings from the command line over them.

use anyhow::{Context, bail};
use camino::Utf8PathBuf;

use crate::{
    cli::WrongUsage,
    config::{self, Experiment, PlannedRun, RunOptions},
    experiment::{ModelName, Plan},
};

/// What names the runs.
#[derive(Debug, clap::Args)]
pub(super) struct Choice {
    /// The experiment's file
    #[arg(value_name = "FILE")]
    pub(super) file: Utf8PathBuf,

    /// Only these runs, by name as MODEL-CONDITION; all runs of a model by its name
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,

    /// A setting of every run, over what the file says, as --set limit=6; names and values as in
    /// a run's config.toml
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,

    /// Threads [default: the cores this process may use]
    #[arg(long, short = 'j', value_name = "N", env = "UNIMATCH_THREADS")]
    threads: Option<usize>,
}

/// A run with its plan.
pub(super) struct Planned {
    pub(super) run: PlannedRun,
    pub(super) plan: Plan,
}

impl Choice {
    /// Reads the file, and the runs that are wanted of it.
    ///
    /// # Errors
    ///
    /// If the file, a name or a setting is wrong, or a run has settings that cannot be.
    pub(super) fn planned(&self) -> anyhow::Result<(Experiment, Vec<Planned>)> {
        let experiment = Experiment::load(&self.file)?;
        let over = self.over().map_err(WrongUsage)?;
        let mut planned = Vec::new();
        for run in experiment.runs.iter().filter(|run| self.is_wanted(run)) {
            let mut run = run.clone();
            run.options = over.over(&run.options)?;
            let plan = config::plan(&run.options)
                .with_context(|| format!("{}, run {}", self.file, run.name()))
                .map_err(WrongUsage)?;
            planned.push(Planned { run, plan });
        }
        self.refuse_unknown(&experiment).map_err(WrongUsage)?;
        Ok((experiment, planned))
    }

    fn is_wanted(&self, run: &PlannedRun) -> bool {
        self.only.is_empty()
            || self.only.iter().any(|name| *name == run.name() || *name == run.model)
    }

    fn refuse_unknown(&self, experiment: &Experiment) -> anyhow::Result<()> {
        let is_known = |name: &&String| {
            experiment.runs.iter().any(|run| **name == run.name() || **name == run.model)
        };
        match self.only.iter().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => bail!(
                "--only: `{name}` is no run and no model of {}; `unimatch experiment check` lists \
                 them",
                self.file
            ),
        }
    }

    /// What the command line says of every run.
    fn over(&self) -> anyhow::Result<RunOptions> {
        let mut over = RunOptions::default();
        for setting in &self.settings {
            let (name, value) = setting
                .split_once('=')
                .with_context(|| format!("--set: `{setting}` is not NAME=VALUE"))?;
            if ["out", "condition", "generator"].contains(&name) {
                bail!("--set: `{name}` is set by the experiment: change its file");
            }
            // Text need not be quoted here: what is no TOML is taken as it stands.
            let quoted = toml::Value::String(value.to_owned());
            let given = toml::from_str::<RunOptions>(&format!("{name} = {value}"))
                .or_else(|_| toml::from_str::<RunOptions>(&format!("{name} = {quoted}")))
                .map_err(|error| anyhow::anyhow!("--set {setting}: {}", error.message()))?;
            over = given.over(&over)?;
        }
        if self.threads.is_some() {
            over.threads = self.threads;
        }
        Ok(over)
    }
}

impl Planned {
    /// Where the generator should lie and does not.
    pub(super) fn missing_model(&self) -> Option<&Utf8PathBuf> {
        let (ModelName::Local(path) | ModelName::Scripted(path)) = &self.plan.generator;
        // A path with an adapter names two folders, which are looked for when it is opened.
        (!path.exists() && !path.as_str().contains('+')).then_some(path)
    }
}
