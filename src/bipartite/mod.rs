//! Maximum-weight matching of the rows of a matrix with its columns.
//!
//! Nothing here knows what a row or a column stands for.

mod matrix;

pub use matrix::Matrix;
