//! What the text strings of a PDF file say: their encodings, and the rich text of comments.

/// Code points of `PDFDocEncoding` from 0x18 to 0x1f (ISO 32000-2, table D.2).
const PDF_DOC_LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];

/// Code points of `PDFDocEncoding` from 0x80 to 0xa0.
const PDF_DOC_HIGH: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™',
    'ﬁ', 'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

/// The text of a string: UTF-16 or UTF-8 where a byte order mark says so, else
/// `PDFDocEncoding`. Lines end in `\n`.
pub(super) fn text(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|byte| pdf_doc_char(*byte)).collect(),
    };
    without_language_codes(&text).replace("\r\n", "\n").replace(['\r', '\u{2029}'], "\n")
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).filter_map(|pair| pair.try_into().ok().map(unit));
    char::decode_utf16(units).map(|ch| ch.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn pdf_doc_char(byte: u8) -> char {
    let table = |table: &[char], first: u8| {
        table.get(usize::from(byte - first)).copied().unwrap_or(char::REPLACEMENT_CHARACTER)
    };
    match byte {
        0x18..=0x1f => table(&PDF_DOC_LOW, 0x18),
        0x80..=0xa0 => table(&PDF_DOC_HIGH, 0x80),
        _ => char::from(byte),
    }
}

/// The text without language codes, which stand between two escape characters
/// (ISO 32000-2, 7.9.2.2), and without marks and characters that print nothing.
fn without_language_codes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for (index, part) in text.split('\u{1b}').enumerate() {
        // A code is at most a language and a country; anything else is text.
        if index % 2 == 0 || part.chars().count() > 5 {
            kept.push_str(part);
        }
    }
    kept.retain(|ch| !matches!(ch, '\0' | '\u{feff}'));
    kept
}

/// The text with ligatures as letters, and with spaces of any kind as spaces. Characters
/// without width are left out.
pub(super) fn plain_letters(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '\u{fb00}' => plain.push_str("ff"),
            '\u{fb01}' => plain.push_str("fi"),
            '\u{fb02}' => plain.push_str("fl"),
            '\u{fb03}' => plain.push_str("ffi"),
            '\u{fb04}' => plain.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => plain.push_str("st"),
            '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\0' => (),
            '\u{ad}' => plain.push('-'),
            _ if ch.is_whitespace() || ch.is_control() => plain.push(' '),
            _ => plain.push(ch),
        }
    }
    plain
}

/// What a glyph without Unicode says by its code alone: most fonts that were cut down keep
/// the codes of Windows-1252.
pub(super) fn by_character_code(code: u32) -> String {
    let ch = match u8::try_from(code) {
        Ok(byte) => windows_1252(byte),
        Err(_) => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    if ch.is_control() {
        char::REPLACEMENT_CHARACTER.into()
    } else {
        plain_letters(&ch.to_string())
    }
}

/// The characters of Windows-1252 from 0x80 to 0x9f.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn windows_1252(byte: u8) -> char {
    byte.checked_sub(0x80)
        .and_then(|index| WINDOWS_1252.get(usize::from(index)).copied())
        .unwrap_or(char::from(byte))
}

/// The text of XHTML (`/RC`): paragraphs and line breaks end lines, other tags fall away.
pub(super) fn rich_text(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find(['<', '&']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        rest = if from.starts_with('<') {
            let (tag, after) = split_after(from, '>');
            if ends_line(tag) && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            after
        } else {
            push_entity(&mut text, from)
        };
    }
    text.push_str(rest);
    text.trim().to_owned()
}

/// The tag at the start of `from`, and what follows; all of it where it never ends.
fn split_after(from: &str, end: char) -> (&str, &str) {
    match from.find(end) {
        Some(at) => from.split_at(at + end.len_utf8()),
        None => (from, ""),
    }
}

fn ends_line(tag: &str) -> bool {
    let name = tag.trim_start_matches(['<', '/']);
    let name = name.split(|ch: char| !ch.is_ascii_alphanumeric()).next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "p" | "br" | "div" | "li" | "tr" | "h1" | "h2" | "h3")
}

/// Appends the character of the entity at the start of `from`, and returns what follows.
fn push_entity<'a>(text: &mut String, from: &'a str) -> &'a str {
    let known = from.get(1..).and_then(|body| {
        let (name, after) = body.split_once(';')?;
        let ch = match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            "nbsp" => ' ',
            _ => {
                let digits = name.strip_prefix('#')?;
                let code = match digits.strip_prefix(['x', 'X']) {
                    Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                    None => digits.parse().ok()?,
                };
                char::from_u32(code)?
            }
        };
        Some((ch, after))
    });
    let (ch, after) = known.unwrap_or(('&', from.get(1..).unwrap_or_default()));
    text.push(ch);
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_every_encoding_are_read() {
        assert_eq!(text(b"na\xefve \x84 \x8dso\x8e \xa0"), "naïve — “so” €");
        assert_eq!(text(b"\xfe\xff\x00G\x00o\x20\x14\xd8\x3d\xde\x00"), "Go—😀");
        assert_eq!(text(b"\xff\xfeG\x00o\x00\x14\x20"), "Go—");
        assert_eq!(text("\u{feff}schön".as_bytes()), "schön");
    }

    #[test]
    fn a_mark_alone_says_nothing() {
        for mark in [&b"\xfe\xff"[..], b"\xff\xfe", b"\xef\xbb\xbf", b""] {
            assert_eq!(text(mark), "");
        }
    }

    #[test]
    fn broken_strings_are_read_as_far_as_they_go() {
        assert_eq!(text(b"\xfe\xff\x00G\x00"), "G");
        assert_eq!(text(b"\xfe\xff\xd8\x3d\x00G"), "\u{fffd}G");
        assert_eq!(text(b"\xef\xbb\xbfa\xff"), "a\u{fffd}");
    }

    #[test]
    fn lines_end_alike_and_language_codes_fall_away() {
        assert_eq!(text(b"a\rb\r\nc\nd"), "a\nb\nc\nd");
        assert_eq!(text(b"\xfe\xff\x00\x1b\x00e\x00n\x00\x1b\x00G\x00o"), "Go");
    }

    #[test]
    fn rich_text_keeps_its_words_and_lines() {
        let source = "<?xml version=\"1.0\"?><body><p>Tom &amp; <b>Ann</b></p><p>a &lt; b&#8212;c\
                      <br/>&#x64;</p></body>";
        assert_eq!(rich_text(source), "Tom & Ann\na < b—c\nd");
        assert_eq!(rich_text("a & b &unknown; <p"), "a & b &unknown;");
        assert_eq!(rich_text(""), "");
    }

    #[test]
    fn ligatures_become_letters() {
        assert_eq!(plain_letters("e\u{fb03}cient\u{a0}\u{200b}"), "efficient ");
        assert_eq!(by_character_code(0x93), "“");
        assert_eq!(by_character_code(7), "\u{fffd}");
    }
}
