//! `unimatch validate end-to-end`: whether F1 agrees with experts who put texts in order.

use std::{collections::BTreeMap, num::NonZeroUsize};

use camino::Utf8PathBuf;

use super::{
    Ending,
    bench::{self, Bench, Bootstrap, Format},
    card_folder::{CardFolder, Written},
    gate::{self, Gate},
};
use crate::{
    agreement::{AnnotationsNote, Ranking, RankingCard, load_rankings, ranking_card},
    experiment::{
        ScorerName, SegmenterName,
        texts::{self, Content, Entry, Instrument, TextOutcome, Unpaired},
    },
    metrics::EmptyAnswers,
    report,
};

const EXAMPLES: &str = "\
Examples:
  unimatch annotate ranking --from runs/first -n 20 --out sheet.html
  unimatch annotate import-ranking anna.jsonl --key sheet.key.jsonl --out rankings.jsonl
  unimatch validate end-to-end rankings.jsonl --min-pearson 0.7

A line of RANKINGS is {\"id\", \"draft\", \"paragraph\", \"gold\": [\"...\"], \"texts\": [{\"id\", \"text\"}],
\"ranks\": [[1, 2, 3]], \"raters\": [\"...\"]}: the instructor's units, texts of any origin on the same
paragraph, and of each rater a rank for each text, 1 being the best, equal ranks ties, null for a
rater who left the set out. `draft`, `paragraph` and `raters` may be missing. Each text is cut,
rated against the instructor's units and matched; its soft F1 is held against its mean rank, turned
round so that agreement is positive.

Keys of -f json: n (texts), n_sets, n_unscored, pearson, spearman, kendall_tau_b, pair_accuracy,
whole_sets (null where there is no value), intervals, mean_f1_by_rank, raters, agreement_of_raters,
and what was measured: segmenter_spec, scorer_spec, annotations, bootstrap, score_errors, unimatch,
measure, format_version.

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 some texts have no F1 (they are in no figure); 4 a
bound was missed, after the card was printed.";

/// How far F1 agrees with experts who put texts in order.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Sets of texts that people put in order: .jsonl
    #[arg(value_name = "RANKINGS")]
    rankings: Utf8PathBuf,

    /// Who cuts the texts: the same names as `unimatch run` takes
    #[arg(long, value_name = "WHO", default_value_t = SegmenterName::default(), env = "UNIMATCH_SEGMENTER")]
    segmenter: SegmenterName,

    /// Who rates: the same names as `unimatch run` takes
    #[arg(long, value_name = "WHO", default_value_t = ScorerName::default(), env = "UNIMATCH_SCORER")]
    scorer: ScorerName,

    /// Who put them in order, to stand on the card
    #[arg(long, value_name = "TEXT")]
    annotators: Option<String>,

    /// How to print the card
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    out: CardFolder,

    /// The least Pearson correlation
    #[arg(long, value_name = "X", value_parser = gate::correlation, help_heading = "Bounds")]
    min_pearson: Option<f64>,

    /// The least Spearman correlation
    #[arg(long, value_name = "X", value_parser = gate::correlation, help_heading = "Bounds")]
    min_spearman: Option<f64>,

    /// The least share of pairs of texts in the experts' order
    #[arg(long, value_name = "X", value_parser = gate::share, help_heading = "Bounds")]
    min_pair_accuracy: Option<f64>,

    #[command(flatten)]
    bootstrap: Bootstrap,

    #[command(flatten)]
    instrument: bench::Instrument,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let sets = load_rankings(&args.rankings)?;
    let bench = Bench::new(&args.instrument, args.bootstrap.draws().seed)?;
    let f1 = f1(args, &bench, &sets)?;
    let (file, digest) = bench::identity(&args.rankings)?;
    let note = AnnotationsNote {
        file,
        digest,
        annotators: args.annotators.clone(),
        n_total: sets.len(),
        ..AnnotationsNote::default()
    };
    let specs = [bench.segmenter_spec(&args.segmenter)?, bench.scorer_spec(&args.scorer)?];
    let card = ranking_card(&sets, &f1, note, specs, args.bootstrap.draws());
    let tables = report::ranking_tables(&card);
    let title = format!("Card of the segmenter {} with the scorer {}", args.segmenter, args.scorer);
    let signature = signature(args, &card);
    let written = Written { title: &title, tables: &tables, signature: &signature, figures: &[] };
    args.out.write(&card, &["measure", "segmenter_spec", "scorer_spec"], &written)?;
    bench::print(args.format, &card, &title, &tables, &signature)?;
    let gate = Gate::default()
        .least("pearson", card.figures.pearson, args.min_pearson)
        .least("spearman", card.figures.spearman, args.min_spearman)
        .least("pair_accuracy", card.figures.pair_accuracy, args.min_pair_accuracy);
    Ok(gate.ending(card.n_unscored == 0)?)
}

/// The soft F1 of each text of each set, or why it has none.
fn f1(
    args: &Args,
    bench: &Bench,
    sets: &[Ranking],
) -> anyhow::Result<Vec<Vec<Result<f64, String>>>> {
    let judging = bench.judging(&args.segmenter, &args.scorer)?;
    let segmenter = bench.models.segmenter(&args.segmenter, &bench.library, judging)?;
    let scorer = bench.models.scorer(&args.scorer, &bench.library, judging)?;
    let instrument = Instrument { segmenter: &*segmenter, scorer: &*scorer };
    let options = texts::Options {
        empty_answers: EmptyAnswers::Count,
        unpaired: Unpaired::Refuse,
        batch_size: NonZeroUsize::new(judging.batch_size).unwrap_or(NonZeroUsize::MIN),
    };
    let name = |set: usize, text: usize| format!("{set}/{text}");
    let (mut references, mut candidates) = (Vec::new(), Vec::new());
    for (set, ranking) in sets.iter().enumerate() {
        for (text, ranked) in ranking.texts.iter().enumerate() {
            let gold = Content::Units(ranking.gold.clone());
            let line = set + 1;
            references.push(Entry { id: name(set, text), content: gold, line });
            let content = Content::Text(ranked.text.clone());
            candidates.push(Entry { id: name(set, text), content, line });
        }
    }
    let evaluation = texts::evaluate(&references, &candidates, &instrument, &options)?;
    let outcomes: BTreeMap<String, TextOutcome> =
        evaluation.texts.into_iter().map(|text| (text.id, text.outcome)).collect();
    let of = |set: usize, text: usize| match outcomes.get(&name(set, text)) {
        Some(TextOutcome::Measured(metrics)) => {
            metrics.soft.f1.ok_or_else(|| "its F1 has no value".to_owned())
        }
        Some(TextOutcome::Unscored { n_unscored }) => {
            Err(format!("{n_unscored} of its pairs are unscored"))
        }
        Some(TextOutcome::Failed { stage, error }) => Err(format!("{stage}: {error}")),
        None => Err("it was not evaluated".to_owned()),
    };
    let of_set = |(set, ranking): (usize, &Ranking)| {
        (0..ranking.texts.len()).map(|text| of(set, text)).collect()
    };
    Ok(sets.iter().enumerate().map(of_set).collect())
}

fn signature(args: &Args, card: &RankingCard) -> String {
    let note = &card.annotations;
    let mut text = format!(
        "unimatch {} | {} texts in {} sets of {}#{}",
        card.unimatch,
        card.figures.n,
        card.n_sets,
        note.file,
        &note.digest[..8]
    );
    if 0 < card.n_unscored {
        text.extend([format!(", {} WITHOUT F1", card.n_unscored)]);
    }
    let annotators = note.annotators.as_deref().unwrap_or("not stated");
    text.extend([format!(
        " | annotators: {annotators} | segmenter {} | scorer {} | {} draws, seed {}",
        args.segmenter, args.scorer, card.bootstrap.n_draws, card.bootstrap.seed
    )]);
    for (error, count) in &card.score_errors {
        text.extend([format!("\n{count} texts have no F1: {error}")]);
    }
    text
}
