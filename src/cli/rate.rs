//! `unimatch rate`: how alike the texts of given pairs are.

mod input;

use std::{
    io::{self, Write},
    sync::Arc,
};

use anyhow::bail;
use camino::Utf8PathBuf;
use serde_json::{Map, Value, json};

use super::{Ending, WrongUsage, machine::MachineArgs, prepare::open_models};
use crate::{
    config::{JudgingNames, judging},
    experiment::{Judging, Models, ScorerName, SegmenterName},
    nn::{Cpu, EncoderPrecision, SentenceEncoder},
    prompt::Library,
    similarity::{
        BertScore, LexicalMeasure, Match, PairCosine, RememberingEncoder, ScoreError, UnitPair,
        Weighed,
    },
};
use input::{Fields, Line};

const EXAMPLES: &str = "\
Examples:
  unimatch rate pairs.jsonl --scorer embedding:models/cache/all-MiniLM-L6-v2
  unimatch rate pairs.jsonl --scorer lexical:chrf --raw

A line of PAIRS is an object like {\"id\": \"7\", \"generated\": \"...\", \"gold\": \"...\"}; other fields are
ignored. A line of the output is {\"id\": \"7\", \"rating\": 2.5}, {\"id\": \"7\", \"raw\": 0.61}, or
{\"id\": \"7\", \"error\": \"...\"}, in the order of the input. Without an id, the number of the line
stands for it; no two lines may have one id. A line that is no pair is such an error too, with its
number as `line`; where no line is a pair, the command fails. With --raw, `\"long\": true` marks a pair with a text longer than what the encoder reads at
once. Exit codes: 0 done; 1 failed; 2 wrong usage; 3 some pairs could not be rated.";

/// Rate pairs of texts from 0 (unrelated) to 4 (equivalent as feedback).
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// The pairs, a JSON object a line; `-` is standard input
    #[arg(value_name = "PAIRS")]
    pairs: Utf8PathBuf,

    /// Who rates: distilled, embedding:FOLDER, classifier:FOLDER, distilled:FOLDER,
    /// `bertscore:FOLDER[@LAYER]`, lexical:chrf, lexical:bleu, or judge:MODEL
    #[arg(long, value_name = "WHO", default_value_t = ScorerName::default(), env = "UNIMATCH_SCORER")]
    scorer: ScorerName,

    /// Print what the scorer measures, before it becomes a rating: the cosine of
    /// the vectors, the F-score of BERTScore (with precision and recall), or chrF or BLEU
    /// from 0 to 100
    #[arg(long)]
    raw: bool,

    /// How a judge rates: batch, 50 pairs in a prompt, or logits, each pair by itself, whose
    /// lines have the probabilities of 0 to 4 too [default: logits for a local judge, else batch]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_JUDGE_MODE")]
    judge_mode: Option<String>,

    /// What the probabilities of 0 to 4 come to: argmax or expectation [default: argmax]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_JUDGE_RATING")]
    judge_rating: Option<String>,

    #[command(flatten)]
    machine: MachineArgs,

    /// The field that holds the id of a pair
    #[arg(long, value_name = "FIELD", default_value = "id")]
    id_field: String,

    /// The field that holds the text under evaluation
    #[arg(long, value_name = "FIELD", default_value = "generated")]
    generated_field: String,

    /// The field that holds the text it is compared with
    #[arg(long, value_name = "FIELD", default_value = "gold")]
    gold_field: String,
}

/// What is said of one pair, or why nothing is.
type Said = Result<Map<String, Value>, ScoreError>;

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let fields =
        Fields { id: &args.id_field, generated: &args.generated_field, gold: &args.gold_field };
    let lines = input::load(&args.pairs, &fields)?;
    let units: Vec<UnitPair<'_>> = lines
        .iter()
        .filter_map(|line| line.texts.as_ref().ok())
        .map(|[generated, gold]| UnitPair { generated, gold })
        .collect();
    let models = open_models(&args.machine.options())?;
    let said = if args.raw {
        measure(&args.scorer, models.machine().cpu, &units)?
    } else {
        rate(args, &models, &units)?
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut ending = Ending::Done;
    let mut said = said.into_iter();
    for Line { number, id, texts } in lines {
        let mut line = Map::from_iter([("id".to_owned(), id)]);
        let said = match texts {
            Ok(_) => match said.next() {
                Some(said) => said.map_err(|error| format!("{:#}", anyhow::Error::new(error))),
                None => Err("it was not worked on".to_owned()),
            },
            Err(reason) => {
                line.insert("line".to_owned(), json!(number));
                Err(reason)
            }
        };
        match said {
            Ok(mut fields) => line.append(&mut fields),
            Err(reason) => {
                line.insert("error".to_owned(), Value::String(reason));
                ending = Ending::Incomplete;
            }
        }
        writeln!(out, "{}", Value::Object(line))?;
    }
    out.flush()?;
    Ok(ending)
}

fn rate(args: &Args, models: &Models, pairs: &[UnitPair<'_>]) -> anyhow::Result<Vec<Said>> {
    let names = JudgingNames {
        judge_mode: args.judge_mode.as_deref(),
        judge_rating: args.judge_rating.as_deref(),
        segment_mode: None,
    };
    let judging = judging(Judging::default(), names, &SegmenterName::Sentence, &args.scorer)
        .map_err(WrongUsage)?;
    let scorer = models.scorer(&args.scorer, &Arc::new(Library::embedded()?), judging)?;
    let weighed = scorer.weigh(pairs).into_iter();
    Ok(weighed
        .map(|weighed| {
            let Weighed { rating, probabilities } = weighed?;
            let mut fields = one("rating", rating.get());
            if let Some(probabilities) = probabilities {
                fields.insert("probabilities".to_owned(), json!(probabilities));
            }
            Ok(fields)
        })
        .collect())
}

fn measure(name: &ScorerName, cpu: Cpu, pairs: &[UnitPair<'_>]) -> anyhow::Result<Vec<Said>> {
    let lexical = |measure: LexicalMeasure| {
        let measured = measure.of(pairs).into_iter();
        measured.map(|measured| measured.map(|value| one("raw", value))).collect()
    };
    Ok(match name {
        ScorerName::Embedding(folder) => {
            let encoder = SentenceEncoder::load(folder, EncoderPrecision::default(), cpu)?;
            let cosines = RememberingEncoder::new(encoder).pair_cosines(pairs).into_iter();
            cosines.map(|cosine| cosine.map(raw_cosine)).collect()
        }
        ScorerName::BertScore { folder, layer } => {
            let how = (EncoderPrecision::default(), cpu);
            let matches = BertScore::open(folder, *layer, how)?.matches(pairs).into_iter();
            matches.map(|found| found.map(raw_match)).collect()
        }
        ScorerName::Classifier(_) | ScorerName::Distilled(_) => {
            bail!(
                "{name} says what it says as a rating: leave out --raw, or name a scorer that \
                 measures first, as --scorer lexical:chrf"
            )
        }
        ScorerName::Chrf => lexical(LexicalMeasure::Chrf),
        ScorerName::Bleu => lexical(LexicalMeasure::Bleu),
        ScorerName::Judge(_) => bail!("a judge measures nothing before it rates: leave out --raw"),
    })
}

fn raw_cosine(pair: PairCosine) -> Map<String, Value> {
    let mut fields = one("raw", pair.cosine);
    if pair.was_long {
        fields.insert("long".to_owned(), Value::Bool(true));
    }
    fields
}

fn raw_match(found: Match) -> Map<String, Value> {
    let mut fields = one("raw", found.f);
    fields.insert("precision".to_owned(), json!(found.precision));
    fields.insert("recall".to_owned(), json!(found.recall));
    fields
}

fn one(name: &str, value: f64) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), json!(value))])
}
