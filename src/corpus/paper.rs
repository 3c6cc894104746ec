//! What the paper says of its corpus.

use super::Amount;

/// A figure that the paper states of the public release of SEFORA.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperFigure {
    /// The key of the [`Figure`](super::Figure) that counts the same.
    pub key: &'static str,
    /// The number.
    pub amount: Amount,
    /// As it is printed.
    pub stated: &'static str,
    /// The unit to which it is rounded.
    unit: f64,
}

impl PaperFigure {
    /// What the paper states for the figure of this key.
    pub fn of(key: &str) -> Option<&'static Self> {
        PAPER.iter().find(|figure| figure.key == key)
    }

    /// Whether a count, rounded like this figure, is the same.
    pub fn agrees_with(&self, amount: Amount) -> bool {
        let difference = (amount.value() / self.unit).round() * self.unit - self.amount.value();
        difference.abs() < self.unit / 2.0
    }
}

const PAPER: [PaperFigure; 9] = [
    count("drafts.total", 564, "564"),
    count("students.total", 155, "155"),
    count("paragraphs.total", 8_186, "8,186"),
    count("paragraphs.annotated", 3_499, "3,499"),
    count("paragraphs.with_one_annotation", 2_324, "2,324"),
    count("annotations.total", 5_684, "5,684"),
    PaperFigure {
        key: "words.feedback",
        amount: Amount::Count(136_400),
        stated: "136.4K",
        unit: 100.0,
    },
    mean("words.inline_per_draft", 147.0, "147"),
    mean("words.overall_per_draft", 95.0, "95"),
];

const fn count(key: &'static str, count: usize, stated: &'static str) -> PaperFigure {
    PaperFigure { key, amount: Amount::Count(count), stated, unit: 1.0 }
}

const fn mean(key: &'static str, mean: f64, stated: &'static str) -> PaperFigure {
    PaperFigure { key, amount: Amount::Mean(mean), stated, unit: 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_agrees_with_a_rounded_figure_if_it_rounds_to_it() {
        let words = PaperFigure::of("words.feedback").unwrap();
        assert!(words.agrees_with(Amount::Count(136_449)));
        assert!(!words.agrees_with(Amount::Count(136_450)));
        let mean = PaperFigure::of("words.inline_per_draft").unwrap();
        assert!(mean.agrees_with(Amount::Mean(146.5)));
        assert!(!mean.agrees_with(Amount::Mean(147.5)));
    }
}
