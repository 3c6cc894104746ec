//! `unimatch distill`: trains a small model that rates or cuts.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use camino::Utf8PathBuf;
use candle_core::Device;
use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};

use super::{Ending, WrongUsage};
use crate::{
    distill::{
        Distilled, Figures, Report, ScorerSettings, SegmenterSettings, Settings, Watch,
        distill_scorer, distill_segmenter,
    },
    nn::{Cpu, DeviceChoice, Devices},
};

const EXAMPLES: &str = "\
Examples:
  unimatch distill scorer --config models/distilled/scorer.toml --train pairs.jsonl \\
      --dev other-pairs.jsonl --out runs/scorer
  unimatch distill segmenter --config models/distilled/segmenter.toml --train cut.jsonl --folds 3

A line of rated pairs is {\"id\": \"7\", \"draft\": \"...\", \"paragraph\": 3, \"kind\": \"natural\", \"a\": \"...\",
\"b\": \"...\", \"ratings\": [3, 4]}; a line of cut texts is {\"id\": \"7-a\", \"source\": \"instructor\",
\"text\": \"...\", \"segmented\": \"...$$...$$\"}. Whose a line is says `student`, else `draft`, else the id up to
its first `-`; no student may be in both files. CSV files as of `unimatch validate` serve too. The same command goes on with a training that was
killed. The folder then serves as `--scorer distilled:FOLDER` or `--segmenter distilled:FOLDER`.";

/// Train a small scorer or segmenter on rated pairs or cut texts.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Train a scorer on pairs of units that were rated from 0 to 4
    Scorer(Options),
    /// Train a segmenter on texts that were cut into units
    Segmenter(Options),
}

#[derive(Debug, clap::Args)]
struct Options {
    /// File of settings (TOML); flags go before it
    #[arg(long, value_name = "FILE")]
    config: Option<Utf8PathBuf>,

    /// Folder of the sentence encoder to begin from
    #[arg(long, value_name = "FOLDER")]
    base: Option<Utf8PathBuf>,

    /// Data to learn from (JSONL)
    #[arg(long, value_name = "FILE")]
    train: Option<Utf8PathBuf>,

    /// Data of other students to try out on (JSONL)
    #[arg(long, value_name = "FILE")]
    dev: Option<Utf8PathBuf>,

    /// Rated pairs whose ids say whose the paragraphs of cut texts are
    #[arg(long, value_name = "FILE")]
    students: Option<Utf8PathBuf>,

    /// Folder to write to
    #[arg(long, short, value_name = "DIR")]
    out: Option<Utf8PathBuf>,

    /// Seed of all draws
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Write no model, but try the settings out in N parts by students
    #[arg(long, value_name = "N", default_value_t = 0)]
    folds: usize,

    /// Where the layers in training are computed: cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,

    /// Threads [default: the cores this process may use]
    #[arg(long, short = 'j', value_name = "N")]
    threads: Option<usize>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (What::Scorer(options) | What::Segmenter(options)) = &args.what;
    if let Some(n_threads) = options.threads {
        rayon::ThreadPoolBuilder::new().num_threads(n_threads).build_global()?;
    }
    let device = match options.device.open()? {
        Devices::Kernels => Device::Cpu,
        Devices::Candle(mut devices) if devices.len() == 1 => devices.remove(0),
        Devices::Candle(_) => {
            return Err(WrongUsage(anyhow::anyhow!("--device: training takes one device")).into());
        }
    };
    let bars = Bar::default();
    let run =
        Distilled { device: &device, cpu: Cpu::detect(), n_folds: options.folds, watch: &bars };
    let report = match &args.what {
        What::Scorer(options) => {
            let settings = match &options.config {
                Some(path) => ScorerSettings::load(path)?,
                None => ScorerSettings::default(),
            };
            distill_scorer(&over(settings, options), &run)?
        }
        What::Segmenter(options) => {
            let settings = match &options.config {
                Some(path) => SegmenterSettings::load(path)?,
                None => SegmenterSettings::default(),
            };
            distill_segmenter(&over(settings, options), &run)?
        }
    };
    print(&report)?;
    Ok(Ending::Done)
}

/// The settings, with what the flags say in their place.
fn over<H>(mut settings: Settings<H>, options: &Options) -> Settings<H> {
    let put = |place: &mut Option<Utf8PathBuf>, given: &Option<Utf8PathBuf>| {
        if given.is_some() {
            place.clone_from(given);
        }
    };
    put(&mut settings.base, &options.base);
    put(&mut settings.train, &options.train);
    put(&mut settings.dev, &options.dev);
    put(&mut settings.students, &options.students);
    put(&mut settings.out, &options.out);
    settings.seed = options.seed.unwrap_or(settings.seed);
    settings
}

fn print(report: &Report) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    for (index, figures) in report.folds.iter().enumerate() {
        writeln!(out, "fold {}: {}", index + 1, line(&figures.by_name))?;
    }
    if !report.folds.is_empty() {
        writeln!(out, "mean over folds: {}", line(&report.mean_over_folds))?;
    }
    if let Some(figures) = &report.trained {
        writeln!(out, "dev, as trained: {}", line(&figures.by_name))?;
    }
    if let Some(figures) = &report.written {
        writeln!(out, "dev, as written: {}", line(&figures.by_name))?;
    }
    if let Some(epoch) = report.epoch {
        writeln!(out, "weights of epoch {epoch}")?;
    }
    Ok(())
}

fn line(figures: &BTreeMap<String, f64>) -> String {
    let figures = figures.iter().map(|(name, value)| format!("{name} {value:.4}"));
    figures.collect::<Vec<_>>().join(", ")
}

/// A bar for each training on a terminal, a line for each epoch everywhere.
#[derive(Default)]
struct Bar {
    bar: std::sync::Mutex<Option<ProgressBar>>,
}

impl Bar {
    fn with(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        act(&mut self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }
}

impl Watch for Bar {
    fn begin(&self, what: &str, n_steps: usize, n_done: usize) {
        let bar = ProgressBar::new(n_steps as u64).with_position(n_done as u64);
        if let Ok(style) = ProgressStyle::with_template(
            "{prefix:>9} {wide_bar} {pos}/{len}, {per_sec}, {eta} left, loss {msg}",
        ) {
            bar.set_style(style);
        }
        bar.set_prefix(what.to_owned());
        bar.reset_eta();
        self.with(|place| *place = Some(bar));
    }

    fn step(&self, loss: f64) {
        self.with(|bar| {
            if let Some(bar) = bar {
                bar.set_message(format!("{loss:.3}"));
                bar.inc(1);
            }
        });
    }

    fn epoch(&self, epoch: usize, loss: f64, figures: &Figures) {
        self.with(|bar| {
            let prefix = bar.as_ref().map(ProgressBar::prefix).unwrap_or_default();
            let line =
                format!("{prefix}, epoch {epoch}: loss {loss:.4}, {}\n", line(&figures.by_name));
            let write = || {
                // Nothing is left to be told where standard error itself is closed.
                let _ = io::stderr().lock().write_all(line.as_bytes());
            };
            match bar {
                Some(bar) => bar.suspend(write),
                None => write(),
            }
        });
    }

    fn end(&self) {
        self.with(|bar| {
            if let Some(bar) = bar.take() {
                bar.finish();
            }
        });
    }
}
