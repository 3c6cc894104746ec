//! From the states on both sides of a place to how likely it is a cut.

use super::N_SURFACE;
use crate::{
    distilled::{DistilledError, direction, gelu},
    nn::TensorFile,
};

/// The make of the network above the states. Side by side: the state of the first token
/// after the place; that of the last token before it; of the directions of what stands on
/// either side, up to the ends of their sentences, the difference without its sign, the
/// product, and the right one; and what meets the eye. Above that a hidden layer with a
/// GELU, and one number of which a sigmoid makes the probability. The tensors are
/// `head.inner` and `head.outer`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceHead {
    /// The size of the hidden layer.
    pub hidden: usize,
    /// Above which probability a place is a cut.
    pub threshold: f64,
}

impl PlaceHead {
    /// How many numbers the network is given for states of so many.
    pub fn width(n_dimensions: usize) -> usize {
        5 * n_dimensions + N_SURFACE
    }
}

/// The network, ready to run.
#[derive(Debug)]
pub(super) struct Head {
    threshold: f64,
    inner: Vec<f32>,
    inner_bias: Vec<f32>,
    outer: Vec<f32>,
    outer_bias: f32,
}

impl Head {
    pub(super) fn load(
        make: PlaceHead,
        n_dimensions: usize,
        file: &TensorFile,
    ) -> Result<Self, DistilledError> {
        let width = PlaceHead::width(n_dimensions);
        Ok(Self {
            threshold: make.threshold,
            inner: file.shaped("head.inner.weight", &[make.hidden, width])?,
            inner_bias: file.shaped("head.inner.bias", &[make.hidden])?,
            outer: file.shaped("head.outer.weight", &[1, make.hidden])?,
            outer_bias: file.shaped("head.outer.bias", &[1])?[0],
        })
    }

    pub(super) fn threshold(&self) -> f64 {
        self.threshold
    }

    /// For a place between two tokens and two sides, by their states.
    pub(super) fn probability(
        &self,
        [first, last]: [&[f32]; 2],
        sides: [&[f32]; 2],
        surface: &[f32; N_SURFACE],
    ) -> f64 {
        let [left, right] = sides.map(|states| direction(states, first.len()));
        let both = || left.iter().zip(&right);
        let mut row = [first, last].concat();
        row.extend(both().map(|(left, right)| (left - right).abs()));
        row.extend(both().map(|(left, right)| left * right));
        row.extend(&right);
        row.extend(surface);
        let inner = self.inner.chunks(row.len()).zip(&self.inner_bias);
        let inner = inner.map(|(weights, bias)| gelu(dot(weights, &row) + f64::from(*bias)));
        let sum: f64 = inner.zip(&self.outer).map(|(x, weight)| x * f64::from(*weight)).sum();
        1.0 / (1.0 + (-sum - f64::from(self.outer_bias)).exp())
    }
}

fn dot(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}
