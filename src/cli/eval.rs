//! `unimatch eval`: texts from elsewhere, scored against references.

mod ids;

use std::{io::Write, num::NonZeroUsize, sync::Arc};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use clap::ValueEnum;

use super::{Ending, WrongUsage, folders, machine::MachineArgs, prepare::open_models};
use crate::{
    agreement::Cards,
    config::{self, JudgingNames},
    experiment::{
        Judging, Roles, ScorerName, SegmenterName, scorer_specification,
        texts::{self, Instrument, TextsEvaluation, Unpaired},
    },
    prompt::Library,
    report,
    text::line_not_utf8,
};

const EXAMPLES: &str = "\
Examples:
  unimatch eval --references instructor.jsonl --candidates model.jsonl
  unimatch eval --references r.csv --candidates c.csv --scorer lexical:chrf -f json

A line of JSON is {\"id\": \"a\", \"text\": \"...\"}, or {\"id\": \"a\", \"units\": [\"...\", \"...\"]} where
it is cut into units already. CSV has the columns id,text, or id,unit with a row a unit. Several
references may have one id; a candidate has its id alone. Units of under 3 characters are dropped, as
in the public release; of units that were cut already, standard error says which ids lost some.

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 some texts were not cut or some pairs not rated.";

/// Score feedback that comes from elsewhere against references.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// What instructors wrote: .jsonl or .csv
    #[arg(long, value_name = "FILE")]
    references: Utf8PathBuf,

    /// What is to be evaluated: .jsonl or .csv
    #[arg(long, value_name = "FILE")]
    candidates: Utf8PathBuf,

    /// Who cuts texts into units: distilled, sentence, classifier:FOLDER, distilled:FOLDER, or
    /// judge:MODEL
    #[arg(long, value_name = "WHO", default_value_t = SegmenterName::default(), env = "UNIMATCH_SEGMENTER")]
    segmenter: SegmenterName,

    /// Who rates pairs of units: distilled, embedding:FOLDER, classifier:FOLDER,
    /// distilled:FOLDER, `bertscore:FOLDER[@LAYER]`, lexical:chrf, lexical:bleu, or judge:MODEL
    #[arg(long, value_name = "WHO", default_value_t = ScorerName::default(), env = "UNIMATCH_SCORER")]
    scorer: ScorerName,

    /// What to do about an id that only one side has
    #[arg(long, value_enum, default_value_t = UnpairedIds::Refuse)]
    unpaired: UnpairedIds,

    /// Whether a candidate without any unit costs recall: count or skip
    #[arg(long, value_name = "HOW", default_value = "count", env = "UNIMATCH_EMPTY")]
    empty: String,

    /// Pairs that a judge rates in one request
    #[arg(long, value_name = "N", default_value = "50", env = "UNIMATCH_JUDGE_BATCH_SIZE")]
    judge_batch_size: NonZeroUsize,

    /// How often a judge is asked again after a reply that cannot be read
    #[arg(long, value_name = "N", default_value_t = 2, env = "UNIMATCH_JUDGE_RETRIES")]
    judge_retries: usize,

    /// How a judge rates: batch or logits [default: logits for a local judge, else batch]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_JUDGE_MODE")]
    judge_mode: Option<String>,

    /// What the probabilities of 0 to 4 come to: argmax or expectation [default: argmax]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_JUDGE_RATING")]
    judge_rating: Option<String>,

    /// How a judge cuts: copy or scoring [default: scoring for a local judge, else copy]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_SEGMENT_MODE")]
    segment_mode: Option<String>,

    /// Seed of a judge's later tries
    #[arg(long, value_name = "N", default_value_t = 42, env = "UNIMATCH_SEED")]
    seed: u64,

    /// Folder of templates for judges instead of the built-in ones
    #[arg(long, value_name = "DIR", env = "UNIMATCH_PROMPTS")]
    prompts: Option<Utf8PathBuf>,

    #[command(flatten)]
    machine: MachineArgs,

    /// Folder of cards, which say whether the scorer was validated (see `unimatch validate`)
    /// [default: unimatch/cards in the user's data folder]
    #[arg(long, value_name = "DIR", env = "UNIMATCH_CARDS")]
    cards: Option<Utf8PathBuf>,

    /// How to print: a table, everything including the alignment of each id, or a row a figure
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UnpairedIds {
    /// Stop with an error that names it
    Refuse,
    /// Leave it out, and count it
    LeaveOut,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
    Csv,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let references = load(&args.references)?;
    let candidates = load(&args.candidates)?;
    let unpaired = ids::unpaired(&references, &candidates);
    if matches!(args.unpaired, UnpairedIds::Refuse) {
        ids::refuse(&unpaired)?;
    }
    let mut notes = ids::notes(&unpaired);
    for (entries, path) in [(&references, &args.references), (&candidates, &args.candidates)] {
        notes.extend(ids::short_units(entries).map(|note| format!("{path}: {note}")));
    }
    let options = texts::Options {
        empty_answers: config::empty_answers(Some(&args.empty))?,
        unpaired: match args.unpaired {
            UnpairedIds::Refuse => Unpaired::Refuse,
            UnpairedIds::LeaveOut => Unpaired::LeaveOut,
        },
        batch_size: args.judge_batch_size,
    };
    let library = match &args.prompts {
        Some(dir) => Library::load(dir)?,
        None => Library::embedded()?,
    };
    let library = Arc::new(library);
    let models = open_models(&args.machine.options())?;
    let asked = Judging {
        seed: args.seed,
        batch_size: args.judge_batch_size.get(),
        n_retries: args.judge_retries,
        ..Judging::default()
    };
    let names = JudgingNames {
        judge_mode: args.judge_mode.as_deref(),
        judge_rating: args.judge_rating.as_deref(),
        segment_mode: args.segment_mode.as_deref(),
    };
    let judging =
        config::judging(asked, names, &args.segmenter, &args.scorer).map_err(WrongUsage)?;
    let roles = Roles {
        judging,
        dtype: config::dtype(&args.machine.options()).map_err(WrongUsage)?,
        library: &library,
    };
    let spec = scorer_specification(&args.scorer, &roles)?;
    let cards = Cards::load(folders::known_cards(args.cards.as_ref()).as_deref())?;
    let segmenter = models.segmenter(&args.segmenter, &library, judging)?;
    let scorer = models.scorer(&args.scorer, &library, judging)?;
    let instrument = Instrument { segmenter: &*segmenter, scorer: &*scorer };
    let mut evaluation = texts::evaluate(&references, &candidates, &instrument, &options)?;
    evaluation.validation = cards.standing(&spec);

    let mut stderr = std::io::stderr().lock();
    for note in notes {
        stderr.write_all(format!("note: {note}\n").as_bytes())?;
    }
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Json => writeln!(out, "{}", serde_json::to_string_pretty(&evaluation)?)?,
        Format::Csv => {
            write!(out, "{}", report::render_csv(&report::all_figures(&evaluation.metrics))?)?;
        }
        Format::Text => {
            print(&mut out, &evaluation)?;
            writeln!(
                out,
                "unimatch {} | {} ids | references {} | candidates {} | segmenter {} | scorer {} \
                 ({}) | empty answers {}",
                env!("CARGO_PKG_VERSION"),
                evaluation.texts.len(),
                identity(&args.references)?,
                identity(&args.candidates)?,
                segmenter.id(),
                scorer.id(),
                evaluation.validation.in_words(),
                args.empty,
            )?;
        }
    }
    out.flush()?;
    let coverage = evaluation.metrics.full.coverage;
    let complete = coverage.pairs.n_unscored == 0 && coverage.paragraphs.n_failed == 0;
    Ok(if complete { Ending::Done } else { Ending::Incomplete })
}

/// The name of a file and the beginning of its BLAKE3.
fn identity(path: &Utf8Path) -> anyhow::Result<String> {
    let digest = blake3::hash(&fs_err::read(path)?).to_hex();
    Ok(format!("{}#{}", path.file_name().unwrap_or(path.as_str()), &digest[..8]))
}

fn load(path: &Utf8Path) -> anyhow::Result<Vec<texts::Entry>> {
    let format = texts::Format::of(path)
        .with_context(|| format!("{path}: the name ends neither in .jsonl nor in .csv"))?;
    let bytes = fs_err::read(path)?;
    anyhow::ensure!(!bytes.trim_ascii().is_empty(), "{path} is empty: it holds no entry");
    if let Some(line) = line_not_utf8(&bytes) {
        anyhow::bail!("{path}, line {line}: it is not UTF-8: save the file in that encoding");
    }
    texts::load(path, format)
}

fn print(out: &mut impl Write, evaluation: &TextsEvaluation) -> std::io::Result<()> {
    writeln!(out, "{}", report::render_text(&report::figures(&evaluation.metrics)))?;
    writeln!(out, "{}", report::render_text(&report::coverage(&evaluation.metrics)))?;
    let coverage = &evaluation.coverage;
    let notes = [
        (coverage.n_ids_without_candidate, "ids have a reference and no candidate: left out"),
        (coverage.n_ids_without_reference, "ids have a candidate and no reference: left out"),
        (coverage.n_references_without_unit, "references hold no unit"),
        (coverage.n_short_units, "pieces of under 3 characters were dropped"),
    ];
    for (count, note) in notes.into_iter().filter(|(count, _)| 0 < *count) {
        writeln!(out, "{count} {note}")?;
    }
    for (error, count) in &coverage.score_errors {
        writeln!(out, "{count} pairs are unscored: {error}")?;
    }
    Ok(())
}
