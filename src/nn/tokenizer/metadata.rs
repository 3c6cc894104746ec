//! The key-value pairs of a GGUF file, read with their types.

use std::collections::HashMap;

use candle_core::quantized::gguf_file::{Content, Value};

use super::TokenizerError;

/// The metadata of a GGUF file.
#[derive(Clone, Copy)]
pub(in crate::nn) struct Metadata<'a>(&'a HashMap<String, Value>);

impl<'a> Metadata<'a> {
    pub(in crate::nn) fn of(content: &'a Content) -> Self {
        Self(&content.metadata)
    }

    /// A text, where the key is there.
    pub(in crate::nn) fn text(self, key: &'static str) -> Result<Option<&'a str>, TokenizerError> {
        self.read(key, "a text", as_text)
    }

    /// A token id, where the key is there.
    pub(in crate::nn) fn id(self, key: &'static str) -> Result<Option<u32>, TokenizerError> {
        self.read(key, "a token id", as_u32)
    }

    /// Yes or no, where the key is there.
    pub(in crate::nn) fn flag(self, key: &'static str) -> Result<Option<bool>, TokenizerError> {
        self.read(key, "true or false", |value| value.to_bool().ok())
    }

    /// A list of texts, where the key is there.
    pub(in crate::nn) fn texts(
        self,
        key: &'static str,
    ) -> Result<Option<Vec<&'a str>>, TokenizerError> {
        self.read(key, "a list of texts", |value| list(value, as_text))
    }

    /// A list of whole numbers, where the key is there.
    pub(in crate::nn) fn integers(
        self,
        key: &'static str,
    ) -> Result<Option<Vec<u32>>, TokenizerError> {
        self.read(key, "a list of whole numbers", |value| list(value, as_u32))
    }

    /// A list of numbers, where the key is there.
    pub(in crate::nn) fn numbers(
        self,
        key: &'static str,
    ) -> Result<Option<Vec<f32>>, TokenizerError> {
        self.read(key, "a list of numbers", |value| list(value, |item| item.to_f32().ok()))
    }

    fn read<T>(
        self,
        key: &'static str,
        expected: &'static str,
        parse: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, TokenizerError> {
        let Some(value) = self.0.get(key) else {
            return Ok(None);
        };
        parse(value).map(Some).ok_or(TokenizerError::WrongType { key, expected })
    }
}

fn as_text(value: &Value) -> Option<&str> {
    value.to_string().ok().map(String::as_str)
}

/// Writers differ in the width and sign they give to a number.
fn as_u32(value: &Value) -> Option<u32> {
    match value {
        Value::I8(number) => u32::try_from(*number).ok(),
        Value::I16(number) => u32::try_from(*number).ok(),
        Value::I32(number) => u32::try_from(*number).ok(),
        Value::I64(number) => u32::try_from(*number).ok(),
        Value::Bool(_) => None,
        _ => value.to_u64().ok().and_then(|number| u32::try_from(number).ok()),
    }
}

fn list<'a, T>(value: &'a Value, parse: impl Fn(&'a Value) -> Option<T>) -> Option<Vec<T>> {
    value.to_vec().ok()?.iter().map(parse).collect()
}
