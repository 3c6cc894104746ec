//! Feedback on a paragraph, from a model.

mod answer;
mod chatter;
mod cleaning;
mod cleaning_judge;
mod ending;
mod lines;
mod markup;
mod reply;
mod thinking;

pub use answer::{Answer, read_answer};
pub use cleaning::{Cleaned, CleaningRule, clean};
pub use cleaning_judge::{CleaningError, Implausible, JudgeCleaner, JudgedCleaning, Verdict};
pub use ending::cut_unfinished;
pub use reply::{Extracted, extract};
pub use thinking::{WithoutThinking, without_thinking};
