//! What a user may set, in a file, in the environment or on the command line.

mod options;
mod resolve;

pub use options::RunOptions;
pub use resolve::{default_out, dtype, empty_answers, format_name, machine, options, plan};
