//! Feedback on a paragraph, from a model.
//!
//! A reply becomes feedback in steps, each of which the record tells: what was
//! thought aloud is removed, the form that the prompt asked for is read, an
//! unfinished last sentence is cut, and the rest is cleaned.

mod answer;
mod chatter;
mod clean_stage;
mod cleaning;
mod cleaning_judge;
mod ending;
mod lines;
mod markup;
mod reply;
mod stage;
mod thinking;

pub use answer::{Answer, read_answer};
pub use clean_stage::{CleanRecord, CleanStage, Cleaner, Reply};
pub use cleaning::{Cleaned, CleaningRule, clean};
pub use cleaning_judge::{CleaningError, Implausible, JudgeCleaner, JudgedCleaning, Verdict};
pub use ending::cut_unfinished;
pub use reply::{Extracted, extract};
pub use stage::{FeedbackRequest, GenerateStage, ReplyRecord, record_seed};
pub use thinking::{WithoutThinking, without_thinking};
