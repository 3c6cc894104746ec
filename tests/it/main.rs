//! The integration tests, in one binary so that they link once.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture should fail")]

mod chat;
mod clockwork;
mod decoder;
mod encoder;
mod generation;
mod local_backend;
mod gguf;
mod material;
mod tidy;
mod tiny;
mod chat;
mod corpus;
mod encoder;
mod judges;
mod material;
mod prompts;
mod measures;
mod rate;
mod release;
mod texts;
mod tidy;
mod tokenizer;
mod kill;
mod mishaps;
mod program;
