//! Ratings from shared characters or words: chrF and BLEU.

use super::{Rating, ScoreError, Scorer, UnitPair, of_worded};
use crate::text::{bleu, chrf};

/// Rates a pair by a measure of machine translation: its value from 0 to 100,
/// divided by 25.
///
/// Not symmetric: the generated unit is the hypothesis, the gold unit the
/// reference. The ratings are on the scale but not calibrated to it: two units
/// that make the same point in other words rate low.
pub struct LexicalScorer {
    measure: LexicalMeasure,
}

/// What a [`LexicalScorer`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexicalMeasure {
    /// An F-score over character n-grams.
    Chrf,
    /// The precision of word n-grams.
    Bleu,
}

impl LexicalMeasure {
    /// The measure of each pair, from 0 to 100, in order. A pair with a unit that holds no
    /// word has none.
    pub fn of(self, pairs: &[UnitPair<'_>]) -> Vec<Result<f64, ScoreError>> {
        let of = |pair: &UnitPair<'_>| match self {
            Self::Chrf => chrf(pair.generated, pair.gold),
            Self::Bleu => bleu(pair.generated, pair.gold),
        };
        of_worded(pairs, |pairs| pairs.iter().map(|pair| Ok(of(pair))).collect())
    }
}

impl LexicalScorer {
    /// Rates by chrF.
    pub fn chrf() -> Self {
        Self { measure: LexicalMeasure::Chrf }
    }

    /// Rates by BLEU.
    pub fn bleu() -> Self {
        Self { measure: LexicalMeasure::Bleu }
    }

    fn rate(&self, measured: f64) -> Result<Rating, ScoreError> {
        let value = measured / 100.0 * Rating::MAX;
        // Equal texts may come out above the top by a rounding.
        Rating::new(value.min(Rating::MAX))
            .ok_or_else(|| ScoreError::Model(format!("{} gave {value}", self.id())))
    }
}

impl Scorer for LexicalScorer {
    fn id(&self) -> &str {
        match self.measure {
            LexicalMeasure::Chrf => "lexical:chrf",
            LexicalMeasure::Bleu => "lexical:bleu",
        }
    }

    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>> {
        self.measure.of(pairs).into_iter().map(|measured| self.rate(measured?)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(scorer: &LexicalScorer, generated: &str, gold: &str) -> f64 {
        let ratings = scorer.score(&[UnitPair { generated, gold }]);
        ratings.into_iter().next().unwrap().unwrap().get()
    }

    #[test]
    fn equal_units_rate_at_the_top_and_unlike_ones_at_the_bottom() {
        for scorer in [LexicalScorer::chrf(), LexicalScorer::bleu()] {
            let unit = "Name the system, and say who runs it today.";
            assert!((rate(&scorer, unit, unit) - Rating::MAX).abs() < 1e-9, "{}", scorer.id());
            assert!(rate(&scorer, "bbb", "Who is Alex?") < 1e-9, "{}", scorer.id());
        }
    }

    #[test]
    fn a_unit_without_a_word_has_no_rating() {
        for scorer in [LexicalScorer::chrf(), LexicalScorer::bleu()] {
            let pair = |generated, gold| UnitPair { generated, gold };
            let pairs = [pair("", "Who is Alex?"), pair("...", "..."), pair("Who?", "Who?")];
            let rated = scorer.score(&pairs);
            assert!(matches!(rated[..], [Err(_), Err(_), Ok(_)]), "{}: {rated:?}", scorer.id());
        }
    }

    #[test]
    fn the_gold_unit_is_the_reference() {
        let scorer = LexicalScorer::chrf();
        let (short, long) = ("Who is Alex?", "Who is Alex? He comes from nowhere in line two.");
        assert!(rate(&scorer, short, long) < rate(&scorer, long, short));
    }
}
