//! The tokens at each place of a text, and the windows of a text that is too long.

use std::ops::Range;

use super::{Place, places};
use crate::nn::{Reading, TextReader};

/// A text as the encoder reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct TextRows {
    /// The rows of tokens, with those that the model wants around them.
    pub rows: Vec<Vec<u32>>,
    /// The places where a unit may end.
    pub places: Vec<Place>,
    /// For each of them, where its states are.
    pub tokens: Vec<PlaceTokens>,
}

/// The tokens on both sides of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceTokens {
    /// The row in which the place is judged.
    pub row: usize,
    /// In that row, the first token of the word after the place.
    pub first: usize,
    /// In that row, the last token of the word before the place.
    pub last: usize,
    /// In that row, the tokens of what stands on the left; never none.
    pub left: Range<usize>,
    /// In that row, the tokens of what stands on the right; never none.
    pub right: Range<usize>,
}

/// Reads a text. One longer than the encoder's window is read in windows that overlap by
/// half, and each place is judged in that in which it stands nearest the middle.
pub fn text_rows(reader: &TextReader, text: &str) -> Result<TextRows, String> {
    let places = places(text);
    let Reading { ids, offsets } = reader.read(text)?;
    let windows = overlapping(ids.len(), reader.window());
    let n_before = reader.n_before();
    let tokens = places.iter().map(|place| {
        let (last, first) = (token(&offsets, &place.before), token(&offsets, &place.after));
        // A word without a token is read where the row begins.
        let (last, first) = (last.map(|range| range.end - 1), first.map(|range| range.start));
        let middle = first.or(last).unwrap_or(0);
        let row = nearest(&windows, middle);
        let within = |token: Option<usize>| match token {
            Some(token) if windows[row].contains(&token) => token - windows[row].start + n_before,
            _ => 0,
        };
        let side = |bytes: &Range<usize>| {
            let window = &windows[row];
            let side = token(&offsets, bytes).unwrap_or(0..0);
            let (start, end) = (side.start.max(window.start), side.end.min(window.end));
            // What has no token here is read where the row begins.
            if start < end {
                start - window.start + n_before..end - window.start + n_before
            } else {
                0..1
            }
        };
        PlaceTokens {
            row,
            first: within(first),
            last: within(last),
            left: side(&place.left),
            right: side(&place.right),
        }
    });
    let tokens = tokens.collect();
    let rows = windows.iter().map(|window| reader.around(&ids[window.clone()])).collect();
    Ok(TextRows { rows, places, tokens })
}

/// The window with the token nearest to its middle, the first of two. Windows rise, so
/// that a text of many places and windows is not gone through for each place.
fn nearest(windows: &[Range<usize>], token: usize) -> usize {
    let middle = |row: usize| windows[row].start + windows[row].end;
    let after = windows.partition_point(|window| window.start + window.end < 2 * token);
    match after.checked_sub(1) {
        Some(before) if after == windows.len() => before,
        Some(before) if 2 * token - middle(before) <= middle(after) - 2 * token => before,
        _ => after,
    }
}

/// The tokens that overlap some bytes, if any do.
fn token(offsets: &[(usize, usize)], word: &Range<usize>) -> Option<Range<usize>> {
    let start = offsets.partition_point(|(_, end)| *end <= word.start);
    let end = offsets.partition_point(|(start, _)| *start < word.end);
    (start < end).then_some(start..end)
}

/// Windows of at most `window` tokens that cover all and overlap by about half.
fn overlapping(n_tokens: usize, window: usize) -> Vec<Range<usize>> {
    if n_tokens <= window {
        return std::iter::once(0..n_tokens).collect();
    }
    let step = (window / 2).max(1);
    let n_windows = (n_tokens - window).div_ceil(step) + 1;
    let start = |index: usize| (n_tokens - window) * index / (n_windows - 1);
    (0..n_windows).map(|index| start(index)..start(index) + window).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn windows_cover_all_and_overlap(n_tokens in 0_usize..3000, window in 2_usize..300) {
            let windows = overlapping(n_tokens, window);
            prop_assert_eq!(windows[0].start, 0);
            prop_assert_eq!(windows[windows.len() - 1].end, n_tokens);
            for pair in windows.windows(2) {
                prop_assert!(pair[0].start < pair[1].start);
                prop_assert!(pair[1].start <= pair[0].start + window / 2);
            }
            prop_assert!(windows.iter().all(|range| range.len() <= window));
            for token in (0..n_tokens).step_by(7) {
                let distance = |window: &Range<usize>| {
                    (window.start + window.end).abs_diff(2 * token)
                };
                let first = (0..windows.len()).min_by_key(|row| distance(&windows[*row]));
                prop_assert_eq!(Some(nearest(&windows, token)), first);
            }
        }
    }
}
