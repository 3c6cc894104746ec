//! A small layer in double precision: what heads are made of.

use candle_core::Tensor;
use std::collections::BTreeMap;

use super::{
    weights,
    weights::{ModelError, Weights},
};

/// What is done to each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::nn) enum Nonlinearity {
    Tanh,
    Relu,
    /// With the exact error function.
    Gelu,
    Sigmoid,
}

impl Nonlinearity {
    fn apply(self, x: f64) -> f64 {
        match self {
            Self::Tanh => x.tanh(),
            Self::Relu => x.max(0.0),
            Self::Gelu => 0.5 * x * (1.0 + candle_core::cpu::erf::erf_f64(x / 2_f64.sqrt())),
            Self::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        }
    }
}

/// `nonlinearity(matrix * row + bias)`.
#[derive(Clone, Debug)]
pub(in crate::nn) struct Plain {
    /// A row for each output.
    matrix: Vec<f32>,
    bias: Vec<f32>,
    n_inputs: usize,
    nonlinearity: Option<Nonlinearity>,
}

impl Plain {
    /// Reads the tensors `NAME.weight`, of this shape, and `NAME.bias`.
    pub(in crate::nn) fn load(
        tensors: &BTreeMap<String, Tensor>,
        name: &str,
        shape: [usize; 2],
        has_bias: bool,
    ) -> Result<Self, ModelError> {
        let weight = format!("{name}.weight");
        let matrix = weights::tensor(tensors, &weight, &shape)?;
        let matrix = matrix.rows(0..shape[0]).map_err(|error| ModelError::Unreadable {
            file: tensors.origin().to_owned(),
            tensor: weight.clone(),
            reason: error.to_string(),
        })?;
        let bias = if has_bias {
            weights::vector(tensors, &format!("{name}.bias"), shape[0])?
        } else {
            vec![0.0; shape[0]]
        };
        if matrix.iter().chain(&bias).any(|number| !number.is_finite()) {
            return Err(ModelError::Unreadable {
                file: tensors.origin().to_owned(),
                tensor: weight,
                reason: "it holds what is no number".to_owned(),
            });
        }
        Ok(Self { matrix, bias, n_inputs: shape[1], nonlinearity: None })
    }

    /// The same, with this done to each output.
    #[must_use]
    pub(in crate::nn) fn then(self, nonlinearity: Option<Nonlinearity>) -> Self {
        Self { nonlinearity, ..self }
    }

    pub(in crate::nn) fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    pub(in crate::nn) fn n_outputs(&self) -> usize {
        self.bias.len()
    }

    /// Works on one row.
    pub(in crate::nn) fn apply(&self, row: &[f64]) -> Vec<f64> {
        let outputs = self.matrix.chunks(self.n_inputs).zip(&self.bias);
        outputs
            .map(|(weights, &bias)| {
                let terms = weights.iter().zip(row).map(|(&w, &x)| f64::from(w) * x);
                let sum = terms.sum::<f64>() + f64::from(bias);
                self.nonlinearity.map_or(sum, |nonlinearity| nonlinearity.apply(sum))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn a_row_is_multiplied_and_shifted_and_bent() {
        let tensor = |numbers: &[f32], shape: &[usize]| {
            Tensor::from_slice(numbers, shape, &Device::Cpu).unwrap()
        };
        let tensors = BTreeMap::from([
            ("x.weight".to_owned(), tensor(&[1.0, 2.0, -1.0, 0.5], &[2, 2])),
            ("x.bias".to_owned(), tensor(&[0.5, -3.0], &[2])),
        ]);
        let plain = Plain::load(&tensors, "x", [2, 2], true).unwrap();
        assert_eq!(plain.apply(&[2.0, 1.0]), [4.5, -4.5]);
        let bent = |kind| plain.clone().then(Some(kind)).apply(&[2.0, 1.0])[1];
        assert!((bent(Nonlinearity::Tanh) + 0.999_753_2).abs() < 1e-7);
        assert!((bent(Nonlinearity::Gelu) + 0.000_015_290).abs() < 1e-8);
        assert!((bent(Nonlinearity::Sigmoid) - 0.010_986_94).abs() < 1e-8);
        assert!(bent(Nonlinearity::Relu).abs() < 1e-12);
        let error = Plain::load(&tensors, "x", [2, 3], true).unwrap_err().to_string();
        assert!(error.contains("x.weight"), "{error}");
    }
}
