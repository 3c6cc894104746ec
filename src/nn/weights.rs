//! Where a decoder's weights come from: tensors by name.

use std::{collections::BTreeMap, io, ops::Range, sync::Arc};

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::{CpuStorage, Tensor, quantized::GgmlDType};
use memmap2::Mmap;

/// Named tensors, as `blk.0.attn_q.weight`: the names are those of GGUF files.
pub trait Weights: Sync {
    /// The file, for messages.
    fn origin(&self) -> &Utf8Path;

    /// The tensor of this name, if there is one.
    fn find(&self, name: &str) -> Result<Option<RawTensor>, ModelError>;
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
        if self.dtype == GgmlDType::F32 {
            // Not by candle, which asks for an alignment that owned bytes may lack.
            let (numbers, _) = part.as_chunks::<4>();
            return Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect());
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
        tensor: name.to_owned(),
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
            tensor: name.to_owned(),
            found: tensor.shape,
            expected: shape.to_vec(),
        });
    }
    Ok(Some(tensor))
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

fn numbers(weights: &dyn Weights, name: &str, tensor: &RawTensor) -> Result<Vec<f32>, ModelError> {
    tensor.rows(0..1).map_err(|source| ModelError::Unreadable {
        file: weights.origin().to_owned(),
        tensor: name.to_owned(),
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

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is another kind of file.
    #[error("{file} is not a GGUF file: give a model in the GGUF format")]
    NotGguf {
        /// The file.
        file: Utf8PathBuf,
    },
    /// The part before the weights cannot be read.
    #[error(
        "the header of {file} cannot be read ({reason}): the file is damaged or cut short, fetch it again"
    )]
    Header {
        /// The file.
        file: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor is of a type that is not read here.
    #[error(
        "{file} holds tensors of a type that is not supported ({reason}): use a file in F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 or K-quants"
    )]
    UnsupportedTensorType {
        /// The file.
        file: Utf8PathBuf,
        /// Which type.
        reason: String,
    },
    /// The file ends before its last tensor does.
    #[error(
        "{file} is cut short: {tensor} ends at byte {end}, and the file has {size_bytes}; fetch it again"
    )]
    Truncated {
        /// The file.
        file: Utf8PathBuf,
        /// The first tensor by name that is not all there.
        tensor: String,
        /// Where the tensor should end.
        end: u64,
        /// The size of the file.
        size_bytes: u64,
    },
    /// A setting that is needed is not there.
    #[error(
        "{file} has no {key:?} in its metadata: convert the model again with a current converter"
    )]
    MissingKey {
        /// The file.
        file: Utf8PathBuf,
        /// The key.
        key: String,
    },
    /// A setting has a value that makes no sense.
    #[error("{key:?} in the metadata of {file} is {value}, expected {expected}")]
    WrongValue {
        /// The file.
        file: Utf8PathBuf,
        /// The key.
        key: String,
        /// What it is.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A tensor that is needed is not there.
    #[error("{file} has no tensor {tensor:?}: the file is incomplete, fetch or convert it again")]
    MissingTensor {
        /// The file.
        file: Utf8PathBuf,
        /// The tensor.
        tensor: String,
    },
    /// A tensor does not have the shape that the settings ask for.
    #[error("{tensor:?} in {file} has the shape {found:?}, and its metadata asks for {expected:?}")]
    WrongShape {
        /// The file.
        file: Utf8PathBuf,
        /// The tensor.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that it should have.
        expected: Vec<usize>,
    },
    /// A tensor cannot be read.
    #[error("{tensor:?} in {file} cannot be read: {reason}")]
    Unreadable {
        /// The file.
        file: Utf8PathBuf,
        /// The tensor.
        tensor: String,
        /// Why.
        reason: String,
    },
    /// The model is of a kind that this program does not run.
    #[error("{file} is a model of the kind {found:?}, and those that run here are: {supported}")]
    UnsupportedArchitecture {
        /// The file.
        file: Utf8PathBuf,
        /// The kind.
        found: String,
        /// The kinds that are supported.
        supported: String,
    },
}
