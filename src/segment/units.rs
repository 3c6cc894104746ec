//! The feedback units of a text that was cut.

use super::Segmentation;
use crate::corpus::MIN_COMMENT_CHARS;

/// The units of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// Those of at least [`MIN_COMMENT_CHARS`] characters, trimmed, in order.
    pub texts: Vec<String>,
    /// The number of those that were shorter, and dropped, as in the public
    /// release; a range of nothing but white space is one.
    pub n_dropped: usize,
}

/// Takes the units out of a text. `segmentation` is of this text.
///
/// # Panics
///
/// If it is of another.
pub fn units(text: &str, segmentation: &Segmentation) -> Units {
    let mut units = Units::default();
    for range in segmentation.ranges() {
        let unit = text[range].trim();
        if unit.chars().count() < MIN_COMMENT_CHARS {
            units.n_dropped += 1;
        } else {
            units.texts.push(unit.to_owned());
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_trimmed_and_the_shortest_dropped() {
        let text = " Vivid! ok\nWho? \n";
        let cut = Segmentation::new(text, vec![7, 10, 15, text.len()]).unwrap();
        let expected = Units { texts: vec!["Vivid!".into(), "Who?".into()], n_dropped: 2 };
        assert_eq!(units(text, &cut), expected);
        let cut = Segmentation::new("é!?", vec![4]).unwrap();
        assert_eq!(units("é!?", &cut).texts, ["é!?"]);
    }
}
