//! The rules of cleaning that look for marks anywhere.

use super::cleaning::{Cleaned, CleaningRule};

/// The names of tags that are dropped.
const TAGS: [&str; 13] = [
    "feedback",
    "text",
    "essay",
    "paragraph",
    "answer",
    "p",
    "b",
    "i",
    "u",
    "em",
    "strong",
    "br",
    "s",
];

/// Drops known tags and control tokens. A line break takes the place of `<br>`.
pub(super) fn tags(cleaned: &mut Cleaned) {
    let text = std::mem::take(&mut cleaned.text);
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['<', '[']) {
        let (before, from) = rest.split_at(at);
        cleaned.text.push_str(before);
        if let Some((length, stands_for)) = tag(from) {
            cleaned.text.push_str(stands_for);
            cleaned.note(CleaningRule::Tag);
            rest = &from[length..];
        } else {
            cleaned.text.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    cleaned.text.push_str(rest);
}

/// The length of a tag that opens `text`, and what stands in its place.
fn tag(text: &str) -> Option<(usize, &'static str)> {
    for token in ["[INST]", "[/INST]"] {
        if text.starts_with(token) {
            return Some((token.len(), ""));
        }
    }
    let inner = text.strip_prefix('<')?;
    let end = inner.find('>')?;
    let name = &inner[..end];
    let length = end + 2;
    if name.len() <= 40 && name.starts_with('|') && name.ends_with('|') && !name.contains(' ') {
        return Some((length, ""));
    }
    let name = name.trim_matches(['/', ' ']).to_ascii_lowercase();
    TAGS.contains(&name.as_str()).then_some((length, if name == "br" { "\n" } else { "" }))
}

/// Drops the marks of bold, italic and fixed-width type: a run of `*`, `` ` ``
/// or two `_` that touches a word on one side only.
pub(super) fn emphasis(cleaned: &mut Cleaned) {
    let chars: Vec<char> = cleaned.text.chars().collect();
    let mut text = String::with_capacity(cleaned.text.len());
    let mut at = 0;
    while at < chars.len() {
        let mark = chars[at];
        let n_marks = chars[at..].iter().take_while(|ch| **ch == mark).count();
        let is_mark = match mark {
            '*' => n_marks <= 3,
            '`' => n_marks == 1,
            '_' => n_marks == 2,
            _ => false,
        };
        let before = at.checked_sub(1).map(|index| chars[index]);
        let after = chars.get(at + n_marks).copied();
        let opens = !touches(before) && after.is_some_and(|ch| !ch.is_whitespace());
        let closes = !touches(after) && before.is_some_and(|ch| !ch.is_whitespace());
        if is_mark && (opens || closes) {
            cleaned.note(CleaningRule::Emphasis);
        } else {
            text.extend(&chars[at..at + n_marks]);
        }
        at += n_marks;
    }
    cleaned.text = text;
}

/// Whether a neighbour is part of a word.
fn touches(neighbour: Option<char>) -> bool {
    neighbour.is_some_and(char::is_alphanumeric)
}

/// Drops quotation marks around the whole of a longer text that holds no others.
pub(super) fn quotes(cleaned: &mut Cleaned) {
    for (open, close) in [('"', '"'), ('“', '”')] {
        let inner = cleaned.text.strip_prefix(open).and_then(|inner| inner.strip_suffix(close));
        let inner = inner
            .filter(|inner| !inner.contains([open, close]) && 6 < inner.split_whitespace().count());
        if let Some(inner) = inner.map(str::to_owned) {
            cleaned.text = inner;
            cleaned.note(CleaningRule::Quotation);
        }
    }
}
