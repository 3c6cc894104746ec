//! What a model says of its task instead of the paragraph.

use super::cleaning::{Cleaned, CleaningRule};
use crate::text::sentence_ends;

/// Drops words of greeting, an introduction of the feedback, sentences about the
/// task or the model, and offers of more help; and a text that only says that
/// there is no feedback.
pub(super) fn chatter(cleaned: &mut Cleaned) {
    while let Some(length) = opening_len(&cleaned.text) {
        cleaned.text = cleaned.text[length..].trim_start().to_owned();
        cleaned.note(CleaningRule::Chatter);
    }
    let text = std::mem::take(&mut cleaned.text);
    let mut start = 0;
    for end in sentence_ends(&text) {
        let sentence = &text[start..end];
        if starts_with_any(sentence.trim_start(), &CHATTER) {
            cleaned.note(CleaningRule::Chatter);
        } else {
            cleaned.text.push_str(sentence);
        }
        start = end;
    }
    let words = cleaned.text.trim_matches(|ch: char| !ch.is_alphanumeric()).to_lowercase();
    if NOTHING.contains(&words.as_str()) {
        cleaned.text.clear();
        cleaned.note(CleaningRule::Nothing);
    }
}

/// How a sentence begins that is about the task, the model or further help.
const CHATTER: [&str; 24] = [
    "as an ai",
    "as a language model",
    "the user asked",
    "the user wants",
    "i was asked to",
    "i have been asked to",
    "i will provide feedback",
    "i will now provide",
    "i'll provide feedback",
    "i need to provide feedback",
    "we need to provide feedback",
    "my task is",
    "the task is to",
    "let's think step by step",
    "i hope this helps",
    "i hope this feedback",
    "i hope these suggestions",
    "i hope these comments",
    "let me know if you need",
    "let me know if you have",
    "let me know if you would like",
    "please let me know if",
    "feel free to ask",
    "if you have any questions",
];

/// Words that open a reply to a request.
const GREETINGS: [&str; 7] =
    ["sure", "certainly", "of course", "absolutely", "okay", "alright", "sure thing"];

/// How an introduction of feedback begins.
const INTRODUCTIONS: [&str; 7] = [
    "here is",
    "here's",
    "here are",
    "below is",
    "below are",
    "the following is",
    "the following are",
];

/// What an introduction of feedback speaks of.
const INTRODUCED: [&str; 6] =
    ["feedback", "comment", "suggestion", "response", "critique", "thoughts"];

/// Whole texts that say that there is no feedback.
const NOTHING: [&str; 6] =
    ["none", "n/a", "nothing", "no feedback", "no feedback needed", "no feedback is needed"];

/// The longest introduction, in bytes.
const MAX_INTRODUCTION: usize = 160;

/// The length of a greeting or an introduction that opens the text.
fn opening_len(text: &str) -> Option<usize> {
    let greeting = greeting_len(text).unwrap_or(0);
    let introduction = introduction_len(&text[greeting..]);
    match (greeting, introduction) {
        (0, None) => None,
        (greeting, Some(introduction)) => Some(greeting + introduction),
        // A greeting alone is one only on a line of its own.
        (greeting, None) => text[..greeting].contains('\n').then_some(greeting),
    }
}

/// The length of a greeting with the marks and white space after it.
fn greeting_len(text: &str) -> Option<usize> {
    GREETINGS.iter().find_map(|greeting| {
        let rest = text.get(greeting.len()..)?;
        let is_greeting =
            starts_with_any(text, &[greeting]) && rest.starts_with([',', '!', '.', ':']);
        let after = rest.trim_start_matches([',', '!', '.', ':']).trim_start();
        is_greeting.then(|| text.len() - after.len())
    })
}

/// The length of an introduction: up to its colon, or else its whole sentence.
fn introduction_len(text: &str) -> Option<usize> {
    if !starts_with_any(text, &INTRODUCTIONS) {
        return None;
    }
    let sentence = &text[..*sentence_ends(text).first()?];
    let introduction = match sentence.find(':') {
        Some(at) => &sentence[..=at],
        None => sentence,
    };
    let lower = introduction.to_lowercase();
    let speaks_of_it = INTRODUCED.iter().any(|word| lower.contains(word));
    (speaks_of_it && introduction.len() <= MAX_INTRODUCTION).then_some(introduction.len())
}

/// Whether a text starts with one of some phrases, in either case and with
/// either apostrophe, and the last word of the phrase ends there.
fn starts_with_any(text: &str, phrases: &[&str]) -> bool {
    let head: String = text.chars().take(40).collect::<String>().to_lowercase().replace('’', "'");
    phrases.iter().any(|phrase| {
        head.strip_prefix(phrase).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}
