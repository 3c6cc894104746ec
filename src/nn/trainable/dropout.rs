//! Leaving numbers out at random (Srivastava et al. 2014).

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};

use super::slice;

/// Where the random draws of one step come from: the same seed and step give the same
/// draws, so that a training that is taken up again goes on as if it had not stopped.
#[derive(Clone, Debug)]
pub struct Noise {
    state: u64,
}

impl Noise {
    /// The draws of a step.
    pub fn new(seed: u64, step: u64) -> Self {
        let mut noise = Self { state: seed };
        noise.state = noise.bits() ^ step.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        noise
    }

    /// The next 64 bits (`SplitMix64`, Steele et al. 2014).
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number of `0.0..1.0`.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Each number with the probability `rate` as zero, the others greater by as much as
/// keeps the mean. Without noise all numbers stay as they are.
pub fn dropout(x: &Tensor, rate: f64, noise: Option<&mut Noise>) -> Result<Tensor> {
    let Some(noise) = noise.filter(|_| 0.0 < rate) else { return Ok(x.clone()) };
    let dropout = Dropout { rate, seed: noise.bits() };
    if x.device().is_cpu() {
        return x.contiguous()?.apply_op1(dropout);
    }
    let mut factors = vec![1.0_f32; x.elem_count()];
    dropout.apply(&mut factors);
    x * Tensor::from_vec(factors, x.shape(), x.device())?
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Dropout {
    pub(super) rate: f64,
    pub(super) seed: u64,
}

impl Dropout {
    /// Draws of its own for each of several parts.
    pub(super) fn branch(self, part: u64) -> Self {
        Self { seed: Noise::new(self.seed, part).bits(), ..self }
    }

    /// Draws sixteen bits a number, which is as fine as a rate needs.
    pub(super) fn apply(&self, numbers: &mut [f32]) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate lies between nothing and one"
        )]
        let bound = (self.rate * 65_536.0).round() as u64;
        #[expect(clippy::cast_possible_truncation, reason = "a factor of modest size")]
        let factor = (65_536.0 / (65_536 - bound) as f64) as f32;
        let mut noise = Noise { state: self.seed };
        for numbers in numbers.chunks_mut(4) {
            let mut bits = noise.bits();
            for number in numbers {
                *number *= if (bits & 0xFFFF) < bound { 0.0 } else { factor };
                bits >>= 16;
            }
        }
    }
}

impl CustomOp1 for Dropout {
    fn name(&self) -> &'static str {
        "dropout"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let mut out = slice(x, layout)?.to_vec();
        self.apply(&mut out);
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn bwd(&self, _x: &Tensor, _out: &Tensor, slope: &Tensor) -> Result<Option<Tensor>> {
        slope.contiguous()?.apply_op1_no_bwd(self).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    #[test]
    fn as_many_are_left_out_as_asked_and_their_slopes_too() {
        let x =
            Var::from_tensor(&Tensor::ones(40_000, candle_core::DType::F32, &Device::Cpu).unwrap());
        let x = x.unwrap();
        let out = dropout(x.as_tensor(), 0.25, Some(&mut Noise::new(1, 2))).unwrap();
        let values: Vec<f32> = out.to_vec1().unwrap();
        let n_zeros = values.iter().filter(|value| **value == 0.0).count();
        assert!((9_500..10_500).contains(&n_zeros), "{n_zeros}");
        assert!(values.iter().all(|value| *value == 0.0 || (value - 4.0 / 3.0).abs() < 1e-6));
        let slopes = out.sum_all().unwrap().backward().unwrap();
        let slopes: Vec<f32> = slopes.get(&x).unwrap().to_vec1().unwrap();
        assert_eq!(slopes, values);
        let again = dropout(x.as_tensor(), 0.25, Some(&mut Noise::new(1, 2))).unwrap();
        assert_eq!(again.to_vec1::<f32>().unwrap(), values);
        let other = dropout(x.as_tensor(), 0.25, Some(&mut Noise::new(1, 3))).unwrap();
        assert_ne!(other.to_vec1::<f32>().unwrap(), values);
    }
}
