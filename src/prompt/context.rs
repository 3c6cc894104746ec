//! As much of the essay as a prompt may hold.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::TokenCounter;

/// What joins the paragraphs of a context, as in the public release.
const SEPARATOR: &str = "\n";

/// The most that a prompt may hold, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The context and the prompt without context, paragraph or rubric: the
    /// release's rule (section 2 of the paper).
    pub context_and_empty_prompt: usize,
    /// Everything: context, empty prompt, target paragraph and rubric.
    pub prompt: usize,
}

/// The lengths of the paragraphs of a draft, counted once and shared by all its
/// targets.
///
/// A context's tokens are taken to be the sum over its paragraphs, each counted
/// with the line break that follows it. The sum differs from a count of the
/// joined text only where a tokenizer merges over a line break or treats the
/// start of a text in its own way, by a token or so a paragraph; presets keep
/// 64 tokens of the window free for this and for the chat template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftTokens {
    /// Sums of tokens over the paragraphs before the one with this index, so
    /// one entry more than there are paragraphs.
    token_sums: Vec<usize>,
    /// The same for words.
    word_sums: Vec<usize>,
}

impl DraftTokens {
    /// Counts the tokens and the words (split at white space) of each paragraph.
    pub fn count(paragraphs: &[&str], counter: &dyn TokenCounter) -> Self {
        let tokens = paragraphs.iter().map(|text| counter.count(&format!("{text}{SEPARATOR}")));
        let words = paragraphs.iter().map(|text| text.split_whitespace().count());
        Self { token_sums: sums(tokens), word_sums: sums(words) }
    }

    /// The number of paragraphs.
    pub fn n_paragraphs(&self) -> usize {
        self.token_sums.len() - 1
    }

    /// The tokens of the paragraphs in `range`.
    pub fn n_tokens(&self, range: Range<usize>) -> usize {
        self.token_sums[range.end] - self.token_sums[range.start]
    }

    fn n_words(&self, range: Range<usize>) -> usize {
        self.word_sums[range.end] - self.word_sums[range.start]
    }
}

fn sums(counts: impl Iterator<Item = usize>) -> Vec<usize> {
    let rest = counts.scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    std::iter::once(0).chain(rest).collect()
}

/// The part of an essay that goes into a prompt: some paragraphs in a row, the
/// target among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedContext {
    /// The indexes of the paragraphs that stay.
    pub kept: Range<usize>,
    /// What this did to the essay.
    pub used: ContextUse,
}

impl FittedContext {
    /// The text of the context. `paragraphs` are those that were counted.
    pub fn text(&self, paragraphs: &[&str]) -> String {
        paragraphs[self.kept.clone()].join(SEPARATOR).trim().to_owned()
    }
}

/// How much of an essay a prompt held, as records state it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextUse {
    /// The tokens of the context that stayed.
    pub n_tokens: usize,
    /// The indexes of the paragraphs that were dropped, rising.
    pub dropped_paragraphs: Vec<usize>,
    /// The tokens of those paragraphs.
    pub n_dropped_tokens: usize,
}

/// Drops whole paragraphs from the ends of a draft until the prompt of one
/// target keeps to the budget.
///
/// While over budget, the outermost paragraph goes on that side of the target,
/// before or after, which holds more words. Where both hold as many, one goes
/// from after the target, or from before it if there is none after: the ties of
/// the public release. The target itself is never dropped.
///
/// `n_empty_tokens` are those of the prompt without context, target and rubric,
/// `n_rubric_tokens` those of the rubric.
///
/// # Errors
///
/// If the target alone is over budget.
///
/// # Panics
///
/// If the draft has no paragraph `target`.
pub fn fit(
    tokens: &DraftTokens,
    target: usize,
    prompt: FixedTokens,
    budget: Budget,
) -> Result<FittedContext, ContextError> {
    let n_paragraphs = tokens.n_paragraphs();
    let n_target = tokens.n_tokens(target..target + 1);
    let excess = |kept: &Range<usize>| {
        let n_base = tokens.n_tokens(kept.clone()) + prompt.n_empty_tokens;
        let n_all = n_base + n_target + prompt.n_rubric_tokens;
        if budget.context_and_empty_prompt < n_base {
            Some((n_base, budget.context_and_empty_prompt))
        } else if budget.prompt < n_all {
            Some((n_all, budget.prompt))
        } else {
            None
        }
    };
    let mut kept = 0..n_paragraphs;
    while let Some((n_tokens, n_allowed)) = excess(&kept) {
        let before = kept.start..target;
        let after = target + 1..kept.end;
        if before.is_empty() && after.is_empty() {
            return Err(ContextError::TargetTooLong { paragraph: target, n_tokens, n_allowed });
        }
        let more_before = tokens.n_words(after.clone()) < tokens.n_words(before.clone());
        if !before.is_empty() && (more_before || after.is_empty()) {
            kept.start += 1;
        } else {
            kept.end -= 1;
        }
    }
    let dropped_paragraphs: Vec<usize> = (0..kept.start).chain(kept.end..n_paragraphs).collect();
    let n_tokens = tokens.n_tokens(kept.clone());
    let n_dropped_tokens = tokens.n_tokens(0..n_paragraphs) - n_tokens;
    Ok(FittedContext { kept, used: ContextUse { n_tokens, dropped_paragraphs, n_dropped_tokens } })
}

/// The tokens of a prompt that do not depend on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedTokens {
    /// Those of the prompt without context, paragraph and rubric.
    pub n_empty_tokens: usize,
    /// Those of the rubric; zero where none is given.
    pub n_rubric_tokens: usize,
}

/// Why no context fits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// Even without any other paragraph the prompt is too long.
    #[error(
        "paragraph {paragraph} alone makes a prompt of {n_tokens} tokens where {n_allowed} are \
         allowed: take a model with a longer context, fewer new tokens, or a shorter prompt \
         (zero shots, no rubric)"
    )]
    TargetTooLong {
        /// The index of the paragraph.
        paragraph: usize,
        /// The tokens that the bound in question counts.
        n_tokens: usize,
        /// The tokens that it allows.
        n_allowed: usize,
    },
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One token a word, and one for the line break.
    struct Words;

    impl TokenCounter for Words {
        fn count(&self, text: &str) -> usize {
            text.split_whitespace().count() + text.matches('\n').count()
        }

        fn context_length(&self) -> usize {
            1_000
        }
    }

    fn essay(n_words: &[usize]) -> Vec<String> {
        n_words.iter().map(|&n| vec!["word"; n].join(" ")).collect()
    }

    fn check(
        n_words: &[usize],
        target: usize,
        budget: usize,
    ) -> Result<Range<usize>, ContextError> {
        let essay = essay(n_words);
        let paragraphs: Vec<&str> = essay.iter().map(String::as_str).collect();
        let tokens = DraftTokens::count(&paragraphs, &Words);
        let budget = Budget { context_and_empty_prompt: budget, prompt: usize::MAX };
        let prompt = FixedTokens { n_empty_tokens: 10, n_rubric_tokens: 0 };
        fit(&tokens, target, prompt, budget).map(|fitted| fitted.kept)
    }

    #[test]
    fn the_side_with_more_words_loses_its_outermost_paragraph() {
        assert_eq!(check(&[5, 5, 5, 5], 1, 34), Ok(0..4));
        assert_eq!(check(&[5, 5, 5, 5], 1, 33), Ok(0..3));
        assert_eq!(check(&[9, 1, 5, 2, 3], 2, 34), Ok(1..5));
    }

    #[test]
    fn a_tie_costs_the_side_after_the_target() {
        assert_eq!(check(&[5, 5, 5], 1, 27), Ok(0..2));
        assert_eq!(check(&[0, 5], 1, 16), Ok(1..2));
    }

    #[test]
    fn a_target_that_alone_is_too_long_is_an_error_with_the_numbers() {
        assert_eq!(
            check(&[5, 50, 5], 1, 60),
            Err(ContextError::TargetTooLong { paragraph: 1, n_tokens: 61, n_allowed: 60 })
        );
        assert_eq!(check(&[5, 50, 5], 1, 61), Ok(1..2));
    }

    #[test]
    fn the_window_binds_target_and_rubric_too() {
        let essay = essay(&[5, 5, 5]);
        let paragraphs: Vec<&str> = essay.iter().map(String::as_str).collect();
        let tokens = DraftTokens::count(&paragraphs, &Words);
        let prompt = FixedTokens { n_empty_tokens: 10, n_rubric_tokens: 20 };
        // 18 for the context, 10 for the prompt, 6 for the target, 20 for the rubric.
        let budget = |prompt| Budget { context_and_empty_prompt: 1_000, prompt };
        let kept = |n| fit(&tokens, 1, prompt, budget(n)).unwrap();
        assert_eq!(kept(54).kept, 0..3);
        let fitted = kept(53);
        assert_eq!(fitted.kept, 0..2);
        assert_eq!(
            fitted.used,
            ContextUse { n_tokens: 12, dropped_paragraphs: vec![2], n_dropped_tokens: 6 }
        );
        assert_eq!(fitted.text(&paragraphs).lines().count(), 2);
    }

    /// The loop of the public release, over text and with a count at each turn.
    fn release(paragraphs: &[&str], target: usize, budget: usize) -> Option<Range<usize>> {
        let mut kept = 0..paragraphs.len();
        loop {
            let n_tokens: usize =
                paragraphs[kept.clone()].iter().map(|p| Words.count(&format!("{p}\n"))).sum();
            if n_tokens + 10 <= budget {
                return Some(kept);
            }
            let words = |range: Range<usize>| -> usize {
                paragraphs[range].iter().map(|p| p.split_whitespace().count()).sum()
            };
            let before = words(kept.start..target);
            let after = words(target + 1..kept.end);
            if before > after && target > kept.start {
                kept.start += 1;
            } else if kept.end - 1 > target {
                kept.end -= 1;
            } else if kept.start < target {
                kept.start += 1;
            } else {
                return None;
            }
        }
    }

    proptest! {
        #[test]
        fn trimming_drops_what_the_release_drops(
            n_words in prop::collection::vec(0_usize..12, 1..9),
            target in any::<prop::sample::Index>(),
            budget in 10_usize..80,
        ) {
            let target = target.index(n_words.len());
            let essay = essay(&n_words);
            let paragraphs: Vec<&str> = essay.iter().map(String::as_str).collect();
            let kept = check(&n_words, target, budget).ok();
            prop_assert_eq!(kept, release(&paragraphs, target, budget));
        }
    }
}
