//! Characters of symbol fonts, as the element `sym` names them.

/// The character that a symbol font shows for a code; `None` if it is not known.
///
/// Codes from F000 to F0FF are places in the font; all others are Unicode already. The
/// table for Symbol follows Adobe's Symbol encoding; of Wingdings it has what word
/// processors put in by themselves: arrows, faces, bullets, ticks and crosses.
pub(super) fn symbol(font: &str, code: &str) -> Option<char> {
    let code = u32::from_str_radix(code.trim(), 16).ok()?;
    match code {
        0xf020..=0xf0ff => placed(font, code - 0xf000),
        0x20..=0xff if is_symbol_font(font) => placed(font, code),
        _ => char::from_u32(code).filter(|ch| !ch.is_control()),
    }
}

fn is_symbol_font(font: &str) -> bool {
    font.eq_ignore_ascii_case("symbol") || font.eq_ignore_ascii_case("wingdings")
}

fn placed(font: &str, place: u32) -> Option<char> {
    let table: &[(u32, &str)] = if font.eq_ignore_ascii_case("symbol") {
        &SYMBOL
    } else if font.eq_ignore_ascii_case("wingdings") {
        &WINGDINGS
    } else {
        return char::from_u32(place).filter(|ch| !ch.is_control());
    };
    table.iter().find_map(|(first, chars)| {
        let nth = usize::try_from(place.checked_sub(*first)?).ok()?;
        chars.chars().nth(nth)
    })
}

/// Runs of characters from a place on.
const SYMBOL: [(u32, &str); 3] = [
    (0x20, " !∀#∃%&∍()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"),
    (0x61, "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"),
    (0xa1, "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"),
];

const WINGDINGS: [(u32, &str); 8] = [
    (0x4a, "☺😐☹"),
    (0x6c, "●"),
    (0x6e, "■"),
    (0x9f, "•"),
    (0xa7, "▪"),
    (0xdf, "←→↑↓↖↗↙↘"),
    (0xe7, "⬅➔"),
    (0xfb, "✗✓☒☑"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_read_by_its_font() {
        for (font, code, expected) in [
            ("Symbol", "F061", Some('α')),
            ("Symbol", "F044", Some('Δ')),
            ("Symbol", "F0B3", Some('≥')),
            ("Symbol", "F0AE", Some('→')),
            ("Symbol", "F0DE", Some('⇒')),
            ("Symbol", "F0E5", Some('∑')),
            ("Symbol", "61", Some('α')),
            ("Wingdings", "F04A", Some('☺')),
            ("Wingdings", "F0E0", Some('→')),
            ("Wingdings", "F0FC", Some('✓')),
            ("Wingdings", "F021", None),
            ("Segoe UI Emoji", "1F60A", Some('😊')),
            ("Arial", "2014", Some('—')),
            ("Arial", "zz", None),
            ("Arial", "110000", None),
        ] {
            assert_eq!(symbol(font, code), expected, "{font} {code}");
        }
    }
}
