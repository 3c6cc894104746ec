//! The integration tests, in one binary so that they link once.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture should fail")]

mod chat;
mod encoder;
mod material;
mod measures;
mod rate;
mod release;
mod texts;
mod tidy;
mod tokenizer;
