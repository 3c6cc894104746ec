//! The folder of a sentence encoder, as sentence-transformers lays it out.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    EncoderError,
    config::{ConfigProblem, EncoderConfig},
};

/// What the files of the folder say, apart from weights and vocabulary.
pub(super) struct Folder {
    /// Where the model itself lies, which may be a folder below.
    pub(super) model: Utf8PathBuf,
    /// The shape of the model.
    pub(super) config: EncoderConfig,
    /// The most tokens that are read at once, those around the text counted.
    pub(super) max_tokens: usize,
    /// Whether vectors have length one.
    pub(super) normalizes: bool,
}

/// One step of `modules.json`.
#[derive(Deserialize)]
struct Module {
    path: String,
    r#type: String,
}

/// `sentence_bert_config.json`.
#[derive(Deserialize)]
struct Limits {
    max_seq_length: Option<usize>,
}

/// Reads `modules.json`, `config.json`, the pooling's `config.json`, and
/// `sentence_bert_config.json` where there is one: without it a text may be as
/// long as the model's table of positions.
pub(super) fn load(folder: &Utf8Path) -> Result<Folder, EncoderError> {
    let path = folder.join("modules.json");
    let modules: Vec<Module> = load_json(&path)?;
    // The names have moved between packages, their last part has not.
    let kinds: Vec<&str> =
        modules.iter().map(|module| module.r#type.rsplit('.').next().unwrap_or_default()).collect();
    let normalizes = match kinds[..] {
        ["Transformer", "Pooling"] => false,
        ["Transformer", "Pooling", "Normalize"] => true,
        _ => return Err(unsupported(path, format!("the modules {}", kinds.join(", ")))),
    };
    let path = folder.join(&modules[1].path).join("config.json");
    if !is_mean(&load_json(&path)?) {
        return Err(unsupported(path, "a pooling other than the mean of all tokens".to_owned()));
    }
    let model = folder.join(&modules[0].path);
    let path = model.join("config.json");
    let text = fs_err::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    let config = EncoderConfig::parse(&text).map_err(|problem| match problem {
        ConfigProblem::Unreadable(error) => unreadable(&path, &error),
        ConfigProblem::Unsupported(what) => unsupported(path.clone(), what),
    })?;
    let path = model.join("sentence_bert_config.json");
    let limit = if path.exists() { load_json::<Limits>(&path)?.max_seq_length } else { None };
    let max_tokens = limit.unwrap_or(config.n_positions);
    if config.n_positions < max_tokens {
        let what = format!("{max_tokens} tokens and positions for fewer");
        return Err(unsupported(path, what));
    }
    Ok(Folder { model, config, max_tokens, normalizes })
}

/// Whether a pooling's configuration names the mean over all tokens and nothing
/// else, in the old form (a flag for each mode) or the new (the mode's name).
fn is_mean(pooling: &BTreeMap<String, Value>) -> bool {
    if let Some(mode) = pooling.get("pooling_mode") {
        return mode == "mean";
    }
    let modes = pooling
        .iter()
        .filter(|(key, value)| key.starts_with("pooling_mode_") && **value == Value::Bool(true));
    modes.map(|(key, _)| key.as_str()).eq(["pooling_mode_mean_tokens"])
}

fn load_json<T: DeserializeOwned>(path: &Utf8Path) -> Result<T, EncoderError> {
    let text = fs_err::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    serde_json::from_str(&text).map_err(|error| unreadable(path, &error))
}

pub(super) fn unreadable(path: &Utf8Path, error: &impl ToString) -> EncoderError {
    EncoderError::File { path: path.to_owned(), reason: error.to_string() }
}

fn unsupported(path: Utf8PathBuf, what: String) -> EncoderError {
    EncoderError::Unsupported { path, what }
}
