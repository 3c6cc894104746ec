//! A model file in the GGUF format.

#![expect(unsafe_code, reason = "the weights are mapped into memory")]

mod alignment;

use std::{io::Cursor, sync::Arc};

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::quantized::gguf_file::{Content, TensorInfo, Value};
use memmap2::Mmap;

use super::weights::{Bytes, ModelError, RawTensor, Weights};

/// A GGUF file whose header was read and whose tensors are known to be all there.
#[derive(Debug)]
pub struct GgufFile {
    path: Utf8PathBuf,
    content: Content,
    map: Arc<Mmap>,
}

impl GgufFile {
    /// Opens a file and checks that it is whole.
    pub fn open(path: &Utf8Path) -> Result<Self, ModelError> {
        let file = fs_err::File::open(path)?;
        // SAFETY: the map is only read, and model files are written once and never
        // changed in place. Where someone does so all the same, the numbers read
        // may change (all of them are plain numbers, and every bit pattern of
        // those is valid), or the process gets a signal if the file was cut.
        let map = unsafe { Mmap::map(file.file()) }?;
        if !map.starts_with(b"GGUF") {
            return Err(ModelError::NotGguf { file: path.to_owned() });
        }
        if let Some(alignment) = alignment::alignment(&map).filter(|size| !size.is_power_of_two()) {
            return Err(ModelError::WrongValue {
                file: path.to_owned(),
                key: "general.alignment".to_owned(),
                value: alignment.to_string(),
                expected: "a power of two: convert the model again".to_owned(),
            });
        }
        let content = Content::read(&mut Cursor::new(&map[..])).map_err(|source| {
            let (file, reason) = (path.to_owned(), first_line(&source.to_string()));
            if reason.contains("unknown dtype") {
                ModelError::UnsupportedTensorType { file, reason }
            } else {
                ModelError::Header { file, reason }
            }
        })?;
        let file = Self { path: path.to_owned(), content, map: Arc::new(map) };
        file.check_tensors()?;
        Ok(file)
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The header: metadata and what tensors there are.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// BLAKE3 of the metadata whose keys begin with `prefix`, in order of the keys.
    pub fn metadata_digest(&self, prefix: &str) -> blake3::Hash {
        let mut entries: Vec<_> =
            self.content.metadata.iter().filter(|(key, _)| key.starts_with(prefix)).collect();
        entries.sort_by_key(|(key, _)| key.as_str());
        let mut hasher = blake3::Hasher::new();
        for (key, value) in entries {
            hasher.update(format!("{key}={value:?}\n").as_bytes());
        }
        hasher.finalize()
    }

    /// The size of the file.
    pub fn size_bytes(&self) -> u64 {
        self.map.len() as u64
    }

    /// A whole number in the metadata, of whatever integer type.
    pub(super) fn number(&self, key: &str) -> Result<Option<usize>, ModelError> {
        let Some(value) = self.content.metadata.get(key) else { return Ok(None) };
        let number = match value {
            Value::I8(number) => usize::try_from(*number).ok(),
            Value::I16(number) => usize::try_from(*number).ok(),
            Value::I32(number) => usize::try_from(*number).ok(),
            Value::I64(number) => usize::try_from(*number).ok(),
            other => other.to_u64().ok().and_then(|number| usize::try_from(number).ok()),
        };
        number.map(Some).ok_or_else(|| self.wrong_value(key, value, "a number from 0 on"))
    }

    /// A fractional number in the metadata.
    pub(super) fn fraction(&self, key: &str) -> Result<Option<f32>, ModelError> {
        let Some(value) = self.content.metadata.get(key) else { return Ok(None) };
        match value {
            Value::F32(number) if number.is_finite() => Ok(Some(*number)),
            other => Err(self.wrong_value(key, other, "a number in single precision")),
        }
    }

    /// A text in the metadata.
    pub(super) fn text(&self, key: &str) -> Result<Option<&str>, ModelError> {
        match self.content.metadata.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_value(key, other, "a text")),
        }
    }

    /// A list of flags in the metadata. `None` for what is no list.
    pub(super) fn flags(&self, key: &str) -> Result<Option<Vec<bool>>, ModelError> {
        let Some(value @ Value::Array(values)) = self.content.metadata.get(key) else {
            return Ok(None);
        };
        let flags: Result<Vec<bool>, _> = values.iter().map(Value::to_bool).collect();
        flags.map(Some).map_err(|_| self.wrong_value(key, value, "a list of true and false"))
    }

    /// The complaint that a key is not there.
    pub(super) fn missing(&self, key: &str) -> ModelError {
        ModelError::MissingKey { file: self.path.clone(), key: key.to_owned() }
    }

    fn wrong_value(&self, key: &str, value: &Value, expected: &str) -> ModelError {
        let value = match value {
            Value::Array(values) => format!("a list of {}", values.len()),
            other => format!("{other:?}"),
        };
        ModelError::WrongValue {
            file: self.path.clone(),
            key: key.to_owned(),
            value,
            expected: expected.to_owned(),
        }
    }

    fn check_tensors(&self) -> Result<(), ModelError> {
        let mut names: Vec<&String> = self.content.tensor_infos.keys().collect();
        names.sort();
        for name in names {
            if let Some(info) = self.content.tensor_infos.get(name) {
                self.range(name, info)?;
            }
        }
        Ok(())
    }

    /// Where a tensor lies.
    fn range(&self, name: &str, info: &TensorInfo) -> Result<std::ops::Range<usize>, ModelError> {
        let damaged = |reason: String| ModelError::Header { file: self.path.clone(), reason };
        let shape = info.shape.dims();
        let block = info.ggml_dtype.block_size();
        let whole_blocks = shape.last().is_some_and(|width| width.is_multiple_of(block));
        let size = shape
            .iter()
            .try_fold(info.ggml_dtype.type_size(), |size, &dimension| size.checked_mul(dimension))
            .map(|size| size / block)
            .filter(|_| whole_blocks)
            .ok_or_else(|| damaged(format!("{name:?} has the shape {shape:?}")))?;
        let start = self.content.tensor_data_offset.saturating_add(info.offset);
        if !start.is_multiple_of(4) {
            return Err(damaged(format!("{name:?} begins at byte {start}")));
        }
        let end = start.saturating_add(size as u64);
        let (size_bytes, range) =
            (self.size_bytes(), (usize::try_from(start), usize::try_from(end)));
        match range {
            (Ok(start), Ok(end)) if end <= self.map.len() => Ok(start..end),
            _ => Err(ModelError::Truncated {
                file: self.path.clone(),
                tensor: name.to_owned(),
                end,
                size_bytes,
            }),
        }
    }
}

impl Weights for GgufFile {
    fn origin(&self) -> &Utf8Path {
        &self.path
    }

    fn find(&self, name: &str) -> Result<Option<RawTensor>, ModelError> {
        let Some(info) = self.content.tensor_infos.get(name) else { return Ok(None) };
        let range = self.range(name, info)?;
        Ok(Some(RawTensor {
            dtype: info.ggml_dtype,
            shape: info.shape.dims().to_vec(),
            bytes: Bytes::Mapped { file: Arc::clone(&self.map), range },
        }))
    }
}

/// A message without the backtrace that may follow it.
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}
