//! Products of single-precision rows: with weights, with keys, with values.

#![expect(unsafe_code, reason = "no check of bounds for each product")]
#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use half::{bf16, f16};

use super::simd::{LANES, Lanes, Simd};

/// The most rows that [`accumulate`] takes: as many totals as the registers of the
/// largest processor hold beside what is added to them.
pub(in crate::nn) const MAX_ROWS: usize = 2 * HALF;

/// As many as those of the others hold.
const HALF: usize = 6;

/// A number that weights or keys are stored as.
pub(in crate::nn) trait Element: Copy + Default + Send + Sync {
    /// Sixteen of them in single precision, exactly.
    fn load<S: Simd>(simd: S, values: &[Self; LANES]) -> S::Lanes;
}

impl Element for f32 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, values: &[Self; LANES]) -> S::Lanes {
        simd.load(values)
    }
}

impl Element for f16 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, values: &[Self; LANES]) -> S::Lanes {
        simd.load_f16(values)
    }
}

impl Element for bf16 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, values: &[Self; LANES]) -> S::Lanes {
        simd.load_bf16(values)
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
fn accumulate_any<S: Simd, E: Element>(
    simd: S,
    rows: &[&[f32]],
    columns: Columns<'_, E>,
    totals: &mut [Lanes],
) {
    assert!((1..=MAX_ROWS).contains(&rows.len()), "from 1 to {MAX_ROWS} rows");
    assert!(rows.len() == totals.len(), "a total for each row");
    if S::HAS_MANY_REGISTERS && rows.len() == MAX_ROWS {
        accumulate_rows::<S, E, MAX_ROWS>(simd, rows, columns, totals);
        return;
    }
    for (rows, totals) in rows.chunks(HALF).zip(totals.chunks_mut(HALF)) {
        match rows.len() {
            1 => accumulate_rows::<S, E, 1>(simd, rows, columns, totals),
            2 => accumulate_rows::<S, E, 2>(simd, rows, columns, totals),
            3 => accumulate_rows::<S, E, 3>(simd, rows, columns, totals),
            4 => accumulate_rows::<S, E, 4>(simd, rows, columns, totals),
            5 => accumulate_rows::<S, E, 5>(simd, rows, columns, totals),
            _ => accumulate_rows::<S, E, HALF>(simd, rows, columns, totals),
        }
    }
}

#[inline(always)]
fn accumulate_rows<S: Simd, E: Element, const R: usize>(
    simd: S,
    rows: &[&[f32]],
    columns: Columns<'_, E>,
    totals: &mut [Lanes],
) {
    assert!(rows.len() == R && totals.len() == R, "{R} rows, a total each");
    let length = rows[0].len();
    let Columns { values, stride } = columns;
    let needed = if length == 0 { 0 } else { (length - 1) * stride + LANES };
    assert!(stride >= LANES && needed <= values.len(), "the columns are too short");
    let mut entries: [&[f32]; R] = [&[]; R];
    let mut sums = [simd.splat(0.0); R];
    for row in 0..R {
        assert!(rows[row].len() == length, "rows of different length");
        entries[row] = &rows[row][..length];
        sums[row] = simd.load(&totals[row]);
    }
    for index in 0..length {
        // SAFETY: the last of the sixteen columns in row `length - 1` was seen above to
        // lie within the values, and each row to have `length` entries. A number has no
        // alignment beyond its own.
        let step = unsafe {
            let step = values.as_ptr().add(index * stride).cast::<[E; LANES]>();
            E::load(simd, &*step)
        };
        for row in 0..R {
            // SAFETY: as above.
            let entry = unsafe { *entries[row].get_unchecked(index) };
            sums[row] = simd.fused(step, simd.splat(entry), sums[row]);
        }
    }
    for row in 0..R {
        totals[row] = simd.store(sums[row]);
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "all levels give the same bits")]
mod tests {
    use super::*;
    use crate::nn::kernels::{Cpu, CpuLevel};
    use proptest::prelude::*;

    fn check<E: Element>(cpu: Cpu, value: E, expected: f32) {
        let mut totals = [[0.0; LANES]];
        let columns = Columns { values: &[value; LANES], stride: LANES };
        accumulate(cpu, &[&[1.0]], columns, &mut totals);
        for total in totals[0] {
            assert!(total == expected || total.is_nan() && expected.is_nan());
        }
    }

    #[test]
    fn every_number_of_sixteen_bits_widens_exactly() {
        for cpu in CpuLevel::ALL.into_iter().filter_map(|level| Cpu::with_level(level).ok()) {
            for bits in 0..=u16::MAX {
                let (short, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
                check(cpu, short, short.to_f32());
                check(cpu, brain, brain.to_f32());
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
