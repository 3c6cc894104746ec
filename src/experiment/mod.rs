//! One condition on one corpus, through all the stages.
