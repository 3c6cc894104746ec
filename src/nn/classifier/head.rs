//! What stands between an encoder's states and its outputs.

use std::collections::BTreeMap;

use camino::Utf8Path;
use candle_core::Tensor;

use super::settings::Settings;
use crate::nn::{
    encoder::{Checkpoint, EncoderError, unreadable, unsupported},
    plain::{Nonlinearity, Plain},
    weights,
};

/// The layers of a head.
#[derive(Debug)]
pub(super) struct Head {
    steps: Vec<Step>,
    /// Whether it takes the mean of all states, and not the first.
    takes_mean: bool,
}

#[derive(Debug)]
enum Step {
    Plain(Plain),
    Norm { weight: Vec<f32>, epsilon: f64 },
}

/// Where a head comes from.
pub(super) struct HeadSource<'a> {
    pub(super) checkpoint: &'a Checkpoint,
    pub(super) settings: &'a Settings,
    /// `config.json`, for messages.
    pub(super) path: &'a Utf8Path,
    pub(super) model_type: &'a str,
    pub(super) hidden_size: usize,
}

impl Head {
    /// The head of a `...ForSequenceClassification`, as transformers has it.
    pub(super) fn of_sequence(source: &HeadSource<'_>) -> Result<Self, EncoderError> {
        let tanh = Some(Nonlinearity::Tanh);
        let (steps, takes_mean) = match source.model_type {
            "bert" => (vec![source.square(&["bert.pooler.dense", "pooler.dense"], tanh)?], false),
            "distilbert" => {
                (vec![source.square(&["pre_classifier"], Some(Nonlinearity::Relu))?], false)
            }
            "deberta-v2" => (vec![source.square(&["pooler.dense"], source.pooler()?)?], false),
            "modernbert" => (source.modern()?, source.takes_mean()?),
            _ => (vec![source.square(&["classifier.dense"], tanh)?], false),
        };
        let last = match source.model_type {
            "bert" | "distilbert" | "deberta-v2" | "modernbert" => "classifier",
            _ => "classifier.out_proj",
        };
        source.finish(steps, last, takes_mean)
    }

    /// The head of a `...ForTokenClassification`.
    pub(super) fn of_tokens(source: &HeadSource<'_>) -> Result<Self, EncoderError> {
        let steps = if source.model_type == "modernbert" { source.modern()? } else { Vec::new() };
        source.finish(steps, "classifier", false)
    }

    /// How many outputs there are.
    pub(super) fn n_outputs(&self) -> usize {
        match self.steps.last() {
            Some(Step::Plain(plain)) => plain.n_outputs(),
            _ => 0,
        }
    }

    /// The outputs for the states of a row, each of so many numbers.
    pub(super) fn of_row(&self, states: &[f32], width: usize) -> Vec<f64> {
        if !self.takes_mean {
            return self.of_state(&states[..width]);
        }
        let n_states = (states.len() / width) as f64;
        let mut sums = vec![0.0; width];
        for state in states.chunks(width) {
            sums.iter_mut().zip(state).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        self.apply(sums.into_iter().map(|sum| sum / n_states).collect())
    }

    /// The outputs for one state.
    pub(super) fn of_state(&self, state: &[f32]) -> Vec<f64> {
        self.apply(state.iter().copied().map(f64::from).collect())
    }

    fn apply(&self, row: Vec<f64>) -> Vec<f64> {
        self.steps.iter().fold(row, |row, step| match step {
            Step::Plain(plain) => plain.apply(&row),
            Step::Norm { weight, epsilon } => norm(&row, weight, *epsilon),
        })
    }
}

fn norm(row: &[f64], weight: &[f32], epsilon: f64) -> Vec<f64> {
    let n = row.len() as f64;
    let mean = row.iter().sum::<f64>() / n;
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let scale = 1.0 / (variance + epsilon).sqrt();
    row.iter().zip(weight).map(|(x, &weight)| (x - mean) * scale * f64::from(weight)).collect()
}

impl HeadSource<'_> {
    fn tensors(&self) -> &BTreeMap<String, Tensor> {
        &self.checkpoint.tensors
    }

    /// A layer from states to states, by the first of these names that is there.
    fn square(
        &self,
        names: &[&str],
        nonlinearity: Option<Nonlinearity>,
    ) -> Result<Step, EncoderError> {
        self.layer(names, nonlinearity, true)
    }

    fn layer(
        &self,
        names: &[&str],
        nonlinearity: Option<Nonlinearity>,
        has_bias: bool,
    ) -> Result<Step, EncoderError> {
        let is_there = |name: &&&str| self.tensors().contains_key(&format!("{name}.weight"));
        let name = names.iter().find(is_there).ok_or_else(|| self.headless(names[0]))?;
        let shape = [self.hidden_size; 2];
        let plain = Plain::load(self.tensors(), name, shape, has_bias)
            .map_err(|error| unreadable(&self.checkpoint.path, &error))?;
        Ok(Step::Plain(plain.then(nonlinearity)))
    }

    fn headless(&self, name: &str) -> EncoderError {
        let what = format!(
            "a model without this head (there is no tensor {name:?}): give a folder that was \
             fine-tuned as a classifier of this kind"
        );
        unsupported(self.path.to_owned(), what)
    }

    fn finish(
        &self,
        mut steps: Vec<Step>,
        name: &str,
        takes_mean: bool,
    ) -> Result<Head, EncoderError> {
        let weight = self.tensors().get(&format!("{name}.weight"));
        let weight = weight.ok_or_else(|| self.headless(name))?;
        let n_outputs = weight.dims().first().copied().unwrap_or_default();
        let plain = Plain::load(self.tensors(), name, [n_outputs, self.hidden_size], true)
            .map_err(|error| unreadable(&self.checkpoint.path, &error))?;
        steps.push(Step::Plain(plain));
        Ok(Head { steps, takes_mean })
    }

    /// The layer and the norm that ModernBERT has before every head.
    fn modern(&self) -> Result<Vec<Step>, EncoderError> {
        if self.settings.classifier_activation.as_deref().is_some_and(|name| name != "gelu") {
            let what = "a head with another activation than gelu".to_owned();
            return Err(unsupported(self.path.to_owned(), what));
        }
        let has_bias = self.settings.classifier_bias.unwrap_or(false);
        let dense = self.layer(&["head.dense"], Some(Nonlinearity::Gelu), has_bias)?;
        let weight = weights::vector(self.tensors(), "head.norm.weight", self.hidden_size)
            .map_err(|error| unreadable(&self.checkpoint.path, &error))?;
        let epsilon = self.settings.norm_eps.unwrap_or(1e-5);
        Ok(vec![dense, Step::Norm { weight, epsilon }])
    }

    fn takes_mean(&self) -> Result<bool, EncoderError> {
        match self.settings.classifier_pooling.as_deref() {
            None | Some("cls") => Ok(false),
            Some("mean") => Ok(true),
            Some(other) => {
                Err(unsupported(self.path.to_owned(), format!("a pooling by {other:?}")))
            }
        }
    }

    /// What DeBERTa's head does to the first state.
    fn pooler(&self) -> Result<Option<Nonlinearity>, EncoderError> {
        match self.settings.pooler_hidden_act.as_deref() {
            None | Some("gelu") => Ok(Some(Nonlinearity::Gelu)),
            Some("tanh") => Ok(Some(Nonlinearity::Tanh)),
            Some("relu") => Ok(Some(Nonlinearity::Relu)),
            Some(other) => {
                Err(unsupported(self.path.to_owned(), format!("a head through {other:?}")))
            }
        }
    }
}
