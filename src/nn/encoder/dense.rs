//! A matrix, a bias and what is done to their sum, for many rows at once.

use std::{ops::Range, sync::Arc};

use candle_core::{
    Device, Tensor,
    quantized::{GgmlDType, QTensor},
};
use rayon::prelude::*;

use super::{config::Activation, precision::EncoderPrecision};
use crate::nn::{
    kernels::{
        Cell, Cpu, DEPTH, LANES, Lanes, MAX_WORD_ROWS, WordBlock, WordRows, add, gelu, gelu_tanh,
        grid, word_tile,
    },
    linear::{Inputs, Linear, Mode, multiply},
    weights::{Bytes, RawTensor},
};

/// Rows that one task works on.
const ROWS_PER_TASK: usize = 5 * MAX_WORD_ROWS;

/// Columns that one task works on.
const COLUMNS_PER_TASK: usize = 12 * LANES;

/// Blocks along the inputs that are used up for all rows of a task before the next
/// come: these stay in the first cache.
const BLOCKS_PER_STEP: usize = 12;

/// `activation(row * matrix + bias)`.
#[derive(Debug)]
pub(super) struct Dense {
    matrix: Matrix,
    bias: Vec<f32>,
    n_inputs: usize,
    activation: Option<Activation>,
}

/// The weights, in tiles of sixteen outputs.
#[derive(Debug)]
enum Matrix {
    Words(Vec<WordBlock>),
    Other(Linear),
}

impl Dense {
    /// Packs a matrix, a row of `n_inputs` numbers for each entry of the bias. One
    /// whose rows do not fall into blocks of 32 stays in single precision.
    pub(super) fn pack(
        weights: Vec<f32>,
        bias: Vec<f32>,
        activation: Option<Activation>,
        precision: EncoderPrecision,
    ) -> Result<Self, candle_core::Error> {
        let (n_outputs, n_inputs) = (bias.len(), weights.len() / bias.len());
        let has_blocks = n_inputs.is_multiple_of(DEPTH);
        let matrix = match precision {
            EncoderPrecision::Int16 if has_blocks => Matrix::Words(word_tiles(&weights, n_inputs)),
            EncoderPrecision::Int8 if has_blocks => {
                let tensor = Tensor::from_vec(weights, (n_outputs, n_inputs), &Device::Cpu)?;
                let quantized = QTensor::quantize(&tensor, GgmlDType::Q8_0)?;
                let bytes = quantized.data()?.into_owned();
                Matrix::Other(linear(GgmlDType::Q8_0, [n_outputs, n_inputs], bytes)?)
            }
            _ => {
                let bytes = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
                Matrix::Other(linear(GgmlDType::F32, [n_outputs, n_inputs], bytes)?)
            }
        };
        Ok(Self { matrix, bias, n_inputs, activation })
    }

    /// The numbers of a row of results.
    pub(super) fn n_outputs(&self) -> usize {
        self.bias.len()
    }

    /// Works on all rows. A row's result depends on that row alone, to the last bit.
    pub(super) fn apply(&self, cpu: Cpu, rows: &[f32], out: &mut [f32]) {
        let width = self.n_outputs();
        if let Matrix::Other(linear) = &self.matrix {
            let inputs = Inputs::new(cpu, rows, &[linear]);
            multiply(cpu, &[linear], &inputs, out, Mode::Store);
        }
        let words = match &self.matrix {
            Matrix::Words(tiles) => {
                Some((tiles, WordRows::new(cpu, rows, self.n_inputs, ROWS_PER_TASK)))
            }
            Matrix::Other(_) => None,
        };
        let cuts = |end: usize, step: usize| -> Vec<usize> {
            (0..end).step_by(step).chain([end]).collect()
        };
        let n_rows = out.len() / width;
        let cells = grid(out, width, &cuts(n_rows, ROWS_PER_TASK), &cuts(width, COLUMNS_PER_TASK));
        cells.into_par_iter().for_each(|mut cell| {
            if let Some((tiles, rows)) = &words {
                self.fill(cpu, tiles, rows, &mut cell);
            }
            self.finish(cpu, &mut cell);
        });
    }

    /// The products of a cell.
    fn fill(&self, cpu: Cpu, tiles: &[WordBlock], inputs: &WordRows, cell: &mut Cell<'_>) {
        let n_blocks = self.n_inputs / DEPTH;
        let (rows, columns) = (cell.rows(), cell.columns());
        let mut totals = [[0.0; LANES]; ROWS_PER_TASK];
        for column in columns.clone().step_by(LANES) {
            totals[..rows.len()].fill([0.0; LANES]);
            let tile = &tiles[column / LANES * n_blocks..][..n_blocks];
            for first in (0..n_blocks).step_by(BLOCKS_PER_STEP) {
                let blocks = first..n_blocks.min(first + BLOCKS_PER_STEP);
                add_products(cpu, &tile[blocks.clone()], inputs, (&rows, &blocks), &mut totals);
            }
            let width = LANES.min(columns.end - column);
            for (row, totals) in rows.clone().zip(&totals) {
                let out = &mut cell.row_mut(row)[column - columns.start..][..width];
                match out.first_chunk_mut::<LANES>() {
                    // Of known length, so that it is one move between registers.
                    Some(out) => *out = *totals,
                    None => out.copy_from_slice(&totals[..width]),
                }
            }
        }
    }

    /// Adds the bias to a cell of products, and does what comes next.
    fn finish(&self, cpu: Cpu, cell: &mut Cell<'_>) {
        let bias = &self.bias[cell.columns()];
        for row in cell.rows() {
            let row = cell.row_mut(row);
            add(cpu, row, bias);
            match self.activation {
                None => (),
                Some(Activation::Gelu) => gelu(cpu, row),
                Some(Activation::GeluTanh) => gelu_tanh(cpu, row),
                Some(Activation::Relu) => {
                    // What is no number stays none.
                    row.iter_mut().filter(|x| **x < 0.0).for_each(|x| *x = 0.0);
                }
            }
        }
    }
}

/// Adds the products of some blocks for all rows of a task.
fn add_products(
    cpu: Cpu,
    tile: &[WordBlock],
    inputs: &WordRows,
    (rows, blocks): (&Range<usize>, &Range<usize>),
    totals: &mut [Lanes; ROWS_PER_TASK],
) {
    for (first, totals) in rows.clone().step_by(MAX_WORD_ROWS).zip(totals.chunks_mut(MAX_WORD_ROWS))
    {
        let rows = first..rows.end.min(first + MAX_WORD_ROWS);
        word_tile(cpu, tile, &inputs.span(rows, blocks), totals);
    }
}

/// Outputs that the last tile has too many weigh nothing.
fn word_tiles(weights: &[f32], n_inputs: usize) -> Vec<WordBlock> {
    let n_blocks = n_inputs / DEPTH;
    let n_tiles = (weights.len() / n_inputs).div_ceil(LANES);
    let mut tiles = vec![WordBlock::ZERO; n_tiles * n_blocks];
    let parts = tiles.par_chunks_mut(n_blocks).zip(weights.par_chunks(n_inputs * LANES));
    parts.for_each(|(tile, outputs)| {
        for (place, weights) in outputs.chunks(n_inputs).enumerate() {
            for (block, weights) in tile.iter_mut().zip(weights.as_chunks::<DEPTH>().0) {
                block.set(place, weights);
            }
        }
    });
    tiles
}

fn linear(
    dtype: GgmlDType,
    shape: [usize; 2],
    bytes: Vec<u8>,
) -> Result<Linear, candle_core::Error> {
    let bytes = Bytes::Owned(Arc::new(bytes));
    Linear::pack(&RawTensor { dtype, shape: shape.to_vec(), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::kernels::CpuLevel;
    use proptest::prelude::*;

    const PRECISIONS: [(EncoderPrecision, f64); 3] = [
        (EncoderPrecision::F32, 1e-5),
        (EncoderPrecision::Int16, 1e-3),
        (EncoderPrecision::Int8, 0.1),
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn rows_are_multiplied_alike_alone_in_company_and_on_every_processor(
            n_rows in 1_usize..130, n_outputs in 1_usize..40, n_blocks in 1_usize..15,
            ragged in 0_usize..2, seed: u32
        ) {
            let mut state = seed;
            let mut draw = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 8_388_608.0 - 1.0
            };
            let n_inputs = n_blocks * DEPTH + ragged * 5;
            let weights: Vec<f32> = (0..n_inputs * n_outputs).map(|_| draw()).collect();
            let bias: Vec<f32> = (0..n_outputs).map(|_| draw()).collect();
            let rows: Vec<f32> = (0..n_inputs * n_rows).map(|_| draw()).collect();
            for (precision, tolerance) in PRECISIONS {
                let dense = Dense::pack(
                    weights.clone(), bias.clone(), Some(Activation::Relu), precision,
                ).unwrap();
                let apply = |level, rows: &[f32]| {
                    let mut out = vec![0.0; rows.len() / n_inputs * n_outputs];
                    dense.apply(Cpu::with_level(level).unwrap(), rows, &mut out);
                    out
                };
                let expected = apply(CpuLevel::Portable, &rows);
                for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
                    prop_assert_eq!(&apply(level, &rows), &expected);
                }
                let last = apply(Cpu::detect().level(), &rows[(n_rows - 1) * n_inputs..]);
                prop_assert_eq!(&last, &expected[(n_rows - 1) * n_outputs..]);
                for (row, ours) in rows.chunks(n_inputs).zip(expected.chunks(n_outputs)) {
                    for (output, ours) in ours.iter().enumerate() {
                        let weights = &weights[output * n_inputs..][..n_inputs];
                        let terms = row.iter().zip(weights);
                        let sum: f64 = terms.map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
                        let expected = (sum + f64::from(bias[output])).max(0.0);
                        let error = (f64::from(*ours) - expected).abs();
                        prop_assert!(error < tolerance * (n_inputs as f64).sqrt(), "{error}");
                    }
                }
            }
        }
    }
}
