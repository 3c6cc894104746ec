//! One condition on one corpus, through all the stages; and texts from elsewhere.

pub mod comparison;
pub mod factors;
pub mod published;
pub mod texts;

mod driver;
mod export;
mod finished;
mod journal;
mod models;
mod plan;
mod results;
mod roles;
mod spec;
mod work;

pub use driver::{Driven, Run, Until, cuts_alike, sampling};
pub use finished::{FinishedRun, load_runs};
pub use journal::{Journal, JournalEntry, JournalEvent, Pace};
pub use models::{Instruments, Models, Prefill, TextModel};
pub use plan::{ConstrainedUnits, Judging, Machine, Plan};
pub use results::{ContextCounts, Failure, GoldUnit, ParagraphResult, ReplyCounts, Results};
pub use roles::{CleanerName, ModelName, RoleError, ScorerName, SegmenterName};
pub use spec::{Roles, scorer_specification, segmenter_specification, specification};
pub use work::prompts;
