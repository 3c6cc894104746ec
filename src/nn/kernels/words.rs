//! Products of sixteen-bit integers: matrices that are to lose nothing that shows.
//!
//! Eight-bit products need a step more on processors whose instructions mix signed
//! and unsigned bytes, so that these are as fast there, with codes of fourteen bits
//! on both sides: the products differ from those in single precision by less than
//! a ten-thousandth of what eight bits cost.

#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use rayon::prelude::*;

use super::{
    Cpu,
    codes::{DEPTH, HALF},
    simd::{LANES, Lanes, ROUNDER, Simd},
};

/// The greatest code. The products of a block sum up to at most
/// `32 * 8191 * 8191 = 2_146_959_392`, which 32 bits hold.
pub(super) const GREATEST: f32 = 8191.0;

/// The most rows that a tile takes at once: the sums of twelve registers of sixteen
/// lanes, or of twice six rows of two registers of eight.
pub(in crate::nn) const MAX_WORD_ROWS: usize = 12;

/// Where the code of an input lies: which pair, and which half of it. Sixteen inputs
/// make eight pairs of one and the one that comes eight later, so that a row is
/// packed without moving numbers across lanes.
const fn place(input: usize) -> (usize, usize) {
    (input / LANES * HALF + input % HALF, input / HALF % 2)
}

/// Two inputs of each of eight outputs, those of an output side by side.
pub(super) type Pairs = [i16; 2 * HALF];

/// The weights from 32 inputs to 16 outputs: `scale * code`, a scale an output.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct WordBlock {
    pub(super) scales: Lanes,
    /// Two halves of eight outputs for every pair of inputs.
    pub(super) codes: [[Pairs; 2]; DEPTH / 2],
}

impl WordBlock {
    /// A block whose weights are all zero.
    pub(in crate::nn) const ZERO: Self =
        Self { scales: [0.0; LANES], codes: [[[0; 2 * HALF]; 2]; DEPTH / 2] };

    /// Sets the weights of one output.
    pub(in crate::nn) fn set(&mut self, output: usize, weights: &[f32; DEPTH]) {
        let greatest = weights.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
        let inverse = inverse(greatest);
        self.scales[output] = greatest / GREATEST;
        for (input, weight) in weights.iter().enumerate() {
            let (pair, half) = place(input);
            self.codes[pair][output / HALF][output % HALF * 2 + half] =
                code(weight * inverse + ROUNDER);
        }
    }

    fn get(&self, output: usize, input: usize) -> i32 {
        let (pair, half) = place(input);
        i32::from(self.codes[pair][output / HALF][output % HALF * 2 + half])
    }
}

/// Thirty-two inputs of a row: `value = scale * code`.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::nn) struct WordInputs {
    /// The codes, two to a word.
    pub(super) pairs: [i32; DEPTH / 2],
    /// What a code is worth. Not a number where an input is not finite.
    pub(super) scale: f32,
}

/// Nothing.
#[cfg(target_arch = "x86_64")]
pub(super) const EMPTY: WordInputs = WordInputs { pairs: [0; DEPTH / 2], scale: 0.0 };

impl WordInputs {
    fn get(&self, input: usize) -> i32 {
        let (pair, half) = place(input);
        self.pairs[pair] << (16 - half * 16) >> 16
    }
}

/// The rows of a matrix as sixteen-bit integers, every 32 inputs with a scale of
/// their own.
#[derive(Debug)]
pub(in crate::nn) struct WordRows {
    blocks: Vec<WordInputs>,
    blocks_per_row: usize,
}

impl WordRows {
    /// Quantises rows of `width`, a multiple of 32, on the threads of the current
    /// pool where there are more than `rows_per_task`.
    pub(in crate::nn) fn new(cpu: Cpu, rows: &[f32], width: usize, rows_per_task: usize) -> Self {
        let blocks_per_row = width / DEPTH;
        let mut blocks = vec![WordInputs::default(); rows.len() / DEPTH];
        let quantize =
            |(blocks, row): (&mut [WordInputs], &[f32])| quantize_words(cpu, row, blocks);
        let parts = blocks.par_chunks_mut(blocks_per_row * rows_per_task);
        parts.zip(rows.par_chunks(width * rows_per_task)).for_each(quantize);
        Self { blocks, blocks_per_row }
    }

    /// Some blocks of some consecutive rows.
    ///
    /// # Panics
    ///
    /// If there are more rows than [`MAX_WORD_ROWS`], or rows or blocks that there
    /// are not.
    #[inline]
    pub(in crate::nn) fn span(
        &self,
        rows: std::ops::Range<usize>,
        blocks: &std::ops::Range<usize>,
    ) -> WordSpan<'_> {
        let mut span = WordSpan { rows: [&[]; MAX_WORD_ROWS], n_rows: rows.len() };
        for (place, row) in span.rows[..rows.len()].iter_mut().zip(rows) {
            *place =
                &self.blocks[row * self.blocks_per_row..][..self.blocks_per_row][blocks.clone()];
        }
        span
    }
}

/// Blocks of up to [`MAX_WORD_ROWS`] rows.
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct WordSpan<'a> {
    rows: [&'a [WordInputs]; MAX_WORD_ROWS],
    n_rows: usize,
}

per_cpu! {
    /// Quantises one row, or several in one piece.
    fn quantize_words(row: &[f32], blocks: &mut [WordInputs]) = quantize_any;
}

/// The inverse of a scale, and nothing where it would overflow: such numbers count
/// as zero.
#[inline(always)]
fn inverse(greatest: f32) -> f32 {
    if greatest > 1e-30 { GREATEST / greatest } else { 0.0 }
}

/// The integer that [`ROUNDER`] was added to.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the integer stands in the low bits")]
fn code(rounded: f32) -> i16 {
    (rounded.to_bits() as u16).cast_signed()
}

#[inline(always)]
fn quantize_any<S: Simd>(simd: S, row: &[f32], blocks: &mut [WordInputs]) {
    let (values, rest) = row.as_chunks::<LANES>();
    let (values, odd) = values.as_chunks::<2>();
    assert!(
        rest.is_empty() && odd.is_empty() && values.len() == blocks.len(),
        "the row does not fall into these blocks"
    );
    for (values, block) in values.iter().zip(blocks) {
        let (low, high) = (simd.load(&values[0]), simd.load(&values[1]));
        let greatest = simd.max(simd.greater(simd.abs(low), simd.abs(high)));
        // Zero, or not a number where an input is infinite or not a number.
        let flaw = simd.sum(simd.mul(simd.add(low, high), simd.splat(0.0)));
        block.scale = greatest / GREATEST + flaw;
        let inverse = simd.splat(inverse(greatest));
        for half in 0..2 {
            let values = [low, high][half];
            let scaled = simd.mul(values, inverse);
            let rounded = simd.store(simd.add(scaled, simd.splat(ROUNDER)));
            let pairs = &mut block.pairs[half * HALF..][..HALF];
            for pair in 0..HALF {
                let (low, high) = (rounded[pair].to_bits(), rounded[pair + HALF].to_bits());
                pairs[pair] = (low & 0xffff | high << 16).cast_signed();
            }
        }
    }
}

/// Adds to the first totals the products of the rows of a span with the sixteen
/// outputs of a tile, whose blocks follow each other along the inputs: exact sums
/// within a block, then one fused product a block, in the order of the blocks.
///
/// # Panics
///
/// If the rows have not as many blocks as the tile, or if there are fewer totals
/// than rows.
pub(in crate::nn) fn word_tile(
    cpu: Cpu,
    tile: &[WordBlock],
    span: &WordSpan<'_>,
    totals: &mut [Lanes],
) {
    let rows = &span.rows[..span.n_rows];
    assert!(rows.iter().all(|row| row.len() == tile.len()), "a row and a tile differ in width");
    let totals = &mut totals[..span.n_rows];
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = super::simd_avx512::Avx512::of(cpu) {
        return super::words_avx512::tile(simd, tile, rows, totals);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = super::simd_avx2::Avx2::of(cpu) {
        return super::words_avx2::tile(simd, tile, rows, totals);
    }
    let _ = cpu;
    for (row, totals) in rows.iter().zip(totals) {
        portable_row(tile, row, totals);
    }
}

fn portable_row(tile: &[WordBlock], row: &[WordInputs], totals: &mut Lanes) {
    for (weights, inputs) in tile.iter().zip(row) {
        for (output, total) in totals.iter_mut().enumerate() {
            let sum: i32 =
                (0..DEPTH).map(|input| weights.get(output, input) * inputs.get(input)).sum();
            *total = (sum as f32).mul_add(weights.scales[output] * inputs.scale, *total);
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "all levels give the same bits")]
mod tests {
    use super::*;
    use crate::nn::kernels::CpuLevel;
    use proptest::prelude::*;

    fn tile(weights: &[Vec<f32>]) -> Vec<WordBlock> {
        let mut tile = vec![WordBlock::ZERO; weights[0].len() / DEPTH];
        for (output, weights) in weights.iter().enumerate() {
            for (block, weights) in tile.iter_mut().zip(weights.as_chunks::<DEPTH>().0) {
                block.set(output, weights);
            }
        }
        tile
    }

    fn products(cpu: Cpu, tile: &[WordBlock], rows: &[f32], n_rows: usize) -> Vec<Lanes> {
        let words = WordRows::new(cpu, rows, tile.len() * DEPTH, 2);
        let mut totals = vec![[0.25; LANES]; n_rows];
        word_tile(cpu, tile, &words.span(0..n_rows, &(0..tile.len())), &mut totals);
        totals
    }

    fn draws(seed: u32) -> impl FnMut() -> f32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        }
    }

    proptest! {
        #[test]
        fn products_are_near_the_true_ones_and_alike_on_every_processor_and_in_any_company(
            n_rows in 1..=MAX_WORD_ROWS, n_blocks in 1_usize..5, seed: u32
        ) {
            let mut draw = draws(seed);
            let width = n_blocks * DEPTH;
            let weights: Vec<Vec<f32>> =
                (0..LANES).map(|_| (0..width).map(|_| draw()).collect()).collect();
            let rows: Vec<f32> = (0..n_rows * width).map(|_| draw()).collect();
            let tile = tile(&weights);
            let portable = Cpu::with_level(CpuLevel::Portable).unwrap();
            let expected = products(portable, &tile, &rows, n_rows);
            for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
                let cpu = Cpu::with_level(level).unwrap();
                prop_assert_eq!(&products(cpu, &tile, &rows, n_rows), &expected);
                for (row, expected) in rows.chunks(width).zip(&expected) {
                    prop_assert_eq!(&products(cpu, &tile, row, 1)[0], expected);
                }
            }
            for (row, products) in rows.chunks(width).zip(&expected) {
                for (weights, product) in weights.iter().zip(products) {
                    let terms = row.iter().zip(weights).map(|(x, w)| f64::from(*x) * f64::from(*w));
                    let error = (f64::from(*product) - 0.25 - terms.sum::<f64>()).abs();
                    prop_assert!(error < 1e-4 * width as f64, "{error}");
                }
            }
        }

        #[test]
        fn a_code_is_within_half_a_step_of_its_input(
            row in proptest::collection::vec(-1e3f32..1e3, 64)
        ) {
            for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
                let words = WordRows::new(Cpu::with_level(level).unwrap(), &row, 64, 1);
                for (block, inputs) in words.blocks.iter().zip(row.chunks(DEPTH)) {
                    for (input, value) in inputs.iter().enumerate() {
                        let code = block.get(input);
                        let error = (code as f32 * block.scale - value).abs();
                        prop_assert!(error <= 0.502 * block.scale, "{code} for {value}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_greatest_numbers_on_both_sides_do_not_overflow() {
        let tile = tile(&vec![vec![-3.0; DEPTH]; LANES]);
        for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
            let products = products(Cpu::with_level(level).unwrap(), &tile, &[-2.0; DEPTH], 1);
            for product in products[0] {
                assert!((product - 0.25 - 192.0).abs() < 1e-3, "{product}");
            }
        }
    }

    #[test]
    fn an_input_that_is_no_number_spoils_its_row() {
        let tile = tile(&vec![vec![1.0; DEPTH]; LANES]);
        for flaw in [f32::NAN, f32::INFINITY] {
            let mut row = [1.0; DEPTH];
            row[7] = flaw;
            assert!(products(Cpu::detect(), &tile, &row, 1)[0].iter().all(|x| x.is_nan()));
        }
    }
}
