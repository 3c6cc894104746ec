//! A matrix and a bias.

use candle_core::{CpuStorage, CustomOp3, Layout, Result, Shape, Tensor, backend::BackendStorage};

use super::slice;

/// `rows * matrix^T + bias`: rows `[n, inputs]`, a matrix `[outputs, inputs]`.
pub fn linear(rows: &Tensor, matrix: &Tensor, bias: &Tensor) -> Result<Tensor> {
    if rows.device().is_cpu() {
        return rows.contiguous()?.apply_op3(matrix, bias, Linear);
    }
    rows.matmul(&matrix.t()?)?.broadcast_add(bias)
}

struct Linear;

impl CustomOp3 for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn cpu_fwd(
        &self,
        rows: &CpuStorage,
        rows_layout: &Layout,
        matrix: &CpuStorage,
        matrix_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (n_rows, n_inputs) = rows_layout.shape().dims2()?;
        let (n_outputs, _) = matrix_layout.shape().dims2()?;
        let sizes = (1, n_rows, n_outputs, n_inputs);
        let mut out = rows.matmul(matrix, sizes, rows_layout, &matrix_layout.transpose(0, 1)?)?;
        let bias = slice(bias, bias_layout)?;
        if let CpuStorage::F32(out) = &mut out {
            for row in out.chunks_mut(n_outputs) {
                for (out, bias) in row.iter_mut().zip(bias) {
                    *out += bias;
                }
            }
        }
        Ok((out, (n_rows, n_outputs).into()))
    }

    fn bwd(
        &self,
        rows: &Tensor,
        matrix: &Tensor,
        bias: &Tensor,
        _out: &Tensor,
        slope: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let slope = slope.contiguous()?;
        let ones = Tensor::ones((1, slope.dim(0)?), slope.dtype(), slope.device())?;
        // What is not trained needs no slope.
        let for_matrix = matrix.is_variable().then(|| slope.t()?.matmul(rows)).transpose()?;
        let for_bias =
            bias.is_variable().then(|| ones.matmul(&slope)?.flatten_all()).transpose()?;
        Ok((Some(slope.matmul(matrix)?), for_matrix, for_bias))
    }
}
