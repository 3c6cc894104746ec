//! The states of a text's tokens to one vector.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Deserialize;

use super::{
    EncoderError,
    checkpoint::float_tensors,
    folder::{load_json, unreadable, unsupported},
};
use crate::nn::plain::{Nonlinearity, Plain};

/// What states become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The first state.
    First,
    /// The greatest number of each dimension.
    Max,
    /// The mean.
    Mean,
    /// The sum, divided by the root of their number.
    MeanOfRoot,
    /// The mean, weighted by place: the first counts once, the second twice.
    WeightedMean,
    /// The last state.
    Last,
}

impl Mode {
    /// All, in the order in which they stand where flags name them.
    pub(super) const ALL: [Self; 6] =
        [Self::First, Self::Max, Self::Mean, Self::MeanOfRoot, Self::WeightedMean, Self::Last];

    /// By the name that sentence-transformers gives it.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "cls" => Self::First,
            "max" => Self::Max,
            "mean" => Self::Mean,
            "mean_sqrt_len_tokens" => Self::MeanOfRoot,
            "weightedmean" => Self::WeightedMean,
            "lasttoken" => Self::Last,
            _ => return None,
        })
    }

    /// The name of its flag.
    pub(super) fn flag(self) -> &'static str {
        match self {
            Self::First => "pooling_mode_cls_token",
            Self::Max => "pooling_mode_max_tokens",
            Self::Mean => "pooling_mode_mean_tokens",
            Self::MeanOfRoot => "pooling_mode_mean_sqrt_len_tokens",
            Self::WeightedMean => "pooling_mode_weightedmean_tokens",
            Self::Last => "pooling_mode_lasttoken",
        }
    }
}

/// What is kept of one window of a text.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    mode: Mode,
    numbers: Vec<f64>,
    weight: f64,
}

impl Pooled {
    /// Of states of `width` numbers each, at least one.
    pub(super) fn of(mode: Mode, states: &[f32], width: usize) -> Self {
        let n_states = states.len() / width;
        let chosen = match mode {
            Mode::First => &states[..width],
            Mode::Last => &states[states.len() - width..],
            _ => states,
        };
        let mut pooled = Self { mode, numbers: vec![0.0; width], weight: 1.0 };
        match mode {
            Mode::Max => {
                pooled.numbers.fill(f64::NEG_INFINITY);
                for state in states.chunks(width) {
                    for (most, &value) in pooled.numbers.iter_mut().zip(state) {
                        *most = most.max(f64::from(value));
                    }
                }
            }
            Mode::WeightedMean => {
                pooled.weight = (n_states * (n_states + 1)) as f64 / 2.0;
                for (state, place) in states.chunks(width).zip(1_u32..) {
                    for (sum, &value) in pooled.numbers.iter_mut().zip(state) {
                        *sum += f64::from(value) * f64::from(place);
                    }
                }
            }
            Mode::First | Mode::Last | Mode::Mean | Mode::MeanOfRoot => {
                pooled.weight = (chosen.len() / width) as f64;
                for state in chosen.chunks(width) {
                    for (sum, &value) in pooled.numbers.iter_mut().zip(state) {
                        *sum += f64::from(value);
                    }
                }
            }
        }
        pooled
    }

    /// The numbers of a text that was read in these windows: of each mode what it
    /// says, over the tokens of all windows; of first and last states the mean over
    /// the windows.
    pub(super) fn together<'a>(windows: impl IntoIterator<Item = &'a Self>) -> Option<Vec<f64>> {
        let mut windows = windows.into_iter();
        let mut all = windows.next()?.clone();
        for window in windows {
            all.weight += window.weight;
            for (own, &value) in all.numbers.iter_mut().zip(&window.numbers) {
                *own = if all.mode == Mode::Max { own.max(value) } else { *own + value };
            }
        }
        let divisor = match all.mode {
            Mode::Max => 1.0,
            Mode::MeanOfRoot => all.weight.sqrt(),
            _ => all.weight,
        };
        Some(all.numbers.iter().map(|value| value / divisor).collect())
    }
}

/// A `Dense` module: a matrix, a bias, and what is done to their sum.
#[derive(Debug)]
pub(super) struct Projection {
    plain: Plain,
}

/// The `config.json` of a `Dense` module.
#[derive(Deserialize)]
struct ProjectionFile {
    in_features: usize,
    out_features: usize,
    #[serde(default = "yes")]
    bias: bool,
    activation_function: Option<String>,
    #[serde(default)]
    use_residual: bool,
    module_input_name: Option<String>,
    module_output_name: Option<String>,
}

fn yes() -> bool {
    true
}

impl Projection {
    /// Reads `config.json` and `model.safetensors`.
    pub(super) fn load(folder: &Utf8Path) -> Result<Self, EncoderError> {
        let path = folder.join("config.json");
        let file: ProjectionFile = load_json(&path)?;
        let name = file.activation_function.as_deref().unwrap_or("Tanh");
        let nonlinearity = match name.rsplit('.').next().unwrap_or_default() {
            "Identity" => None,
            "Tanh" => Some(Nonlinearity::Tanh),
            "ReLU" => Some(Nonlinearity::Relu),
            "GELU" => Some(Nonlinearity::Gelu),
            "Sigmoid" => Some(Nonlinearity::Sigmoid),
            _ => return Err(unsupported(path, format!("a module that does {name:?}"))),
        };
        let is_usual =
            |name: &Option<String>| name.as_deref().is_none_or(|name| name == "sentence_embedding");
        let names = [&file.module_input_name, &file.module_output_name];
        if file.use_residual || !names.into_iter().all(is_usual) {
            return Err(unsupported(path, "a module beside those before it".to_owned()));
        }
        let path = folder.join("model.safetensors");
        if !path.is_file() && folder.join("pytorch_model.bin").is_file() {
            let reason = "weights in a pickle are not read: load the model with \
                          sentence-transformers and call save_pretrained";
            return Err(unreadable(&folder.join("pytorch_model.bin"), &reason));
        }
        let bytes = fs_err::read(&path).map_err(|error| unreadable(&path, &error))?;
        let tensors: BTreeMap<_, _> =
            float_tensors(&bytes).map_err(|error| unreadable(&path, &error))?;
        let shape = [file.out_features, file.in_features];
        let plain = Plain::load(&tensors, "linear", shape, file.bias)
            .map_err(|error| unreadable(&path, &error))?;
        Ok(Self { plain: plain.then(nonlinearity) })
    }

    pub(super) fn n_inputs(&self) -> usize {
        self.plain.n_inputs()
    }

    pub(super) fn n_outputs(&self) -> usize {
        self.plain.n_outputs()
    }

    pub(super) fn apply(&self, vector: &[f64]) -> Vec<f64> {
        self.plain.apply(vector)
    }
}
