//! A scorer's card, made from its ratings.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    AnnotationsNote, BootstrapNote, CalibrationBin, CalibrationFigures, LevelFigures, Other,
    RatingBin, ScorerDifference, SimilarityCard, SimilarityCardOptions, SubsetFigures,
};
use crate::{
    agreement::{
        PairAnnotation, Rated,
        figures::{Point, figures, interval, intervals, rounded, sides},
        raters::rater_figures,
    },
    stats::{
        AlternativeAnnotator, Draws, alternative_annotator_test, bias, mean, mean_absolute_error,
        paired_bootstrap, pearson, reliability, spearman,
    },
};

/// Makes the card of a scorer from its ratings, which are in the order of the pairs.
/// `annotations` says of which file they are, and the scorer's name and specification
/// are for the caller to fill in where nothing was rated.
///
/// # Panics
///
/// If there are not as many ratings as pairs.
pub fn similarity_card(
    pairs: &[PairAnnotation],
    rated: &[Result<Rated, String>],
    other: Option<&Other<'_>>,
    annotations: AnnotationsNote,
    options: &SimilarityCardOptions,
) -> SimilarityCard {
    assert_eq!(pairs.len(), rated.len(), "ratings and pairs differ in number");
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    let mut score_errors: BTreeMap<String, usize> = BTreeMap::new();
    let mut scored: Vec<Scored<'_>> = Vec::new();
    let others = other.map_or(&[][..], |other| other.rated);
    for (at, (pair, rated)) in pairs.iter().zip(rated).enumerate() {
        let next = groups.len();
        let group = *groups.entry(pair.group()).or_insert(next);
        match rated {
            Ok(rated) => {
                let point = Point { group, rating: rated.rating.get(), gold: pair.gold() };
                let other = others.get(at).and_then(|other| other.as_ref().ok());
                scored.push(Scored { pair, rated, other: other.map(|o| o.rating.get()), point });
            }
            Err(error) => *score_errors.entry(error.clone()).or_default() += 1,
        }
    }
    let points: Vec<Point> = scored.iter().map(|scored| scored.point).collect();
    let all = figures(&points);
    let draws = options.draws;
    let rated_pairs: Vec<&PairAnnotation> = scored.iter().map(|scored| scored.pair).collect();
    SimilarityCard {
        format_version: 1,
        measure: "similarity".to_owned(),
        unimatch: env!("CARGO_PKG_VERSION").to_owned(),
        scorer: scored.first().map_or_else(String::new, |scored| scored.rated.scorer.clone()),
        scorer_key: String::new(),
        scorer_spec: Value::Null,
        annotations,
        n: all.n,
        n_unscored: pairs.len() - all.n,
        score_errors,
        pearson: all.pearson,
        spearman: all.spearman,
        kendall_tau_b: all.kendall_tau_b,
        pairwise_accuracy: all.pairwise_accuracy,
        tie_threshold: all.tie_threshold,
        quadratic_kappa: all.quadratic_kappa,
        icc: all.icc,
        alpha: all.alpha,
        mae: all.mae,
        bias: all.bias,
        slope: all.slope,
        bootstrap: BootstrapNote {
            n_draws: draws.n,
            seed: draws.seed,
            level: draws.level,
            n_groups: groups.len(),
        },
        intervals: intervals(&points, draws),
        confusion: confusion(&points),
        calibration: calibration(&scored),
        rating_calibration: rating_calibration(&points),
        subsets: subsets(&scored, draws),
        levels: levels(&points),
        raters: rater_figures(&rated_pairs),
        alternative_annotator: alternative_annotator(&scored, options.epsilon),
        difference: other.map(|other| difference(other.name, &scored, draws)),
    }
}

/// A pair that has a rating.
#[derive(Clone)]
struct Scored<'a> {
    pair: &'a PairAnnotation,
    rated: &'a Rated,
    other: Option<f64>,
    point: Point,
}

/// The row of a rating: of the whole one it is nearest to.
fn level(rating: f64) -> usize {
    (1..5).filter(|level| *level <= rounded(rating)).count()
}

fn confusion(points: &[Point]) -> [[usize; 5]; 5] {
    let mut counts = [[0; 5]; 5];
    for point in points {
        counts[level(point.gold)][level(point.rating)] += 1;
    }
    counts
}

/// `None` where a pair has no probabilities.
fn calibration(scored: &[Scored<'_>]) -> Option<CalibrationFigures> {
    const N_BINS: usize = 10;
    let probabilities: Vec<[f64; 5]> = scored
        .iter()
        .map(|scored| scored.rated.probabilities.map(<[f64; 5]>::from))
        .collect::<Option<_>>()?;
    let levels: Vec<usize> = scored.iter().map(|scored| level(scored.point.gold)).collect();
    let found = reliability(&probabilities, &levels, N_BINS)?;
    let bins = found
        .bins
        .iter()
        .map(|bin| CalibrationBin { n: bin.n, confidence: bin.confidence, accuracy: bin.accuracy })
        .collect();
    Some(CalibrationFigures { ece: found.expected_calibration_error, brier: found.brier, bins })
}

/// Eight bins of half a point each; those that hold nothing are left out.
fn rating_calibration(points: &[Point]) -> Vec<RatingBin> {
    (0_u8..8)
        .filter_map(|at| {
            let (low, high) = (f64::from(at) / 2.0, f64::from(at + 1) / 2.0);
            let is_in = |rating: f64| low <= rating && (rating < high || at == 7);
            let inside: Vec<Point> =
                points.iter().copied().filter(|point| is_in(point.rating)).collect();
            let (ratings, gold) = sides(&inside);
            let (rating, gold) = (mean(&ratings)?, mean(&gold)?);
            Some(RatingBin { low, high, n: inside.len(), rating, gold })
        })
        .collect()
}

fn levels(points: &[Point]) -> Vec<LevelFigures> {
    (0..5)
        .map(|at| {
            let inside: Vec<Point> =
                points.iter().copied().filter(|point| level(point.gold) == at).collect();
            let (ratings, gold) = sides(&inside);
            LevelFigures {
                level: at,
                n: inside.len(),
                mean_rating: mean(&ratings),
                mae: mean_absolute_error(&ratings, &gold),
                bias: bias(&ratings, &gold),
            }
        })
        .collect()
}

/// What the name of a kind begins with that was made to fill the scale.
const VARIANT: &str = "variant";

fn subsets(scored: &[Scored<'_>], draws: Draws) -> BTreeMap<String, SubsetFigures> {
    let mut by_name: BTreeMap<String, Vec<&Scored<'_>>> = BTreeMap::new();
    let is_variant = |kind: &str| kind.starts_with(VARIANT);
    let kinds = || scored.iter().filter_map(|scored| scored.pair.kind.as_deref());
    let splits = kinds().any(is_variant) && !kinds().all(is_variant);
    for scored in scored {
        let Some(kind) = &scored.pair.kind else { continue };
        by_name.entry(kind.clone()).or_default().push(scored);
        if splits && !is_variant(kind) {
            by_name.entry(format!("without {VARIANT}*")).or_default().push(scored);
        }
    }
    by_name
        .into_iter()
        .map(|(name, scored)| {
            let points: Vec<Point> = scored.iter().map(|scored| scored.point).collect();
            let pairs: Vec<&PairAnnotation> = scored.iter().map(|scored| scored.pair).collect();
            let figures = SubsetFigures {
                figures: figures(&points),
                pearson_interval: interval(&points, draws, pearson),
                raters: rater_figures(&pairs),
            };
            (name, figures)
        })
        .collect()
}

fn alternative_annotator(scored: &[Scored<'_>], epsilon: f64) -> Option<AlternativeAnnotator> {
    let items: Vec<(f64, Vec<Option<f64>>)> =
        scored.iter().map(|scored| (scored.point.rating, scored.pair.ratings.clone())).collect();
    alternative_annotator_test(&items, epsilon)
}

fn difference(against: &str, scored: &[Scored<'_>], draws: Draws) -> ScorerDifference {
    let both: Vec<(Point, f64)> =
        scored.iter().filter_map(|scored| Some((scored.point, scored.other?))).collect();
    let of = |statistic: fn(&[f64], &[f64]) -> Option<f64>| {
        let own = move |items: &[(Point, f64)]| {
            let (ratings, gold): (Vec<f64>, Vec<f64>) =
                items.iter().map(|item| (item.0.rating, item.0.gold)).unzip();
            statistic(&ratings, &gold)
        };
        let others = move |items: &[(Point, f64)]| {
            let (ratings, gold): (Vec<f64>, Vec<f64>) =
                items.iter().map(|item| (item.1, item.0.gold)).unzip();
            statistic(&ratings, &gold)
        };
        paired_bootstrap(&both, |item| item.0.group, draws, own, others)
    };
    ScorerDifference {
        against: against.to_owned(),
        n: both.len(),
        pearson: of(pearson),
        spearman: of(spearman),
        mae: of(mean_absolute_error),
    }
}
