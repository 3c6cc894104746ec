//! One-to-one matching of the rows of a matrix with its columns.
//!
//! Nothing here knows what a row or a column stands for. Weights are integers,
//! so that a best matching is best exactly and a tie is a tie; a caller with
//! real weights says itself on which scale it rounds them.

mod assignment;
mod matrix;
mod ties;

pub use assignment::{max_cardinality_matching, max_weight_matching};
pub use matrix::Matrix;
