//! What is filled into a template.

use serde::Serialize;

/// The texts that a feedback template is filled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedbackSlots<'a> {
    /// The essay, or as much of it as fits, the target paragraph included.
    pub context: &'a str,
    /// The target paragraph.
    pub paragraph: &'a str,
    /// The assignment. Left out of the prompt unless the condition asks for it.
    pub rubric: Option<&'a str>,
}

/// A pair of units in a similarity prompt, under its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabelledPair<'a> {
    /// `A`, `B`, ..., `Z`, `AA`, ...
    pub label: String,
    /// The model's unit.
    pub generated: &'a str,
    /// The instructor's unit.
    pub gold: &'a str,
}
