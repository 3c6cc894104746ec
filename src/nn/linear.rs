//! Matrices of weights, packed for the kernels.

use candle_core::quantized::GgmlDType;
use half::{bf16, f16};
use rayon::prelude::*;

use super::{
    kernels::{
        Block, Cell, Codes4, Codes5, Codes8, Columns, Cpu, DEPTH, Element, FileBlock, Halves,
        KernelFormat, LANES, Lanes, MAX_FLOAT_ROWS, MAX_INTEGER_ROWS, NoMinimum, QuantizedRows,
        RowSpan, SuperBlock, SuperBlock6, accumulate, grid, integer_tile, quantize,
    },
    weights::RawTensor,
};

/// Rows that one task works on: their quantised inputs fit the second cache.
const ROWS_PER_TASK: usize = 64;

/// The least multiplications worth a task of their own.
const MIN_TASK: usize = 1 << 16;

/// Tasks that a product falls into for each thread: the more, the less a thread waits
/// for the slowest.
const TASKS_PER_THREAD: usize = 16;

/// A matrix of `n_outputs` by `n_inputs` weights, in tiles of sixteen outputs.
#[derive(Debug)]
pub(super) struct Linear {
    n_outputs: usize,
    n_inputs: usize,
    tiles: Tiles,
}

/// The tiles one after the other, in the format of the file where there is a
/// kernel for it and else in single precision, so that no quality is lost.
#[derive(Debug)]
enum Tiles {
    Q4_0(Vec<Block<Codes4, NoMinimum>>),
    Q4_1(Vec<Block<Codes4, Halves>>),
    Q5_0(Vec<Block<Codes5, NoMinimum>>),
    Q5_1(Vec<Block<Codes5, Halves>>),
    Q8_0(Vec<Block<Codes8, NoMinimum>>),
    Q4K(Vec<SuperBlock<Codes4>>),
    Q5K(Vec<SuperBlock<Codes5>>),
    Q6K(Vec<SuperBlock6>),
    F32(Vec<f32>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
}

impl Linear {
    /// Packs a tensor of shape `[n_outputs, n_inputs]`.
    pub(super) fn pack(tensor: &RawTensor) -> Result<Self, candle_core::Error> {
        let [n_outputs, n_inputs] = tensor.shape[..] else {
            candle_core::bail!("{} dimensions, expected 2", tensor.shape.len());
        };
        let tiles = match tensor.dtype {
            GgmlDType::Q4_0 => Tiles::Q4_0(pack_blocks(tensor, |block, output, bytes| {
                block.set(output, &FileBlock::q4_0(bytes));
            })),
            GgmlDType::Q4_1 => Tiles::Q4_1(pack_blocks(tensor, |block, output, bytes| {
                block.set(output, &FileBlock::q4_1(bytes));
            })),
            GgmlDType::Q5_0 => Tiles::Q5_0(pack_blocks(tensor, |block, output, bytes| {
                block.set(output, &FileBlock::q5_0(bytes));
            })),
            GgmlDType::Q5_1 => Tiles::Q5_1(pack_blocks(tensor, |block, output, bytes| {
                block.set(output, &FileBlock::q5_1(bytes));
            })),
            GgmlDType::Q8_0 => Tiles::Q8_0(pack_blocks(tensor, |block, output, bytes| {
                block.set(output, &FileBlock::q8_0(bytes));
            })),
            GgmlDType::Q4K => Tiles::Q4K(pack_blocks(tensor, SuperBlock::<Codes4>::set)),
            GgmlDType::Q5K => Tiles::Q5K(pack_blocks(tensor, SuperBlock::<Codes5>::set)),
            GgmlDType::Q6K => Tiles::Q6K(pack_blocks(tensor, SuperBlock6::set)),
            GgmlDType::F16 => Tiles::F16(pack_numbers(n_inputs, n_outputs, |output| {
                let (numbers, _) = row(tensor, output).as_chunks::<2>();
                Ok(numbers.iter().map(|bytes| f16::from_le_bytes(*bytes)).collect())
            })?),
            GgmlDType::BF16 => Tiles::Bf16(pack_numbers(n_inputs, n_outputs, |output| {
                let (numbers, _) = row(tensor, output).as_chunks::<2>();
                Ok(numbers.iter().map(|bytes| bf16::from_le_bytes(*bytes)).collect())
            })?),
            _ => Tiles::F32(pack_numbers(n_inputs, n_outputs, |output| {
                tensor.rows(output..output + 1)
            })?),
        };
        Ok(Self { n_outputs, n_inputs, tiles })
    }

    fn is_quantized(&self) -> bool {
        !matches!(self.tiles, Tiles::F32(_) | Tiles::F16(_) | Tiles::Bf16(_))
    }

    /// The products of one tile with the rows of a cell.
    fn fill(&self, cpu: Cpu, tile: usize, inputs: &Inputs<'_>, target: &mut Target<'_, '_>) {
        match &self.tiles {
            Tiles::Q4_0(blocks) => self.fill_integers(cpu, blocks, tile, inputs, target),
            Tiles::Q4_1(blocks) => self.fill_integers(cpu, blocks, tile, inputs, target),
            Tiles::Q5_0(blocks) => self.fill_integers(cpu, blocks, tile, inputs, target),
            Tiles::Q5_1(blocks) => self.fill_integers(cpu, blocks, tile, inputs, target),
            Tiles::Q8_0(blocks) => self.fill_integers(cpu, blocks, tile, inputs, target),
            Tiles::Q4K(blocks) => self.fill_integers(cpu, blocks, tile, inputs, target),
            Tiles::Q5K(blocks) => self.fill_integers(cpu, blocks, tile, inputs, target),
            Tiles::Q6K(blocks) => self.fill_integers(cpu, blocks, tile, inputs, target),
            Tiles::F32(numbers) => self.fill_floats(cpu, numbers, tile, inputs, target),
            Tiles::F16(numbers) => self.fill_floats(cpu, numbers, tile, inputs, target),
            Tiles::Bf16(numbers) => self.fill_floats(cpu, numbers, tile, inputs, target),
        }
    }

    fn fill_integers<F: KernelFormat>(
        &self,
        cpu: Cpu,
        blocks: &[F],
        tile: usize,
        inputs: &Inputs<'_>,
        target: &mut Target<'_, '_>,
    ) {
        let Some(rows) = &inputs.quantized else { return };
        let n_blocks = self.n_inputs / DEPTH / F::N_BLOCKS;
        let blocks = &blocks[tile * n_blocks..][..n_blocks];
        let mut products = [[0.0; LANES]; MAX_INTEGER_ROWS];
        let all = target.cell.rows();
        for first in all.clone().step_by(MAX_INTEGER_ROWS) {
            let count = MAX_INTEGER_ROWS.min(all.end - first);
            integer_tile(cpu, blocks, RowSpan { rows, first, count }, &mut products);
            target.put(first, &products[..count]);
        }
    }

    fn fill_floats<E: Element>(
        &self,
        cpu: Cpu,
        numbers: &[E],
        tile: usize,
        inputs: &Inputs<'_>,
        target: &mut Target<'_, '_>,
    ) {
        let values = &numbers[tile * self.n_inputs * LANES..][..self.n_inputs * LANES];
        let all = target.cell.rows();
        for first in all.clone().step_by(MAX_FLOAT_ROWS) {
            let count = MAX_FLOAT_ROWS.min(all.end - first);
            let mut rows: [&[f32]; MAX_FLOAT_ROWS] = [&[]; MAX_FLOAT_ROWS];
            for (index, row) in rows.iter_mut().enumerate().take(count) {
                *row = inputs.row(first + index);
            }
            let mut products = [[0.0; LANES]; MAX_FLOAT_ROWS];
            let columns = Columns { values, stride: LANES };
            accumulate(cpu, &rows[..count], columns, &mut products[..count]);
            target.put(first, &products[..count]);
        }
    }
}

fn row(tensor: &RawTensor, output: usize) -> &[u8] {
    let bytes = tensor.row_bytes();
    &tensor.bytes[output * bytes..][..bytes]
}

/// Tiles of blocks. Outputs that the last tile has too many weigh nothing.
fn pack_blocks<F: KernelFormat, const BYTES: usize>(
    tensor: &RawTensor,
    set: fn(&mut F, usize, &[u8; BYTES]),
) -> Vec<F> {
    let (n_outputs, n_blocks) = (tensor.shape[0], tensor.shape[1] / DEPTH / F::N_BLOCKS);
    let mut tiles = vec![F::ZERO; n_outputs.div_ceil(LANES) * n_blocks];
    tiles.par_chunks_mut(n_blocks).enumerate().for_each(|(tile, blocks)| {
        let outputs = tile * LANES..n_outputs.min((tile + 1) * LANES);
        for (place, output) in outputs.enumerate() {
            let (file_blocks, _) = row(tensor, output).as_chunks::<BYTES>();
            for (block, bytes) in blocks.iter_mut().zip(file_blocks) {
                set(block, place, bytes);
            }
        }
    });
    tiles
}

/// Tiles of plain numbers: sixteen outputs side by side for each input.
fn pack_numbers<E: Element>(
    n_inputs: usize,
    n_outputs: usize,
    row: impl Fn(usize) -> Result<Vec<E>, candle_core::Error> + Sync,
) -> Result<Vec<E>, candle_core::Error> {
    let mut tiles = vec![E::default(); n_outputs.div_ceil(LANES) * n_inputs * LANES];
    let fill = |(tile, numbers): (usize, &mut [E])| -> Result<(), candle_core::Error> {
        let outputs = tile * LANES..n_outputs.min((tile + 1) * LANES);
        for (place, output) in outputs.enumerate() {
            for (input, number) in row(output)?.into_iter().enumerate() {
                numbers[input * LANES + place] = number;
            }
        }
        Ok(())
    };
    tiles.par_chunks_mut(n_inputs * LANES).enumerate().try_for_each(fill)?;
    Ok(tiles)
}

/// Rows to be multiplied with weights.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    rows: &'a [f32],
    width: usize,
    quantized: Option<QuantizedRows>,
}

impl<'a> Inputs<'a> {
    /// Prepares rows for the kernels of some matrices.
    pub(super) fn new(cpu: Cpu, rows: &'a [f32], matrices: &[&Linear]) -> Self {
        let width = matrices[0].n_inputs;
        let quantized = matrices.iter().any(|matrix| matrix.is_quantized()).then(|| {
            let mut quantized = QuantizedRows::new(rows.len() / width, width);
            quantized
                .rows_mut()
                .zip(rows.par_chunks(width))
                .with_min_len(MIN_TASK / 4 / width)
                .for_each(|(blocks, row)| quantize(cpu, row, blocks));
            quantized
        });
        Self { rows, width, quantized }
    }

    fn row(&self, index: usize) -> &[f32] {
        &self.rows[index * self.width..][..self.width]
    }

    fn n_rows(&self) -> usize {
        self.rows.len() / self.width
    }
}

/// What to do with products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Overwrite what was there.
    Store,
    /// Add to what was there.
    Add,
}

/// Where the products of one tile go.
struct Target<'a, 'b> {
    cell: &'a mut Cell<'b>,
    column: usize,
    width: usize,
    mode: Mode,
}

impl Target<'_, '_> {
    fn put(&mut self, first: usize, products: &[Lanes]) {
        for (index, products) in products.iter().enumerate() {
            let row = &mut self.cell.row_mut(first + index)[self.column..][..self.width];
            match (self.mode, row.as_mut_array::<LANES>()) {
                (Mode::Store, Some(row)) => *row = *products,
                (Mode::Store, None) => row.copy_from_slice(&products[..self.width]),
                (Mode::Add, Some(row)) => {
                    for lane in 0..LANES {
                        row[lane] += products[lane];
                    }
                }
                (Mode::Add, None) => {
                    for (place, product) in row.iter_mut().zip(products) {
                        *place += product;
                    }
                }
            }
        }
    }
}

/// Multiplies rows with some matrices; their outputs stand side by side in the
/// rows of `out`. The tasks go to the threads of the current pool.
///
/// # Panics
///
/// If `out` has not the right size.
pub(super) fn multiply(
    cpu: Cpu,
    matrices: &[&Linear],
    inputs: &Inputs<'_>,
    out: &mut [f32],
    mode: Mode,
) {
    let n_rows = inputs.n_rows();
    let width: usize = matrices.iter().map(|matrix| matrix.n_outputs).sum();
    assert_eq!(out.len(), n_rows * width, "the outputs do not fit");
    // As few tasks as keep all threads busy to the end, and none too small to be worth it.
    let n_row_tasks = n_rows.div_ceil(ROWS_PER_TASK);
    let n_tasks = rayon::current_num_threads() * TASKS_PER_THREAD;
    let tile_work = matrices[0].n_inputs * LANES * n_rows.min(ROWS_PER_TASK);
    let tiles_per_task =
        (width / LANES * n_row_tasks / n_tasks).max(MIN_TASK / tile_work.max(1)).max(1);
    let mut row_cuts: Vec<usize> = (0..n_rows).step_by(ROWS_PER_TASK).collect();
    row_cuts.push(n_rows);
    let mut column_cuts = Vec::new();
    let mut first_column = 0;
    for matrix in matrices {
        let columns = first_column..first_column + matrix.n_outputs;
        first_column = columns.end;
        column_cuts.extend(columns.step_by(LANES * tiles_per_task));
    }
    column_cuts.push(width);
    let cells = grid(out, width, &row_cuts, &column_cuts);
    let work = |mut cell: Cell<'_>| {
        let columns = cell.columns();
        let mut before = 0;
        for matrix in matrices {
            let range = before..before + matrix.n_outputs;
            before = range.end;
            if !range.contains(&columns.start) {
                continue;
            }
            for column in columns.clone().step_by(LANES) {
                let width = LANES.min(columns.end - column);
                let place = column - columns.start;
                let mut target = Target { cell: &mut cell, column: place, width, mode };
                matrix.fill(cpu, (column - range.start) / LANES, inputs, &mut target);
            }
        }
    };
    if cells.len() == 1 || rayon::current_num_threads() == 1 {
        cells.into_iter().for_each(work);
    } else {
        cells.into_par_iter().for_each(work);
    }
}

#[cfg(test)]
mod tests;
