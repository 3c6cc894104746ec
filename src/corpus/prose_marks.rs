//! Characters that hardly belong into anybody's prose.

use super::FindingKind;

/// The kinds of odd characters in a text, each with what they are.
pub(super) fn odd_characters(text: &str) -> Vec<(FindingKind, String)> {
    if text.is_ascii() && !text.chars().any(is_odd_control) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut add_class = |kind, is_of_class: fn(char) -> bool| {
        let chars: Vec<char> = text.chars().filter(|ch| is_of_class(*ch)).collect();
        if let Some(first) = chars.first() {
            found.push((kind, format!("{} of them, first U+{:04X}", chars.len(), *first as u32)));
        }
    };
    add_class(FindingKind::ControlCharacter, is_odd_control);
    add_class(FindingKind::InvisibleCharacter, is_invisible);
    add_class(FindingKind::ReplacementCharacter, is_lost);
    let n_pairs = text.chars().zip(text.chars().skip(1)).filter(|pair| is_mojibake(*pair)).count();
    if 0 < n_pairs {
        found.push((FindingKind::Mojibake, format!("{n_pairs} places")));
    }
    found
}

fn is_odd_control(ch: char) -> bool {
    ch.is_control() && ch != '\t' && ch != '\n'
}

/// Characters that take no room; not the joiner that emoji are made with.
fn is_invisible(ch: char) -> bool {
    matches!(
        ch,
        '\u{ad}'
            | '\u{200b}'..='\u{200c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
    )
}

fn is_lost(ch: char) -> bool {
    matches!(ch, '\u{fffd}' | '\u{e000}'..='\u{f8ff}')
}

/// Whether two neighbours are the first bytes of a UTF-8 character, read as
/// Windows-1252 or Latin-1.
fn is_mojibake(pair: (char, char)) -> bool {
    matches!(pair, ('Â' | 'Ã', '\u{80}'..='\u{bf}') | ('â', '€' | '\u{80}'..='\u{9f}') | ('ð', 'Ÿ'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[FindingKind]) {
        let kinds: Vec<_> = odd_characters(text).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, expected, "{text:?}");
    }

    #[test]
    fn ordinary_prose_of_any_language_is_not_odd() {
        check("A plain\tline\nand another", &[]);
        check("“Café” — SÃO PAULO, Dvořák, 林美玲, 👩‍🏫 🎉, 5 €", &[]);
    }

    #[test]
    fn each_kind_of_odd_character_is_told() {
        check("bell\u{7}", &[FindingKind::ControlCharacter]);
        check("a\u{200b}b\u{ad}", &[FindingKind::InvisibleCharacter]);
        check("caf\u{fffd}", &[FindingKind::ReplacementCharacter]);
        check("cafÃ© and donâ€™t", &[FindingKind::Mojibake]);
    }
}
