//! From the lines of paragraphs to their texts, and back from places in a text to the page.

use std::ops::Range;

use super::{
    columns::Line,
    glyphs::Glyph,
    hyphens::{Hyphens, ends_in_hyphen},
    paragraphs::Layout,
};

/// A paragraph, and where its characters stand.
#[derive(Debug, Default)]
pub(super) struct Placed {
    /// Its text.
    pub(super) text: String,
    /// Its glyphs, in order, without spaces.
    pub(super) glyphs: Vec<PlacedGlyph>,
}

/// A glyph in the text of its paragraph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlacedGlyph {
    /// The bytes of the text that it stands for.
    pub(super) bytes: Range<usize>,
    /// The line, by its index in the document.
    pub(super) line: usize,
    /// Its left and right edges.
    pub(super) x: (f64, f64),
    /// The middle of its small letters.
    pub(super) middle: (f64, f64),
}

/// The paragraph of these lines of the document.
pub(super) fn paragraph(
    lines: &[Line],
    range: Range<usize>,
    hyphens: &Hyphens,
    layout: &Layout,
) -> Placed {
    let mut placed = Placed::default();
    let texts: Vec<String> =
        lines.get(range.clone()).unwrap_or_default().iter().map(Line::text).collect();
    for (offset, index) in range.enumerate() {
        let Some(line) = lines.get(index) else { continue };
        let text = texts.get(offset).map_or("", String::as_str);
        let next = texts.get(offset + 1).map(String::as_str);
        let drops_hyphen = next.is_some_and(|next| hyphens.falls_away(text, next));
        let n_glyphs = line.glyphs.len() - usize::from(drops_hyphen && !line.glyphs.is_empty());
        for glyph in line.glyphs.iter().take(n_glyphs) {
            placed.push(glyph, index);
        }
        let runs_on = next.is_none_or(|next| {
            drops_hyphen
                || ends_in_hyphen(text, next)
                || hyphens.ends_in_tight_dash(text)
                || needs_no_space(text, next)
                || layout.is_full(line) && is_address(text) && goes_on_address(next)
        });
        if !runs_on {
            placed.push_space();
        }
    }
    placed
}

/// Whether the line ends in an address of the web, which is broken where the line is full.
fn is_address(line: &str) -> bool {
    let word = line.rsplit(' ').next().unwrap_or_default();
    word.contains("://") || word.contains("www.") || word.len() > 24 && word.contains(['/', '-'])
}

/// Whether a line may begin with the rest of an address: one in the middle of a sentence is
/// followed by a word or a mark.
fn goes_on_address(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    let is_title = word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphabetic);
    !is_title && word.chars().all(|ch| ch.is_ascii_alphanumeric() || "-_./?=&%#~:+".contains(ch))
}

/// Whether no space stands where the line ends: between characters that need none.
fn needs_no_space(line: &str, next: &str) -> bool {
    let is_east_asian = |ch: char| matches!(ch, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}');
    line.ends_with(is_east_asian) && next.starts_with(is_east_asian)
}

impl Placed {
    fn push(&mut self, glyph: &Glyph, line: usize) {
        if glyph.is_space() {
            self.push_space();
            return;
        }
        let start = self.text.len();
        for ch in glyph.text.chars() {
            if ch.is_whitespace() { self.push_space() } else { self.text.push(ch) }
        }
        let bytes = start..self.text.len();
        let (x, middle) = ((glyph.x0, glyph.x1), glyph.middle());
        self.glyphs.push(PlacedGlyph { bytes, line, x, middle });
    }

    /// Whether a word begins with the glyph, or ends with it: beside it is white space, or
    /// nothing, or a mark beside a letter.
    pub(super) fn is_edge(&self, glyph: &PlacedGlyph, begins: bool) -> bool {
        let (before, from) = self.text.split_at_checked(glyph.bytes.start).unwrap_or_default();
        let (own, after) = from.split_at_checked(glyph.bytes.len()).unwrap_or_default();
        let (inside, outside) = if begins {
            (own.chars().next(), before.chars().next_back())
        } else {
            (own.chars().next_back(), after.chars().next())
        };
        match (inside, outside) {
            (Some(inside), Some(outside)) => {
                outside.is_whitespace() || inside.is_alphanumeric() != outside.is_alphanumeric()
            }
            _ => true,
        }
    }

    /// Whether the bytes are one or more whole sentences.
    pub(super) fn is_sentence(&self, start: usize, end: usize) -> bool {
        const QUOTES: [char; 6] = ['"', '”', '“', '’', '\'', ')'];

        let ends = |text: &str| {
            let text = text.trim_end();
            text.is_empty() || text.trim_end_matches(QUOTES).ends_with(['.', '?', '!'])
        };
        let (before, after) = (self.text.get(..start), self.text.get(end..));
        let inside = self.text.get(start..end).unwrap_or_default();
        before.is_some_and(ends)
            && after.is_some_and(|after| after.is_empty() || after.starts_with(' '))
            && !inside.is_empty()
            && ends(inside)
    }

    fn push_space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }
}
