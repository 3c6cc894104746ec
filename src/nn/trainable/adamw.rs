//! Adam with decoupled weight decay (Loshchilov and Hutter 2019).

use std::collections::BTreeMap;

use candle_core::{Result, Tensor, backprop::GradStore};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Parameters, numbers};
use crate::nn::tensor_file::TensorFile;

/// The numbers that one task works on.
const TASK: usize = 65_536;

/// The settings of the optimiser, without the rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct AdamWSettings {
    /// The decay of the mean slope.
    pub beta1: f64,
    /// The decay of the mean square slope.
    pub beta2: f64,
    /// Keeps a step from dividing by nothing.
    pub epsilon: f64,
    /// How much of a matrix each step takes away, times the rate.
    pub weight_decay: f64,
    /// The greatest norm of all slopes together; longer ones are shortened to it.
    pub max_norm: f64,
    /// The decay of the average of the weights over steps, of which the model is made;
    /// 0 takes the last weights.
    pub average: f64,
}

impl Default for AdamWSettings {
    fn default() -> Self {
        Self {
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.01,
            max_norm: 1.0,
            average: 0.0,
        }
    }
}

/// The optimiser, with its moments.
#[derive(Debug)]
pub struct AdamW {
    settings: AdamWSettings,
    /// Steps taken.
    n_steps: u64,
    states: BTreeMap<String, State>,
}

/// What is kept of one tensor.
#[derive(Debug)]
struct State {
    value: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
    /// The average of the values; empty where none is taken.
    average: Vec<f32>,
}

impl AdamW {
    /// With no step taken.
    pub fn new(parameters: &Parameters, settings: AdamWSettings) -> Result<Self> {
        let state = |value: Vec<f32>| State {
            mean: vec![0.0; value.len()],
            square: vec![0.0; value.len()],
            average: if 0.0 < settings.average { value.clone() } else { Vec::new() },
            value,
        };
        let states = parameters.iter().map(|(name, parameter)| {
            Ok((name.to_owned(), state(numbers(parameter.var.as_tensor())?)))
        });
        Ok(Self { settings, n_steps: 0, states: states.collect::<Result<_>>()? })
    }

    /// The steps taken.
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// Takes a step, each tensor by `factor` times its rate, and returns the norm that the
    /// slopes had.
    #[expect(clippy::cast_possible_truncation, reason = "numbers in single precision")]
    pub fn step(
        &mut self,
        parameters: &Parameters,
        slopes: &GradStore,
        factor: f64,
    ) -> Result<f64> {
        let mut found = BTreeMap::new();
        for (name, parameter) in parameters.iter() {
            if let Some(slope) = slopes.get(&parameter.var) {
                found.insert(name, numbers(slope)?);
            }
        }
        let square = |slope: &Vec<f32>| -> f64 {
            // Sums of pieces, added in order: the same for any number of threads.
            let sum = |part: &[f32]| part.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
            slope.par_chunks(TASK).map(sum).collect::<Vec<f64>>().iter().sum()
        };
        let norm = found.values().map(square).sum::<f64>().sqrt();
        if !norm.is_finite() {
            candle_core::bail!("the slopes have no end at step {}", self.n_steps + 1);
        }
        self.n_steps += 1;
        let AdamWSettings { beta1, beta2, epsilon, weight_decay, max_norm, average } =
            self.settings;
        let shorten = if max_norm < norm { max_norm / norm } else { 1.0 } as f32;
        let steps = self.n_steps as f64;
        let (correct1, correct2) = (1.0 - beta1.powf(steps), 1.0 - beta2.powf(steps));
        let keep = average.min((1.0 + steps) / (10.0 + steps)) as f32;
        for (name, parameter) in parameters.iter() {
            let Some(state) = self.states.get_mut(name) else { continue };
            if let Some(slope) = found.get(name) {
                let rate = factor * parameter.rate;
                let decay = if parameter.decays { 1.0 - rate * weight_decay } else { 1.0 } as f32;
                let (beta1, beta2) = (beta1 as f32, beta2 as f32);
                let scale = (rate / correct1) as f32;
                let (root, epsilon) = ((1.0 / correct2.sqrt()) as f32, epsilon as f32);
                state
                    .value
                    .par_chunks_mut(TASK)
                    .zip(state.mean.par_chunks_mut(TASK))
                    .zip(state.square.par_chunks_mut(TASK))
                    .zip(slope.par_chunks(TASK))
                    .for_each(|(((values, means), squares), slopes)| {
                        for index in 0..values.len() {
                            let slope = slopes[index] * shorten;
                            means[index] = beta1 * means[index] + (1.0 - beta1) * slope;
                            squares[index] = beta2 * squares[index] + (1.0 - beta2) * slope * slope;
                            let divisor = squares[index].sqrt() * root + epsilon;
                            values[index] = values[index] * decay - scale * means[index] / divisor;
                        }
                    });
                let shape = parameter.var.shape();
                let device = parameter.var.device();
                parameter.var.set(&Tensor::from_slice(&state.value, shape, device)?)?;
            }
            for (average, value) in state.average.iter_mut().zip(&state.value) {
                *average = keep * *average + (1.0 - keep) * value;
            }
        }
        Ok(norm)
    }

    /// Gives the parameters their averages over steps, where these are taken, or back
    /// the last values.
    pub fn show_averages(&self, parameters: &Parameters, averages: bool) -> Result<()> {
        for (name, parameter) in parameters.iter() {
            let Some(state) = self.states.get(name) else { continue };
            let shown =
                if averages && !state.average.is_empty() { &state.average } else { &state.value };
            let (shape, device) = (parameter.var.shape(), parameter.var.device());
            parameter.var.set(&Tensor::from_slice(shown, shape, device)?)?;
        }
        Ok(())
    }

    /// Puts values and moments into a file.
    pub fn save(&self, file: &mut TensorFile) {
        for (name, state) in &self.states {
            let parts = [
                ("value", &state.value),
                ("mean", &state.mean),
                ("square", &state.square),
                ("average", &state.average),
            ];
            for (part, numbers) in parts {
                file.insert(&format!("{part}/{name}"), &[numbers.len()], numbers.clone());
            }
        }
    }

    /// Takes them back, and goes on after so many steps. The message says what does not
    /// fit.
    pub fn restore(
        &mut self,
        parameters: &Parameters,
        file: &TensorFile,
        n_steps: u64,
    ) -> std::result::Result<(), String> {
        for (name, state) in &mut self.states {
            let State { value, mean, square, average } = state;
            let parts =
                [("value", value), ("mean", mean), ("square", square), ("average", average)];
            for (part, numbers) in parts {
                let name = format!("{part}/{name}");
                let (_, found) = file.numbers(&name).ok_or_else(|| format!("no {name}"))?;
                if found.len() != numbers.len() {
                    return Err(format!("{} numbers of {name} for {}", found.len(), numbers.len()));
                }
                *numbers = found;
            }
        }
        self.n_steps = n_steps;
        self.show_averages(parameters, false).map_err(|error| error.to_string())
    }
}
