//! What a report says of each run.

use std::collections::BTreeMap;

use crate::{
    agreement::Cards,
    experiment::{
        FinishedRun,
        comparison::{
            ComparisonSettings, CountedRun, Figure, Measure, clusters, counted, counts_of,
            estimate, whole,
        },
    },
    matching::CompleteScores,
    report::{
        calibration_svg, confusion_svg,
        page::{CardTable, Estimate, Figures, RunSummary, ScorerStanding},
        similarity_tables,
    },
    similarity::Rating,
};

/// A subset of paragraphs: its name, and whether a paragraph with so many references is in.
type Subset = (&'static str, fn(usize) -> bool);

const SUBSETS: [Subset; 3] = [
    ("full", |_| true),
    ("single reference", |n_references| n_references == 1),
    ("multi reference", |n_references| 1 < n_references),
];

pub(super) fn summary(
    run: &FinishedRun,
    cards: &Cards,
    settings: &ComparisonSettings,
) -> anyhow::Result<RunSummary> {
    let own = counted(run);
    let full = &run.results.evaluation.full;
    let soft_f1 = |measures: &crate::metrics::Measures| measures.soft.micro.f1;
    let bounds = full.bounds.as_ref();
    let bounds = bounds.and_then(|bounds| soft_f1(&bounds.lower).zip(soft_f1(&bounds.upper)));
    let n_units: usize = own.paragraphs.iter().map(|paragraph| paragraph.generated.len()).sum();
    let (all_ratings, aligned_ratings) = ratings(&own);
    Ok(RunSummary {
        name: run.name.clone(),
        signature: run.results.signature.clone(),
        model: run.model(),
        condition: run.condition()?.to_string(),
        figures: SUBSETS.iter().flat_map(|subset| figures(&own, subset, settings)).collect(),
        coverage: coverage(run),
        replies: replies(run),
        failures: failures(run),
        bounds,
        all_ratings,
        aligned_ratings,
        units_per_paragraph: (!own.paragraphs.is_empty())
            .then(|| n_units as f64 / own.paragraphs.len() as f64),
        scorer: standing(run, cards),
    })
}

/// The figures of a subset, by measure.
fn figures(
    own: &CountedRun<'_>,
    (name, is_in): &Subset,
    settings: &ComparisonSettings,
) -> Vec<Figures> {
    let places: Vec<usize> = (0..own.paragraphs.len())
        .filter(|&place| is_in(own.paragraphs[place].n_references))
        .collect();
    let keys = places.iter().map(|&place| own.paragraphs[place].paragraph.as_str());
    let groups = clusters(keys, settings.level);
    let scores: Vec<_> = places.iter().map(|&place| own.scores[place].clone()).collect();
    let of_measure = |measure: Measure| {
        let counts = counts_of(&scores, measure, settings.kind);
        let figure = |figure| {
            let found = estimate(&counts, &groups, figure, settings.draws.level);
            Estimate {
                value: found.value,
                interval: found.estimate.map(|found| (found.interval.low, found.interval.high)),
            }
        };
        Figures {
            subset: (*name).to_owned(),
            measure: measure.to_string(),
            precision: figure(Figure::Precision),
            recall: figure(Figure::Recall),
            f1: figure(Figure::F1),
            n_paragraphs: scores.len(),
            n_generated: scores.iter().map(CompleteScores::n_generated).sum(),
            n_gold: scores.iter().map(CompleteScores::n_gold).sum(),
        }
    };
    Measure::all().map(of_measure).collect()
}

fn named(counts: &[(&str, usize)]) -> Vec<(String, usize)> {
    counts.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
}

fn coverage(run: &FinishedRun) -> Vec<(String, usize)> {
    let coverage = run.results.evaluation.full.coverage;
    let (paragraphs, pairs) = (coverage.paragraphs, coverage.pairs);
    named(&[
        ("paragraphs", paragraphs.n_total),
        ("evaluated", paragraphs.n_evaluated),
        ("empty answers", paragraphs.n_empty_answers),
        ("failed", paragraphs.n_failed),
        ("with unscored pairs", paragraphs.n_with_unscored_pairs),
        ("without gold units", paragraphs.n_without_gold),
        ("pairs", pairs.n_total),
        ("pairs scored", pairs.n_scored),
    ])
}

fn replies(run: &FinishedRun) -> Vec<(String, usize)> {
    let (replies, context) = (&run.results.replies, &run.results.context);
    named(&[
        ("replies asked for", replies.n_asked),
        ("received", replies.n_received),
        ("cut off by the limit on new tokens", replies.n_cut_by_length),
        ("unfinished last sentence removed", replies.n_ending_removed),
        ("off the format asked for", replies.n_off_format),
        ("without feedback", replies.n_empty),
        ("left empty by the cleaning judge", replies.n_emptied_by_judge),
        ("cleaned by rules alone: the judge changed words", replies.n_refused_by_judge),
        ("prompts that leave out paragraphs of the essay", context.n_trimmed),
        ("prompt tokens", replies.n_prompt_tokens),
        ("reply tokens", replies.n_completion_tokens),
    ])
}

fn failures(run: &FinishedRun) -> Vec<(String, String, usize)> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for failure in run.paragraphs.iter().filter_map(|paragraph| paragraph.failure.as_ref()) {
        *counts.entry((&failure.stage, &failure.error)).or_default() += 1;
    }
    let mut all: Vec<(String, String, usize)> = counts
        .into_iter()
        .map(|((stage, error), n)| (stage.to_owned(), error.to_owned(), n))
        .collect();
    all.sort_by_key(|(_, _, n)| std::cmp::Reverse(*n));
    all
}

/// All pairs by whole rating, and the aligned ones.
fn ratings(own: &CountedRun<'_>) -> ([usize; 5], [usize; 5]) {
    let (mut all, mut aligned) = ([0; 5], [0; 5]);
    for (paragraph, scores) in own.paragraphs.iter().zip(&own.scores) {
        for row in 0..scores.n_generated() {
            for column in 0..scores.n_gold() {
                all[whole(scores.get(row, column))] += 1;
            }
        }
        let pairs = paragraph.metrics.iter().flat_map(|metrics| &metrics.pairs);
        for rating in pairs.map(|pair| pair.rating).filter(|rating| Rating::LOWEST < *rating) {
            aligned[whole(rating)] += 1;
        }
    }
    (all, aligned)
}

fn standing(run: &FinishedRun, cards: &Cards) -> ScorerStanding {
    let spec = &run.manifest.spec["scorer"];
    let words = cards.standing(spec).in_words();
    let Some(card) = cards.card(spec) else {
        return ScorerStanding { scorer: run.role("/scorer"), words, ..ScorerStanding::default() };
    };
    let tables = similarity_tables(card).into_iter().map(|(title, table)| CardTable {
        title,
        head: table.head,
        rows: table.rows,
    });
    let mut figures =
        vec![("Pairs by gold rating and the scorer's rating".to_owned(), confusion_svg(card))];
    figures.push(("Calibration".to_owned(), calibration_svg(card)));
    ScorerStanding {
        scorer: run.role("/scorer"),
        words,
        is_validated: true,
        tables: tables.collect(),
        figures,
    }
}
