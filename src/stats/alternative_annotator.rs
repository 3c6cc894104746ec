//! Whether a scorer may stand in for one of several annotators.

use super::student_cdf;

/// What the alternative-annotator test found.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlternativeAnnotator {
    /// The cost and effort that a human annotation is held to be worth: the scorer may be
    /// worse by so much.
    pub epsilon: f64,
    /// The share of annotators that the scorer does as well as: the winning rate. One
    /// half and above passes.
    pub winning_rate: f64,
    /// The mean over annotators of `scorer_advantage`.
    pub advantage: f64,
    /// The annotators that could be tested, in order.
    pub annotators: Vec<AnnotatorTest>,
}

/// The scorer against one annotator.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnotatorTest {
    /// The annotator's place.
    pub annotator: usize,
    /// The items that this annotator and another rated.
    pub n_items: usize,
    /// The share of items on which the scorer is as near to the others as this one.
    pub scorer_advantage: f64,
    /// The share of items on which this one is as near to the others as the scorer.
    pub annotator_advantage: f64,
    /// Of the one-sided t test that the scorer does not fall behind by epsilon.
    pub p_value: f64,
    /// Whether it holds among all annotators, with a false-discovery rate of 0.05.
    pub is_won: bool,
}

/// The alternative-annotator test (Calderon, Reichart and Dror 2025): each annotator is
/// left out in turn; on each item that this one rated and others did too, the scorer and
/// the annotator are compared in their root mean square distance to the others. The mean
/// of [annotator as near] - [scorer as near] is tested to be below epsilon by a one-sided
/// t test, and the tests of all annotators are taken together as Benjamini and Yekutieli
/// (2001) do at a false-discovery rate of 0.05. A tie counts for both.
///
/// `items` holds the scorer's rating of each item and a place for each annotator's.
/// `None` where fewer than three annotators have two items to be tested on. Where the
/// differences do not vary at all, p is 0 or 1. The authors ask for at least 30 items
/// for each annotator.
pub fn alternative_annotator_test(
    items: &[(f64, Vec<Option<f64>>)],
    epsilon: f64,
) -> Option<AlternativeAnnotator> {
    let n_annotators = items.iter().map(|item| item.1.len()).max()?;
    let mut annotators: Vec<AnnotatorTest> =
        (0..n_annotators).filter_map(|annotator| test(items, annotator, epsilon)).collect();
    if annotators.len() < 3 {
        return None;
    }
    mark_won(&mut annotators);
    let n = annotators.len() as f64;
    let n_won = annotators.iter().filter(|annotator| annotator.is_won).count();
    Some(AlternativeAnnotator {
        epsilon,
        winning_rate: n_won as f64 / n,
        advantage: annotators.iter().map(|annotator| annotator.scorer_advantage).sum::<f64>() / n,
        annotators,
    })
}

fn test(
    items: &[(f64, Vec<Option<f64>>)],
    annotator: usize,
    epsilon: f64,
) -> Option<AnnotatorTest> {
    let (mut scorer_wins, mut annotator_wins, mut differences) = (0.0, 0.0, Vec::new());
    for (score, ratings) in items {
        let Some(own) = ratings.get(annotator).copied().flatten() else { continue };
        let others: Vec<f64> = ratings
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != annotator)
            .filter_map(|(_, &rating)| rating)
            .collect();
        if others.is_empty() {
            continue;
        }
        let distance = |value: f64| others.iter().map(|other| (value - other).powi(2)).sum::<f64>();
        let (of_scorer, of_annotator) = (distance(*score), distance(own));
        let scorer_wins_here = f64::from(u8::from(of_scorer <= of_annotator));
        let annotator_wins_here = f64::from(u8::from(of_annotator <= of_scorer));
        scorer_wins += scorer_wins_here;
        annotator_wins += annotator_wins_here;
        differences.push(annotator_wins_here - scorer_wins_here);
    }
    let n = differences.len() as f64;
    if differences.len() < 2 {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / n;
    let variance =
        differences.iter().map(|difference| (difference - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let p_value = if 0.0 < variance {
        student_cdf((mean - epsilon) / (variance / n).sqrt(), n - 1.0)?
    } else {
        f64::from(u8::from(epsilon <= mean))
    };
    Some(AnnotatorTest {
        annotator,
        n_items: differences.len(),
        scorer_advantage: scorer_wins / n,
        annotator_advantage: annotator_wins / n,
        p_value,
        is_won: false,
    })
}

/// Marks the tests that hold at a false-discovery rate of 0.05 (Benjamini and Yekutieli).
fn mark_won(annotators: &mut [AnnotatorTest]) {
    const RATE: f64 = 0.05;
    let n = annotators.len();
    let harmonic: f64 = (1..=n).map(|at| 1.0 / at as f64).sum();
    let mut p_values: Vec<f64> = annotators.iter().map(|annotator| annotator.p_value).collect();
    p_values.sort_by(f64::total_cmp);
    let bound = (1..=n)
        .zip(&p_values)
        .filter(|&(rank, &p_value)| p_value <= rank as f64 * RATE / (n as f64 * harmonic))
        .map(|(_, &p_value)| p_value)
        .fold(f64::NEG_INFINITY, f64::max);
    for annotator in annotators {
        annotator.is_won = annotator.p_value <= bound;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(score: impl Fn(usize) -> f64) -> Vec<(f64, Vec<Option<f64>>)> {
        (0..60)
            .map(|at| {
                let truth = (at % 5) as f64;
                let noisy = |every: usize| if at % every == 0 { 4.0 - truth } else { truth };
                (score(at), vec![Some(noisy(3)), Some(noisy(4)), Some(noisy(7))])
            })
            .collect()
    }

    #[test]
    fn a_scorer_without_error_wins_and_one_that_guesses_loses() {
        let good = alternative_annotator_test(&items(|at| (at % 5) as f64), 0.2).unwrap();
        assert!((good.winning_rate - 1.0).abs() < 1e-12, "{good:?}");
        let bad = alternative_annotator_test(&items(|at| ((at * 3 + 2) % 5) as f64), 0.2).unwrap();
        assert!(bad.winning_rate < 0.5 && bad.advantage < good.advantage, "{bad:?}");
    }

    #[test]
    fn two_annotators_are_too_few() {
        let two: Vec<_> =
            items(|_| 1.0).into_iter().map(|(score, r)| (score, r[..2].to_vec())).collect();
        assert_eq!(alternative_annotator_test(&two, 0.2), None);
        assert_eq!(alternative_annotator_test(&[], 0.2), None);
    }
}
