//! Settings in a JSON file, read one by one.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::nn::weights::ModelError;

/// A JSON object of a file.
pub(super) struct Settings {
    file: Utf8PathBuf,
    /// Where in the file it stands, with a dot behind it.
    path: String,
    value: Value,
}

/// What is taken where a setting is not there.
pub(super) type Defaults = [(&'static str, usize)];

impl Settings {
    pub(super) fn load(file: &Utf8Path) -> Result<Self, ModelError> {
        let text = fs_err::read_to_string(file)?;
        let value = serde_json::from_str(&text).map_err(|error| ModelError::Json {
            file: file.to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self { file: file.to_owned(), path: String::new(), value })
    }

    pub(super) fn file(&self) -> &Utf8Path {
        &self.file
    }

    /// Whether a setting is there and null.
    pub(super) fn is_null(&self, key: &str) -> bool {
        self.value.get(key).is_some_and(Value::is_null)
    }

    /// A setting; one that is null is not there.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn part(&self, key: &str) -> Result<Option<Self>, ModelError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        if !value.is_object() {
            return Err(self.wrong(key, value, "an object"));
        }
        let path = format!("{}{key}.", self.path);
        Ok(Some(Self { file: self.file.clone(), path, value: value.clone() }))
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<usize>, ModelError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.map(Some).ok_or_else(|| self.wrong(key, value, "a whole number from 0 on"))
    }

    pub(super) fn number_or_default(
        &self,
        key: &str,
        defaults: &Defaults,
    ) -> Result<Option<usize>, ModelError> {
        let default = defaults.iter().find(|(name, _)| *name == key);
        Ok(self.number(key)?.or(default.map(|(_, number)| *number)))
    }

    /// A number that must be there and above zero.
    pub(super) fn size(&self, key: &str, defaults: &Defaults) -> Result<usize, ModelError> {
        match self.number_or_default(key, defaults)? {
            None => Err(self.missing(key)),
            Some(0) => Err(self.wrong(key, &0, "a number from 1 on")),
            Some(size) => Ok(size),
        }
    }

    /// In single precision. A number that is not above zero makes no sense anywhere.
    pub(super) fn fraction(&self, key: &str) -> Result<Option<f32>, ModelError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        #[expect(clippy::cast_possible_truncation, reason = "single precision is wanted")]
        let number = value.as_f64().map(|number| number as f32);
        let number = number.filter(|number| number.is_finite() && *number > 0.0);
        number.map(Some).ok_or_else(|| self.wrong(key, value, "a number above 0"))
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, ModelError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(key, value, "true or false"))
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&str>, ModelError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| self.wrong(key, value, "a text"))
    }

    pub(super) fn missing(&self, key: &str) -> ModelError {
        ModelError::MissingSetting { file: self.file.clone(), key: format!("{}{key}", self.path) }
    }

    pub(super) fn wrong(&self, key: &str, value: &dyn ToString, expected: &str) -> ModelError {
        ModelError::WrongValue {
            file: self.file.clone(),
            key: format!("{}{key}", self.path),
            value: value.to_string(),
            expected: expected.to_owned(),
        }
    }
}
