//! What a training changes: named numbers, each with a rate of its own.

use std::collections::BTreeMap;

use candle_core::{Device, Result, Tensor, Var};

use super::Noise;

/// One tensor that is trained.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its value.
    pub var: Var,
    /// How far a step goes.
    pub rate: f64,
    /// Whether weight decay draws it to zero: matrices, not biases and norms.
    pub decays: bool,
}

/// All that is trained, by name.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    by_name: BTreeMap<String, Parameter>,
}

impl Parameters {
    /// Adds a tensor with these numbers.
    pub fn insert(
        &mut self,
        name: &str,
        numbers: Vec<f32>,
        shape: &[usize],
        rate: f64,
        device: &Device,
    ) -> Result<()> {
        let var = Var::from_tensor(&Tensor::from_vec(numbers, shape, device)?)?;
        let decays = 1 < shape.len();
        self.by_name.insert(name.to_owned(), Parameter { var, rate, decays });
        Ok(())
    }

    /// Adds a matrix and a bias, drawn evenly from within one by the root of the number
    /// of inputs, as torch begins its linear layers.
    pub fn insert_linear(
        &mut self,
        name: &str,
        [n_outputs, n_inputs]: [usize; 2],
        rate: f64,
        (noise, device): (&mut Noise, &Device),
    ) -> Result<()> {
        let bound = 1.0 / (n_inputs as f64).sqrt();
        #[expect(clippy::cast_possible_truncation, reason = "numbers in single precision")]
        let mut draw = |count: usize| -> Vec<f32> {
            (0..count).map(|_| ((noise.uniform() * 2.0 - 1.0) * bound) as f32).collect()
        };
        let (matrix, bias) = (draw(n_outputs * n_inputs), draw(n_outputs));
        let shape = [n_outputs, n_inputs];
        self.insert(&format!("{name}.weight"), matrix, &shape, rate, device)?;
        self.insert(&format!("{name}.bias"), bias, &[n_outputs], rate, device)
    }

    /// Adds the weight and the bias of a norm that changes nothing.
    pub fn insert_norm(
        &mut self,
        name: &str,
        width: usize,
        rate: f64,
        device: &Device,
    ) -> Result<()> {
        self.insert(&format!("{name}.weight"), vec![1.0; width], &[width], rate, device)?;
        self.insert(&format!("{name}.bias"), vec![0.0; width], &[width], rate, device)
    }

    /// The tensor of this name.
    pub fn get(&self, name: &str) -> Result<&Tensor> {
        match self.by_name.get(name) {
            Some(parameter) => Ok(parameter.var.as_tensor()),
            None => candle_core::bail!("no parameter is called {name}"),
        }
    }

    /// All of them, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Parameter)> {
        self.by_name.iter().map(|(name, parameter)| (name.as_str(), parameter))
    }

    /// How many numbers there are.
    pub fn n_numbers(&self) -> usize {
        self.by_name.values().map(|parameter| parameter.var.elem_count()).sum()
    }
}
