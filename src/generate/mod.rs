//! Feedback on a paragraph, from a model.
//!
//! A reply becomes feedback in steps, each of which the record tells: what was
//! thought aloud is removed, an unfinished last sentence is cut, the format that
//! a constrained prompt asked for is read, and the rest is cleaned.
