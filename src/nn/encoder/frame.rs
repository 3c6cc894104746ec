//! The tokens around a text, and the windows of a text that is too long.

use std::ops::Range;

use tokenizers::Tokenizer;

/// The tokens that a model wants before and after every text.
pub(in crate::nn) struct Frame {
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Frame {
    /// Finds what the tokenizer puts around a text.
    pub(in crate::nn) fn of(tokenizer: &Tokenizer) -> tokenizers::Result<Self> {
        let encoding = tokenizer.encode_fast("a", true)?;
        let (ids, special) = (encoding.get_ids(), encoding.get_special_tokens_mask());
        let n_before = special.iter().take_while(|&&is_special| is_special == 1).count();
        let n_after = special.iter().rev().take_while(|&&is_special| is_special == 1).count();
        if ids.len() <= n_before + n_after {
            return Err("it makes no token of the letter a".into());
        }
        let (before, after) = (ids[..n_before].to_vec(), ids[ids.len() - n_after..].to_vec());
        Ok(Self { before, after })
    }

    /// The number of tokens before every text.
    pub(in crate::nn) fn n_before(&self) -> usize {
        self.before.len()
    }

    /// The number of tokens around every text.
    pub(in crate::nn) fn n_tokens(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Of a row of so many tokens, which are of the text itself.
    pub(in crate::nn) fn is_own(&self, n_tokens: usize) -> impl Iterator<Item = bool> {
        let own = self.before.len()..n_tokens - self.after.len();
        (0..n_tokens).map(move |at| own.contains(&at))
    }

    /// Tokens with those around them.
    pub(in crate::nn) fn around(&self, ids: &[u32]) -> Vec<u32> {
        [&self.before, ids, &self.after].concat()
    }
}

/// Cuts `n_tokens` into the fewest windows of at most `max_tokens`, equal but for
/// one token, in order. No tokens are one empty window.
pub(in crate::nn) fn windows(n_tokens: usize, max_tokens: usize) -> Vec<Range<usize>> {
    let n_windows = n_tokens.div_ceil(max_tokens).max(1);
    let bound = |index: usize| n_tokens * index / n_windows;
    (0..n_windows).map(|index| bound(index)..bound(index + 1)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_tokens_are_one_empty_window() {
        let bounds = |n_tokens| -> Vec<(usize, usize)> {
            windows(n_tokens, 254).into_iter().map(|window| (window.start, window.end)).collect()
        };
        assert_eq!(bounds(0), [(0, 0)]);
        assert_eq!(bounds(254), [(0, 254)]);
        assert_eq!(bounds(255), [(0, 127), (127, 255)]);
    }

    proptest! {
        #[test]
        fn windows_touch_and_cover_and_differ_by_one_token(n_tokens in 0_usize..2000, max_tokens in 1_usize..300) {
            let windows = windows(n_tokens, max_tokens);
            let lengths: Vec<usize> = windows.iter().map(ExactSizeIterator::len).collect();
            let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
            prop_assert!(*most <= max_tokens && most - least <= 1);
            prop_assert_eq!(lengths.iter().sum::<usize>(), n_tokens);
            prop_assert!(windows.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }
}
