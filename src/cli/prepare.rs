//! What every command that runs stages needs first.

use std::{
    rc::Rc,
    sync::{Arc, OnceLock},
};

use anyhow::Context;

use super::{WrongUsage, folders};
use crate::{
    agreement::Cards,
    config::{self, RunOptions},
    corpus::Corpus,
    experiment::{Models, Plan, specification},
    prompt::Library,
    run::RunStore,
};

/// A plan, and what it names, loaded. Models are opened when they are needed.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    pub(super) corpus: Corpus,
    pub(super) library: Arc<Library>,
    pub(super) models: Rc<Models>,
    pub(super) cards: Cards,
}

impl Prepared {
    /// Resolves the options and loads the drafts and templates they name.
    pub(super) fn new(options: &RunOptions) -> anyhow::Result<Self> {
        Self::with_models(options, Rc::new(open_models(options)?))
    }

    /// The same with models that other runs use too; they must be of these options.
    pub(super) fn with_models(options: &RunOptions, models: Rc<Models>) -> anyhow::Result<Self> {
        let plan = config::plan(options).map_err(WrongUsage)?;
        let corpus = super::corpus::load(&plan.corpus)?.select(&plan.selection)?;
        let library = match &plan.prompts {
            Some(dir) => Library::load(dir)?,
            None => Library::embedded()?,
        };
        let library = Arc::new(library);
        let cards = Cards::load(folders::known_cards(None).as_deref())?;
        Ok(Self { plan, corpus, library, models, cards })
    }

    /// The same from the settings that lie in a run directory.
    pub(super) fn of_run(store: &RunStore, n_threads: Option<usize>) -> anyhow::Result<Self> {
        let stored = RunOptions::load(&store.dir().join("config.toml"))?;
        let given = RunOptions { threads: n_threads, ..RunOptions::default() };
        let prepared = Self::new(&given.over(&stored)?).with_context(|| {
            format!(
                "cannot go on with {}: relative paths in its config.toml start in the folder where \
                 it was begun; give this command there, or change them",
                store.dir()
            )
        })?;
        store.check(&specification(&prepared.plan, &prepared.corpus, &prepared.library)?)?;
        Ok(prepared)
    }
}

/// A process has one pool: a command that opens a second set of models shares it.
static POOL: OnceLock<()> = OnceLock::new();

/// Takes the threads that the options allow.
pub(super) fn open_models(options: &RunOptions) -> anyhow::Result<Models> {
    let n_cores = std::thread::available_parallelism()?.get();
    let machine = config::machine(options, n_cores).map_err(WrongUsage)?;
    let dtype = config::dtype(options).map_err(WrongUsage)?;
    if POOL.set(()).is_ok() {
        rayon::ThreadPoolBuilder::new().num_threads(machine.n_threads).build_global()?;
    }
    let device = config::device(options).map_err(WrongUsage)?;
    Ok(Models::new(machine).with_dtype(dtype).with_device(device))
}
