//! One condition on one corpus, through all the stages; and texts from elsewhere.

pub mod texts;
