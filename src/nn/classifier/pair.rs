//! A pair of texts as a model reads it, by the template of its own tokenizer.

use tokenizers::Tokenizer;

use crate::nn::encoder::windows;

/// The tokens before, between and after the two texts of a pair.
#[derive(Debug)]
pub(super) struct PairFrame {
    before: Vec<u32>,
    between: Vec<u32>,
    after: Vec<u32>,
    /// How many of those between are of the first type.
    n_between_first: usize,
    /// Whether the second text is of a type of its own.
    has_types: bool,
}

/// The tokens of a pair.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PairRow {
    pub(super) ids: Vec<u32>,
    pub(super) n_of_first_type: usize,
}

impl PairFrame {
    /// Finds what the tokenizer puts around and between two texts. Types are left out
    /// where the model has none, or gets none.
    pub(super) fn of(tokenizer: &Tokenizer, has_types: bool) -> Result<Self, String> {
        let encoding = tokenizer.encode(("a", "a"), true).map_err(|error| error.to_string())?;
        let (ids, types) = (encoding.get_ids(), encoding.get_type_ids());
        let texts = encoding.get_sequence_ids();
        let places = |text: usize| {
            let first = texts.iter().position(|found| *found == Some(text));
            let last = texts.iter().rposition(|found| *found == Some(text));
            first.zip(last).map(|(first, last)| first..last + 1)
        };
        let (Some(first), Some(second)) = (places(0), places(1)) else {
            return Err("its template puts no two texts together".to_owned());
        };
        let n_first = types.iter().take_while(|kind| **kind == 0).count();
        let is_plain = types[n_first..].iter().all(|kind| *kind == 1);
        let splits_between = (first.end..=second.start).contains(&n_first);
        let has_types = has_types && n_first < types.len();
        if second.start < first.end {
            return Err("its template puts no two texts together".to_owned());
        }
        if has_types && !(is_plain && splits_between) {
            return Err("its template gives the texts of a pair types that are not read".to_owned());
        }
        Ok(Self {
            before: ids[..first.start].to_vec(),
            between: ids[first.end..second.start].to_vec(),
            after: ids[second.end..].to_vec(),
            n_between_first: n_first.saturating_sub(first.end),
            has_types,
        })
    }

    /// The number of tokens that are of neither text.
    pub(super) fn n_tokens(&self) -> usize {
        self.before.len() + self.between.len() + self.after.len()
    }

    fn row(&self, first: &[u32], second: &[u32]) -> PairRow {
        let ids = [&self.before, first, &self.between, second, &self.after].concat();
        let n_first = self.before.len() + first.len() + self.n_between_first;
        PairRow { n_of_first_type: if self.has_types { n_first } else { ids.len() }, ids }
    }

    /// The rows of a pair, of at most `max_tokens` each. One that does not fit is read
    /// in several: the longer text in the fewest windows that fit beside the shorter; if
    /// both are longer than half the room, every window of one with every window of the
    /// other.
    ///
    /// `max_tokens` leaves room for two tokens at least.
    pub(super) fn rows(&self, first: &[u32], second: &[u32], max_tokens: usize) -> Vec<PairRow> {
        let room = max_tokens - self.n_tokens();
        let (mut first_room, mut second_room) = (first.len().max(1), second.len().max(1));
        if room < first_room + second_room {
            let half = room / 2;
            match (first.len() <= half, second.len() <= half) {
                (true, _) => second_room = room - first_room,
                (_, true) => first_room = room - second_room,
                _ => (first_room, second_room) = (half, half),
            }
        }
        let mut rows = Vec::new();
        for first_window in windows(first.len(), first_room) {
            for second_window in windows(second.len(), second_room) {
                rows.push(self.row(&first[first_window.clone()], &second[second_window]));
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame() -> PairFrame {
        PairFrame {
            before: vec![101],
            between: vec![102],
            after: vec![103],
            n_between_first: 1,
            has_types: true,
        }
    }

    #[test]
    fn a_pair_that_fits_is_one_row() {
        let rows = frame().rows(&[1, 2], &[3], 6);
        assert_eq!(rows, [PairRow { ids: vec![101, 1, 2, 102, 3, 103], n_of_first_type: 4 }]);
    }

    #[test]
    fn the_longer_text_is_read_in_windows_beside_the_shorter() {
        let ids = |rows: Vec<PairRow>| rows.into_iter().map(|row| row.ids).collect::<Vec<_>>();
        let rows = ids(frame().rows(&[1, 2, 3, 4, 5], &[9], 6));
        assert_eq!(
            rows,
            [vec![101, 1, 102, 9, 103], vec![101, 2, 3, 102, 9, 103], vec![101, 4, 5, 102, 9, 103]]
        );
        assert_eq!(ids(frame().rows(&[1, 2, 3], &[7, 8, 9], 7)).len(), 4);
    }

    proptest! {
        #[test]
        fn no_token_is_lost_and_no_row_too_long(
            n_first in 0_u32..90, n_second in 0_u32..90, max_tokens in 5_usize..40
        ) {
            let first: Vec<u32> = (0..n_first).collect();
            let second: Vec<u32> = (200..200 + n_second).collect();
            let rows = frame().rows(&first, &second, max_tokens);
            let seen: std::collections::BTreeSet<u32> =
                rows.iter().flat_map(|row| row.ids.iter().copied()).collect();
            prop_assert!(first.iter().chain(&second).all(|id| seen.contains(id)));
            prop_assert!(rows.iter().all(|row| row.ids.len() <= max_tokens));
        }
    }
}
