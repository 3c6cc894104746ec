//! What a user may set, in a file, in the environment or on the command line.

mod judging;
mod options;
mod resolve;
mod experiment;

pub use experiment::{Experiment, PAPER_EXPERIMENT, PlannedRun};
pub use judging::{JudgingNames, judging};
pub use options::RunOptions;
pub use resolve::{default_out, device, dtype, empty_answers, format_name, machine, options, plan};
