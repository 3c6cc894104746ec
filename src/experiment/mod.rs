//! One condition on one corpus, through all the stages; and texts from elsewhere.

pub mod texts;

mod driver;
mod export;
mod models;
mod plan;
mod results;
mod roles;
mod spec;
mod work;

pub use driver::{Driven, Run, Until, sampling};
pub use models::{Instruments, Models, Prefill, TextModel};
pub use plan::{ConstrainedUnits, Judging, Machine, Plan};
pub use results::{ContextCounts, Failure, GoldUnit, ParagraphResult, ReplyCounts, Results};
pub use roles::{CleanerName, ModelName, RoleError, ScorerName, SegmenterName};
pub use spec::{Roles, scorer_specification, segmenter_specification, specification};
pub use work::prompts;
