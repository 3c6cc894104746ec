//! Figures with the scorer's errors in them, by multiple imputation.

use anyhow::ensure;
use rayon::prelude::*;
use serde::Serialize;

use super::{
    Clusters, Counts, Figure, Measure,
    paired::counts_of,
    scorer_error::{ScorerConfusion, stream, whole_counts},
    sums::cluster_sums,
};
use crate::{
    matching::{Alignment, AlignmentKind, CompleteScores, align},
    similarity::Rating,
    stats::{
        Interval, RatioEstimate, difference_linearised, mean, ratio_linearised, student_quantile,
    },
};

/// A figure as it might have come out had people rated in place of the scorer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ImputedFigure {
    /// As the scorer gives it.
    pub reported: f64,
    /// The mean over draws of ratings.
    pub imputed: f64,
    /// What it lies between, drawing of clusters and errors of the scorer together.
    pub interval: Interval,
    /// The standard error of the same.
    pub standard_error: f64,
    /// How much of the variance is owed to the scorer's errors, 0 to 1.
    pub share_of_scorer: f64,
    /// The draws.
    pub n_draws: usize,
}

/// What choosing the best alignment over noisy ratings adds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Maximisation {
    /// Soft F1 as reported: the scorer's ratings, aligned by the scorer's ratings.
    pub reported: f64,
    /// Drawn ratings along the scorer's alignment: what those pairs are worth to people.
    pub along_the_scorers: f64,
    /// Drawn ratings, aligned anew by themselves.
    pub aligned_anew: f64,
}

impl Maximisation {
    /// How far the reported figure lies above that of people's ratings, aligned by them.
    pub fn bias(&self) -> f64 {
        self.reported - self.aligned_anew
    }
}

/// What is drawn from.
#[derive(Clone, Copy, Debug)]
pub struct Imputation<'a> {
    /// The scorer's errors.
    pub confusion: &'a ScorerConfusion,
    /// The draws; 20 or more.
    pub n_draws: usize,
    /// Their seed.
    pub seed: u64,
    /// The share that intervals hold.
    pub level: f64,
    /// How units are aligned.
    pub kind: AlignmentKind,
}

impl Imputation<'_> {
    /// A figure of one run, or with two runs how far the second lies above the first on the
    /// same paragraphs; the same errors are drawn for both, since both have one scorer.
    ///
    /// Draws are put together by Rubin's rules (1987): with W the mean of the variances
    /// (linearised, over clusters), B the variance of the estimates over m draws, T = W +
    /// (1 + 1/m) B; t has the degrees of Barnard & Rubin (1999).
    ///
    /// # Errors
    ///
    /// If there are fewer than two clusters, or the validation set lacks a rating.
    pub fn figure(
        &self,
        runs: &[&[CompleteScores]],
        clusters: &Clusters,
        measure: Measure,
        figure: Figure,
    ) -> anyhow::Result<ImputedFigure> {
        ensure!((1..=2).contains(&runs.len()), "one run or two are imputed, not {}", runs.len());
        ensure!(2 <= self.n_draws, "one draw tells nothing of their spread: take 20");
        let of = |drawn: &[Vec<CompleteScores>]| -> Option<RatioEstimate> {
            let sums: Vec<_> = drawn
                .iter()
                .map(|scores| {
                    cluster_sums(&counts_of(scores, measure, self.kind), clusters, figure)
                })
                .collect();
            match sums.as_slice() {
                [one] => ratio_linearised(one, self.level),
                [first, other] => difference_linearised(first, other, self.level),
                _ => None,
            }
        };
        let owned: Vec<Vec<CompleteScores>> = runs.iter().map(|run| run.to_vec()).collect();
        let too_few = "fewer than two clusters: no interval can be given";
        let reported = of(&owned).ok_or_else(|| anyhow::anyhow!(too_few))?;
        let estimates = self
            .draws(runs)?
            .par_iter()
            .map(|drawn| of(drawn).ok_or_else(|| anyhow::anyhow!(too_few)))
            .collect::<anyhow::Result<Vec<_>>>()?;
        combined(reported, &estimates, self.level)
            .ok_or_else(|| anyhow::anyhow!("the draws have no spread that can be put together"))
    }

    /// What the choice of the best alignment adds to soft F1.
    ///
    /// # Errors
    ///
    /// If the validation set lacks a rating, or there is no unit.
    pub fn maximisation(&self, run: &[CompleteScores]) -> anyhow::Result<Maximisation> {
        let f1 = |totals: &[f64], own: &[CompleteScores]| {
            let counts = totals.iter().zip(own).map(|(total, scores)| Counts {
                matched_generated: total / Rating::MAX,
                matched_gold: total / Rating::MAX,
                n_generated: scores.n_generated() as f64,
                n_gold: scores.n_gold() as f64,
            });
            counts.sum::<Counts>().figure(Figure::F1)
        };
        let alignments: Vec<_> = run.iter().map(align).collect();
        let reported: Vec<f64> = alignments.iter().map(Alignment::total).collect();
        let (mut along, mut anew) = (Vec::new(), Vec::new());
        for drawn in self.draws(&[run])? {
            let Some(drawn) = drawn.first() else { continue };
            let kept: Vec<f64> = drawn
                .iter()
                .zip(&alignments)
                .map(|(scores, alignment)| {
                    let ratings = alignment
                        .pairs
                        .iter()
                        .map(|pair| scores.get(pair.generated, pair.gold).get());
                    ratings.sum()
                })
                .collect();
            let best: Vec<f64> = drawn.par_iter().map(|scores| align(scores).total()).collect();
            along.extend(f1(&kept, drawn));
            anew.extend(f1(&best, drawn));
        }
        let found = f1(&reported, run).zip(mean(&along)).zip(mean(&anew));
        let ((reported, along_the_scorers), aligned_anew) =
            found.ok_or_else(|| anyhow::anyhow!("there is no unit"))?;
        Ok(Maximisation { reported, along_the_scorers, aligned_anew })
    }

    /// For each draw the runs' ratings, drawn anew.
    fn draws(&self, runs: &[&[CompleteScores]]) -> anyhow::Result<Vec<Vec<Vec<CompleteScores>>>> {
        let n_scores = whole_counts(runs.iter().copied().flatten());
        (0..self.n_draws)
            .into_par_iter()
            .map(|draw| {
                let mut rng = stream(self.seed, draw);
                let given = self.confusion.rating_given_score(&n_scores, &mut rng)?;
                runs.iter()
                    .map(|run| run.iter().map(|scores| given.draw(scores, &mut rng)).collect())
                    .collect()
            })
            .collect()
    }
}

/// Rubin's rules.
fn combined(
    reported: RatioEstimate,
    estimates: &[RatioEstimate],
    level: f64,
) -> Option<ImputedFigure> {
    let m = estimates.len() as f64;
    let values: Vec<f64> = estimates.iter().map(|found| found.estimate).collect();
    let within: Vec<f64> = estimates.iter().map(|found| found.standard_error.powi(2)).collect();
    let (centre, within) = (mean(&values)?, mean(&within)?);
    let between = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (m - 1.0);
    let scorer = (1.0 + 1.0 / m) * between;
    let total = within + scorer;
    let degrees = reported.degrees;
    let standard_error = total.sqrt();
    let (share_of_scorer, degrees) = if 0.0 < total && 0.0 < scorer {
        let share = scorer / total;
        let of_draws = (m - 1.0) / share.powi(2);
        let of_clusters = (degrees + 1.0) / (degrees + 3.0) * degrees * (1.0 - share);
        // With nothing left of the clusters' own variance only the draws tell.
        let both =
            if 0.0 < of_clusters { 1.0 / (1.0 / of_draws + 1.0 / of_clusters) } else { of_draws };
        (share, both)
    } else {
        (0.0, degrees)
    };
    let half = student_quantile(f64::midpoint(1.0, level), degrees)? * standard_error;
    Some(ImputedFigure {
        reported: reported.estimate,
        imputed: centre,
        interval: Interval { low: centre - half, high: centre + half },
        standard_error,
        share_of_scorer,
        n_draws: estimates.len(),
    })
}
