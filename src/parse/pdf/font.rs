//! Unicode from a font itself: its table of characters, read from glyphs back to characters,
//! for files that do not say what their codes mean.

use std::collections::HashMap;

/// The characters of a font's glyphs.
pub(super) type Characters = HashMap<u32, char>;

/// The most glyphs that are read of one table.
const MAX_GLYPHS: u32 = 70_000;

/// The characters that the glyphs of a font file stand for, of several the lowest; none where
/// its table of characters is missing or broken (OpenType 1.9, `cmap`, formats 0, 4, 6 and
/// 12).
pub(super) fn characters(font: &[u8]) -> Characters {
    let mut characters = Characters::new();
    for table in tables(font).unwrap_or_default() {
        let mut add = |code: u32, glyph: u32| {
            if let Some(ch) = char::from_u32(code).filter(|ch| glyph != 0 && !ch.is_control()) {
                let known = characters.entry(glyph).or_insert(ch);
                *known = ch.min(*known);
            }
        };
        // A table that breaks off says what it says up to there.
        let _ = match short(table, 0) {
            Some(0) => bytes(table, &mut add),
            Some(4) => segments(table, &mut add),
            Some(6) => trimmed(table, &mut add),
            Some(12) => groups(table, &mut add),
            _ => None,
        };
    }
    characters
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    pair.try_into().ok().map(u16::from_be_bytes)
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    four.try_into().ok().map(u32::from_be_bytes)
}

fn offset(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(long(bytes, at)?).ok()
}

/// The tables of Unicode characters in a font file.
fn tables(font: &[u8]) -> Option<Vec<&[u8]>> {
    let n_tables = usize::from(short(font, 4)?);
    let mut records = (0..n_tables).map(|index| 12 + 16 * index);
    let record = records.find(|at| font.get(*at..*at + 4) == Some(b"cmap"))?;
    let cmap = font.get(offset(font, record + 8)?..)?;
    let n_encodings = usize::from(short(cmap, 2)?);
    let encodings = (0..n_encodings.min(64)).map(|index| 4 + 8 * index);
    let of_unicode = encodings.filter(|at| {
        matches!((short(cmap, *at), short(cmap, *at + 2)), (Some(0), _) | (Some(3), Some(1 | 10)))
    });
    Some(of_unicode.filter_map(|at| cmap.get(offset(cmap, at + 4)?..)).collect())
}

/// Format 0: a glyph for each of 256 codes.
fn bytes(table: &[u8], add: &mut impl FnMut(u32, u32)) -> Option<()> {
    for (code, glyph) in (0..256).zip(table.get(6..)?) {
        add(code, u32::from(*glyph));
    }
    Some(())
}

/// Format 4: segments of the first 65,536 codes.
fn segments(table: &[u8], add: &mut impl FnMut(u32, u32)) -> Option<()> {
    let twice = usize::from(short(table, 6)?) & !1;
    for segment in (0..twice).step_by(2) {
        let last = short(table, 14 + segment)?;
        let first = short(table, 16 + twice + segment)?;
        let delta = short(table, 16 + 2 * twice + segment)?;
        let place = 16 + 3 * twice + segment;
        let range = usize::from(short(table, place)?);
        for code in first..=last {
            let glyph = if range == 0 {
                code.wrapping_add(delta)
            } else {
                match short(table, place + range + 2 * usize::from(code - first))? {
                    0 => 0,
                    glyph => glyph.wrapping_add(delta),
                }
            };
            add(u32::from(code), u32::from(glyph));
        }
    }
    Some(())
}

/// Format 6: a glyph for each code from one on.
fn trimmed(table: &[u8], add: &mut impl FnMut(u32, u32)) -> Option<()> {
    let (first, n_codes) = (short(table, 6)?, short(table, 8)?);
    for index in 0..n_codes {
        let glyph = short(table, 10 + 2 * usize::from(index))?;
        add(u32::from(first) + u32::from(index), u32::from(glyph));
    }
    Some(())
}

/// Format 12: groups of codes whose glyphs follow one another.
fn groups(table: &[u8], add: &mut impl FnMut(u32, u32)) -> Option<()> {
    let mut n_left = MAX_GLYPHS;
    for index in 0..offset(table, 12)? {
        let at = index.checked_mul(12)?.checked_add(16)?;
        let (first, last) = (long(table, at)?, long(table, at + 4)?);
        let glyph = long(table, at + 8)?;
        let n_codes = last.checked_sub(first)?.checked_add(1)?;
        n_left = n_left.checked_sub(n_codes)?;
        for step in 0..n_codes {
            add(first.checked_add(step)?, glyph.checked_add(step)?);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A font file of one table of characters.
    fn font(table: &[u16]) -> Vec<u8> {
        let mut words: Vec<u16> = vec![0, 1, 1, 0, 0, 0];
        words.extend([0x636d, 0x6170, 0, 0, 0, 28, 0, 0]);
        words.extend([0, 1, 3, 1, 0, 12]);
        words.extend(table);
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn tables_are_read_backwards() {
        // Two segments: `a` to `c` are glyphs 5 to 7, and the closing one.
        let four = font(&[4, 32, 0, 4, 0, 0, 0, 99, 0xffff, 0, 97, 0xffff, 65444, 1, 0, 0]);
        let characters = characters(&four);
        assert_eq!((characters.get(&5), characters.get(&7)), (Some(&'a'), Some(&'c')));

        let six = font(&[6, 14, 0, 0x201c, 2, 9, 4]);
        assert_eq!(super::characters(&six).get(&9), Some(&'“'));
        let twelve = font(&[12, 0, 0, 28, 0, 0, 0, 1, 0, 0x41, 0, 0x42, 0, 3]);
        assert_eq!(super::characters(&twelve).get(&4), Some(&'B'));
    }

    #[test]
    fn broken_tables_are_read_as_far_as_they_go() {
        let sound = font(&[6, 14, 0, 0x201c, 2, 9, 4]);
        for length in 0..sound.len() {
            assert!(characters(&sound[..length]).len() < 2);
        }
        assert!(
            characters(&font(&[12, 0, 0, 28, 0, 0, 0xffff, 0xffff, 0, 0, 0xffff, 0xffff, 0, 3]))
                .is_empty()
        );
        assert!(characters(b"not a font").is_empty());
    }
}
