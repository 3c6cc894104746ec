//! `unimatch annotate ranking`: texts near a wanted F1 for experts to put in order, and
//! what they gave.

use std::{collections::BTreeMap, io::Write, num::NonZeroUsize};

use anyhow::Context;
use camino::Utf8PathBuf;
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::{matched_paragraphs, place, refuse_existing};
use crate::{
    agreement::{
        ComposedText, KeyedSet, KeyedText, Material, SHEET_COLUMNS, compose, guarded,
        import_rankings, load_key, ranking_sheet_name, write_rankings,
    },
    cli::{
        Ending,
        validate::bench::{Bench, Instrument},
    },
    experiment::ScorerName,
    report::ranking_sheet,
    run::write_atomically,
};

const EXAMPLES: &str = "\
Examples:
  unimatch annotate ranking --from runs/first --from runs/second -n 20 --out sheet.html
  unimatch annotate import-ranking anna.jsonl ben.csv --key sheet.key.jsonl --out rankings.jsonl
  unimatch validate end-to-end rankings.jsonl

Each set has three texts on one paragraph, put together of units that the runs generated for it,
units generated for other paragraphs, and where those do not reach the top, the instructor's own;
their soft F1 lies near 0, 0.5 and 1 by the scorer. Beside SHEET.html are written SHEET.csv, the same
sheet for a spreadsheet, and SHEET.key.jsonl, which says how each text was made: keep it from the
raters, and give it to `import-ranking`.";

const IMPORT_EXAMPLES: &str = "\
Examples:
  unimatch annotate import-ranking anna.jsonl ben.csv --key sheet.key.jsonl --out rankings.jsonl
  unimatch validate end-to-end rankings.jsonl

A SHEET is what the page exported (.jsonl), or the CSV with `rater` and `rank` filled in; `rater`
must stand on every row that has a rank. Ranks are whole numbers from 1, the text that says most; equal
ranks are ties. A set is ranked whole or not at all, and rows without a rank are left out. Lines
may end in any way, but cells are parted by commas and the encoding is UTF-8.

Exit codes: 0 done; 1 a sheet or the key cannot be taken, with the line that says why; 2 wrong usage.";

/// Draw sets of three texts on a paragraph, at F1 near 0, 0.5 and 1, for people to put in order
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// A run whose units are used; it must have been matched; may be given several times
    #[arg(long, value_name = "RUN", required = true)]
    from: Vec<Utf8PathBuf>,

    /// Sets to draw
    #[arg(long, short, value_name = "N", default_value = "20")]
    n: NonZeroUsize,

    /// How far the F1 of a text may lie from what it should be
    #[arg(long, value_name = "X", default_value_t = 0.15, value_parser = tolerance)]
    tolerance: f64,

    /// Who rates pairs of units: the same names as `unimatch run` takes
    #[arg(long, value_name = "WHO", default_value_t = ScorerName::default(), env = "UNIMATCH_SCORER")]
    scorer: ScorerName,

    /// What the draw hangs on
    #[arg(long, value_name = "N", default_value_t = 42, env = "UNIMATCH_SEED")]
    seed: u64,

    /// The sheet to write; it must not be there yet
    #[arg(long, short, value_name = "FILE", default_value = "sheet.html")]
    out: Utf8PathBuf,

    #[command(flatten)]
    instrument: Instrument,
}

/// Beyond a quarter, a text could stand for two of the targets.
fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(tolerance) if (0.0..=0.25).contains(&tolerance) => Ok(tolerance),
        _ => Err("give a number from 0 to 0.25".to_owned()),
    }
}

/// Bring together what ranking sheets exported, or sheets that were filled in as CSV
#[derive(Debug, clap::Args)]
#[command(after_long_help = IMPORT_EXAMPLES)]
pub(super) struct ImportArgs {
    /// What sheets exported: .jsonl, or .csv with ranks filled in
    #[arg(value_name = "SHEET", required = true)]
    sheets: Vec<Utf8PathBuf>,

    /// The key that was written beside the sheet
    #[arg(long, value_name = "FILE")]
    key: Utf8PathBuf,

    /// The rankings to write; they must not be there yet
    #[arg(long, short, value_name = "FILE")]
    out: Utf8PathBuf,
}

/// A paragraph with what the runs generated for it.
struct Paragraph {
    draft: String,
    /// Which of the draft.
    place: String,
    gold: Vec<String>,
    generated: Vec<String>,
}

impl Paragraph {
    /// What is drawn for this paragraph, whatever others there are.
    fn draw(&self, seed: u64) -> ChaCha8Rng {
        let place = format!("{seed} {} {}", self.draft, self.place);
        ChaCha8Rng::from_seed(*blake3::hash(place.as_bytes()).as_bytes())
    }
}

/// Units of other paragraphs that a text may be made of.
const N_FOREIGN: usize = 6;

/// Paragraphs whose pairs are rated at once.
const N_AT_ONCE: usize = 32;

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let [csv, key] = ["csv", "key.jsonl"].map(|extension| args.out.with_extension(extension));
    for path in [&args.out, &csv, &key] {
        refuse_existing(path)?;
    }
    let mut paragraphs = paragraphs(&args.from)?;
    paragraphs.shuffle(&mut ChaCha8Rng::seed_from_u64(args.seed));
    let bench = Bench::new(&args.instrument, args.seed)?;
    let spec = bench.scorer_spec(&args.scorer)?;
    let n_wanted = args.n.get();
    let mut sets = Vec::new();
    for part in paragraphs.chunks(N_AT_ONCE) {
        if n_wanted <= sets.len() {
            break;
        }
        let materials = materials(part, &paragraphs, args.seed);
        let pairs = materials.iter().zip(part).flat_map(|(material, paragraph)| {
            material
                .units
                .iter()
                .flat_map(|unit| paragraph.gold.iter().map(|gold| (unit.clone(), gold.clone())))
        });
        let rated = bench.rate(&args.scorer, &spec, &pairs.collect::<Vec<_>>())?;
        let mut ratings = rated.into_iter().map(|rated| rated.map(|rated| rated.rating.get()));
        for (mut material, paragraph) in materials.into_iter().zip(part) {
            let n_pairs = material.units.len() * material.n_gold;
            let own: Result<Vec<f64>, String> = ratings.by_ref().take(n_pairs).collect();
            // A paragraph with a pair that cannot be rated makes no set.
            let Ok(own) = own else { continue };
            material.ratings = own.chunks(material.n_gold).map(<[f64]>::to_vec).collect();
            if sets.len() < n_wanted {
                let draw = paragraph.draw(args.seed);
                let texts = compose(&material, args.tolerance, &mut draw.clone());
                sets.extend(texts.map(|texts| keyed(paragraph, texts, draw)));
            }
        }
    }
    anyhow::ensure!(
        !sets.is_empty(),
        "no paragraph has three texts as near as --tolerance {}: give more, or runs of other models",
        args.tolerance
    );
    let name = ranking_sheet_name(&sets);
    write_atomically(&args.out, ranking_sheet(&name, &sets)?.as_bytes())?;
    write_atomically(&csv, sheet_csv(&sets)?.as_bytes())?;
    let lines: Vec<String> = sets.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    write_atomically(&key, (lines.join("\n") + "\n").as_bytes())?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} sets of three texts on {} and in {csv}", sets.len(), args.out)?;
    writeln!(out, "{key} says how each text was made: keep it from the raters")?;
    if sets.len() < n_wanted {
        writeln!(
            out,
            "{} were asked for: of {} paragraphs no more have texts as near as --tolerance {}",
            args.n,
            paragraphs.len(),
            args.tolerance
        )?;
    }
    Ok(Ending::Done)
}

/// The paragraphs of the runs that came to their end, each with all that was generated.
fn paragraphs(runs: &[Utf8PathBuf]) -> anyhow::Result<Vec<Paragraph>> {
    let mut by_place: BTreeMap<String, Paragraph> = BTreeMap::new();
    for run in runs {
        for result in matched_paragraphs(run)? {
            if result.failure.is_some() || result.gold.is_empty() {
                continue;
            }
            let (draft, paragraph) = place(&result);
            let gold: Vec<String> = result.gold.iter().map(|unit| unit.text.clone()).collect();
            let known = by_place.entry(result.paragraph.clone()).or_insert_with(|| Paragraph {
                draft: draft.to_owned(),
                place: paragraph.to_owned(),
                gold: gold.clone(),
                generated: Vec::new(),
            });
            anyhow::ensure!(
                known.gold == gold,
                "{run} cut the instructor's comments on {} otherwise than the runs before it: \
                 name runs of one corpus and one segmenter",
                result.paragraph
            );
            for unit in result.generated {
                if !known.generated.contains(&unit) {
                    known.generated.push(unit);
                }
            }
        }
    }
    anyhow::ensure!(!by_place.is_empty(), "the runs have no paragraph that came to its end");
    Ok(by_place.into_values().collect())
}

/// What texts on each paragraph may be made of, not rated yet.
fn materials(part: &[Paragraph], all: &[Paragraph], seed: u64) -> Vec<Material> {
    part.iter()
        .map(|paragraph| {
            let mut rng = paragraph.draw(seed);
            let mut foreign: Vec<&String> = all
                .iter()
                .filter(|other| other.draft != paragraph.draft)
                .flat_map(|other| &other.generated)
                .collect();
            let (foreign, _) = foreign.partial_shuffle(&mut rng, N_FOREIGN);
            let mut units = paragraph.gold.clone();
            let rest = paragraph.generated.iter().chain(foreign.iter().copied());
            for unit in rest {
                if !units.contains(unit) {
                    units.push(unit.clone());
                }
            }
            let n_gold = paragraph.gold.len();
            let is_own = (0..units.len()).map(|unit| unit < n_gold).collect();
            Material { n_gold, units, ratings: Vec::new(), is_own }
        })
        .collect()
}

/// A set under names that say nothing, its texts in an order that says nothing.
fn keyed(paragraph: &Paragraph, mut texts: [ComposedText; 3], mut draw: ChaCha8Rng) -> KeyedSet {
    texts.shuffle(&mut draw);
    let hash = |parts: &[&str]| blake3::hash(parts.join("\n").as_bytes()).to_hex()[..10].to_owned();
    let texts: Vec<(String, ComposedText)> =
        texts.into_iter().map(|text| (text.units.join(" "), text)).collect();
    let words: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
    let id = hash(&[&paragraph.draft, &paragraph.place, &words.join("\n")]);
    let texts = texts.into_iter().enumerate().map(|(at, (text, made))| KeyedText {
        id: hash(&[&id, &at.to_string(), &text]),
        text,
        units: made.units,
        f1: made.f1,
        n_own: made.n_own,
    });
    KeyedSet {
        texts: texts.collect(),
        id,
        draft: paragraph.draft.clone(),
        paragraph: paragraph.place.clone(),
        gold: paragraph.gold.clone(),
    }
}

/// The sheet for a spreadsheet: a row a text, `rater` and `rank` to be filled in. No cell
/// can be taken for a formula.
fn sheet_csv(sets: &[KeyedSet]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(SHEET_COLUMNS)?;
    for set in sets {
        let gold = set.gold.join("\n");
        for text in &set.texts {
            let row = ["", &set.id, &set.draft, &set.paragraph, &gold, &text.id, &text.text, ""];
            writer.write_record(row.map(|cell| guarded(cell).into_owned()))?;
        }
    }
    let bytes = writer.into_inner().context("cannot write the sheet")?;
    Ok(String::from_utf8(bytes)?)
}

pub(super) fn import(args: &ImportArgs) -> anyhow::Result<Ending> {
    refuse_existing(&args.out)?;
    let key = load_key(&args.key)?;
    let imported = import_rankings(&key, &args.sheets)?;
    write_atomically(&args.out, write_rankings(&imported.sets)?.as_bytes())?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} of {} sets in {}", imported.sets.len(), key.len(), args.out)?;
    for (rater, n_ranked) in &imported.by_rater {
        writeln!(out, "{rater}: {n_ranked} ranked")?;
    }
    let by_all = |set: &&crate::agreement::Ranking| set.ranks.iter().all(Option::is_some);
    writeln!(out, "{} ranked by all", imported.sets.iter().filter(by_all).count())?;
    Ok(Ending::Done)
}
