//! The figures of agreement of ratings with those of people.

use serde::{Deserialize, Serialize};

use crate::stats::{
    Draws, Interval, bias, grouped_bootstrap, icc_2_1, kendall_tau_b, mean_absolute_error,
    ordinal_alpha, pairwise_accuracy, pearson, quadratic_kappa, slope, spearman,
};

/// The agreement of a scorer's ratings with gold. A figure that has no value is `null`:
/// where ratings do not vary, there is no correlation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimilarityFigures {
    /// The pairs they are taken of.
    pub n: usize,
    /// Pearson's correlation.
    pub pearson: Option<f64>,
    /// Spearman's rank correlation.
    pub spearman: Option<f64>,
    /// Kendall's tau-b.
    pub kendall_tau_b: Option<f64>,
    /// Pairwise accuracy, ties calibrated.
    pub pairwise_accuracy: Option<f64>,
    /// The difference up to which two ratings tie in it.
    pub tie_threshold: Option<f64>,
    /// Quadratic weighted kappa, both sides rounded to whole ratings.
    pub quadratic_kappa: Option<f64>,
    /// ICC(2,1).
    pub icc: Option<f64>,
    /// Krippendorff's ordinal alpha, both sides rounded to whole ratings.
    pub alpha: Option<f64>,
    /// The mean absolute error.
    pub mae: Option<f64>,
    /// The mean signed error, rating less gold.
    pub bias: Option<f64>,
    /// The slope of ratings over gold.
    pub slope: Option<f64>,
}

/// What some of the figures lie between.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureIntervals {
    /// Of Pearson's correlation.
    pub pearson: Option<Interval>,
    /// Of Spearman's.
    pub spearman: Option<Interval>,
    /// Of Kendall's tau-b.
    pub kendall_tau_b: Option<Interval>,
    /// Of quadratic weighted kappa.
    pub quadratic_kappa: Option<Interval>,
    /// Of ICC(2,1).
    pub icc: Option<Interval>,
    /// Of the mean absolute error.
    pub mae: Option<Interval>,
    /// Of the mean signed error.
    pub bias: Option<Interval>,
    /// Of the slope.
    pub slope: Option<Interval>,
}

/// A rating and its gold, with the group they are drawn in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) group: usize,
    pub(super) rating: f64,
    pub(super) gold: f64,
}

/// A statistic of ratings and gold.
pub(super) type Statistic = fn(&[f64], &[f64]) -> Option<f64>;

/// A rating as a whole one: the nearest, halves up.
pub(super) fn rounded(rating: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "a rating is at most 4")]
    {
        rating.round() as i32
    }
}

/// Quadratic kappa of ratings rounded to whole ones.
pub(super) fn rounded_kappa(ratings: &[f64], gold: &[f64]) -> Option<f64> {
    let round = |values: &[f64]| -> Vec<i32> { values.iter().copied().map(rounded).collect() };
    quadratic_kappa(&round(ratings), &round(gold))
}

/// ICC(2,1) of the scorer and gold as two raters.
pub(super) fn icc(ratings: &[f64], gold: &[f64]) -> Option<f64> {
    let items: Vec<Vec<f64>> = ratings.iter().zip(gold).map(|(&r, &g)| vec![r, g]).collect();
    icc_2_1(&items)
}

pub(super) fn figures(points: &[Point]) -> SimilarityFigures {
    let (ratings, gold) = sides(points);
    let accuracy = pairwise_accuracy(&ratings, &gold);
    let units: Vec<Vec<f64>> = ratings
        .iter()
        .zip(&gold)
        .map(|(&rating, &gold)| vec![f64::from(rounded(rating)), f64::from(rounded(gold))])
        .collect();
    SimilarityFigures {
        n: points.len(),
        pearson: pearson(&ratings, &gold),
        spearman: spearman(&ratings, &gold),
        kendall_tau_b: kendall_tau_b(&ratings, &gold),
        pairwise_accuracy: accuracy.map(|accuracy| accuracy.accuracy),
        tie_threshold: accuracy.map(|accuracy| accuracy.tie_threshold),
        quadratic_kappa: rounded_kappa(&ratings, &gold),
        icc: icc(&ratings, &gold),
        alpha: ordinal_alpha(&units),
        mae: mean_absolute_error(&ratings, &gold),
        bias: bias(&ratings, &gold),
        slope: slope(&ratings, &gold),
    }
}

pub(super) fn intervals(points: &[Point], draws: Draws) -> FigureIntervals {
    let of = |statistic: Statistic| interval(points, draws, statistic);
    FigureIntervals {
        pearson: of(pearson),
        spearman: of(spearman),
        kendall_tau_b: of(kendall_tau_b),
        quadratic_kappa: of(rounded_kappa),
        icc: of(icc),
        mae: of(mean_absolute_error),
        bias: of(bias),
        slope: of(slope),
    }
}

pub(super) fn interval(points: &[Point], draws: Draws, statistic: Statistic) -> Option<Interval> {
    grouped_bootstrap(
        points,
        |point| point.group,
        draws,
        |points| {
            let (ratings, gold) = sides(points);
            statistic(&ratings, &gold)
        },
    )
}

pub(super) fn sides(points: &[Point]) -> (Vec<f64>, Vec<f64>) {
    points.iter().map(|point| (point.rating, point.gold)).unzip()
}
