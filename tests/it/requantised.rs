//! A model file made anew, with its matrices in another format.

use std::{collections::BTreeMap, str::FromStr};

use camino::Utf8Path;
use candle_core::{
    Device,
    quantized::{
        GgmlDType, QTensor,
        gguf_file::{self, Content, Value},
    },
};
use fs_err::File;
use rayon::prelude::*;

/// Which format each matrix gets, as llama.cpp's own quantiser chooses it. The
/// embedding is in `Q8_0` throughout; norms and biases stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipe {
    /// All in single precision.
    F32,
    /// All in `Q4_0`.
    Q4_0,
    /// All in `Q8_0`.
    Q8_0,
    /// `Q4_K`, and `Q6_K` where it matters most; `Q5_0` and `Q8_0` in their place
    /// where rows are no multiple of 256 wide.
    Q4KM,
}

impl Recipe {
    pub(crate) const ALL: [(Self, &'static str); 4] =
        [(Self::F32, "f32"), (Self::Q4_0, "q4_0"), (Self::Q8_0, "q8_0"), (Self::Q4KM, "q4_k_m")];

    /// The format of a matrix with rows so wide.
    pub(crate) fn format(self, name: &str, width: usize, n_layers: usize) -> GgmlDType {
        let is_embedding = name == "token_embd.weight" || name == "output.weight";
        match self {
            Self::F32 => GgmlDType::F32,
            _ if is_embedding => GgmlDType::Q8_0,
            Self::Q4_0 => GgmlDType::Q4_0,
            Self::Q8_0 => GgmlDType::Q8_0,
            Self::Q4KM => {
                let matters = is_one_that_matters(name, n_layers);
                match (matters, width.is_multiple_of(256)) {
                    (false, true) => GgmlDType::Q4K,
                    (false, false) => GgmlDType::Q5_0,
                    (true, true) => GgmlDType::Q6K,
                    (true, false) => GgmlDType::Q8_0,
                }
            }
        }
    }
}

impl FromStr for Recipe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text);
        found.map(|(recipe, _)| recipe).ok_or_else(|| format!("no recipe {text:?}"))
    }
}

/// The values and the last matrices of the first and last eighth of the layers, and of
/// every third between them.
fn is_one_that_matters(name: &str, n_layers: usize) -> bool {
    let mut parts = name.split('.').skip(1);
    let layer: Option<usize> = parts.next().and_then(|layer| layer.parse().ok());
    let (Some(layer), Some("attn_v" | "ffn_down")) = (layer, parts.next()) else {
        return false;
    };
    let eighth = n_layers / 8;
    layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2
}

/// Writes a model file after a recipe: the same bytes on every machine.
pub(crate) fn requantise(
    from: &Utf8Path,
    recipe: Recipe,
    to: &Utf8Path,
) -> Result<(), candle_core::Error> {
    let content = Content::read(&mut File::open(from)?)?;
    let n_layers = content
        .metadata
        .iter()
        .find(|(key, _)| key.ends_with(".block_count"))
        .map_or(Ok(0), |(_, value)| value.to_u32())? as usize;
    let names: Vec<&String> = content.tensor_infos.keys().collect();
    let tensors: BTreeMap<&String, QTensor> = names
        .into_par_iter()
        .map(|name| {
            let tensor = content.tensor(&mut File::open(from)?, name, &Device::Cpu)?;
            let tensor = match *tensor.shape().dims() {
                [_, width] => {
                    let format = recipe.format(name, width, n_layers);
                    QTensor::quantize(&tensor.dequantize(&Device::Cpu)?, format)?
                }
                _ => tensor,
            };
            Ok((name, tensor))
        })
        .collect::<Result<_, candle_core::Error>>()?;
    let metadata: BTreeMap<&String, &Value> = content.metadata.iter().collect();
    let metadata: Vec<_> = metadata.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    gguf_file::write(&mut File::create(to)?, &metadata, &tensors)
}
