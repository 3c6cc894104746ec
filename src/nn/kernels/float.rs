//! Products of single-precision rows: with weights, with keys, with values.

#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]
#![expect(clippy::needless_range_loop, reason = "one index over several arrays of lanes")]

use half::{bf16, f16};

use super::lanes::{LANES, Lanes};

/// The most rows that [`accumulate`] takes: with more their totals would not fit
/// the registers.
pub(in crate::nn) const MAX_ROWS: usize = 6;

/// A number that weights or keys are stored as.
pub(in crate::nn) trait Element: Copy + Default + Send + Sync {
    /// The number in single precision, exactly.
    fn widen(self) -> f32;
}

impl Element for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
}

impl Element for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}

impl Element for f16 {
    // Without a branch, so that lanes of it become vector instructions: the
    // exponent is moved by a multiplication, which also serves the subnormals.
    #[inline(always)]
    fn widen(self) -> f32 {
        const REBIAS: f32 = f32::from_bits((254 - 15) << 23);
        let bits = u32::from(self.to_bits());
        let magnitude = f32::from_bits((bits & 0x7fff) << 13) * REBIAS;
        let special = if bits & 0x7c00 == 0x7c00 { 0x7f80_0000 } else { 0 };
        f32::from_bits(magnitude.to_bits() | special | (bits & 0x8000) << 16)
    }
}

/// Sixteen columns of a matrix that has a row for each entry of the vectors it is
/// multiplied with.
#[derive(Clone, Copy, Debug)]
pub(in crate::nn) struct Columns<'a, E> {
    /// The matrix from the first of the columns on.
    pub(in crate::nn) values: &'a [E],
    /// From one row to the next; at least sixteen.
    pub(in crate::nn) stride: usize,
}

per_cpu! {
    /// Adds to `totals[r]` the product of `rows[r]` with sixteen columns, one entry
    /// of the row after the other.
    ///
    /// # Panics
    ///
    /// If there are no or more than [`MAX_ROWS`] rows, if they differ in length, or
    /// if the columns are shorter than the rows.
    pub(in crate::nn) fn accumulate<E: Element>(
        rows: &[&[f32]], columns: Columns<'_, E>, totals: &mut [Lanes],
    ) = accumulate_any;
}

#[inline(always)]
fn accumulate_any<E: Element>(rows: &[&[f32]], columns: Columns<'_, E>, totals: &mut [Lanes]) {
    match rows.len() {
        1 => accumulate_rows::<E, 1>(rows, columns, totals),
        2 => accumulate_rows::<E, 2>(rows, columns, totals),
        3 => accumulate_rows::<E, 3>(rows, columns, totals),
        4 => accumulate_rows::<E, 4>(rows, columns, totals),
        5 => accumulate_rows::<E, 5>(rows, columns, totals),
        _ => accumulate_rows::<E, MAX_ROWS>(rows, columns, totals),
    }
}

#[inline(always)]
fn accumulate_rows<E: Element, const R: usize>(
    rows: &[&[f32]],
    columns: Columns<'_, E>,
    totals: &mut [Lanes],
) {
    assert_eq!((rows.len(), totals.len()), (R, R), "from 1 to {MAX_ROWS} rows, a total each");
    let length = rows[0].len();
    let mut entries: [&[f32]; R] = [&[]; R];
    let mut sums = [[0.0; LANES]; R];
    for row in 0..R {
        assert_eq!(rows[row].len(), length, "rows of different length");
        entries[row] = &rows[row][..length];
        sums[row] = totals[row];
    }
    let steps = columns.values.chunks(columns.stride);
    assert!(steps.len() >= length, "{length} entries and {} rows of columns", steps.len());
    for (index, step) in steps.take(length).enumerate() {
        // Only the last can be short, where the matrix ends with these columns.
        let Some(step) = step.first_chunk::<LANES>() else { continue };
        let mut values = [0.0; LANES];
        for lane in 0..LANES {
            values[lane] = step[lane].widen();
        }
        for row in 0..R {
            let entry = entries[row][index];
            for lane in 0..LANES {
                sums[row][lane] = values[lane].mul_add(entry, sums[row][lane]);
            }
        }
    }
    totals.copy_from_slice(&sums);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::kernels::{Cpu, CpuLevel};
    use proptest::prelude::*;

    #[test]
    fn every_half_precision_number_widens_exactly() {
        for bits in 0..=u16::MAX {
            let (short, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            for (ours, theirs) in [(short.widen(), short.to_f32()), (brain.widen(), brain.to_f32())]
            {
                assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan());
            }
        }
    }

    proptest! {
        #[test]
        fn rows_add_up_alike_on_every_processor_and_in_any_company(
            n_rows in 1..=MAX_ROWS, length in 0usize..70, stride in 16usize..40, seed: u32
        ) {
            let mut state = seed;
            let mut draw = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 8_388_608.0 - 1.0
            };
            let rows: Vec<Vec<f32>> =
                (0..n_rows).map(|_| (0..length).map(|_| draw()).collect()).collect();
            let values: Vec<f32> =
                (0..(length.max(1) - 1) * stride + LANES).map(|_| draw()).collect();
            let columns = Columns { values: &values, stride };
            let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
            for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
                let mut totals = vec![[0.5; LANES]; n_rows];
                accumulate(Cpu::with_level(level).unwrap(), &rows, columns, &mut totals);
                for (row, totals) in rows.iter().zip(&totals) {
                    for (lane, total) in totals.iter().enumerate() {
                        let expected = row.iter().enumerate().fold(0.5_f32, |sum, (index, entry)| {
                            values[index * stride + lane].mul_add(*entry, sum)
                        });
                        prop_assert_eq!(*total, expected);
                    }
                }
            }
        }
    }
}
