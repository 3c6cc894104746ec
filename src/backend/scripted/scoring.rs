//! A file of rules that weighs given replies.

use super::Scripted;
use crate::backend::{BackendError, Choice, Marking, Scoring};

/// What the reply of a rule weighs; the others share the rest.
const CHOSEN: f64 = 0.6;

/// A reply that is one of those offered gets a probability of 0.6, and the others
/// share the rest evenly. A text gets the marks of the reply, which has to be a copy of
/// it but for marks and white space.
impl Scoring for Scripted {
    fn choose(&self, choices: &[Choice]) -> Vec<Result<Vec<f64>, BackendError>> {
        choices
            .iter()
            .map(|choice| {
                let reply = self.reply(&choice.prompt)?.text;
                let is_chosen = |offered: &String| offered == reply.trim();
                if !choice.replies.iter().any(is_chosen) {
                    return Err(BackendError::Refused {
                        backend: self.id.clone(),
                        reason: "its rule replies with none of the replies offered".to_owned(),
                    });
                }
                let rest = (1.0 - CHOSEN) / choice.replies.len().saturating_sub(1).max(1) as f64;
                let weight = |offered| if is_chosen(offered) { CHOSEN } else { rest };
                Ok(choice.replies.iter().map(|offered| weight(offered).ln()).collect())
            })
            .collect()
    }

    fn mark(&self, markings: &[Marking]) -> Vec<Result<Vec<usize>, BackendError>> {
        markings
            .iter()
            .map(|marking| {
                let reply = self.reply(&marking.prompt)?.text;
                if letters(&reply.replace(&marking.mark, "")) != letters(&marking.text) {
                    return Err(BackendError::Refused {
                        backend: self.id.clone(),
                        reason: "its rule replies with no copy of the text".to_owned(),
                    });
                }
                Ok(marks_of(&reply, marking))
            })
            .collect()
    }
}

/// What is left without white space.
fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}

fn marks_of(reply: &str, marking: &Marking) -> Vec<usize> {
    let mut copy = String::new();
    let mut start = 0;
    let mut marked = Vec::new();
    for &place in &marking.places {
        copy.push_str(&marking.text[start..place]);
        start = place;
        let with_mark = format!("{copy}{}", marking.mark);
        if reply.starts_with(&with_mark) {
            copy = with_mark;
            marked.push(place);
        }
    }
    marked
}
