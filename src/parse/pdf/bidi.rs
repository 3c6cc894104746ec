//! Right-to-left lines, from the order on the page to the order of reading.

use super::glyphs::Glyph;

/// Which way a glyph is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Left,
    Right,
    Number,
    Neutral,
}

fn way(glyph: &Glyph) -> Way {
    let ways = glyph.text.chars().map(|ch| match ch {
        '\u{590}'..='\u{5ff}'
        | '\u{600}'..='\u{65f}'
        | '\u{66a}'..='\u{6ef}'
        | '\u{6fa}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}' => Way::Left,
        _ if ch.is_numeric() => Way::Number,
        _ if ch.is_alphabetic() => Way::Right,
        _ => Way::Neutral,
    });
    ways.fold(Way::Neutral, |known, way| if known == Way::Neutral { way } else { known })
}

/// Glyphs that stand from left to right, in the order in which they are read. A line that is
/// mostly right-to-left is read from its right end, words of the other script and numbers in
/// it from their left; in any other line the right-to-left stretches are turned.
pub(super) fn logical_order(mut glyphs: Vec<Glyph>) -> Vec<Glyph> {
    let ways: Vec<Way> = glyphs.iter().map(way).collect();
    let count = |wanted: Way| ways.iter().filter(|way| **way == wanted).count();
    if count(Way::Left) == 0 || is_in_order(&glyphs) {
        return glyphs;
    }
    if count(Way::Left) > count(Way::Right) {
        glyphs.reverse();
        turn_stretches(&mut glyphs, |way| matches!(way, Way::Right | Way::Number));
    } else {
        turn_stretches(&mut glyphs, |way| way == Way::Left);
    }
    glyphs
}

/// The first of each pair of Arabic presentation forms B (isolated, final) of a letter that
/// joins none after it.
const TWO_FORMS: [u32; 16] = [
    0xfe81, 0xfe83, 0xfe85, 0xfe87, 0xfe8d, 0xfe93, 0xfea9, 0xfeab, 0xfead, 0xfeaf, 0xfeed, 0xfeef,
    0xfef5, 0xfef7, 0xfef9, 0xfefb,
];

/// Where letters with four forms (isolated, final, initial, medial) stand, and how many.
const FOUR_FORMS: [(u32, u32); 5] =
    [(0xfe89, 1), (0xfe8f, 1), (0xfe95, 5), (0xfeb1, 15), (0xfef1, 1)];

/// How a letter is joined to others, as far as its code tells: whether to the one read before
/// it, and whether to the one read after it.
fn joins(glyph: &Glyph) -> Option<(bool, bool)> {
    let ch = glyph.text.chars().next()?;
    let code = u32::from(ch);
    if let Some(first) = TWO_FORMS.iter().find(|first| (**first..**first + 2).contains(&code)) {
        return Some((code > *first, false));
    }
    let (first, _) =
        FOUR_FORMS.into_iter().find(|(first, n)| (*first..first + 4 * n).contains(&code))?;
    match (code - first) % 4 {
        0 => Some((false, false)),
        1 => Some((true, false)),
        2 => Some((false, true)),
        _ => Some((true, true)),
    }
}

/// Whether the forms of the letters say that they already stand in the order of reading, as
/// programs write that know nothing of right-to-left.
fn is_in_order(glyphs: &[Glyph]) -> bool {
    let (mut n_in_order, mut n_turned) = (0_usize, 0_usize);
    for pair in glyphs.windows(2) {
        let [left, right] = pair else { continue };
        if let (Some(left), Some(right)) = (joins(left), joins(right)) {
            n_in_order += usize::from(left.1 && right.0);
            n_turned += usize::from(right.1 && left.0);
        }
    }
    n_in_order > n_turned
}

/// Turns every stretch of glyphs of the kind, with the neutral ones inside it.
fn turn_stretches(glyphs: &mut [Glyph], is_of_kind: impl Fn(Way) -> bool) {
    let ways: Vec<Way> = glyphs.iter().map(way).collect();
    let mut start = None;
    let mut end = 0;
    for (index, way) in ways.iter().enumerate() {
        if is_of_kind(*way) {
            start = start.or(Some(index));
            end = index + 1;
        } else if *way != Way::Neutral {
            turn(glyphs, start.take(), end);
        }
    }
    turn(glyphs, start, end);
}

fn turn(glyphs: &mut [Glyph], start: Option<usize>, end: usize) {
    if let Some(stretch) = start.and_then(|start| glyphs.get_mut(start..end)) {
        stretch.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(on_page: &str) -> String {
        let glyph = |ch: char| Glyph { text: ch.into(), ..Glyph::default() };
        let glyphs = logical_order(on_page.chars().map(glyph).collect());
        glyphs.iter().map(|glyph| glyph.text.as_str()).collect()
    }

    #[test]
    fn lines_are_read_in_the_way_of_most_letters() {
        assert_eq!(read("left to right"), "left to right");
        assert_eq!(read("םולש"), "שלום");
        assert_eq!(read("12 דומע ok םולש"), "שלום ok עמוד 12");
        assert_eq!(read("ﻲﻓ ﺖﻴﺑ"), "ﺑﻴﺖ ﻓﻲ");
        assert_eq!(read("say ﺑﻴﺖ ﻓﻲ so"), "say ﺑﻴﺖ ﻓﻲ so");
        assert_eq!(read("he said םלוע םולש to us"), "he said שלום עולם to us");
    }
}
