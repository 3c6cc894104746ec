//! Reference-based evaluation of feedback on student essays.
//!
//! Data flows one way, and the modules below are declared in that order: a
//! module may use those above it and never those below it (`tests/it/tidy.rs`
//! checks this). Read them from the top.

pub mod text;
pub mod stats;
pub mod bipartite;
pub mod nn;
pub mod corpus;
pub mod parse;
pub mod prompt;
pub mod backend;
pub mod run;
pub mod distilled;
pub mod generate;
pub mod segment;
pub mod similarity;
pub mod matching;
pub mod metrics;
pub mod agreement;
pub mod experiment;
pub mod distill;
pub mod report;
pub mod config;
pub mod cli;
