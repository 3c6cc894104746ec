//! What lies beside a decoder's weights: how to speak to it, and when it is done.

use camino::Utf8Path;
use serde_json::Value;

use super::{LocalError, speech::Speech};
use crate::nn::{ChatTemplate, ModelError, ModelFile, Tokenizer, TokenizerError};

/// What lies beside a decoder's weights.
pub(super) struct Opened {
    pub(super) speech: Speech,
    /// The tokens that end a reply, rising.
    pub(super) end_ids: Vec<u32>,
}

impl Opened {
    /// From the metadata of a GGUF file, or the other files of a folder.
    pub(super) fn of(file: &ModelFile, path: &Utf8Path) -> Result<Self, LocalError> {
        let tokenizer = |result: Result<Tokenizer, TokenizerError>| {
            result.map_err(|source| LocalError::Tokenizer { file: path.to_owned(), source })
        };
        let (tokenizer, template, generation_ends) = match file {
            ModelFile::Gguf(file) => (
                tokenizer(Tokenizer::from_gguf(file.content()))?,
                ChatTemplate::from_gguf(file.content()),
                Vec::new(),
            ),
            ModelFile::Folder(folder) => {
                let file = folder.path().join("tokenizer.json");
                if !file.is_file() {
                    return Err(LocalError::Model(ModelError::NotModelFolder {
                        folder: folder.path().to_owned(),
                        missing: "tokenizer.json".to_owned(),
                    }));
                }
                (
                    tokenizer(Tokenizer::from_file(&file))?,
                    ChatTemplate::from_folder(folder.path()),
                    generation_ends(&folder.path().join("generation_config.json"))?,
                )
            }
        };
        let template =
            template.map_err(|source| LocalError::Template { file: path.to_owned(), source })?;
        let speech = Speech { tokenizer, template };
        let mut end_ids = [speech.end_ids(), generation_ends].concat();
        end_ids.sort_unstable();
        end_ids.dedup();
        Ok(Self { speech, end_ids })
    }
}

/// The `eos_token_id` of a folder's `generation_config.json`: none, one or several.
fn generation_ends(file: &Utf8Path) -> Result<Vec<u32>, LocalError> {
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let damaged = |reason: String| LocalError::Settings { file: file.to_owned(), reason };
    let text = fs_err::read_to_string(file).map_err(|error| damaged(error.to_string()))?;
    let config: Value = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    let ids = match config.get("eos_token_id") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(ids)) => ids.as_slice(),
        Some(id) => std::slice::from_ref(id),
    };
    let id = |id: &Value| {
        let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
        id.ok_or_else(|| damaged("\"eos_token_id\" is no number of a token".to_owned()))
    };
    ids.iter().map(id).collect()
}
