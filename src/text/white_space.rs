//! White space as Python sees it.

/// Whether Python's `str.split` and `str.strip` take the character for white
/// space: Unicode's white space and the four separators of ASCII.
pub fn is_white_space(ch: char) -> bool {
    ch.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&ch)
}

/// The text without the white space around it, as `str.strip` leaves it.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_white_space)
}

/// The parts of the text between white space, as `str.split` gives them.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_white_space).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_of_ascii_are_white_space() {
        assert_eq!(trim("\u{1f} a\u{1c}b \u{3000}"), "a\u{1c}b");
        assert_eq!(words("\u{1f} a\u{1c}b \u{3000}").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(words("").count(), 0);
    }
}
