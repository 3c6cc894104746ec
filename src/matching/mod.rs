//! Which generated unit answers which gold unit.
//!
//! A matching needs every rating, so it works on [`CompleteScores`]: what a score
//! matrix is where no pair is unscored, or what it would be at the least and at
//! the most.

mod alignment;
mod scores;
mod threshold;
mod others;

pub use alignment::{AlignedPair, Alignment, align};
pub use others::{AlignmentKind, Covered, align_greedily, covered, covered_at};
pub use scores::CompleteScores;
pub use threshold::{Threshold, match_at};
