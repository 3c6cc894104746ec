//! The rules of cleaning that look at one line at a time.

use super::{
    answer::after_label,
    cleaning::{Cleaned, CleaningRule},
};
use crate::prompt::Category;

/// Drops fences, headings and what follows the heading of another essay, and
/// takes list markers and labels off the lines that stay. Two line breaks in a
/// row are the most that is left.
pub(super) fn lines(cleaned: &mut Cleaned) {
    let text = std::mem::take(&mut cleaned.text);
    let all: Vec<&str> = text.lines().collect();
    let mut kept: Vec<String> = Vec::new();
    for (index, &line) in all.iter().enumerate() {
        let has_text_before = kept.iter().any(|line| !line.is_empty());
        let has_text_after = all[index + 1..].iter().any(|line| !line.trim().is_empty());
        let content = heading(line);
        if is_fence(line) {
            cleaned.note(CleaningRule::Fence);
        } else if has_text_before && content.is_some_and(opens_another_essay) {
            cleaned.note(CleaningRule::Continuation);
            break;
        } else if let Some(content) = content {
            cleaned.note(CleaningRule::Heading);
            if !has_text_after || is_sentence(content) {
                kept.push(content.to_owned());
            }
        } else if has_text_after && is_bold_heading(line) {
            cleaned.note(CleaningRule::Heading);
        } else if after_label(line, "Focus:").is_some()
            && all[index + 1..].iter().any(|line| after_label(line, "Feedback:").is_some())
        {
            cleaned.note(CleaningRule::Label);
        } else {
            let was_blank = line.trim().is_empty();
            let inline = without_inline_numbers(line.trim_end(), cleaned);
            let line = without_markers(&inline, cleaned);
            let doubles = kept.last().is_none_or(String::is_empty);
            if !(line.trim().is_empty() && (!was_blank || doubles)) {
                kept.push(line.to_owned());
            }
        }
    }
    cleaned.text = kept.join("\n");
}

/// Whether a line holds nothing but three or more marks of one kind, and at most
/// the name of a language after backticks.
fn is_fence(line: &str) -> bool {
    let line = line.trim();
    let Some(mark) = line.chars().next().filter(|ch| "\"`~-*=_'".contains(*ch)) else {
        return false;
    };
    let rest = line.trim_start_matches(mark);
    let n_marks = line.len() - rest.len();
    let is_language = mark == '`' && rest.chars().all(char::is_alphanumeric);
    3 <= n_marks && (rest.is_empty() || is_language)
}

/// What a Markdown heading says.
fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let content = line.trim_start_matches('#');
    let n_marks = line.len() - content.len();
    ((1..=6).contains(&n_marks) && (content.is_empty() || content.starts_with(' ')))
        .then(|| content.trim())
}

/// Whether a heading is one under which prompts put essays.
fn opens_another_essay(content: &str) -> bool {
    let content = content.trim_matches(['*', ':', ' ']).to_lowercase();
    ["essay", "target paragraph", "paragraph", "student", "example", "your task", "assignment"]
        .iter()
        .any(|name| {
            content.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
        })
}

/// Whether a heading is feedback rather than a title.
fn is_sentence(content: &str) -> bool {
    content.ends_with(['.', '!', '?']) || 8 < content.split_whitespace().count()
}

/// Whether the whole line is a few words in bold type, or a label alone.
fn is_bold_heading(line: &str) -> bool {
    let line = line.trim();
    let content = line
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**").or_else(|| rest.strip_suffix("**:")));
    content.is_some_and(|content| {
        !content.contains("**")
            && !content.ends_with(['.', '!', '?'])
            && content.split_whitespace().count() <= 6
    })
}

/// A line without the markers of a list and the labels at its beginning.
fn without_markers<'a>(line: &'a str, cleaned: &mut Cleaned) -> &'a str {
    let mut line = line;
    loop {
        if let Some(rest) = after_list_marker(line) {
            cleaned.note(CleaningRule::ListMarker);
            line = rest;
        } else if let Some(rest) = after_any_label(line).or_else(|| after_bold_label(line)) {
            cleaned.note(CleaningRule::Label);
            line = rest;
        } else {
            return line;
        }
    }
}

/// A line that opens with `1.` or `1)` without the numbers that go on from there
/// after the sentences of the same line.
fn without_inline_numbers(line: &str, cleaned: &mut Cleaned) -> String {
    let mut text = line.to_owned();
    let closer = match line.trim_start().as_bytes() {
        [b'1', closer @ (b'.' | b')'), b' ', ..] => char::from(*closer),
        _ => return text,
    };
    let mut from = 0;
    for number in 2.. {
        let marker = format!(" {number}{closer} ");
        let Some(at) = text[from..].find(&marker).map(|at| from + at) else {
            break;
        };
        if !text[..at].ends_with(['.', '!', '?', '"', '”', '\'', '’', ')']) {
            break;
        }
        text.replace_range(at..at + marker.len(), " ");
        cleaned.note(CleaningRule::ListMarker);
        from = at;
    }
    text
}

/// What follows `- `, `* `, `• `, `1. `, `1) ` or `(1) `.
fn after_list_marker(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let after_bullet = line.strip_prefix(['-', '*', '•', '–', '·']);
    let rest = after_bullet.or_else(|| {
        let inner = line.strip_prefix('(').unwrap_or(line);
        let rest = inner.trim_start_matches(|ch: char| ch.is_ascii_digit());
        let n_digits = inner.len() - rest.len();
        let closed = if inner.len() < line.len() {
            rest.strip_prefix(')')
        } else {
            rest.strip_prefix(['.', ')'])
        };
        closed.filter(|_| (1..=2).contains(&n_digits))
    })?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

/// Labels that introduce feedback, without their colon.
const LABELS: [&str; 26] = [
    "Feedback",
    "Final feedback",
    "My feedback",
    "Overall feedback",
    "Instructor feedback",
    "Instructor's feedback",
    "Instructor's feedback regarding the paragraph",
    "Feedback to the student",
    "Feedback to the student on the target paragraph",
    "Feedback for the student",
    "Feedback on the paragraph",
    "Feedback on the target paragraph",
    "The most important feedback on the target paragraph",
    "Reasoning",
    "Comment",
    "Comments",
    "Suggestion",
    "Suggestions",
    "Strength",
    "Strengths",
    "Weakness",
    "Weaknesses",
    "Improvement",
    "Improvements",
    "Area for improvement",
    "Areas for improvement",
];

fn after_any_label(line: &str) -> Option<&str> {
    if let Some(rest) = LABELS.iter().find_map(|label| after_label(line, label)) {
        return Some(rest);
    }
    let categories = Category::ALL.into_iter().filter(|category| *category != Category::None);
    categories.map(Category::name).find_map(|name| {
        after_label(line, name).or_else(|| {
            let rest = line.trim_start().trim_start_matches('*').strip_prefix(name)?;
            let rest = rest.trim_start_matches('*');
            rest.strip_prefix(" - ").or_else(|| rest.strip_prefix(" – "))
        })
    })
}

/// What follows a few words in bold type and a colon.
fn after_bold_label(line: &str) -> Option<&str> {
    let (label, rest) = line.trim_start().strip_prefix("**")?.split_once("**")?;
    let rest = match label.strip_suffix(':') {
        Some(_) => rest,
        None => rest.strip_prefix(':')?,
    };
    let is_short = label.split_whitespace().count() <= 5 && !label.contains(['.', '!', '?']);
    is_short.then(|| rest.trim_start())
}
