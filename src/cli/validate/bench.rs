//! What the measures of the bench share: who is asked how, where it is kept, what is
//! printed.

use std::{io::Write, num::NonZeroUsize, sync::Arc};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::{
    agreement::{Rated, rate_pairs},
    cli::{WrongUsage, machine::MachineArgs, prepare::open_models, progress::Bars},
    config::{self, JudgingNames},
    experiment::{
        Judging, Models, Roles, ScorerName, SegmenterName, scorer_specification,
        segmenter_specification,
    },
    nn::WeightType,
    prompt::Library,
    report::{self, Titled},
    run::{Manifest, RunStore},
    stats::Draws,
};

/// How an instrument is asked, and where.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Instrument {
    /// How a judge rates: batch or logits [default: logits for a local judge, else batch]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_JUDGE_MODE", help_heading = "Judging")]
    judge_mode: Option<String>,

    /// What the probabilities of 0 to 4 come to: argmax or expectation [default: argmax]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_JUDGE_RATING", help_heading = "Judging")]
    judge_rating: Option<String>,

    /// How a judge cuts: copy or scoring [default: scoring for a local judge, else copy]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_SEGMENT_MODE", help_heading = "Judging")]
    segment_mode: Option<String>,

    /// Pairs that a judge rates in one request
    #[arg(
        long,
        value_name = "N",
        default_value = "50",
        env = "UNIMATCH_JUDGE_BATCH_SIZE",
        help_heading = "Judging"
    )]
    judge_batch_size: NonZeroUsize,

    /// How often a judge is asked again after a reply that cannot be read
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        env = "UNIMATCH_JUDGE_RETRIES",
        help_heading = "Judging"
    )]
    judge_retries: usize,

    /// Folder of templates for judges instead of the built-in ones
    #[arg(long, value_name = "DIR", env = "UNIMATCH_PROMPTS", help_heading = "Judging")]
    prompts: Option<Utf8PathBuf>,

    #[command(flatten)]
    machine: MachineArgs,

    /// Folder that keeps what instruments said, so that nothing is asked twice
    /// [default: unimatch in the user's cache folder]
    #[arg(long, value_name = "DIR", env = "UNIMATCH_CACHE", help_heading = "Machine")]
    cache: Option<Utf8PathBuf>,
}

/// How intervals are drawn.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Bootstrap {
    /// Samples drawn for the intervals
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = draws, help_heading = "Intervals")]
    draws: usize,

    /// The share of samples that an interval holds
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share, help_heading = "Intervals")]
    level: f64,

    /// Seed of the samples, and of a judge's later tries
    #[arg(
        long,
        value_name = "N",
        default_value_t = 42,
        env = "UNIMATCH_SEED",
        help_heading = "Intervals"
    )]
    seed: u64,
}

/// Of fewer, the ends of an interval are those of a few samples.
const LEAST_DRAWS: usize = 100;

fn draws(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(draws) if LEAST_DRAWS <= draws => Ok(draws),
        _ => Err(format!("give a whole number of at least {LEAST_DRAWS}")),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if 0.0 < share && share < 1.0 => Ok(share),
        _ => Err("give a share between 0 and 1, as 0.95".to_owned()),
    }
}

impl Bootstrap {
    pub(in crate::cli) fn draws(&self) -> Draws {
        Draws { n: self.draws, seed: self.seed, level: self.level }
    }
}

/// How a card is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::cli) enum Format {
    /// Tables to read
    Text,
    /// The card, as in card.json
    Json,
    /// The same tables in Markdown
    Markdown,
}

/// Everything that opens instruments and keeps what they say.
pub(in crate::cli) struct Bench {
    pub(in crate::cli) models: Models,
    pub(in crate::cli) library: Arc<Library>,
    judging: Judging,
    names: [Option<String>; 3],
    dtype: WeightType,
    device: &'static str,
    pub(in crate::cli) cache: Utf8PathBuf,
}

impl Bench {
    pub(in crate::cli) fn new(instrument: &Instrument, seed: u64) -> anyhow::Result<Self> {
        let options = instrument.machine.options();
        let models = open_models(&options)?;
        let library = match &instrument.prompts {
            Some(dir) => Library::load(dir)?,
            None => Library::embedded()?,
        };
        Ok(Self {
            models,
            library: Arc::new(library),
            judging: Judging {
                seed,
                batch_size: instrument.judge_batch_size.get(),
                n_retries: instrument.judge_retries,
                ..Judging::default()
            },
            names: [
                instrument.judge_mode.clone(),
                instrument.judge_rating.clone(),
                instrument.segment_mode.clone(),
            ],
            dtype: config::dtype(&options).map_err(WrongUsage)?,
            device: config::device(&options).map_err(WrongUsage)?.kind(),
            cache: match &instrument.cache {
                Some(folder) => folder.clone(),
                None => crate::cli::folders::cache()?,
            },
        })
    }

    /// How judges are asked, for these instruments.
    pub(in crate::cli) fn judging(
        &self,
        segmenter: &SegmenterName,
        scorer: &ScorerName,
    ) -> anyhow::Result<Judging> {
        let names = JudgingNames {
            judge_mode: self.names[0].as_deref(),
            judge_rating: self.names[1].as_deref(),
            segment_mode: self.names[2].as_deref(),
        };
        Ok(config::judging(self.judging, names, segmenter, scorer).map_err(WrongUsage)?)
    }

    fn roles(&self, judging: Judging) -> Roles<'_> {
        Roles { judging, dtype: self.dtype, library: &self.library }
    }

    /// All that a scorer's ratings depend on, as a run has it.
    pub(in crate::cli) fn scorer_spec(&self, name: &ScorerName) -> anyhow::Result<Value> {
        let judging = self.judging(&SegmenterName::Sentence, name)?;
        scorer_specification(name, &self.roles(judging))
            .with_context(|| format!("cannot open the scorer {name}"))
    }

    /// All that a segmenter's cuts depend on, as a run has it.
    pub(in crate::cli) fn segmenter_spec(&self, name: &SegmenterName) -> anyhow::Result<Value> {
        let judging = self.judging(name, &ScorerName::Chrf)?;
        segmenter_specification(name, &self.roles(judging))
            .with_context(|| format!("cannot open the segmenter {name}"))
    }

    /// Where what an instrument said is kept.
    pub(in crate::cli) fn store(&self, role: &str, spec: &Value) -> anyhow::Result<RunStore> {
        let spec = json!({
            role: spec,
            "device": self.device,
            "seed": self.judging.seed,
            "retries": self.judging.n_retries,
        });
        let manifest = Manifest::new(spec, json!({ "unimatch": env!("CARGO_PKG_VERSION") }));
        let folder = self.cache.join(format!("{role}-{}", manifest.fingerprint.short()));
        Ok(RunStore::open_or_create(&folder, manifest)?)
    }

    /// The rating of each pair by a scorer, the cache asked first.
    pub(in crate::cli) fn rate(
        &self,
        name: &ScorerName,
        spec: &Value,
        pairs: &[(String, String)],
    ) -> anyhow::Result<Vec<Result<Rated, String>>> {
        let judging = self.judging(&SegmenterName::Sentence, name)?;
        let store = self.store("scorer", spec)?;
        let batch_size = match name {
            ScorerName::Judge(_) => judging.batch_size,
            _ => self.models.machine().batch_size,
        };
        rate_pairs(&store, pairs, batch_size, &Bars::default(), || {
            self.models.scorer(name, &self.library, judging)
        })
    }
}

/// Prints a card.
pub(in crate::cli) fn print(
    format: Format,
    card: &impl serde::Serialize,
    title: &str,
    tables: &[Titled],
    signature: &str,
) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match format {
        Format::Json => writeln!(out, "{}", serde_json::to_string_pretty(card)?)?,
        Format::Markdown => write!(out, "{}", markdown(title, tables, signature))?,
        Format::Text => {
            writeln!(out, "{title}\n")?;
            for (title, table) in tables {
                writeln!(out, "{title}\n\n{}", report::render_text(table))?;
            }
            writeln!(out, "{signature}")?;
        }
    }
    out.flush()?;
    Ok(())
}

/// A card in Markdown.
pub(super) fn markdown(title: &str, tables: &[Titled], signature: &str) -> String {
    let tables: Vec<String> = tables
        .iter()
        .map(|(title, table)| format!("## {title}\n\n{}", report::render_markdown(table)))
        .collect();
    format!("# {title}\n\n{}\n{signature}\n", tables.join("\n"))
}

/// The name of a file and its BLAKE3.
pub(in crate::cli) fn identity(path: &Utf8Path) -> anyhow::Result<(String, String)> {
    let digest = blake3::hash(&fs_err::read(path)?).to_hex().to_string();
    Ok((path.file_name().unwrap_or(path.as_str()).to_owned(), digest))
}
