//! Feedback on a paragraph, from a model.
