//! Where a decoder's weights come from: tensors by name.

#![expect(unsafe_code, reason = "pages of a mapped file are given back")]

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use camino::Utf8Path;
use candle_core::{CpuStorage, Tensor, quantized::GgmlDType};
use half::{bf16, f16};
use memmap2::Mmap;

pub use super::model_error::ModelError;

/// Named tensors, as `blk.0.attn_q.weight`: the names are those of GGUF files.
pub trait Weights: Sync {
    /// The file, for messages.
    fn origin(&self) -> &Utf8Path;

    /// The tensor of this name, if there is one.
    fn find(&self, name: &str) -> Result<Option<RawTensor>, ModelError>;

    /// What the file itself calls a tensor, for messages.
    fn own_name(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// A tensor as it lies in a file.
#[derive(Clone, Debug)]
pub struct RawTensor {
    /// The type of its numbers.
    pub dtype: GgmlDType,
    /// Its dimensions, the one whose entries lie side by side last.
    pub shape: Vec<usize>,
    /// Its numbers, little-endian.
    pub bytes: Bytes,
}

/// Bytes that are owned or lie in a mapped file.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// Their own.
    Owned(Arc<Vec<u8>>),
    /// A part of a file.
    Mapped {
        /// The file.
        file: Arc<Mmap>,
        /// The part.
        range: Range<usize>,
    },
}

impl Bytes {
    /// Gives the memory of a part of a file back to the system, once it was packed into
    /// another form. It can be read again all the same, from the file.
    pub(super) fn release(&self) {
        #[cfg(unix)]
        if let Self::Mapped { file, range } = self {
            let advice = memmap2::UncheckedAdvice::DontNeed;
            // SAFETY: the map is private and never written to, so that what a page loses
            // comes back from the file, unchanged, when the page is read again.
            let given = unsafe { file.unchecked_advise_range(advice, range.start, range.len()) };
            // A system that declines keeps the pages, and nothing is lost but memory.
            given.ok();
        }
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped { file, range } => &file[range.clone()],
        }
    }
}

impl RawTensor {
    /// The bytes of one row of the last dimension.
    pub(super) fn row_bytes(&self) -> usize {
        let width = self.shape.last().copied().unwrap_or(1);
        width / self.dtype.block_size() * self.dtype.type_size()
    }

    /// Some rows of the last dimension in single precision, one after the other.
    ///
    /// # Panics
    ///
    /// If the rows are not within the tensor.
    pub(super) fn rows(&self, rows: Range<usize>) -> Result<Vec<f32>, candle_core::Error> {
        let bytes = self.row_bytes();
        let part = &self.bytes[rows.start * bytes..rows.end * bytes];
        // Plain numbers not by candle, which asks for an alignment that they may lack.
        let (halves, _) = part.as_chunks::<2>();
        match self.dtype {
            GgmlDType::F32 => {
                let (numbers, _) = part.as_chunks::<4>();
                return Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect());
            }
            GgmlDType::F16 => {
                return Ok(halves
                    .iter()
                    .map(|bytes| f16::from_le_bytes(*bytes).to_f32())
                    .collect());
            }
            GgmlDType::BF16 => {
                return Ok(halves
                    .iter()
                    .map(|bytes| bf16::from_le_bytes(*bytes).to_f32())
                    .collect());
            }
            _ => (),
        }
        let n_numbers = rows.len() * self.shape.last().copied().unwrap_or(1);
        match self.dtype.from_data(part.into()).dequantize(n_numbers)? {
            CpuStorage::F32(numbers) => Ok(numbers),
            _ => Err(candle_core::Error::Msg("the numbers are not in single precision".into())),
        }
    }
}

/// The tensor of this name.
///
/// # Errors
///
/// If there is none, or if its shape is another.
pub(super) fn tensor(
    weights: &dyn Weights,
    name: &str,
    shape: &[usize],
) -> Result<RawTensor, ModelError> {
    optional_tensor(weights, name, shape)?.ok_or_else(|| ModelError::MissingTensor {
        file: weights.origin().to_owned(),
        tensor: weights.own_name(name),
    })
}

/// The tensor of this name, if there is one.
///
/// # Errors
///
/// If its shape is another.
pub(super) fn optional_tensor(
    weights: &dyn Weights,
    name: &str,
    shape: &[usize],
) -> Result<Option<RawTensor>, ModelError> {
    let Some(tensor) = weights.find(name)? else { return Ok(None) };
    if tensor.shape != shape {
        return Err(ModelError::WrongShape {
            file: weights.origin().to_owned(),
            tensor: weights.own_name(name),
            found: tensor.shape,
            expected: shape.to_vec(),
        });
    }
    Ok(Some(tensor))
}

/// Complains where a tensor is there that would have to be used.
pub(super) fn refuse(weights: &dyn Weights, name: &str) -> Result<(), ModelError> {
    match weights.find(name)? {
        None => Ok(()),
        Some(_) => Err(ModelError::UnreadTensor {
            file: weights.origin().to_owned(),
            tensor: weights.own_name(name),
        }),
    }
}

/// The numbers of a tensor of one dimension, in single precision.
///
/// # Errors
///
/// If there is none of this name and length.
pub(super) fn vector(
    weights: &dyn Weights,
    name: &str,
    length: usize,
) -> Result<Vec<f32>, ModelError> {
    numbers(weights, name, &tensor(weights, name, &[length])?)
}

/// As [`vector`], where the tensor may be absent.
pub(super) fn optional_vector(
    weights: &dyn Weights,
    name: &str,
    length: usize,
) -> Result<Option<Vec<f32>>, ModelError> {
    optional_tensor(weights, name, &[length])?
        .map(|tensor| numbers(weights, name, &tensor))
        .transpose()
}

/// The numbers of a tensor of one dimension that was found by this name.
pub(super) fn numbers(
    weights: &dyn Weights,
    name: &str,
    tensor: &RawTensor,
) -> Result<Vec<f32>, ModelError> {
    tensor.rows(0..1).map_err(|source| ModelError::Unreadable {
        file: weights.origin().to_owned(),
        tensor: weights.own_name(name),
        reason: source.to_string(),
    })
}

/// Weights in memory, in single precision.
impl Weights for BTreeMap<String, Tensor> {
    fn origin(&self) -> &Utf8Path {
        Utf8Path::new("the weights in memory")
    }

    fn find(&self, name: &str) -> Result<Option<RawTensor>, ModelError> {
        let Some(tensor) = self.get(name) else { return Ok(None) };
        let numbers = tensor.flatten_all().and_then(|tensor| tensor.to_vec1::<f32>());
        let numbers = numbers.map_err(|source| ModelError::Unreadable {
            file: self.origin().to_owned(),
            tensor: name.to_owned(),
            reason: source.to_string(),
        })?;
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Ok(Some(RawTensor {
            dtype: GgmlDType::F32,
            shape: tensor.dims().to_vec(),
            bytes: Bytes::Owned(Arc::new(bytes)),
        }))
    }
}
