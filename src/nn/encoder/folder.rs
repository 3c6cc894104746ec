//! The folder of a sentence encoder, as sentence-transformers lays it out.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    EncoderError,
    pooling::{Mode, Projection},
};

/// What the files of the folder say, apart from the model itself.
pub(super) struct Folder {
    /// Where the model itself lies, which may be a folder below.
    pub(super) model: Utf8PathBuf,
    /// The most tokens that are read at once, those around the text counted, where a
    /// file says so.
    pub(super) max_tokens: Option<usize>,
    /// Whether texts are read in lower case whatever the tokenizer does.
    pub(super) lowers_case: bool,
    /// What a text's states become; several stand side by side.
    pub(super) pooling: Vec<Mode>,
    /// What is done to the vector then, in order.
    pub(super) projections: Vec<Projection>,
    /// Whether vectors have length one.
    pub(super) normalizes: bool,
    /// The files that say all this, in order of their names.
    pub(super) files: Vec<Utf8PathBuf>,
}

/// One step of `modules.json`.
#[derive(Deserialize)]
struct Module {
    path: String,
    r#type: String,
}

/// `sentence_bert_config.json`.
#[derive(Default, Deserialize)]
struct Limits {
    max_seq_length: Option<usize>,
    do_lower_case: Option<bool>,
}

/// `config_sentence_transformers.json`.
#[derive(Default, Deserialize)]
struct Prompts {
    default_prompt_name: Option<String>,
}

/// `tokenizer_config.json`. A model without a limit has a number here that is no
/// number of tokens.
#[derive(Default, Deserialize)]
struct TokenizerLimits {
    model_max_length: Option<f64>,
    model_input_names: Option<Vec<String>>,
}

/// Reads `modules.json`, the configurations of the modules after the model, and the
/// files about limits and prompts where they are.
pub(super) fn load(folder: &Utf8Path) -> Result<Folder, EncoderError> {
    let path = folder.join("modules.json");
    let modules: Vec<Module> = load_json(&path)?;
    let mut files = vec![path.clone()];
    // The names have moved between packages, their last part has not.
    let kinds: Vec<&str> =
        modules.iter().map(|module| module.r#type.rsplit('.').next().unwrap_or_default()).collect();
    let (kinds, normalizes) = match kinds[..] {
        [ref others @ .., "Normalize"] => (others, true),
        ref all => (all, false),
    };
    let ["Transformer", "Pooling", dense @ ..] = kinds else {
        return Err(unsupported(path, format!("the modules {}", kinds.join(", "))));
    };
    if dense.iter().any(|kind| *kind != "Dense") {
        return Err(unsupported(path, format!("the modules {}", kinds.join(", "))));
    }
    let path = folder.join(&modules[1].path).join("config.json");
    let pooling = modes(&load_json(&path)?).map_err(|what| unsupported(path.clone(), what))?;
    files.push(path);
    let mut projections = Vec::new();
    for module in &modules[2..2 + dense.len()] {
        let folder = folder.join(&module.path);
        projections.push(Projection::load(&folder)?);
        files.extend([folder.join("config.json"), folder.join("model.safetensors")]);
    }
    let path = folder.join("config_sentence_transformers.json");
    if let Some(name) = load_if_there::<Prompts>(&path)?.default_prompt_name {
        return Err(unsupported(path, format!("a prompt {name:?} before every text")));
    }
    let model = folder.join(&modules[0].path);
    let path = model.join("sentence_bert_config.json");
    let limits: Limits = load_if_there(&path)?;
    if path.exists() {
        files.push(path);
    }
    let max_tokens = limits.max_seq_length.or(tokenizer_limit(&model)?);
    files.sort_unstable();
    let lowers_case = limits.do_lower_case.unwrap_or(false);
    Ok(Folder { model, max_tokens, lowers_case, pooling, projections, normalizes, files })
}

/// The most tokens of a row by the tokenizer's own file, where it says so.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number was found to be one of tokens"
)]
pub(in crate::nn) fn tokenizer_limit(model: &Utf8Path) -> Result<Option<usize>, EncoderError> {
    let limits: TokenizerLimits = load_if_there(&model.join("tokenizer_config.json"))?;
    let limit = limits.model_max_length.filter(|limit| (1.0..1e9).contains(limit));
    Ok(limit.map(|limit| limit as usize))
}

/// Whether a model gets the types of tokens, so far as its tokenizer's file says: by
/// default it does where it has types.
pub(in crate::nn) fn gets_types(model: &Utf8Path) -> Result<bool, EncoderError> {
    let limits: TokenizerLimits = load_if_there(&model.join("tokenizer_config.json"))?;
    let names = limits.model_input_names;
    Ok(names.is_none_or(|names| names.iter().any(|name| name == "token_type_ids")))
}

/// What a pooling's configuration names, in the old form (a flag for each mode) or the
/// new (the modes' names).
fn modes(pooling: &BTreeMap<String, Value>) -> Result<Vec<Mode>, String> {
    let parse = |name: &Value| {
        let mode = name.as_str().and_then(Mode::named);
        mode.ok_or_else(|| format!("a pooling by {name}"))
    };
    let modes = match pooling.get("pooling_mode") {
        Some(Value::Array(names)) => names.iter().map(parse).collect(),
        Some(name) => parse(name).map(|mode| vec![mode]),
        None => {
            let is_set = |mode: &Mode| pooling.get(mode.flag()) == Some(&Value::Bool(true));
            let known: Vec<&str> = Mode::ALL.iter().map(|mode| mode.flag()).collect();
            let unknown = pooling.iter().find(|(name, value)| {
                name.starts_with("pooling_mode_")
                    && **value == Value::Bool(true)
                    && !known.contains(&name.as_str())
            });
            match unknown {
                Some((name, _)) => Err(format!("a pooling by {name:?}")),
                None => Ok(Mode::ALL.into_iter().filter(is_set).collect()),
            }
        }
    }?;
    if modes.is_empty() { Err("no pooling".to_owned()) } else { Ok(modes) }
}

/// As [`load_json`]; what an absent file would say where there is none.
fn load_if_there<T: DeserializeOwned + Default>(path: &Utf8Path) -> Result<T, EncoderError> {
    if path.exists() { load_json(path) } else { Ok(T::default()) }
}

pub(in crate::nn) fn load_json<T: DeserializeOwned>(path: &Utf8Path) -> Result<T, EncoderError> {
    let text = fs_err::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    serde_json::from_str(&text).map_err(|error| unreadable(path, &error))
}

pub(in crate::nn) fn unreadable(path: &Utf8Path, error: &impl ToString) -> EncoderError {
    if let Some(folder) = path.parent().filter(|folder| *folder != "" && !folder.exists()) {
        return EncoderError::NoFolder(folder.to_owned());
    }
    EncoderError::File { path: path.to_owned(), reason: error.to_string() }
}

pub(in crate::nn) fn unsupported(path: Utf8PathBuf, what: String) -> EncoderError {
    EncoderError::Unsupported { path, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[Mode], &str>) {
        let found = modes(&serde_json::from_str(text).unwrap());
        assert_eq!(found, expected.map(<[Mode]>::to_vec).map_err(str::to_owned));
    }

    #[test]
    fn poolings_are_named_in_the_old_form_and_in_the_new() {
        check(r#"{"pooling_mode": "cls"}"#, Ok(&[Mode::First]));
        check(r#"{"pooling_mode": ["mean", "cls"]}"#, Ok(&[Mode::Mean, Mode::First]));
        check(
            r#"{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true,
                "pooling_mode_max_tokens": false, "word_embedding_dimension": 8}"#,
            Ok(&[Mode::First, Mode::Mean]),
        );
        check(r#"{"pooling_mode": "median"}"#, Err("a pooling by \"median\""));
        check(r#"{"pooling_mode_odd": true}"#, Err("a pooling by \"pooling_mode_odd\""));
        check(r#"{"pooling_mode_mean_tokens": false}"#, Err("no pooling"));
    }
}
