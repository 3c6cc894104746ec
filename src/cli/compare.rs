//! `unimatch compare`: runs against a baseline, on the same paragraphs.

use std::io::Write;

use anyhow::bail;
use camino::Utf8PathBuf;
use serde_json::json;

use super::{Ending, WrongUsage, folders, scorer_error};
use crate::{
    agreement::Cards,
    experiment::{
        FinishedRun,
        comparison::{ComparisonSettings, Level, Measure, RunComparison, compare},
        load_runs,
    },
    matching::AlignmentKind,
    report::{Table, certainty, differences, render_csv, render_markdown, render_text},
    stats::Draws,
};

const EXAMPLES: &str = "\
Examples:
  unimatch compare runs/v1 runs/v2                  is v2 better than v1, and how sure is that?
  unimatch compare runs/base runs/a runs/b -f md    a table for a paper, Holm over a and b
  unimatch compare runs/v1 runs/v2 --scorer-error   with the errors of the scorer in the interval
  unimatch compare runs/v1 runs/v2 --alignment greedy

Exit codes: 0 done; 1 failed, also where the instruments differ; 2 wrong usage.";

/// Set runs against the first of them, on the paragraphs that both have.
///
/// Works on the records of finished runs, in seconds. Differences are of micro figures. Intervals
/// take paragraphs of one student as alike; p-values come from swapping whole students between the
/// two runs, and are corrected for the number of runs (Holm). Beside every difference stands how
/// much either run writes, and F1 if the wordier one had written no more than the other.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Run directories, the baseline first
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<Utf8PathBuf>,

    /// What is drawn whole, in intervals and tests: paragraph, draft, student or class
    #[arg(long, value_name = "LEVEL", default_value_t = Level::Student)]
    level: Level,

    /// What counts as a match: soft, a threshold from 1 to 4, or all
    #[arg(long, value_name = "MEASURE", default_value = "soft")]
    measure: String,

    /// How units are aligned: best (the paper's), greedy (the highest rating first), or coverage
    /// (each with the one most like it, however many share that one)
    #[arg(long, value_name = "WAY", default_value = "best")]
    alignment: AlignmentKind,

    /// The difference that would not matter, for the test of equivalence
    #[arg(long, value_name = "MARGIN", default_value_t = 0.02)]
    margin: f64,

    /// Draws of the bootstrap and of randomisation
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    draws: usize,

    /// Seed of the draws
    #[arg(long, value_name = "SEED", default_value_t = 42)]
    seed: u64,

    /// Carry the errors of the scorer into the intervals of soft F1, as its card tells them
    #[arg(long)]
    scorer_error: bool,

    /// Folder of cards (see `unimatch validate`) [default: unimatch/cards in the user's data
    /// folder]
    #[arg(long, value_name = "DIR", env = "UNIMATCH_CARDS")]
    cards: Option<Utf8PathBuf>,

    /// Compare runs whose corpus, segmenter, scorer or cleaner differ, and say so in the table
    #[arg(long)]
    allow_differences: bool,

    /// How to print: text, json, csv or md
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Tables to read.
    Text,
    /// Every figure.
    Json,
    /// The first table.
    Csv,
    /// The first table, with what it rests on.
    Md,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let settings = args.settings().map_err(WrongUsage)?;
    let runs = load_runs(&args.runs)?;
    let comparisons = compare(&runs, &settings);
    let mut notes = args.check(&runs, &comparisons)?;
    notes.extend(paragraph_notes(&comparisons));
    let cards = Cards::load(folders::known_cards(args.cards.as_ref()).as_deref())?;
    let imputed = if args.scorer_error {
        Some(scorer_error::imputed(&runs, &cards, &settings)?)
    } else {
        None
    };
    let table = differences(&comparisons);
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Csv => write!(out, "{}", render_csv(&table)?)?,
        Format::Json => {
            let value = json!({
                "baseline": runs.first().map(|run| &run.name),
                "level": settings.level.name(),
                "alignment": settings.kind,
                "margin": settings.margin,
                "draws": settings.draws.n,
                "seed": settings.draws.seed,
                "comparisons": comparisons,
                "scorer_error": imputed,
                "notes": notes,
            });
            writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        }
        Format::Text | Format::Md => {
            let render: fn(&Table) -> String =
                if args.format == Format::Md { render_markdown } else { render_text };
            writeln!(out, "{}", args.heading(&runs, &comparisons))?;
            for note in &notes {
                writeln!(out, "note: {note}")?;
            }
            writeln!(out, "\n{}", render(&table))?;
            writeln!(
                out,
                "Equivalence within {:.3}; detectable: at a power of {:.0} %; q: false discoveries \
                 over all lines.\n\n{}",
                settings.margin,
                settings.power * 100.0,
                render(&certainty(&comparisons))
            )?;
            if let Some(imputed) = &imputed {
                writeln!(out, "{}\n\n{}", scorer_error::WORDS, render(&imputed.figures()))?;
                writeln!(out, "{}\n\n{}", scorer_error::BIAS_WORDS, render(&imputed.biases()))?;
            }
        }
    }
    Ok(Ending::Done)
}

impl Args {
    fn settings(&self) -> anyhow::Result<ComparisonSettings> {
        if !(0.0 < self.margin && self.margin < 1.0) {
            bail!("--margin: {} is not above 0 and below 1", self.margin);
        }
        if self.draws < 100 {
            bail!("--draws: {} are too few for an interval of 95 %: take 1000 or more", self.draws);
        }
        let measures = match self.measure.as_str() {
            "all" => Measure::all().collect(),
            one => {
                let known = Measure::all().find(|measure| {
                    measure.to_string() == one || measure.to_string() == format!("threshold {one}")
                });
                match known {
                    Some(measure) => vec![measure],
                    None => bail!("--measure: `{one}` is none of soft, 1, 2, 3, 4 and all"),
                }
            }
        };
        Ok(ComparisonSettings {
            level: self.level,
            kind: self.alignment,
            measures,
            margin: self.margin,
            draws: Draws { n: self.draws, seed: self.seed, ..Draws::default() },
            ..ComparisonSettings::default()
        })
    }

    /// Refuses what cannot be compared, or gives the words that go with it.
    fn check(
        &self,
        runs: &[FinishedRun],
        comparisons: &[RunComparison],
    ) -> anyhow::Result<Vec<String>> {
        let mut notes = Vec::new();
        let baseline = runs.first().map(|run| run.name.as_str()).unwrap_or_default();
        for found in comparisons {
            if found.n_paragraphs == 0 {
                bail!(
                    "{baseline} and {} share no evaluated paragraph: they are of other corpora, or \
                     one of them failed throughout",
                    found.run
                );
            }
            let words: Vec<String> =
                found.instrument_differences.iter().map(ToString::to_string).collect();
            if words.is_empty() {
                continue;
            }
            let words = format!(
                "{baseline} and {} were not measured with the same instrument ({})",
                found.run,
                words.join("; ")
            );
            if !self.allow_differences {
                bail!(
                    "{words}, so that a difference would not be of the models alone; \
                     --allow-differences compares them all the same, and says so in the table"
                );
            }
            notes.push(words);
        }
        Ok(notes)
    }

    fn heading(&self, runs: &[FinishedRun], comparisons: &[RunComparison]) -> String {
        let baseline = runs.first().map(|run| run.name.as_str()).unwrap_or_default();
        let counts: Vec<String> = comparisons
            .iter()
            .map(|found| {
                format!(
                    "{}: {} paragraphs; {}: {}; classes: {}",
                    found.run,
                    found.n_paragraphs,
                    plural(self.level),
                    found.n_clusters,
                    found.n_classes
                )
            })
            .collect();
        format!(
            "baseline: {baseline}\n{}\nintervals: 95 %, linearised over {}, and over classes; p: \
             whole {} swapped at random ({} draws; exact for 20 or fewer); Holm over the runs",
            counts.join("\n"),
            plural(self.level),
            plural(self.level),
            self.draws,
        )
    }
}

fn plural(level: Level) -> &'static str {
    match level {
        Level::Paragraph => "paragraphs",
        Level::Draft => "drafts",
        Level::Student => "students",
        Level::Class => "classes",
    }
}

/// What a reader must know of the paragraphs.
fn paragraph_notes(comparisons: &[RunComparison]) -> Vec<String> {
    let mut notes = Vec::new();
    for found in comparisons {
        if 0 < found.n_baseline_alone + found.n_run_alone {
            notes.push(format!(
                "{}: {} paragraphs are evaluated in the baseline alone and {} in the run alone; they \
                 are left out",
                found.run, found.n_baseline_alone, found.n_run_alone
            ));
        }
        if 0 < found.n_untold {
            notes.push(format!(
                "{}: the names of the drafts of {} paragraphs tell neither student nor class; each \
                 such draft stands for a student and a class of its own",
                found.run, found.n_untold
            ));
        }
        if found.n_clusters < 10 {
            notes.push(format!(
                "{}: {} clusters are few: intervals are wide, and rather too narrow than too wide",
                found.run, found.n_clusters
            ));
        }
    }
    notes
}
