//! chrF: an F-score over character n-grams.

use super::{ngrams::overlap, white_space::is_white_space};

/// The longest n-gram that counts.
const MAX_ORDER: usize = 6;

/// Recall counts this much more than precision.
const BETA: f64 = 2.0;

/// chrF (Popović 2015) of a hypothesis against a reference, from 0 to 100.
///
/// As `sacrebleu.sentence_chrf` has it by default: character n-grams of order 1
/// to 6 without white space, case kept, beta 2, the mean of precision and of
/// recall taken over the orders that both texts have n-grams of. Without such an
/// order, as where a text is empty, it is 0.
pub fn chrf(hypothesis: &str, reference: &str) -> f64 {
    let hypothesis = characters(hypothesis);
    let reference = characters(reference);
    let (mut precision, mut recall, mut n_orders) = (0.0, 0.0, 0.0);
    for order in 1..=MAX_ORDER {
        let n = overlap(&hypothesis, &reference, order);
        if n.hypothesis == 0 || n.reference == 0 {
            break;
        }
        precision += n.matched as f64 / n.hypothesis as f64;
        recall += n.matched as f64 / n.reference as f64;
        n_orders += 1.0;
    }
    if precision + recall == 0.0 {
        return 0.0;
    }
    let (precision, recall) = (precision / n_orders, recall / n_orders);
    let factor = BETA * BETA;
    100.0 * (1.0 + factor) * precision * recall / (factor * precision + recall)
}

fn characters(text: &str) -> Vec<char> {
    text.chars().filter(|&ch| !is_white_space(ch)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_text_shares_nothing() {
        assert!(chrf("", "") == 0.0);
        assert!(chrf(" \u{1f}", "a") == 0.0);
    }

    #[test]
    fn text_against_itself_is_a_hundred() {
        assert!((chrf("Who is Alex?", "Who  is Alex?") - 100.0).abs() < 1e-12);
    }
}
