//! From rated paragraphs to the figures of every subset.

use super::{
    Bounds, Coverage, EmptyAnswers, Evaluation, PairCoverage, Paragraph, ParagraphCoverage,
    ParagraphMetrics, State, SubsetMetrics, measure, tally::measures,
};
use crate::{matching::CompleteScores, similarity::ScoreMatrix};

/// Evaluates paragraphs, all together and by the number of their references.
///
/// The paragraphs are taken in the order given. See the module for the formulas,
/// for what is left out, and for the bounds.
pub fn evaluate(paragraphs: &[Paragraph], empty_answers: EmptyAnswers) -> Evaluation {
    let measured: Vec<(usize, Measured)> = paragraphs
        .iter()
        .map(|paragraph| (paragraph.n_references, Measured::of(&paragraph.state, empty_answers)))
        .collect();
    let subset = |belongs: fn(usize) -> bool| {
        let members = measured.iter().filter(|&&(n_references, _)| belongs(n_references));
        subset_metrics(&members.map(|(_, measured)| measured).collect::<Vec<_>>())
    };
    Evaluation {
        empty_answers,
        full: subset(|_| true),
        single_reference: subset(|n_references| n_references == 1),
        multi_reference: subset(|n_references| 1 < n_references),
    }
}

/// A paragraph with all that a subset needs of it.
struct Measured {
    /// Its figures, if the estimate takes them in.
    estimate: Option<ParagraphMetrics>,
    /// Its figures at the least and at the most, if it is evaluated or would be.
    bounds: Option<(ParagraphMetrics, ParagraphMetrics)>,
    /// What it adds to the coverage.
    coverage: Coverage,
}

impl Measured {
    fn of(state: &State, empty_answers: EmptyAnswers) -> Self {
        match state {
            State::Failed { n_gold, .. } => Self::failed(*n_gold),
            State::Rated(scores) if scores.n_gold() == 0 => Self {
                estimate: None,
                bounds: None,
                coverage: of_paragraph(ParagraphCoverage {
                    n_without_gold: 1,
                    ..ParagraphCoverage::default()
                }),
            },
            State::Rated(scores) if scores.n_generated() == 0 => {
                Self::empty(scores.n_gold(), empty_answers)
            }
            State::Rated(scores) => Self::rated(scores),
        }
    }

    fn failed(n_gold: usize) -> Self {
        let lower = ParagraphMetrics::of_empty_answer(n_gold);
        let upper = ParagraphMetrics::of_perfect_answer(n_gold);
        Self {
            estimate: None,
            bounds: Some((lower, upper)),
            coverage: of_paragraph(ParagraphCoverage {
                n_failed: 1,
                ..ParagraphCoverage::default()
            }),
        }
    }

    fn empty(n_gold: usize, empty_answers: EmptyAnswers) -> Self {
        let estimate = match empty_answers {
            EmptyAnswers::Count => Some(ParagraphMetrics::of_empty_answer(n_gold)),
            EmptyAnswers::Skip => None,
        };
        Self {
            bounds: estimate.clone().map(|metrics| (metrics.clone(), metrics)),
            coverage: of_paragraph(ParagraphCoverage {
                n_evaluated: usize::from(estimate.is_some()),
                n_empty_answers: 1,
                ..ParagraphCoverage::default()
            }),
            estimate,
        }
    }

    fn rated(scores: &ScoreMatrix) -> Self {
        let n_total = scores.n_generated() * scores.n_gold();
        let n_unscored = scores.n_unscored();
        let pairs = PairCoverage { n_total, n_scored: n_total - n_unscored, n_unscored };
        let estimate = CompleteScores::of(scores).map(|scores| measure(&scores));
        let bounds = estimate.clone().map_or_else(
            || {
                let [lower, upper] = [CompleteScores::lower(scores), CompleteScores::upper(scores)];
                (measure(&lower), measure(&upper))
            },
            |metrics| (metrics.clone(), metrics),
        );
        let paragraphs = ParagraphCoverage {
            n_total: 1,
            n_evaluated: usize::from(estimate.is_some()),
            n_with_unscored_pairs: usize::from(estimate.is_none()),
            ..ParagraphCoverage::default()
        };
        Self { estimate, bounds: Some(bounds), coverage: Coverage { paragraphs, pairs } }
    }
}

fn of_paragraph(paragraphs: ParagraphCoverage) -> Coverage {
    Coverage {
        paragraphs: ParagraphCoverage { n_total: 1, ..paragraphs },
        pairs: PairCoverage::default(),
    }
}

fn subset_metrics(members: &[&Measured]) -> SubsetMetrics {
    let coverage = members.iter().fold(Coverage::default(), |sum, member| sum + member.coverage);
    let is_partial =
        0 < coverage.paragraphs.n_failed || 0 < coverage.paragraphs.n_with_unscored_pairs;
    let bounds = is_partial.then(|| {
        let bounds = members.iter().filter_map(|member| member.bounds.as_ref());
        Bounds {
            lower: measures(bounds.clone().map(|(lower, _)| lower)),
            upper: measures(bounds.map(|(_, upper)| upper)),
        }
    });
    let estimate = measures(members.iter().filter_map(|member| member.estimate.as_ref()));
    SubsetMetrics { coverage, estimate, bounds }
}

impl std::ops::Add for Coverage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (paragraphs, others) = (self.paragraphs, other.paragraphs);
        Self {
            paragraphs: ParagraphCoverage {
                n_total: paragraphs.n_total + others.n_total,
                n_evaluated: paragraphs.n_evaluated + others.n_evaluated,
                n_empty_answers: paragraphs.n_empty_answers + others.n_empty_answers,
                n_with_unscored_pairs: paragraphs.n_with_unscored_pairs
                    + others.n_with_unscored_pairs,
                n_failed: paragraphs.n_failed + others.n_failed,
                n_without_gold: paragraphs.n_without_gold + others.n_without_gold,
            },
            pairs: PairCoverage {
                n_total: self.pairs.n_total + other.pairs.n_total,
                n_scored: self.pairs.n_scored + other.pairs.n_scored,
                n_unscored: self.pairs.n_unscored + other.pairs.n_unscored,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{matching::Threshold, metrics::PrecisionRecall, similarity::Rating};
    use proptest::prelude::*;

    /// A paragraph from rows of ratings, any number over 4 being unscored.
    fn paragraph(n_references: usize, rows: &[Vec<u8>], n_gold: usize) -> Paragraph {
        let scores =
            ScoreMatrix::from_fn(rows.len(), n_gold, |row, col| Rating::from_int(rows[row][col]));
        Paragraph { key: String::new(), n_references, state: State::Rated(scores) }
    }

    fn failed(n_references: usize) -> Paragraph {
        let state = State::Failed {
            stage: "segment".to_owned(),
            error: "no reply".to_owned(),
            n_gold: n_references,
        };
        Paragraph { key: String::new(), n_references, state }
    }

    #[track_caller]
    fn check(figures: PrecisionRecall, precision: f64, recall: f64, f1: f64) {
        for (name, found, wanted) in [
            ("precision", figures.precision, precision),
            ("recall", figures.recall, recall),
            ("f1", figures.f1, f1),
        ] {
            assert!((found.unwrap() - wanted).abs() < 1e-12, "{name} is {found:?}, not {wanted}");
        }
    }

    #[test]
    fn micro_is_of_sums_and_macro_of_means() {
        let paragraphs = [paragraph(1, &[vec![4]], 1), paragraph(2, &[vec![2, 0], vec![0, 0]], 2)];
        let evaluation = evaluate(&paragraphs, EmptyAnswers::Count);
        check(evaluation.full.estimate.soft.micro, 0.5, 0.5, 0.5);
        check(evaluation.full.estimate.soft.r#macro, 0.625, 0.625, 0.625);
        check(evaluation.single_reference.estimate.soft.micro, 1.0, 1.0, 1.0);
        check(evaluation.multi_reference.estimate.soft.micro, 0.25, 0.25, 0.25);
        let [_, two, three, _] = Threshold::ALL;
        check(evaluation.multi_reference.estimate.threshold[&two].micro, 0.5, 0.5, 0.5);
        check(evaluation.multi_reference.estimate.threshold[&three].micro, 0.0, 0.0, 0.0);
        assert_eq!(evaluation.full.bounds, None);
    }

    #[test]
    fn empty_answer_costs_recall_and_leaves_precision() {
        let paragraphs = [paragraph(1, &[vec![4]], 1), paragraph(1, &[], 3)];
        let counted = evaluate(&paragraphs, EmptyAnswers::Count).full;
        check(counted.estimate.soft.micro, 1.0, 0.25, 0.4);
        check(counted.estimate.soft.r#macro, 1.0, 0.5, 0.5);
        assert_eq!(counted.coverage.paragraphs.n_evaluated, 2);
        let skipped = evaluate(&paragraphs, EmptyAnswers::Skip).full;
        check(skipped.estimate.soft.micro, 1.0, 1.0, 1.0);
        assert_eq!(skipped.coverage.paragraphs.n_evaluated, 1);
        assert_eq!(skipped.coverage.paragraphs.n_empty_answers, 1);
    }

    #[test]
    fn subset_without_units_has_no_figure() {
        let evaluation = evaluate(&[paragraph(1, &[vec![4]], 1)], EmptyAnswers::Count);
        let none = PrecisionRecall { precision: None, recall: None, f1: None };
        assert_eq!(evaluation.multi_reference.estimate.soft.micro, none);
        assert_eq!(evaluation.multi_reference.estimate.soft.r#macro, none);
        assert_eq!(evaluation.multi_reference.estimate.n_paragraphs, 0);
    }

    #[test]
    fn paragraph_without_gold_is_left_out_and_counted() {
        let paragraphs = [paragraph(1, &[vec![4]], 1), paragraph(1, &[vec![], vec![]], 0)];
        let full = evaluate(&paragraphs, EmptyAnswers::Count).full;
        check(full.estimate.soft.micro, 1.0, 1.0, 1.0);
        assert_eq!(full.coverage.paragraphs.n_without_gold, 1);
        assert_eq!(full.bounds, None);
    }

    #[test]
    fn unscored_pair_is_bounded_by_nothing_and_by_four() {
        let paragraphs = [paragraph(1, &[vec![2]], 1), paragraph(2, &[vec![9, 2]], 2)];
        let full = evaluate(&paragraphs, EmptyAnswers::Count).full;
        check(full.estimate.soft.micro, 0.5, 0.5, 0.5);
        let bounds = full.bounds.unwrap();
        check(bounds.lower.soft.micro, 4.0 / 8.0, 4.0 / 12.0, 0.4);
        check(bounds.upper.soft.micro, 6.0 / 8.0, 6.0 / 12.0, 0.6);
        assert_eq!(full.coverage.pairs, PairCoverage { n_total: 3, n_scored: 2, n_unscored: 1 });
        assert_eq!(full.coverage.paragraphs.n_with_unscored_pairs, 1);
    }

    #[test]
    fn failed_paragraph_is_bounded_by_an_empty_and_a_perfect_answer() {
        for empty_answers in [EmptyAnswers::Count, EmptyAnswers::Skip] {
            let full = evaluate(&[paragraph(1, &[vec![2]], 1), failed(1)], empty_answers).full;
            check(full.estimate.soft.micro, 0.5, 0.5, 0.5);
            let bounds = full.bounds.unwrap();
            check(bounds.lower.soft.micro, 0.5, 0.25, 1.0 / 3.0);
            check(bounds.upper.soft.micro, 0.75, 0.75, 0.75);
            assert_eq!(full.coverage.paragraphs.n_failed, 1);
        }
    }

    fn any_paragraph() -> impl Strategy<Value = Paragraph> {
        let rated = (0usize..4, 0usize..4).prop_flat_map(|(n_generated, n_gold)| {
            let rows =
                proptest::collection::vec(proptest::collection::vec(0u8..6, n_gold), n_generated);
            rows.prop_map(move |rows| paragraph(n_gold, &rows, n_gold))
        });
        prop_oneof![4 => rated, 1 => (1usize..4).prop_map(failed)]
    }

    proptest! {
        #[test]
        fn bounds_are_in_order_and_paragraphs_add_up(
            paragraphs in proptest::collection::vec(any_paragraph(), 0..8),
            skip in any::<bool>(),
        ) {
            let empty = if skip { EmptyAnswers::Skip } else { EmptyAnswers::Count };
            let evaluation = evaluate(&paragraphs, empty);
            for (_, subset) in evaluation.subsets() {
                let count = subset.coverage.paragraphs;
                let skipped = if skip { count.n_empty_answers } else { 0 };
                prop_assert_eq!(
                    count.n_total,
                    count.n_evaluated + count.n_with_unscored_pairs + count.n_failed
                        + count.n_without_gold + skipped
                );
                prop_assert_eq!(subset.estimate.n_paragraphs, count.n_evaluated);
                let Some(bounds) = &subset.bounds else { continue };
                let figures = |measures: &crate::metrics::Measures| {
                    let mut all = vec![measures.soft];
                    all.extend(measures.threshold.values().copied());
                    all.into_iter().flat_map(|averages| [averages.micro, averages.r#macro])
                        .flat_map(|figures| [figures.precision, figures.recall, figures.f1])
                        .collect::<Vec<_>>()
                };
                for (lower, upper) in figures(&bounds.lower).into_iter().zip(figures(&bounds.upper)) {
                    prop_assert!(lower.is_none_or(|lower| lower <= upper.unwrap() + 1e-12));
                }
            }
            let json = serde_json::to_string(&evaluation).unwrap();
            prop_assert_eq!(serde_json::from_str::<Evaluation>(&json).unwrap(), evaluation);
        }
    }
}
