//! A tokenizer from `tokenizer.json`, through Hugging Face's library.

use camino::Utf8Path;
use serde_json::Value;

use super::{SpecialTokens, TokenizerError, vocabulary::END_TEXTS};

/// A tokenizer from `tokenizer.json`.
pub(super) struct FileTokenizer {
    /// Reads special tokens in text.
    parsing: tokenizers::Tokenizer,
    /// Takes them for text.
    plain: tokenizers::Tokenizer,
    bos: Option<u32>,
    adds_bos: bool,
    end_ids: Vec<u32>,
    n_tokens: usize,
    n_base_tokens: usize,
}

impl FileTokenizer {
    pub(super) fn load(path: &Utf8Path) -> Result<Self, TokenizerError> {
        let bytes = fs_err::read(path).map_err(|error| unreadable(path, &error))?;
        let mut parsing =
            tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| unreadable(path, &error))?;
        parsing.with_padding(None);
        parsing.with_truncation(None).map_err(|error| unreadable(path, &error))?;
        let mut plain = parsing.clone();
        plain.set_encode_special_tokens(true);
        let config = load_config(&path.with_file_name("tokenizer_config.json"))?;
        let named = |key: &str| parsing.token_to_id(token_text(config.get(key)?)?);
        let bos = named("bos_token");
        let adds_bos = match config.get("add_bos_token") {
            Some(Value::Bool(adds)) => *adds,
            _ => bos.is_some() && begins_with(&parsing, bos, path)?,
        };
        let mut end_ids: Vec<u32> =
            END_TEXTS.iter().filter_map(|text| parsing.token_to_id(text)).collect();
        end_ids.extend(named("eos_token"));
        end_ids.sort_unstable();
        end_ids.dedup();
        let n_tokens = parsing.get_vocab_size(true);
        let n_base_tokens = parsing.get_vocab_size(false);
        Ok(Self { parsing, plain, bos, adds_bos, end_ids, n_tokens, n_base_tokens })
    }

    pub(super) fn encode(
        &self,
        text: &str,
        special: SpecialTokens,
    ) -> Result<Vec<u32>, TokenizerError> {
        let tokenizer = match special {
            SpecialTokens::Parse => &self.parsing,
            SpecialTokens::Plain => &self.plain,
        };
        let encoding = tokenizer.encode_fast(text, false).map_err(|error| {
            TokenizerError::Text { n_bytes: text.len(), reason: error.to_string() }
        })?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Where the file's own decoder fails, the tokens stand as they are spelled.
    pub(super) fn decode(&self, ids: &[u32]) -> String {
        let text = self.parsing.decode(ids, true).unwrap_or_else(|_| {
            ids.iter().filter_map(|id| self.parsing.id_to_token(*id)).collect()
        });
        // The decoder has already replaced the bytes of an unfinished character.
        text.trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned()
    }

    pub(super) fn bos(&self) -> Option<u32> {
        self.bos
    }

    pub(super) fn adds_bos(&self) -> bool {
        self.adds_bos
    }

    pub(super) fn end_ids(&self) -> &[u32] {
        &self.end_ids
    }

    pub(super) fn n_tokens(&self) -> usize {
        self.n_tokens
    }

    /// Without those that were added to it.
    pub(super) fn n_base_tokens(&self) -> usize {
        self.n_base_tokens
    }
}

/// Whether the file's post-processor puts `bos` before a text.
fn begins_with(
    tokenizer: &tokenizers::Tokenizer,
    bos: Option<u32>,
    path: &Utf8Path,
) -> Result<bool, TokenizerError> {
    let encoding = tokenizer.encode_fast("a", true).map_err(|error| unreadable(path, &error))?;
    Ok(encoding.get_ids().first().copied() == bos)
}

/// The configuration beside a tokenizer, empty where there is none.
fn load_config(path: &Utf8Path) -> Result<Value, TokenizerError> {
    if !path.exists() {
        return Ok(Value::Null);
    }
    let text = fs_err::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    serde_json::from_str(&text).map_err(|error| unreadable(path, &error))
}

/// The text of a token, which is written alone or with its properties.
fn token_text(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("content")?.as_str())
}

fn unreadable(path: &Utf8Path, error: &impl ToString) -> TokenizerError {
    TokenizerError::File { path: path.to_owned(), reason: error.to_string() }
}
