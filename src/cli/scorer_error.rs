//! The errors of a scorer carried into figures, as its card tells them.

use anyhow::Context;
use serde::Serialize;

use crate::{
    agreement::{Cards, SimilarityCard},
    experiment::{
        FinishedRun,
        comparison::{
            ComparisonSettings, CountedRun, Figure, Imputation, ImputedFigure, Maximisation,
            Measure, ScorerConfusion, clusters, counted, shared_scores,
        },
    },
    report::Table,
};

/// What stands above the figures.
pub(super) const WORDS: &str = "Soft F1 with the errors of the scorer: ratings drawn anew as people \
     might have given them (the card's confusion, shares of ratings as in the run), matched again, \
     put together by Rubin's rules.";

/// What stands above the biases.
pub(super) const BIAS_WORDS: &str = "What the choice of the best alignment over noisy ratings adds: \
     reported less drawn ratings aligned anew.";

/// The draws of ratings.
const N_DRAWS: usize = 40;

/// Figures with the scorer's errors in them.
#[derive(Debug, Serialize)]
pub(super) struct Imputed {
    /// The card.
    card: String,
    /// Soft F1 of each run.
    runs: Vec<(String, ImputedFigure)>,
    /// Differences of soft F1 to the baseline.
    differences: Vec<(String, ImputedFigure)>,
    /// What the choice of the best alignment adds, for each run.
    maximisation: Vec<(String, Maximisation)>,
}

/// Draws ratings for each run and for its difference to the baseline.
///
/// # Errors
///
/// If there is no card of the scorer, or the runs have different scorers.
pub(super) fn imputed(
    runs: &[FinishedRun],
    cards: &Cards,
    settings: &ComparisonSettings,
) -> anyhow::Result<Imputed> {
    let card = card_of(runs, cards)?;
    let confusion = ScorerConfusion(card.confusion);
    let draws = settings.draws;
    let imputation = Imputation {
        confusion: &confusion,
        n_draws: N_DRAWS,
        seed: draws.seed,
        level: draws.level,
        kind: settings.kind,
    };
    let all: Vec<(&str, CountedRun<'_>)> =
        runs.iter().map(|run| (run.name.as_str(), counted(run))).collect();
    let mut imputed = Imputed {
        card: card.annotations.file.clone(),
        runs: Vec::new(),
        differences: Vec::new(),
        maximisation: Vec::new(),
    };
    for (place, (name, own)) in all.iter().enumerate() {
        let keys = own.paragraphs.iter().map(|paragraph| paragraph.paragraph.as_str());
        let groups = clusters(keys, settings.level);
        let figure = imputation.figure(&[&own.scores], &groups, Measure::Soft, Figure::F1)?;
        imputed.runs.push(((*name).to_owned(), figure));
        imputed.maximisation.push(((*name).to_owned(), imputation.maximisation(&own.scores)?));
        if let Some((_, baseline)) = all.first().filter(|_| 0 < place) {
            let (keys, first, other) = shared_scores(baseline, own);
            let groups = clusters(keys, settings.level);
            let figure =
                imputation.figure(&[&first, &other], &groups, Measure::Soft, Figure::F1)?;
            imputed.differences.push(((*name).to_owned(), figure));
        }
    }
    Ok(imputed)
}

/// The card of the one scorer that all runs have.
fn card_of<'a>(runs: &[FinishedRun], cards: &'a Cards) -> anyhow::Result<&'a SimilarityCard> {
    let mut found = None;
    for run in runs {
        let spec = &run.manifest.spec["scorer"];
        let card = cards.card(spec).with_context(|| {
            format!(
                "the scorer of {} is unvalidated, so that nothing is known of its errors: `unimatch \
                 validate similarity` with annotated pairs makes its card",
                run.name
            )
        })?;
        if found.is_some_and(|known: &SimilarityCard| known.scorer_key != card.scorer_key) {
            anyhow::bail!("the runs have different scorers: --scorer-error needs one");
        }
        found = Some(card);
    }
    found.context("no run is given")
}

impl Imputed {
    /// The figures: a row for each run, and for each difference.
    pub(super) fn figures(&self) -> Table {
        let mut table = Table::new(&[
            "soft F1",
            "reported",
            "with scorer error",
            "95 %",
            "SE",
            "share of scorer",
        ]);
        let named = |words: &'static str| {
            move |(name, figure): &(String, ImputedFigure)| (format!("{name}{words}"), *figure)
        };
        let rows = self.runs.iter().map(named(""));
        for (name, figure) in rows.chain(self.differences.iter().map(named(" - baseline"))) {
            table.push([
                name,
                format!("{:.3}", figure.reported),
                format!("{:.3}", figure.imputed),
                format!("[{:.3}, {:.3}]", figure.interval.low, figure.interval.high),
                format!("{:.4}", figure.standard_error),
                format!("{:.0} %", figure.share_of_scorer * 100.0),
            ]);
        }
        table
    }

    /// What the choice of the best alignment adds.
    pub(super) fn biases(&self) -> Table {
        let mut table = Table::new(&[
            "run",
            "reported",
            "drawn, along the scorer's alignment",
            "drawn, aligned anew",
            "bias",
        ]);
        for (name, found) in &self.maximisation {
            table.push([
                name.clone(),
                format!("{:.3}", found.reported),
                format!("{:.3}", found.along_the_scorers),
                format!("{:.3}", found.aligned_anew),
                format!("{:+.3}", found.bias()),
            ]);
        }
        table
    }
}
