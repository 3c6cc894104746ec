//! Pairs that say something: those of which both units hold a word.

use super::{ScoreError, UnitPair};
use crate::text::has_words;

/// What `rate` says of the pairs of which both units hold a letter or a digit, in order;
/// each other pair is [`ScoreError::Wordless`], and `rate` does not see it.
///
/// Every scorer but a judge asks through this. A vector of `...` or of an invisible mark
/// lies near those of short praise, and shared characters of an empty text are none: both
/// would be ratings of nothing.
pub fn of_worded<T>(
    pairs: &[UnitPair<'_>],
    rate: impl FnOnce(&[UnitPair<'_>]) -> Vec<Result<T, ScoreError>>,
) -> Vec<Result<T, ScoreError>> {
    let is_worded = |pair: &UnitPair<'_>| has_words(pair.generated) && has_words(pair.gold);
    let worded: Vec<UnitPair<'_>> = pairs.iter().copied().filter(is_worded).collect();
    if worded.len() == pairs.len() {
        return rate(pairs);
    }
    let mut rated = rate(&worded).into_iter();
    let too_few = || Err(ScoreError::Model("it rated too few pairs".to_owned()));
    pairs
        .iter()
        .map(|pair| {
            if is_worded(pair) {
                rated.next().unwrap_or_else(too_few)
            } else {
                Err(ScoreError::Wordless)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_without_a_word_are_errors_in_their_places_and_are_not_asked_about() {
        let pair = |generated, gold| UnitPair { generated, gold };
        let pairs = [
            pair("...", "Good."),
            pair("Why?", "Good."),
            pair("Good.", "\u{200f}"),
            pair("", ""),
            pair("2", "第二"),
        ];
        let said = of_worded(&pairs, |worded| {
            assert_eq!(worded, [pairs[1], pairs[4]]);
            vec![Ok(1), Err(ScoreError::Model("broken".to_owned()))]
        });
        let said: Vec<String> = said
            .into_iter()
            .map(|said| said.map_or_else(|error| error.to_string(), |said| said.to_string()))
            .collect();
        assert!(said[0].contains("no word in the unit"), "{said:?}");
        assert_eq!((said[1].as_str(), &said[2], &said[3]), ("1", &said[0], &said[0]));
        assert!(said[4].contains("broken"), "{said:?}");
    }
}
