//! What figures are sums of, paragraph by paragraph.

use super::{Figure, Measure};
use crate::{
    experiment::{FinishedRun, ParagraphResult},
    matching::{AlignmentKind, CompleteScores, Covered, covered, covered_at},
    metrics::EmptyAnswers,
    similarity::{Rating, ScoreMatrix},
};

/// The counts of one paragraph in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// What is matched of the generated units: soft, the sum of ratings over four.
    pub matched_generated: f64,
    /// What is matched of the gold units: the same unless many may share one.
    pub matched_gold: f64,
    /// Generated units.
    pub n_generated: f64,
    /// Gold units.
    pub n_gold: f64,
}

impl Counts {
    /// The figure of these counts, where it has a value: nothing over nothing has none.
    pub fn figure(&self, figure: Figure) -> Option<f64> {
        let (above, below) = self.ratio(figure);
        (0.0 < below).then(|| above / below)
    }

    /// What the figure is a ratio of. Where many units may share one, F1 is that of both
    /// sides together, (Mp + Mg) / (P + G).
    pub fn ratio(&self, figure: Figure) -> (f64, f64) {
        match figure {
            Figure::Precision => (self.matched_generated, self.n_generated),
            Figure::Recall => (self.matched_gold, self.n_gold),
            Figure::F1 => {
                (self.matched_generated + self.matched_gold, self.n_generated + self.n_gold)
            }
        }
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            matched_generated: sum.matched_generated + one.matched_generated,
            matched_gold: sum.matched_gold + one.matched_gold,
            n_generated: sum.n_generated + one.n_generated,
            n_gold: sum.n_gold + one.n_gold,
        })
    }
}

/// The paragraphs of a run that its figures are taken of.
#[derive(Clone, Debug)]
pub struct CountedRun<'a> {
    /// The paragraphs, in the order of the corpus.
    pub paragraphs: Vec<&'a ParagraphResult>,
    /// Their ratings.
    pub scores: Vec<CompleteScores>,
}

/// The paragraphs of a run that its estimate takes in: those where every pair has a rating
/// and there is a gold unit, and empty answers where the run counts those.
pub fn counted(run: &FinishedRun) -> CountedRun<'_> {
    let empty = run.results.evaluation.empty_answers;
    let mut found = CountedRun { paragraphs: Vec::new(), scores: Vec::new() };
    for paragraph in &run.paragraphs {
        let is_left_out = paragraph.failure.is_some()
            || paragraph.gold.is_empty()
            || (paragraph.generated.is_empty() && empty == EmptyAnswers::Skip);
        if let Some(scores) = complete(paragraph).filter(|_| !is_left_out) {
            found.paragraphs.push(paragraph);
            found.scores.push(scores);
        }
    }
    found
}

/// The ratings of a paragraph; `None` where one is missing or is none.
fn complete(paragraph: &ParagraphResult) -> Option<CompleteScores> {
    let rating = |row: usize, column: usize| {
        let value = *paragraph.ratings.get(row)?.get(column)?;
        Rating::new(value?)
    };
    let (n_generated, n_gold) = (paragraph.generated.len(), paragraph.gold.len());
    CompleteScores::of(&ScoreMatrix::from_fn(n_generated, n_gold, rating))
}

impl Counts {
    /// The counts of a paragraph by a measure and an alignment.
    pub fn of(scores: &CompleteScores, measure: Measure, kind: AlignmentKind) -> Self {
        let matched = match measure {
            Measure::Soft => {
                let Covered { generated, gold } = covered(scores, kind);
                Covered { generated: generated / Rating::MAX, gold: gold / Rating::MAX }
            }
            Measure::Threshold(threshold) => covered_at(scores, threshold, kind),
        };
        Self {
            matched_generated: matched.generated,
            matched_gold: matched.gold,
            n_generated: scores.n_generated() as f64,
            n_gold: scores.n_gold() as f64,
        }
    }
}
