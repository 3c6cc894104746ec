//! The norm of each row (Ba, Kiros and Hinton 2016).

use candle_core::{CpuStorage, CustomOp3, D, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::{numbers, slice};
use crate::nn::kernels::{self, Cpu};

/// The rows that one task works on.
const TASK: usize = 64;

/// `(row - mean) / sqrt(variance + epsilon) * weight + bias` for each row.
pub fn layer_norm(rows: &Tensor, weight: &Tensor, bias: &Tensor, epsilon: f32) -> Result<Tensor> {
    if rows.device().is_cpu() {
        return rows.contiguous()?.apply_op3(weight, bias, LayerNorm { epsilon });
    }
    let apart = rows.broadcast_sub(&rows.mean_keepdim(D::Minus1)?)?;
    let variance = apart.sqr()?.mean_keepdim(D::Minus1)?;
    let normed = apart.broadcast_div(&(variance + f64::from(epsilon))?.sqrt()?)?;
    normed.broadcast_mul(weight)?.broadcast_add(bias)
}

struct LayerNorm {
    epsilon: f32,
}

impl CustomOp3 for LayerNorm {
    fn name(&self) -> &'static str {
        "layer-norm"
    }

    fn cpu_fwd(
        &self,
        rows: &CpuStorage,
        rows_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let rows = slice(rows, rows_layout)?;
        let (weight, bias) = (slice(weight, weight_layout)?, slice(bias, bias_layout)?);
        let width = weight.len();
        let mut out = vec![0.0; rows.len()];
        let cpu = Cpu::detect();
        out.par_chunks_mut(width)
            .zip(rows.par_chunks(width))
            .with_min_len(TASK)
            .for_each(|(out, row)| kernels::layer_norm(cpu, row, weight, bias, self.epsilon, out));
        Ok((CpuStorage::F32(out), rows_layout.shape().clone()))
    }

    fn bwd(
        &self,
        rows: &Tensor,
        weight: &Tensor,
        bias: &Tensor,
        _out: &Tensor,
        slope: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let shape = rows.shape();
        let (rows, weights, mut slopes) = (numbers(rows)?, numbers(weight)?, numbers(slope)?);
        let width = weights.len();
        let n_tasks = (rows.len() / width).div_ceil(TASK);
        // The sums of each task, added in order afterwards: the same for any threads.
        let mut sums = vec![0.0; n_tasks * 2 * width];
        let parts = slopes.par_chunks_mut(TASK * width).zip(rows.par_chunks(TASK * width));
        parts.zip(sums.par_chunks_mut(2 * width)).for_each(|((slopes, rows), sums)| {
            let (for_weight, for_bias) = sums.split_at_mut(width);
            for (slope, row) in slopes.chunks_mut(width).zip(rows.chunks(width)) {
                row_slope(row, &weights, self.epsilon, slope, for_weight, for_bias);
            }
        });
        let mut total = vec![0.0_f32; 2 * width];
        for sums in sums.chunks(2 * width) {
            for (total, sum) in total.iter_mut().zip(sums) {
                *total += sum;
            }
        }
        let device = weight.device();
        Ok((
            Some(Tensor::from_vec(slopes, shape, device)?),
            weight
                .is_variable()
                .then(|| Tensor::from_slice(&total[..width], width, device))
                .transpose()?,
            bias.is_variable()
                .then(|| Tensor::from_slice(&total[width..], width, device))
                .transpose()?,
        ))
    }
}

/// Turns the slope of a normed row into that of the row, and adds to those of weight
/// and bias.
fn row_slope(
    row: &[f32],
    weights: &[f32],
    epsilon: f32,
    slope: &mut [f32],
    for_weight: &mut [f32],
    for_bias: &mut [f32],
) {
    let width = row.len() as f32;
    let mean = row.iter().sum::<f32>() / width;
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / width;
    let factor = 1.0 / (variance + epsilon).sqrt();
    let (mut sum, mut sum_along) = (0.0, 0.0);
    for index in 0..row.len() {
        let normed = (row[index] - mean) * factor;
        for_weight[index] += slope[index] * normed;
        for_bias[index] += slope[index];
        slope[index] *= weights[index];
        sum += slope[index];
        sum_along += slope[index] * normed;
    }
    let (sum, sum_along) = (sum / width, sum_along / width);
    for (slope, x) in slope.iter_mut().zip(row) {
        let normed = (x - mean) * factor;
        *slope = (*slope - sum - normed * sum_along) * factor;
    }
}
