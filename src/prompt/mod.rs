//! What is said to a model: templates and the conditions that choose among them.
//!
//! A [`Library`] holds templates, a [`Condition`] or a [`Purpose`] picks one,
//! and [`FeedbackPrompts`] renders it for the paragraphs of a draft with as much
//! of the essay as the [`Preset`]'s budget allows.

mod category;
mod condition;
mod context;
mod embedded;
mod error;
mod feedback;
pub mod import;
mod library;
mod preset;
mod quoting;
mod rendering;
mod reply;
mod shot;
mod slots;
mod template;
mod validation;

pub use category::Category;
pub use condition::{Condition, ConditionError, FeedbackTemplate, Shots};
pub use context::{Budget, ContextError, ContextUse, DraftTokens, FittedContext, FixedTokens, fit};
pub use error::PromptError;
pub use feedback::{DraftPrompts, FeedbackPrompts, RenderedPrompt};
pub use library::{Library, Purpose};
pub use preset::{GenerationSettings, Preset};
pub use reply::{Labels, ReplyForm};
pub use shot::{Point, Shot};
pub use slots::{FeedbackSlots, LabelledPair};
pub use template::{Header, Role, Template};

/// A prompt ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prompt {
    /// The system message, where the template has one.
    pub system: Option<String>,
    /// The user message, or the whole text where the format is raw.
    pub user: String,
    /// How a local model is shown it.
    pub format: PromptFormat,
}

/// How a prompt becomes the tokens of a local model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptFormat {
    /// Through the model's chat template, with one beginning-of-sequence token.
    #[default]
    Chat,
    /// As it stands, with one beginning-of-sequence token where the model has one.
    Raw,
    /// Through the chat template and then tokenised again with special tokens:
    /// two beginning-of-sequence tokens where the template writes one, as the
    /// public release's notebook does.
    ChatTwice,
}

/// Counts the tokens of a text as the generating model would.
pub trait TokenCounter: Sync {
    /// The number of tokens of `text`, special tokens not added.
    fn count(&self, text: &str) -> usize;
    /// The longest prompt and reply together that the model can hold.
    fn context_length(&self) -> usize;
}
