//! What a user may set, in a file, in the environment or on the command line.

mod options;

pub use options::RunOptions;
