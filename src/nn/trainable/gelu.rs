//! The exact GELU (Hendrycks and Gimpel 2016).

use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::slice;
use crate::nn::kernels::{self, Cpu};

/// The numbers that one task works on.
const TASK: usize = 16_384;

/// `x * (1 + erf(x / sqrt(2))) / 2`.
pub fn gelu(x: &Tensor) -> Result<Tensor> {
    if x.device().is_cpu() { x.contiguous()?.apply_op1(Gelu) } else { x.gelu_erf() }
}

struct Gelu;

impl CustomOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let mut out = slice(x, layout)?.to_vec();
        let cpu = Cpu::detect();
        out.par_chunks_mut(TASK).for_each(|part| kernels::gelu(cpu, part));
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _out: &Tensor, slope: &Tensor) -> Result<Option<Tensor>> {
        x.apply_op2_no_bwd(&slope.contiguous()?, &GeluSlope).map(Some)
    }
}

struct GeluSlope;

impl CustomOp2 for GeluSlope {
    fn name(&self) -> &'static str {
        "gelu-slope"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        layout: &Layout,
        slope: &CpuStorage,
        slope_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let mut out = slice(x, layout)?.to_vec();
        let slopes = slice(slope, slope_layout)?;
        let cpu = Cpu::detect();
        out.par_chunks_mut(TASK).zip(slopes.par_chunks(TASK)).for_each(|(part, slopes)| {
            kernels::gelu_slope(cpu, part);
            for (out, slope) in part.iter_mut().zip(slopes) {
                *out *= slope;
            }
        });
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }
}
