//! From the vectors of two units to the probabilities of the five ratings.

use super::super::Probabilities;
use crate::{
    distilled::{DistilledError, direction, gelu},
    nn::{ModelError, TensorFile},
};

/// What is told of two vectors, each scaled to the length of the root of its dimensions.
/// All of these are the same for the pair turned round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// The difference in each dimension, without its sign.
    Difference,
    /// The product in each dimension.
    Product,
    /// Four times the cosine: one number.
    Cosine,
}

impl Feature {
    /// How many numbers it is for vectors of so many.
    pub fn width(self, n_dimensions: usize) -> usize {
        match self {
            Self::Difference | Self::Product => n_dimensions,
            Self::Cosine => 1,
        }
    }
}

/// The make of the network above the vectors: the features side by side, a norm, a
/// hidden layer with a GELU, and five numbers of which a softmax makes probabilities.
/// Its tensors are `head.norm`, `head.inner` and `head.outer`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairHead {
    /// The features, in order.
    pub features: Vec<Feature>,
    /// The size of the hidden layer.
    pub hidden: usize,
}

impl PairHead {
    /// What keeps the head's norm from dividing by nothing.
    pub const NORM_EPSILON: f32 = 1e-5;

    /// How many numbers the features are together.
    pub fn width(&self, n_dimensions: usize) -> usize {
        self.features.iter().map(|feature| feature.width(n_dimensions)).sum()
    }
}

/// The network, ready to run.
#[derive(Debug)]
pub(super) struct Head {
    make: PairHead,
    n_dimensions: usize,
    norm: Dense,
    inner: Dense,
    outer: Dense,
}

/// A matrix, row after row, and a bias; of a norm, two vectors.
#[derive(Debug)]
struct Dense {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Head {
    pub(super) fn load(
        make: PairHead,
        n_dimensions: usize,
        file: &TensorFile,
    ) -> Result<Self, DistilledError> {
        let (width, hidden) = (make.width(n_dimensions), make.hidden);
        let dense = |name: &str, shape: &[usize]| -> Result<Dense, ModelError> {
            Ok(Dense {
                weight: file.shaped(&format!("head.{name}.weight"), shape)?,
                bias: file.shaped(&format!("head.{name}.bias"), &shape[..1])?,
            })
        };
        Ok(Self {
            norm: dense("norm", &[width])?,
            inner: dense("inner", &[hidden, width])?,
            outer: dense("outer", &[5, hidden])?,
            make,
            n_dimensions,
        })
    }

    /// The vector of a unit: the direction of the states of all its tokens.
    pub(super) fn unit(&self, states: &[f32]) -> Vec<f32> {
        direction(states, self.n_dimensions)
    }

    /// `None` where the network gives what is no number.
    pub(super) fn probabilities(&self, left: &[f32], right: &[f32]) -> Option<Probabilities> {
        let mut features = Vec::with_capacity(self.norm.bias.len());
        let pairs = || left.iter().zip(right);
        for feature in &self.make.features {
            match feature {
                Feature::Difference => features.extend(pairs().map(|(a, b)| (a - b).abs())),
                Feature::Product => features.extend(pairs().map(|(a, b)| a * b)),
                Feature::Cosine => {
                    let dot: f32 = pairs().map(|(a, b)| a * b).sum();
                    features.push(4.0 * dot / self.n_dimensions as f32);
                }
            }
        }
        self.norm.normalize(&mut features);
        #[expect(clippy::cast_possible_truncation, reason = "it was f32 to begin with")]
        let active = |number: f32| gelu(f64::from(number)) as f32;
        let inner: Vec<f32> = self.inner.apply(&features).into_iter().map(active).collect();
        let outer: Vec<f64> = self.outer.apply(&inner).into_iter().map(f64::from).collect();
        Probabilities::from_logarithms(&outer)
    }
}

impl Dense {
    fn apply(&self, row: &[f32]) -> Vec<f32> {
        let rows = self.weight.chunks(row.len());
        rows.zip(&self.bias).map(|(weights, bias)| dot(weights, row) + bias).collect()
    }

    fn normalize(&self, row: &mut [f32]) {
        let width = row.len() as f32;
        let mean = row.iter().sum::<f32>() / width;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / width;
        let factor = 1.0 / (variance + PairHead::NORM_EPSILON).sqrt();
        for ((x, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
            *x = (*x - mean) * factor * weight + bias;
        }
    }
}

/// In eight sums at once, so that they need not wait for each other.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left, left_rest) = left.as_chunks::<8>();
    let (right, right_rest) = right.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for (left, right) in left.iter().zip(right) {
        for lane in 0..8 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
