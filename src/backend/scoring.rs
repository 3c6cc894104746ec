//! Models that say how likely a given reply is, without writing one.

use super::{Backend, BackendError};
use crate::prompt::Prompt;

/// A backend that weighs given replies. What it says of a request depends on that
/// request alone, never on its neighbours.
pub trait Scoring: Backend {
    /// Weighs the replies that each request offers: for each the natural logarithm of
    /// the probability that the model begins its reply so, in the order offered.
    fn choose(&self, choices: &[Choice]) -> Vec<Result<Vec<f64>, BackendError>>;

    /// Has each text copied with marks: for each the places that get one, rising.
    ///
    /// The model is held to the text. From one place to the next it only chooses
    /// whether the mark or the next word follows on what was copied so far, the marks
    /// before with it; the mark stands where the model holds it for likelier than all
    /// of the next word.
    fn mark(&self, markings: &[Marking]) -> Vec<Result<Vec<usize>, BackendError>>;
}

/// A prompt and the replies to it that are offered.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What is said to the model.
    pub prompt: Prompt,
    /// What it may reply; none begins with another.
    pub replies: Vec<String>,
}

/// A text to be copied with marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Marking {
    /// What asks for the copy.
    pub prompt: Prompt,
    /// The text.
    pub text: String,
    /// What the model puts where it is asked to.
    pub mark: String,
    /// Where the mark may stand: after these bytes of the text, each the end of a word
    /// that is not the last. Rising.
    pub places: Vec<usize>,
}
