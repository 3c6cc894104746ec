//! The integration tests, in one binary so that they link once.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture should fail")]

mod agreement;
mod chain;
mod chat;
mod clockwork;
mod comparison;
mod corpus;
mod decoder;
mod device;
mod device_types;
mod distill;
mod embedded;
mod experiment;
mod encoder;
mod families;
mod family;
mod folder;
mod generation;
mod foreign;
mod gguf;
mod judges;
mod kill;
mod likelihood;
mod local_backend;
mod local_judge;
mod material;
mod measures;
mod mishaps;
mod parse;
mod perplexity;
mod program;
mod prompts;
mod ranking;
mod rate;
mod release;
mod report;
mod requantised;
mod scoring;
mod texts;
mod tidy;
mod tiny;
mod tokenizer;
mod validate;
