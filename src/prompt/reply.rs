//! The forms in which a template asks for its reply.

use serde::{Deserialize, Serialize};

/// How the reply to a feedback template is laid out, and so how it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyForm {
    /// The whole reply is feedback.
    #[default]
    Free,
    /// A line [`Labels::focus`] and a line [`Labels::feedback`]: one unit.
    Unit,
    /// Reasoning, then [`Labels::answer`] and the feedback.
    Reasoned,
}

/// The labels that templates write and readers of replies look for. Templates
/// use them as `labels.focus` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Labels {
    /// Before what a unit is about.
    pub focus: &'static str,
    /// Before a unit.
    pub feedback: &'static str,
    /// Before reasoning.
    pub reasoning: &'static str,
    /// Before the feedback that follows reasoning.
    pub answer: &'static str,
    /// The whole reply of a cleaning judge that finds no feedback.
    pub nothing: &'static str,
}

impl Labels {
    /// The labels in use.
    pub const IN_USE: Self = Self {
        focus: "Focus:",
        feedback: "Feedback:",
        reasoning: "Reasoning:",
        answer: "Final feedback:",
        nothing: "[nothing]",
    };
}
