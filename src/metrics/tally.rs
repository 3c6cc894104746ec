//! Sums and means over paragraphs.

use super::{Averages, Measures, ParagraphMetrics, PrecisionRecall};
use crate::{matching::Threshold, similarity::Rating};

/// Takes the figures of some paragraphs. The sums are taken in the order of the
/// paragraphs, which with ratings that are not integers may show in the last
/// digit.
pub(super) fn measures<'a>(
    paragraphs: impl Iterator<Item = &'a ParagraphMetrics> + Clone,
) -> Measures {
    let soft = averages(paragraphs.clone().map(|paragraph| {
        let most = |n_units| Rating::MAX * n_units as f64;
        Counts {
            matched: paragraph.total_rating,
            generated: most(paragraph.n_generated),
            gold: most(paragraph.n_gold),
        }
    }));
    let threshold = Threshold::ALL.map(|threshold| {
        let counts = paragraphs.clone().map(|paragraph| Counts {
            matched: paragraph.n_matched.get(&threshold).map_or(0.0, |&count| count as f64),
            generated: paragraph.n_generated as f64,
            gold: paragraph.n_gold as f64,
        });
        (threshold, averages(counts))
    });
    Measures {
        n_paragraphs: paragraphs.clone().count(),
        n_generated: paragraphs.clone().map(|paragraph| paragraph.n_generated).sum(),
        n_gold: paragraphs.map(|paragraph| paragraph.n_gold).sum(),
        soft,
        threshold: threshold.into(),
    }
}

/// What was matched on a paragraph, and of how much.
struct Counts {
    matched: f64,
    generated: f64,
    gold: f64,
}

fn averages(paragraphs: impl Iterator<Item = Counts>) -> Averages {
    let mut sum = Counts { matched: 0.0, generated: 0.0, gold: 0.0 };
    let [mut precision, mut recall, mut f1] = [Mean::default(); 3];
    for Counts { matched, generated, gold } in paragraphs {
        sum.matched += matched;
        sum.generated += generated;
        sum.gold += gold;
        let own = PrecisionRecall::of(matched, generated, gold);
        precision.add(own.precision);
        recall.add(own.recall);
        f1.add(own.f1);
    }
    Averages {
        micro: PrecisionRecall::of(sum.matched, sum.generated, sum.gold),
        r#macro: PrecisionRecall {
            precision: precision.value(),
            recall: recall.value(),
            f1: f1.value(),
        },
    }
}

/// The mean of the values that are there.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    n_values: usize,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.n_values += 1;
        }
    }

    fn value(self) -> Option<f64> {
        (0 < self.n_values).then(|| self.sum / self.n_values as f64)
    }
}
