//! Text to the ids of a model's vocabulary and back.
//!
//! Two kinds of tokenizer are read: the one a GGUF file carries, with the ids
//! that llama.cpp computes from it, and `tokenizer.json` of Hugging Face.

mod byte_level;
mod file;
mod gguf;
mod merge;
mod metadata;
mod pre_tokenizer;
mod sentencepiece;
mod special;
mod vocabulary;

use camino::Utf8Path;
use candle_core::quantized::gguf_file;

use byte_level::ByteLevel;
use file::FileTokenizer;
pub(super) use metadata::Metadata;
use sentencepiece::SentencePiece;
use special::Fragment;
use vocabulary::Vocabulary;

/// A model's tokenizer.
///
/// [`encode`](Self::encode) never adds a beginning-of-sequence token: whoever
/// builds the prompt puts [`bos`](Self::bos) in front where
/// [`adds_bos`](Self::adds_bos) holds and no chat template has written it.
pub struct Tokenizer {
    kind: Kind,
}

enum Kind {
    ByteLevel(Vocabulary, ByteLevel),
    SentencePiece(Vocabulary, SentencePiece),
    File(Box<FileTokenizer>),
}

/// Whether text that spells a special token, as `<|im_start|>`, is that token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialTokens {
    /// It is: for what a chat template has rendered.
    Parse,
    /// It is not: for text that people wrote.
    Plain,
}

/// Why there is no tokenizer, or no tokens.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The model file does not say what is needed.
    #[error("the model file has no `{key}`: convert the model again with a current converter")]
    Missing {
        /// The key of the GGUF metadata.
        key: &'static str,
    },
    /// The model file says it in another way than expected.
    #[error("`{key}` of the model file is not {expected}")]
    WrongType {
        /// The key of the GGUF metadata.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A kind of tokenizer that is not built here.
    #[error("tokenizer model `{0}` is not supported: it must be `gpt2` or `llama`")]
    UnknownModel(String),
    /// A way to cut text into words that is not known here. Guessing would give
    /// wrong tokens without a word.
    #[error(
        "pre-tokenizer `{0}` is not known, so that its tokens would be guessed: use another model"
    )]
    UnknownPreTokenizer(String),
    /// The vocabulary contradicts itself.
    #[error("the vocabulary is broken: {0}")]
    Broken(String),
    /// A tokenizer file cannot be read.
    #[error("cannot read the tokenizer {path}: {reason}")]
    File {
        /// The file.
        path: camino::Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The text cannot be cut into tokens.
    #[error("a text of {n_bytes} bytes cannot be tokenised: {reason}")]
    Text {
        /// How long it is.
        n_bytes: usize,
        /// What is wrong with it.
        reason: String,
    },
}

impl Tokenizer {
    /// Reads the tokenizer that a GGUF file carries: byte-level BPE (`gpt2`) or
    /// `SentencePiece` with scores (`llama`).
    pub fn from_gguf(content: &gguf_file::Content) -> Result<Self, TokenizerError> {
        let kind = gguf::tokenizer(Metadata::of(content))?;
        Ok(Self { kind })
    }

    /// Reads a `tokenizer.json`, and the `tokenizer_config.json` beside it where
    /// there is one.
    pub fn from_file(path: &Utf8Path) -> Result<Self, TokenizerError> {
        let tokenizer = FileTokenizer::load(path)?;
        Ok(Self { kind: Kind::File(Box::new(tokenizer)) })
    }

    /// The ids of a text, without a beginning-of-sequence token.
    ///
    /// A byte for which a byte-level vocabulary has no token (some have none for
    /// bytes of private-use characters) is left out, as llama.cpp and Hugging
    /// Face do.
    pub fn encode(&self, text: &str, special: SpecialTokens) -> Result<Vec<u32>, TokenizerError> {
        let mut ids = Vec::new();
        match &self.kind {
            Kind::ByteLevel(vocabulary, model) => {
                for fragment in vocabulary.special().split(text, special) {
                    match fragment {
                        Fragment::Token(id) => ids.push(id),
                        Fragment::Text(text) => model.encode(text, &mut ids)?,
                    }
                }
            }
            Kind::SentencePiece(vocabulary, model) => {
                let mut after_special = true;
                for fragment in vocabulary.special().split(text, special) {
                    match fragment {
                        Fragment::Token(id) => ids.push(id),
                        Fragment::Text(text) => model.encode(text, after_special, &mut ids)?,
                    }
                    after_special = matches!(fragment, Fragment::Token(_));
                }
            }
            Kind::File(file) => ids = file.encode(text, special)?,
        }
        Ok(ids)
    }

    /// The text of ids. Special tokens are left out, and so are ids beyond the
    /// vocabulary. Bytes that are no character become U+FFFD, but a character
    /// that is unfinished at the end is left out, so that the text of more ids
    /// begins with the text of fewer. Where the tokenizer puts a space before
    /// every text, that space is taken away again.
    pub fn decode(&self, ids: &[u32]) -> String {
        match &self.kind {
            Kind::ByteLevel(vocabulary, _) => vocabulary.decode(ids),
            Kind::SentencePiece(vocabulary, model) => model.decode(vocabulary, ids),
            Kind::File(file) => file.decode(ids),
        }
    }

    /// The beginning-of-sequence token.
    pub fn bos(&self) -> Option<u32> {
        match &self.kind {
            Kind::ByteLevel(vocabulary, _) | Kind::SentencePiece(vocabulary, _) => vocabulary.bos(),
            Kind::File(file) => file.bos(),
        }
    }

    /// Whether the model was trained on texts that begin with [`bos`](Self::bos).
    pub fn adds_bos(&self) -> bool {
        match &self.kind {
            Kind::ByteLevel(vocabulary, _) | Kind::SentencePiece(vocabulary, _) => {
                vocabulary.adds_bos()
            }
            Kind::File(file) => file.adds_bos(),
        }
    }

    /// The tokens that end a reply, rising: end of sequence, of turn, of message.
    pub fn end_ids(&self) -> &[u32] {
        match &self.kind {
            Kind::ByteLevel(vocabulary, _) | Kind::SentencePiece(vocabulary, _) => {
                vocabulary.end_ids()
            }
            Kind::File(file) => file.end_ids(),
        }
    }

    /// The number of tokens in the vocabulary.
    pub fn n_tokens(&self) -> usize {
        match &self.kind {
            Kind::ByteLevel(vocabulary, _) | Kind::SentencePiece(vocabulary, _) => {
                vocabulary.n_tokens()
            }
            Kind::File(file) => file.n_tokens(),
        }
    }

    /// The tokens that a model needs to know: all of them, but of a `tokenizer.json`
    /// not those that were added to its vocabulary, as Gemma 3 has one for pictures
    /// that models which only read do not know.
    pub fn n_base_tokens(&self) -> usize {
        match &self.kind {
            Kind::File(file) => file.n_base_tokens(),
            _ => self.n_tokens(),
        }
    }
}
