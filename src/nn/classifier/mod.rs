//! Encoders with a head on top that others fine-tuned: of a pair of texts, or of each
//! token of a text, how likely each label is.

mod head;
mod pair;
mod sequence;
mod settings;
mod tokens;

pub use sequence::SequenceClassifier;
pub use settings::Problem;
pub use tokens::{LabelledToken, TokenClassifier};
