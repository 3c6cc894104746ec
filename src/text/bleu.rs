//! BLEU: the geometric mean of word n-gram precisions, shortness punished.

use super::{mteval::tokenize, ngrams::overlap};

/// The longest n-gram that counts.
const MAX_ORDER: usize = 4;

/// BLEU (Papineni et al. 2002) of a hypothesis against a reference, from 0 to 100.
///
/// As `sacrebleu.sentence_bleu` has it by default: the `13a` tokenizer, case
/// kept, n-grams of order 1 to 4 or as far as the hypothesis has any ("effective
/// order"), and exponential smoothing: the k-th order without a match counts as
/// 1/2^k of a match. Where no token matches, as where a text is empty, it is 0.
pub fn bleu(hypothesis: &str, reference: &str) -> f64 {
    let (hypothesis, reference) = (tokenize(hypothesis), tokenize(reference));
    let hypothesis: Vec<&str> = hypothesis.split_whitespace().collect();
    let reference: Vec<&str> = reference.split_whitespace().collect();
    let (mut sum_of_logs, mut n_orders, mut smoothing) = (0.0, 0.0, 1.0);
    for order in 1..=MAX_ORDER {
        let n = overlap(&hypothesis, &reference, order);
        if order == 1 && n.matched == 0 {
            return 0.0;
        }
        if n.hypothesis == 0 {
            break;
        }
        let matched = if n.matched == 0 {
            smoothing *= 2.0;
            1.0 / smoothing
        } else {
            n.matched as f64
        };
        sum_of_logs += f64::ln(100.0 * matched / n.hypothesis as f64);
        n_orders += 1.0;
    }
    brevity_penalty(hypothesis.len(), reference.len()) * f64::exp(sum_of_logs / n_orders)
}

fn brevity_penalty(n_hypothesis: usize, n_reference: usize) -> f64 {
    if n_hypothesis < n_reference {
        f64::exp(1.0 - n_reference as f64 / n_hypothesis as f64)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_common_word_is_zero() {
        assert!(bleu("Nice work", "Expand here") == 0.0);
        assert!(bleu("", "Expand here") == 0.0);
        assert!(bleu("", "") == 0.0);
    }

    #[test]
    fn short_text_against_itself_is_a_hundred() {
        assert!((bleu("Nice work", "Nice work") - 100.0).abs() < 1e-9);
    }
}
