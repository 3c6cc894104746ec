//! The type that matrices are kept as, where it is another than that of the file.

use std::{fmt, str::FromStr, sync::Arc};

use camino::Utf8Path;
use candle_core::{
    Device, Tensor,
    quantized::{GgmlDType, QTensor},
};
use half::{bf16, f16};
use rayon::prelude::*;

use super::weights::{Bytes, ModelError, RawTensor, Weights};

/// The numbers that one task converts.
const TASK: usize = 1 << 20;

/// The type that a model's matrices are kept as.
///
/// Norms and biases stay as they are. Where it has fewer than eight bits, the
/// embedding and the head get eight all the same, as they decide most and are read
/// least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightType {
    /// What the file has.
    #[default]
    Auto,
    /// Single precision.
    F32,
    /// Half precision.
    F16,
    /// The short form of single precision.
    Bf16,
    /// Eight bits and a scale for each 32 weights.
    Q8_0,
    /// Four bits, and a scale.
    Q4_0,
    /// Four bits, a scale and a minimum.
    Q4_1,
    /// Five bits, and a scale.
    Q5_0,
    /// Five bits, a scale and a minimum.
    Q5_1,
}

/// A name of no type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is none of auto, f32, f16, bf16, q8_0, q4_0, q4_1, q5_0 and q5_1")]
pub struct WeightTypeError(String);

impl WeightType {
    /// All types.
    pub const ALL: [Self; 9] = [
        Self::Auto,
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::Q8_0,
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Q8_0 => "q8_0",
            Self::Q4_0 => "q4_0",
            Self::Q4_1 => "q4_1",
            Self::Q5_0 => "q5_0",
            Self::Q5_1 => "q5_1",
        }
    }

    /// What the tensor of this name becomes.
    fn of(self, tensor: &str) -> Option<GgmlDType> {
        let serves_all = matches!(tensor, "token_embd.weight" | "output.weight");
        match self {
            Self::Auto => None,
            Self::F32 => Some(GgmlDType::F32),
            Self::F16 => Some(GgmlDType::F16),
            Self::Bf16 => Some(GgmlDType::BF16),
            Self::Q8_0 => Some(GgmlDType::Q8_0),
            _ if serves_all => Some(GgmlDType::Q8_0),
            Self::Q4_0 => Some(GgmlDType::Q4_0),
            Self::Q4_1 => Some(GgmlDType::Q4_1),
            Self::Q5_0 => Some(GgmlDType::Q5_0),
            Self::Q5_1 => Some(GgmlDType::Q5_1),
        }
    }
}

impl fmt::Display for WeightType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for WeightType {
    type Err = WeightTypeError;

    fn from_str(text: &str) -> Result<Self, WeightTypeError> {
        let known = Self::ALL.into_iter().find(|known| known.name() == text);
        known.ok_or_else(|| WeightTypeError(text.to_owned()))
    }
}

/// Weights whose matrices are converted as they are read.
pub(super) struct Retyped<'a> {
    pub(super) weights: &'a dyn Weights,
    pub(super) wanted: WeightType,
}

impl Weights for Retyped<'_> {
    fn origin(&self) -> &Utf8Path {
        self.weights.origin()
    }

    fn own_name(&self, name: &str) -> String {
        self.weights.own_name(name)
    }

    /// # Errors
    ///
    /// Also if a matrix cannot become of the type: if its rows are no whole blocks,
    /// or if it was quantised before in another way, where a second rounding would
    /// cost quality that nobody asked about.
    fn find(&self, name: &str) -> Result<Option<RawTensor>, ModelError> {
        let Some(tensor) = self.weights.find(name)? else { return Ok(None) };
        let [_, width] = tensor.shape[..] else { return Ok(Some(tensor)) };
        let Some(wanted) = self.wanted.of(name).filter(|&wanted| wanted != tensor.dtype) else {
            return Ok(Some(tensor));
        };
        let refused = |reason: String| ModelError::Dtype {
            file: self.origin().to_owned(),
            tensor: self.own_name(name),
            wanted: self.wanted.to_string(),
            reason,
        };
        if !is_plain(wanted) && !is_plain(tensor.dtype) {
            return Err(refused(format!("it is quantised already, as {:?}", tensor.dtype)));
        }
        let block = wanted.block_size();
        if !width.is_multiple_of(block) {
            return Err(refused(format!("its rows of {width} are not whole blocks of {block}")));
        }
        let bytes = convert(&tensor, wanted).map_err(|error| refused(error.to_string()))?;
        let bytes = Bytes::Owned(Arc::new(bytes));
        Ok(Some(RawTensor { dtype: wanted, shape: tensor.shape, bytes }))
    }
}

fn is_plain(dtype: GgmlDType) -> bool {
    matches!(dtype, GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16)
}

/// The bytes of a matrix in another type, some rows a task.
fn convert(tensor: &RawTensor, wanted: GgmlDType) -> Result<Vec<u8>, candle_core::Error> {
    let (n_rows, width) = (tensor.shape[0], tensor.shape[1]);
    let step = (TASK / width.max(1)).max(1);
    let starts: Vec<usize> = (0..n_rows).step_by(step).collect();
    let parts: Result<Vec<Vec<u8>>, candle_core::Error> = starts
        .into_par_iter()
        .map(|start| {
            let rows = start..n_rows.min(start + step);
            let count = rows.len();
            let numbers = tensor.rows(rows)?;
            Ok(match wanted {
                GgmlDType::F32 => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
                GgmlDType::F16 => {
                    numbers.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect()
                }
                GgmlDType::BF16 => {
                    numbers.iter().flat_map(|x| bf16::from_f32(*x).to_le_bytes()).collect()
                }
                _ => {
                    let numbers = Tensor::from_vec(numbers, (count, width), &Device::Cpu)?;
                    QTensor::quantize(&numbers, wanted)?.data()?.to_vec()
                }
            })
        })
        .collect();
    Ok(parts?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_written_as_it_is_read() {
        for known in WeightType::ALL {
            assert_eq!(known.to_string().parse(), Ok(known));
        }
        let error = "Q4_K".parse::<WeightType>().unwrap_err().to_string();
        assert!(error.starts_with("`Q4_K` is none of auto, f32"), "{error}");
    }
}
