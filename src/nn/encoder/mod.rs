//! Texts to vectors that lie close where the texts say the same.

mod attention;
mod bert;
mod body;
mod candle_body;
mod checkpoint;
mod config;
mod dense;
mod folder;
mod frame;
mod kin;
mod pooling;
mod precision;
mod reader;
mod relative;
mod sentence;
mod tokens;
mod token_states;

use camino::Utf8PathBuf;

pub use precision::EncoderPrecision;
pub use reader::{Reading, TextReader};
pub use sentence::{SentenceEncoder, encoder_files};
pub use token_states::{LayerEncoder, TokenStates};
pub use tokens::{EncoderShape, TokenEncoder};

pub(in crate::nn) use bert::TokenRow;
pub(in crate::nn) use body::{Body, BodyConfig};
pub(in crate::nn) use checkpoint::Checkpoint;
pub(in crate::nn) use folder::{gets_types, tokenizer_limit, unreadable, unsupported};
pub(in crate::nn) use frame::windows;
pub(in crate::nn) use reader::load_tokenizer;

/// The vector of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// The vector; of length one where the model says so.
    pub vector: Vec<f32>,
    /// The tokens of the text, without those the model wants around it.
    pub n_tokens: usize,
    /// The windows that the text was read in: more than one where it is longer
    /// than what the model reads at once.
    pub n_windows: usize,
}

impl Embedding {
    /// Whether the text is longer than what the model reads at once, so that its
    /// vector is the mean over several windows.
    pub fn was_long(&self) -> bool {
        1 < self.n_windows
    }

    /// The cosine of the angle to another vector of the same model, within
    /// `-1.0..=1.0`. `None` where one has no direction or another dimension.
    pub fn cosine(&self, other: &Self) -> Option<f64> {
        if self.vector.len() != other.vector.len() {
            return None;
        }
        let dot = |a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
        };
        let norms = dot(&self.vector, &self.vector) * dot(&other.vector, &other.vector);
        let cosine = dot(&self.vector, &other.vector) / norms.sqrt();
        cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0))
    }
}

/// Why there is no encoder, or no vector.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// The folder is not there.
    #[error("there is no folder {0}: give one that holds a model")]
    NoFolder(Utf8PathBuf),
    /// A file of the model's folder is missing or cannot be read.
    #[error("cannot read the encoder's {path}: {reason}")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The folder holds a model of another kind.
    #[error("{path} describes an encoder that is not supported: {what}")]
    Unsupported {
        /// The file that says so.
        path: Utf8PathBuf,
        /// What is not supported.
        what: String,
    },
    /// The model failed on a text.
    #[error("the encoder failed on a text of {n_bytes} bytes: {reason}")]
    Text {
        /// How long the text is.
        n_bytes: usize,
        /// What went wrong.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedding(vector: &[f32]) -> Embedding {
        Embedding { vector: vector.to_vec(), n_tokens: 1, n_windows: 1 }
    }

    #[test]
    fn a_cosine_needs_two_directions_of_one_space() {
        let cosine = |a: &[f32], b: &[f32]| embedding(a).cosine(&embedding(b));
        assert_eq!(cosine(&[3.0, 4.0], &[6.0, 8.0]), Some(1.0));
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 2.0]), Some(0.0));
        assert_eq!(cosine(&[1.0, 0.0], &[-1.0, 0.0]), Some(-1.0));
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 0.0]), None);
        assert_eq!(cosine(&[1.0], &[1.0, 0.0]), None);
    }
}
