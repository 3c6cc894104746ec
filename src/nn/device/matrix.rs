//! Weights on a device.

use candle_core::{
    DType, Device, Module, Tensor,
    quantized::{GgmlDType, QMatMul, QStorage, QTensor},
};

use crate::nn::weights::{self, ModelError, RawTensor, Weights};

/// A matrix of `n_outputs` by `n_inputs` weights.
#[derive(Debug)]
pub(super) enum Matrix {
    /// In the blocks of the file, multiplied by candle's kernels for them.
    Quantized(QMatMul),
    /// Numbers; rows are rounded to their type before they are multiplied.
    Plain(Tensor),
}

impl Matrix {
    pub(super) fn load(
        weights: &dyn Weights,
        name: &str,
        shape: [usize; 2],
        device: &Device,
    ) -> Result<Self, ModelError> {
        let tensor = weights::tensor(weights, name, &shape)?;
        Self::new(&tensor, device).map_err(|source| unreadable(weights, name, &source))
    }

    fn new(tensor: &RawTensor, device: &Device) -> Result<Self, candle_core::Error> {
        let RawTensor { dtype, shape, bytes } = tensor;
        let plain = |dtype| Tensor::from_raw_buffer(bytes, dtype, shape, device).map(Self::Plain);
        match dtype {
            GgmlDType::F32 => plain(DType::F32),
            GgmlDType::F16 => plain(DType::F16),
            GgmlDType::BF16 if device.supports_bf16() => plain(DType::BF16),
            GgmlDType::BF16 => {
                let tensor = Tensor::from_raw_buffer(bytes, DType::BF16, shape, &Device::Cpu)?;
                Ok(Self::Plain(tensor.to_dtype(DType::F32)?.to_device(device)?))
            }
            _ => {
                let storage = QStorage::from_data((&**bytes).into(), device, *dtype)?;
                let tensor = QTensor::new(storage, shape.as_slice())?;
                // Not by the functions that look at variables of the environment.
                Ok(Self::Quantized(QMatMul::QTensor(tensor.into())))
            }
        }
    }

    /// In what type keys and values are kept beside such weights.
    pub(super) fn kv_dtype(&self) -> DType {
        match self {
            Self::Quantized(_) => DType::F16,
            Self::Plain(weights) => weights.dtype(),
        }
    }

    /// The products with some rows, all in single precision.
    pub(super) fn multiply(&self, rows: &Tensor) -> Result<Tensor, candle_core::Error> {
        match self {
            Self::Quantized(weights) => weights.forward(rows),
            Self::Plain(weights) => {
                rows.to_dtype(weights.dtype())?.matmul(&weights.t()?)?.to_dtype(DType::F32)
            }
        }
    }
}

/// A vector in single precision.
pub(super) fn vector(
    weights: &dyn Weights,
    name: &str,
    length: usize,
    device: &Device,
) -> Result<Tensor, ModelError> {
    let numbers = weights::vector(weights, name, length)?;
    Tensor::new(numbers, device).map_err(|source| unreadable(weights, name, &source))
}

/// As [`vector`], where the tensor may be absent.
pub(super) fn optional_vector(
    weights: &dyn Weights,
    name: &str,
    length: usize,
    device: &Device,
) -> Result<Option<Tensor>, ModelError> {
    weights::optional_vector(weights, name, length)?
        .map(|numbers| Tensor::new(numbers, device))
        .transpose()
        .map_err(|source| unreadable(weights, name, &source))
}

fn unreadable(weights: &dyn Weights, name: &str, source: &candle_core::Error) -> ModelError {
    ModelError::Unreadable {
        file: weights.origin().to_owned(),
        tensor: name.to_owned(),
        reason: source.to_string(),
    }
}
