//! Measures over plain text that know nothing of feedback: chrF, BLEU, sentences.
//!
//! chrF and BLEU are those of `sacrebleu` at the level of a sentence, with its
//! defaults, from 0 to 100, and agree with it to the last digits; so white space
//! and the length of a text are Python's (`white_space`), in characters.

mod bleu;
mod chrf;
mod json;
mod lines;
mod mteval;
mod ngrams;
mod sentence;
mod white_space;

pub use bleu::bleu;
pub use chrf::chrf;
pub use json::unquoted_reason;
pub use lines::{RowLines, line_at, line_not_utf8};
pub use sentence::{has_words, sentence_ends};
pub use white_space::{is_white_space, trim, words};
