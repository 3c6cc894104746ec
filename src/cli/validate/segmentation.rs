//! `unimatch validate segmentation`: the card of a segmenter.

use std::num::NonZeroUsize;

use camino::Utf8PathBuf;

use super::{
    Ending,
    bench::{self, Bench, Bootstrap, Format, Instrument},
    card_folder::{CardFolder, Written},
    effect,
    gate::{self, Gate},
};
use crate::{
    agreement::{
        AnnotationsNote, SegmentationCard, SegmentationCardOptions, cut_texts, load_segmentations,
        segmentation_card,
    },
    cli::progress::Bars,
    experiment::{ScorerName, SegmenterName},
    report,
};

const EXAMPLES: &str = "\
Examples:
  unimatch validate segmentation texts.jsonl --segmenter sentence
  unimatch validate segmentation texts.jsonl --segmenter judge:local:model.gguf \\
      --min-boundary-f1 0.9 --max-window-diff 0.08

A line of ANNOTATIONS is {\"id\", \"source\", \"text\", \"segmented\"}: `segmented` is the text with $$ at
each cut, or a list of such texts, one of each annotator (the first is the reference); `source` may
be missing. CSV has columns of these names; several that begin with `segmented` serve too.
WindowDiff's windows span k gaps between words; a text of at most k words has one window.

Keys of -f json: n, n_failed, k, window_diff, window_diff_mean, boundary_precision, boundary_recall,
boundary_f1, boundary_similarity, unit_f1, unit_overlap_f1 (null where there is no value),
boundary_f1_interval, window_diff_interval, sources, annotators (with each other), effect, and what
was measured: segmenter, segmenter_spec, annotations, bootstrap, unimatch, measure, format_version.

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 some texts could not be cut (they are in no figure);
4 a bound was missed, after the card was printed.";

/// How far a segmenter's cuts agree with those of people.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Texts that people cut: .jsonl or .csv
    #[arg(value_name = "ANNOTATIONS")]
    annotations: Utf8PathBuf,

    /// Who cuts: the same names as `unimatch run` takes
    #[arg(long, value_name = "WHO", default_value_t = SegmenterName::default(), env = "UNIMATCH_SEGMENTER")]
    segmenter: SegmenterName,

    /// Width of WindowDiff's windows, in words
    #[arg(long, short, value_name = "N", default_value = "10")]
    k: NonZeroUsize,

    /// Who annotated, to stand on the card
    #[arg(long, value_name = "TEXT")]
    annotators: Option<String>,

    /// How to print the card
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    out: CardFolder,

    /// A run, to see what its figures would be with this segmenter
    #[arg(long, value_name = "RUN")]
    run: Option<Utf8PathBuf>,

    /// The least boundary F1
    #[arg(long, value_name = "X", value_parser = gate::share, help_heading = "Bounds")]
    min_boundary_f1: Option<f64>,

    /// The least boundary similarity
    #[arg(long, value_name = "X", value_parser = gate::share, help_heading = "Bounds")]
    min_boundary_similarity: Option<f64>,

    /// The least F1 of units
    #[arg(long, value_name = "X", value_parser = gate::share, help_heading = "Bounds")]
    min_unit_f1: Option<f64>,

    /// The greatest WindowDiff
    #[arg(long, value_name = "X", value_parser = gate::share, help_heading = "Bounds")]
    max_window_diff: Option<f64>,

    #[command(flatten)]
    bootstrap: Bootstrap,

    #[command(flatten)]
    instrument: Instrument,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let card = card(args)?;
    let tables = report::segmentation_tables(&card);
    let title = format!("Card of the segmenter {}", card.segmenter);
    let signature = signature(&card);
    let written = Written { title: &title, tables: &tables, signature: &signature, figures: &[] };
    args.out.write(&card, &["measure", "segmenter_spec"], &written)?;
    bench::print(args.format, &card, &title, &tables, &signature)?;
    let gate = Gate::default()
        .least("boundary_f1", card.boundary_f1, args.min_boundary_f1)
        .least("boundary_similarity", card.boundary_similarity, args.min_boundary_similarity)
        .least("unit_f1", card.unit_f1, args.min_unit_f1)
        .most("window_diff", card.window_diff, args.max_window_diff);
    Ok(gate.ending(card.n_failed == 0)?)
}

fn card(args: &Args) -> anyhow::Result<SegmentationCard> {
    let texts = load_segmentations(&args.annotations)?;
    let (file, digest) = bench::identity(&args.annotations)?;
    let note = AnnotationsNote {
        file,
        digest,
        annotators: args.annotators.clone(),
        n_total: texts.len(),
        ..AnnotationsNote::default()
    };
    let bench = Bench::new(&args.instrument, args.bootstrap.draws().seed)?;
    let name = &args.segmenter;
    let spec = bench.segmenter_spec(name)?;
    let judging = bench.judging(name, &ScorerName::Chrf)?;
    let store = bench.store("segmenter", &spec)?;
    let bodies: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
    let (names, cuts) = cut_texts(&store, &bodies, N_AT_ONCE, &Bars::default(), || {
        bench.models.segmenter(name, &bench.library, judging)
    })?;
    let options = SegmentationCardOptions { k: args.k.get(), draws: args.bootstrap.draws() };
    let mut card = segmentation_card(&texts, &cuts, note, &options);
    card.segmenter = match names.into_iter().next() {
        Some(segmenter) => segmenter,
        None => name.to_string(),
    };
    card.segmenter_spec = spec;
    if let Some(run) = &args.run {
        card.effect = Some(effect::of_segmenter(run, name, judging, &bench.cache)?);
    }
    Ok(card)
}

/// Texts cut at once: a kill loses no more.
const N_AT_ONCE: usize = 32;

fn signature(card: &SegmentationCard) -> String {
    let note = &card.annotations;
    let mut text = format!(
        "unimatch {} | {} texts of {}#{}",
        card.unimatch,
        card.n,
        note.file,
        &note.digest[..8]
    );
    if 0 < card.n_failed {
        text.extend([format!(", {} NOT CUT", card.n_failed)]);
    }
    let annotators = note.annotators.as_deref().unwrap_or("not stated");
    text.extend([format!(
        " | annotators: {annotators} | segmenter {} | k {} | {} draws, seed {}",
        card.segmenter, card.k, card.bootstrap.n_draws, card.bootstrap.seed
    )]);
    for (error, count) in &card.segment_errors {
        text.extend([format!("\n{count} texts were not cut: {error}")]);
    }
    text
}
