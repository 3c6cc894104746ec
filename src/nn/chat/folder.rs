//! The chat template of a Hugging Face folder.

use camino::Utf8Path;
use serde_json::Value;

use super::{ChatError, ChatTemplate};

pub(super) fn template(folder: &Utf8Path) -> Result<Option<ChatTemplate>, ChatError> {
    let config = json(&folder.join("tokenizer_config.json"))?;
    let file = folder.join("chat_template.jinja");
    let source = if file.is_file() {
        Some(fs_err::read_to_string(&file).map_err(|error| unreadable(&file, &error))?)
    } else {
        // Models that also read pictures have it in a file of its own.
        let own = json(&folder.join("chat_template.json"))?;
        [&own, &config].into_iter().find_map(|json| default(json.get("chat_template")?))
    };
    let Some(source) = source else { return Ok(None) };
    let map = json(&folder.join("special_tokens_map.json"))?;
    let token = |key| [&config, &map].into_iter().find_map(|json| text(json.get(key)?));
    ChatTemplate::new(&source, token("bos_token"), token("eos_token")).map(Some)
}

/// The only template, or the one called `default` of several.
fn default(templates: &Value) -> Option<String> {
    let Value::Array(templates) = templates else {
        return templates.as_str().map(str::to_owned);
    };
    let named = templates.iter().find(|one| one.get("name").is_some_and(|name| name == "default"));
    named?.get("template")?.as_str().map(str::to_owned)
}

/// The text of a token, which is written alone or with its properties.
fn text(token: &Value) -> Option<String> {
    token.as_str().or_else(|| token.get("content")?.as_str()).map(str::to_owned)
}

/// What is in a file; nothing where there is no file.
fn json(file: &Utf8Path) -> Result<Value, ChatError> {
    if !file.is_file() {
        return Ok(Value::Null);
    }
    let text = fs_err::read_to_string(file).map_err(|error| unreadable(file, &error))?;
    serde_json::from_str(&text).map_err(|error| unreadable(file, &error))
}

fn unreadable(file: &Utf8Path, error: &dyn ToString) -> ChatError {
    ChatError::File { file: file.to_owned(), reason: error.to_string() }
}
