//! N-grams that two sequences share.

use std::cmp::Ordering;

/// How many n-grams of one order two sequences have, and have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overlap {
    /// N-grams of the hypothesis.
    pub(super) hypothesis: usize,
    /// N-grams of the reference.
    pub(super) reference: usize,
    /// N-grams in common, each as often as it stands in both.
    pub(super) matched: usize,
}

/// Counts the n-grams of length `order`.
pub(super) fn overlap<T: Ord>(hypothesis: &[T], reference: &[T], order: usize) -> Overlap {
    let ours = sorted(hypothesis, order);
    let theirs = sorted(reference, order);
    let mut matched = 0;
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (ours.get(i), theirs.get(j)) {
        match a.cmp(b) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => (matched, i, j) = (matched + 1, i + 1, j + 1),
        }
    }
    Overlap { hypothesis: ours.len(), reference: theirs.len(), matched }
}

fn sorted<T: Ord>(items: &[T], order: usize) -> Vec<&[T]> {
    let mut ngrams: Vec<&[T]> = items.windows(order).collect();
    ngrams.sort_unstable();
    ngrams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_ngram_matches_as_often_as_it_stands_in_both() {
        let counts = overlap(b"aaab", b"aab", 2);
        assert_eq!(counts, Overlap { hypothesis: 3, reference: 2, matched: 2 });
        let counts = overlap(b"ab", b"abc", 3);
        assert_eq!(counts, Overlap { hypothesis: 0, reference: 1, matched: 0 });
    }
}
