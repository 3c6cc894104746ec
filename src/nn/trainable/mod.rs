//! What is trained: layers of encoders of the BERT type, over candle's tensors.
//!
//! All tokens of all texts of a step stand one after the other, without padding; a text
//! is a range of rows. On the processor the operations between the matrix products are
//! fused and bring their own gradients; on GPUs the same is put together from candle's.

mod adamw;
mod attention;
mod dropout;
mod encoder_layer;
mod gelu;
mod linear;
mod norm;
mod parameters;
#[cfg(test)]
mod tests;

pub use adamw::{AdamW, AdamWSettings};
pub use attention::attend;
pub use dropout::{Noise, dropout};
pub use encoder_layer::{DropoutRates, EncoderLayers, LayerSizes};
pub use gelu::gelu;
pub use linear::linear;
pub use norm::layer_norm;
pub use parameters::{Parameter, Parameters};

use candle_core::{CpuStorage, Layout, Result, Tensor, bail};

/// The numbers of a tensor that lie one after the other.
fn slice<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let numbers = storage.as_slice::<f32>()?;
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(&numbers[start..end]),
        None => bail!("numbers that do not lie one after the other"),
    }
}

/// The numbers of a tensor, copied, in the order of its rows.
fn numbers(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.flatten_all()?.to_vec1()
}
