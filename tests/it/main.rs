//! The integration tests, in one binary so that they link once.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture should fail")]

mod judges;
mod material;
mod prompts;
mod tidy;
