//! Measures over plain text that know nothing of feedback: chrF, BLEU, words.

mod sentence;

pub use sentence::sentence_ends;
