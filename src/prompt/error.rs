//! What can go wrong with templates and prompts.

use super::{Condition, ContextError};

/// Why a template cannot be loaded or rendered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// A file is not in the form of a template.
    #[error("{file} is not a template: {reason}")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A template does not render.
    #[error("template {file} does not render")]
    Render {
        /// The file.
        file: String,
        /// What the template engine says.
        #[source]
        source: minijinja::Error,
    },
    /// A folder holds no template for what is asked.
    #[error("{origin} has no template for {purpose}: it holds {known}")]
    Missing {
        /// The folder, or the embedded templates.
        origin: String,
        /// What was asked for.
        purpose: String,
        /// The templates that are there.
        known: String,
    },
    /// A template cannot show what the condition asks for.
    #[error(
        "template {file} does not use `{variable}`, so it cannot serve condition {condition}: \
         use it there, or add a template named \"{condition}\""
    )]
    Unsupported {
        /// The file of the template.
        file: String,
        /// The variable that is missing.
        variable: &'static str,
        /// The condition.
        condition: Condition,
    },
    /// The condition asks for exemplars and there are none.
    #[error("{origin} has no exemplars, which condition {condition} needs: add a shots.toml")]
    NoShots {
        /// The folder.
        origin: String,
        /// The condition.
        condition: Condition,
    },
    /// The condition asks for the assignment and the draft has none.
    #[error("condition {condition} needs the assignment, and there is none for this draft")]
    NoRubric {
        /// The condition.
        condition: Condition,
    },
    /// No context fits.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
