//! Measures over plain text that know nothing of feedback: chrF, BLEU, words.
