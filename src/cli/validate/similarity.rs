//! `unimatch validate similarity`: the card of a scorer.

use camino::Utf8PathBuf;

use super::{
    Ending,
    bench::{self, Bench, Bootstrap, Format, Instrument},
    card_folder::{CardFolder, Written},
    gate::{self, Gate},
};
use crate::{
    agreement::{
        AnnotationsNote, Cards, Other, PairAnnotation, SimilarityCard, SimilarityCardOptions,
        load_pairs, scorer_key, similarity_card,
    },
    cli::folders,
    experiment::ScorerName,
    report,
};

const EXAMPLES: &str = "\
Examples:
  unimatch validate similarity pairs.jsonl --scorer embedding:models/cache/all-MiniLM-L6-v2
  unimatch validate similarity pairs.csv --scorer judge:local:model.gguf --against lexical:chrf
  unimatch validate similarity pairs.jsonl --scorer embedding:mine --exclude-kind variant \\
      --min-pearson 0.75 -f json

A line of ANNOTATIONS is {\"id\", \"draft\", \"paragraph\", \"kind\", \"a\", \"b\", \"ratings\": [0, 1]}, a rating
from 0 to 4 of each rater (null where one gave none), gold being their mean; `draft`, `paragraph`,
`kind` and `raters` (their names) may be missing. CSV has columns of these names, and for each
rater one that begins with `rating`. The scorer gets `a` as generated and `b` as gold.

Keys of -f json: n, n_unscored, pearson, spearman, kendall_tau_b, pairwise_accuracy, tie_threshold,
quadratic_kappa, icc, alpha, mae, bias, slope (null where there is no value), intervals, confusion
(rows gold, columns rating), calibration (ece, brier, bins), rating_calibration, subsets (by kind),
levels (by gold), raters (with ceiling), alternative_annotator, difference, and what was measured:
scorer, scorer_key, scorer_spec, annotations, bootstrap, unimatch, measure, format_version.

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 some pairs could not be rated (they are in no
figure); 4 a bound was missed, after the card was printed.";

/// How far a scorer's ratings agree with those of people.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Pairs that people rated: .jsonl or .csv
    #[arg(value_name = "ANNOTATIONS")]
    annotations: Utf8PathBuf,

    /// Who rates: the same names as `unimatch run` takes
    #[arg(long, value_name = "WHO", env = "UNIMATCH_SCORER")]
    scorer: ScorerName,

    /// Another scorer, the difference to which is tested
    #[arg(long, value_name = "WHO")]
    against: Option<ScorerName>,

    /// Leave out every kind of pair that begins so; may be given several times
    #[arg(long, value_name = "PREFIX")]
    exclude_kind: Vec<String>,

    /// Who annotated, to stand on the card
    #[arg(long, value_name = "TEXT")]
    annotators: Option<String>,

    /// What a human annotation is worth in the alternative-annotator test
    #[arg(long, value_name = "X", default_value_t = 0.2)]
    epsilon: f64,

    /// How to print the card
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    out: CardFolder,

    /// Keep the card, so that runs with this scorer say how it was validated
    #[arg(long)]
    card: bool,

    /// Folder of cards [default: unimatch/cards in the user's data folder]
    #[arg(long, value_name = "DIR", env = "UNIMATCH_CARDS")]
    cards: Option<Utf8PathBuf>,

    /// The least Pearson correlation
    #[arg(long, value_name = "X", value_parser = gate::correlation, help_heading = "Bounds")]
    min_pearson: Option<f64>,

    /// The least Spearman correlation
    #[arg(long, value_name = "X", value_parser = gate::correlation, help_heading = "Bounds")]
    min_spearman: Option<f64>,

    /// The least Kendall tau-b
    #[arg(long, value_name = "X", value_parser = gate::correlation, help_heading = "Bounds")]
    min_kendall: Option<f64>,

    /// The least quadratic weighted kappa
    #[arg(long, value_name = "X", value_parser = gate::correlation, help_heading = "Bounds")]
    min_kappa: Option<f64>,

    /// The least pairwise accuracy
    #[arg(long, value_name = "X", value_parser = gate::share, help_heading = "Bounds")]
    min_accuracy: Option<f64>,

    /// The greatest mean absolute error
    #[arg(long, value_name = "X", value_parser = gate::distance, help_heading = "Bounds")]
    max_mae: Option<f64>,

    /// The greatest bias, in either direction
    #[arg(long, value_name = "X", value_parser = gate::distance, help_heading = "Bounds")]
    max_bias: Option<f64>,

    #[command(flatten)]
    bootstrap: Bootstrap,

    #[command(flatten)]
    instrument: Instrument,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let card = card(args)?;
    let tables = report::similarity_tables(&card);
    let title = format!("Card of the scorer {}", card.scorer);
    let signature = signature(&card);
    let figures = [
        ("confusion.svg", report::confusion_svg(&card)),
        ("calibration.svg", report::calibration_svg(&card)),
    ];
    let written =
        Written { title: &title, tables: &tables, signature: &signature, figures: &figures };
    args.out.write(&card, &["measure", "scorer_key"], &written)?;
    if args.card {
        let folder = match &args.cards {
            Some(folder) => folder.clone(),
            None => folders::cards()?,
        };
        Cards::store(&folder, &card)?;
    }
    bench::print(args.format, &card, &title, &tables, &signature)?;
    let gate = Gate::default()
        .least("pearson", card.pearson, args.min_pearson)
        .least("spearman", card.spearman, args.min_spearman)
        .least("kendall_tau_b", card.kendall_tau_b, args.min_kendall)
        .least("quadratic_kappa", card.quadratic_kappa, args.min_kappa)
        .least("pairwise_accuracy", card.pairwise_accuracy, args.min_accuracy)
        .most("mae", card.mae, args.max_mae)
        .most("the size of bias", card.bias.map(f64::abs), args.max_bias);
    Ok(gate.ending(card.n_unscored == 0)?)
}

fn card(args: &Args) -> anyhow::Result<SimilarityCard> {
    let all = load_pairs(&args.annotations)?;
    let n_total = all.len();
    let is_excluded = |pair: &PairAnnotation| {
        let kind = pair.kind.as_deref();
        kind.is_some_and(|kind| args.exclude_kind.iter().any(|prefix| kind.starts_with(prefix)))
    };
    let pairs: Vec<PairAnnotation> = all.into_iter().filter(|pair| !is_excluded(pair)).collect();
    anyhow::ensure!(
        !pairs.is_empty(),
        "{}: no pair is left after --exclude-kind",
        args.annotations
    );
    let (file, digest) = bench::identity(&args.annotations)?;
    let note = AnnotationsNote {
        file,
        digest,
        annotators: args.annotators.clone(),
        n_total,
        n_excluded: n_total - pairs.len(),
        excluded_kinds: args.exclude_kind.clone(),
    };
    let bench = Bench::new(&args.instrument, args.bootstrap.draws().seed)?;
    let units: Vec<(String, String)> =
        pairs.iter().map(|pair| (pair.a.clone(), pair.b.clone())).collect();
    let spec = bench.scorer_spec(&args.scorer)?;
    let rated = bench.rate(&args.scorer, &spec, &units)?;
    let others = match &args.against {
        Some(name) => {
            Some((name.to_string(), bench.rate(name, &bench.scorer_spec(name)?, &units)?))
        }
        None => None,
    };
    let other = others.as_ref().map(|(name, rated)| Other { name, rated });
    let options = SimilarityCardOptions { draws: args.bootstrap.draws(), epsilon: args.epsilon };
    let mut card = similarity_card(&pairs, &rated, other.as_ref(), note, &options);
    if card.scorer.is_empty() {
        card.scorer = args.scorer.to_string();
    }
    card.scorer_key = scorer_key(&spec);
    card.scorer_spec = spec;
    Ok(card)
}

fn signature(card: &SimilarityCard) -> String {
    let note = &card.annotations;
    let mut text = format!(
        "unimatch {} | {} pairs of {}#{} in {} groups",
        card.unimatch,
        card.n,
        note.file,
        &note.digest[..8],
        card.bootstrap.n_groups,
    );
    if !note.excluded_kinds.is_empty() {
        text.extend([format!(
            ", {} of kinds {}* left out",
            note.n_excluded,
            note.excluded_kinds.join("*, ")
        )]);
    }
    if 0 < card.n_unscored {
        text.extend([format!(", {} UNSCORED", card.n_unscored)]);
    }
    let annotators = note.annotators.as_deref().unwrap_or("not stated");
    text.extend([format!(
        " | annotators: {annotators} | scorer {} | {} draws, seed {}",
        card.scorer, card.bootstrap.n_draws, card.bootstrap.seed
    )]);
    for (error, count) in &card.score_errors {
        text.extend([format!("\n{count} pairs are unscored: {error}")]);
    }
    text
}
