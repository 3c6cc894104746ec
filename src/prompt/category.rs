//! The kinds of feedback that guided prompts name.

use serde::{Deserialize, Serialize};

/// A kind of feedback, after section 2 of the SEFORA paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Category {
    /// What the assignment asks for.
    #[serde(rename = "Task Constraints")]
    TaskConstraints,
    /// A term or idea explained.
    Concepts,
    /// A call for more.
    Elaboration,
    /// A call for clearer meaning.
    Clarification,
    /// An error.
    Mistakes,
    /// What works.
    Praise,
    /// None of these, or a mix.
    None,
}

impl Category {
    /// Every category, in the order in which prompts list them.
    pub const ALL: [Self; 7] = [
        Self::TaskConstraints,
        Self::Concepts,
        Self::Elaboration,
        Self::Clarification,
        Self::Mistakes,
        Self::Praise,
        Self::None,
    ];

    /// Its name, as prompts and the paper write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::TaskConstraints => "Task Constraints",
            Self::Concepts => "Concepts",
            Self::Elaboration => "Elaboration",
            Self::Clarification => "Clarification",
            Self::Mistakes => "Mistakes",
            Self::Praise => "Praise",
            Self::None => "None",
        }
    }

    /// What prompts say of it.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::TaskConstraints => {
                "what the assignment asks for: its goal, its rules, its rubric"
            }
            Self::Concepts => "a term, an idea or some background that the student needs explained",
            Self::Elaboration => "where to say more: detail, evidence, depth, a scene or an idea",
            Self::Clarification => {
                "where a reader is lost or the meaning is open, often a question"
            }
            Self::Mistakes => "an error in grammar, logic, order or repetition, and how to mend it",
            Self::Praise => "what works well, with nothing asked for",
            Self::None => "anything else, such as a personal remark, or several kinds in one",
        }
    }
}
