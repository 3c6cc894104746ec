//! From a model's reply to feedback.

use serde::{Deserialize, Serialize};

use super::{Answer, Cleaned, clean, cut_unfinished, read_answer, without_thinking};
use crate::prompt::ReplyForm;

/// The feedback in a reply, and what was done to find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// The blocks of thoughts that were removed.
    pub n_thinking_blocks: usize,
    /// Whether thoughts never ended, so that the reply counts as empty.
    pub thinking_unterminated: bool,
    /// What the reply says, by the form that was asked for.
    pub answer: Answer,
    /// The characters of an unfinished last sentence that were cut.
    pub n_chars_cut: usize,
    /// The feedback, cleaned by rules.
    pub cleaned: Cleaned,
}

/// Finds the feedback in a reply: thoughts are removed, the answer is read by
/// its form, an unfinished last sentence is cut, and what is left is cleaned by
/// rules.
pub fn extract(reply: &str, form: ReplyForm) -> Extracted {
    let thought = without_thinking(reply);
    let answer = read_answer(&thought.text, form);
    let finished = cut_unfinished(&answer.text);
    let n_chars_cut = answer.text[finished.len()..].chars().count();
    let cleaned = clean(finished);
    Extracted {
        n_thinking_blocks: thought.n_blocks,
        thinking_unterminated: thought.unterminated,
        answer,
        n_chars_cut,
        cleaned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_goes_through_every_step_in_order() {
        let reply = "<think>What now?</think>\nFocus: the end\nFeedback: **Slow down.** And then";
        let extracted = extract(reply, ReplyForm::Unit);
        assert_eq!(extracted.cleaned.text, "Slow down.");
        assert_eq!(extracted.answer.text, "**Slow down.** And then");
        assert_eq!(extracted.answer.format_followed, Some(true));
        assert_eq!((extracted.n_thinking_blocks, extracted.n_chars_cut), (1, 11));
        let extracted = extract("<think>What now?", ReplyForm::Free);
        assert!(extracted.thinking_unterminated && extracted.cleaned.text.is_empty());
    }
}
