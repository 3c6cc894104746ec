//! Attention within each text: every token sees all tokens of its own text.
//!
//! The scores of a few rows stand in one buffer, the softmax runs over each row,
//! and values are added key by key in the order of the text: what else is worked on
//! at the same time changes no bit.

use std::ops::Range;

use rayon::prelude::*;

use super::relative::RelativeBias;
use crate::nn::kernels::{
    Cell, Columns, Cpu, LANES, Lanes, MAX_FLOAT_ROWS, accumulate, grid, softmax,
};

/// How the numbers of a row fall into heads.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "a number of heads is called so everywhere")]
pub(super) struct Heads<'a> {
    pub(super) n_heads: usize,
    pub(super) head_size: usize,
    /// What is added to scores by how far apart two tokens are, in some models.
    pub(super) bias: Option<&'a RelativeBias>,
}

/// Attends. A row of `projected` holds a token's query heads, scaled, its key heads
/// and its value heads, all side by side; its row of `out` gets its attended heads.
/// The rows of `texts` follow each other and cover all.
pub(super) fn attend(
    cpu: Cpu,
    heads: Heads<'_>,
    projected: &[f32],
    texts: &[Range<usize>],
    out: &mut [f32],
) {
    let Heads { n_heads, head_size, bias } = heads;
    let row_cuts: Vec<usize> = [0].into_iter().chain(texts.iter().map(|text| text.end)).collect();
    let column_cuts: Vec<usize> = (0..=n_heads).map(|head| head * head_size).collect();
    let cells = grid(out, n_heads * head_size, &row_cuts, &column_cuts);
    cells.into_par_iter().for_each_init(Scratch::default, |scratch, mut cell| {
        let size = n_heads * head_size;
        let column = cell.columns().start;
        let part = |row: usize, index: usize| {
            &projected[row * 3 * size + index * size + column..][..head_size]
        };
        scratch.fill(cell.rows(), head_size, part);
        let first = cell.rows().start;
        let rows: Vec<usize> = cell.rows().collect();
        for rows in rows.chunks(MAX_FLOAT_ROWS) {
            let queries: Vec<&[f32]> = rows.iter().map(|row| part(*row, 0)).collect();
            scratch.score(cpu, &queries);
            if let Some(bias) = bias {
                scratch.add_bias(bias, column / head_size, (rows[0] - first, rows.len()));
            }
            scratch.attend(cpu, &mut cell, rows);
        }
    });
}

/// One text's keys and values of one head, and buffers; one task leaves them to the
/// next.
#[derive(Debug, Default)]
struct Scratch {
    n_keys: usize,
    head_size: usize,
    /// Sixteen keys after sixteen keys, the numbers of each dimension side by side.
    keys: Vec<f32>,
    /// Key after key, the numbers of each padded to whole lanes.
    values: Vec<f32>,
    /// A run of scores for each of some queries.
    scores: Vec<f32>,
}

impl Scratch {
    /// Takes the keys (part 1) and the values (part 2) of some rows.
    fn fill<'a>(
        &mut self,
        rows: Range<usize>,
        head_size: usize,
        part: impl Fn(usize, usize) -> &'a [f32],
    ) {
        self.n_keys = rows.len();
        self.head_size = head_size;
        self.keys.clear();
        self.keys.resize(rows.len().next_multiple_of(LANES) * head_size, 0.0);
        self.values.clear();
        self.values.resize(rows.len() * self.width(), 0.0);
        for (key, row) in rows.enumerate() {
            let tile = &mut self.keys[key / LANES * LANES * head_size..][..LANES * head_size];
            for (place, number) in tile.chunks_mut(LANES).zip(part(row, 1)) {
                place[key % LANES] = *number;
            }
            let width = self.width();
            self.values[key * width..][..head_size].copy_from_slice(part(row, 2));
        }
    }

    /// From one value to the next.
    fn width(&self) -> usize {
        self.head_size.next_multiple_of(LANES)
    }

    /// The scores of some queries.
    fn score(&mut self, cpu: Cpu, queries: &[&[f32]]) {
        let stride = self.n_keys.next_multiple_of(LANES);
        self.scores.resize(MAX_FLOAT_ROWS * stride, 0.0);
        for (tile, values) in self.keys.chunks(LANES * self.head_size).enumerate() {
            let mut totals = [[0.0; LANES]; MAX_FLOAT_ROWS];
            let totals = &mut totals[..queries.len()];
            accumulate(cpu, queries, Columns { values, stride: LANES }, totals);
            for (scores, totals) in self.scores.chunks_mut(stride).zip(totals) {
                scores[tile * LANES..][..LANES].copy_from_slice(totals);
            }
        }
    }

    /// Adds what the distances from so many queries, the first at this place of the
    /// text, to all keys count.
    fn add_bias(&mut self, bias: &RelativeBias, head: usize, (first, n_queries): (usize, usize)) {
        let stride = self.n_keys.next_multiple_of(LANES);
        for (query, scores) in (first..).zip(self.scores.chunks_mut(stride).take(n_queries)) {
            bias.add(head, query, &mut scores[..self.n_keys]);
        }
    }

    /// The rows of the queries that were scored.
    fn attend(&mut self, cpu: Cpu, cell: &mut Cell<'_>, rows: &[usize]) {
        let stride = self.n_keys.next_multiple_of(LANES);
        let mut inverses = [0.0; MAX_FLOAT_ROWS];
        for (scores, inverse) in self.scores.chunks_mut(stride).zip(&mut inverses[..rows.len()]) {
            *inverse = 1.0 / softmax(cpu, &mut scores[..self.n_keys]);
        }
        let weights: Vec<&[f32]> = self.scores.chunks(stride).map(|x| &x[..self.n_keys]).collect();
        for column in (0..self.head_size).step_by(LANES) {
            let columns = Columns { values: &self.values[column..], stride: self.width() };
            let mut totals: [Lanes; MAX_FLOAT_ROWS] = [[0.0; LANES]; MAX_FLOAT_ROWS];
            accumulate(cpu, &weights[..rows.len()], columns, &mut totals[..rows.len()]);
            for ((row, totals), inverse) in rows.iter().zip(&totals).zip(&inverses) {
                let out = &mut cell.row_mut(*row)[column..];
                for (out, total) in out.iter_mut().zip(totals) {
                    *out = total * inverse;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::kernels::CpuLevel;
    use proptest::prelude::*;

    /// The same in double precision, row by row.
    fn expected(heads: Heads<'_>, projected: &[f32], text: Range<usize>, row: usize) -> Vec<f64> {
        let Heads { n_heads, head_size, .. } = heads;
        let size = n_heads * head_size;
        let part = |row: usize, index: usize, head: usize| {
            &projected[row * 3 * size + index * size + head * head_size..][..head_size]
        };
        let dot = |a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let attended = (0..n_heads).flat_map(|head| {
            let weights: Vec<f64> =
                text.clone().map(|key| dot(part(row, 0, head), part(key, 1, head)).exp()).collect();
            let sum: f64 = weights.iter().sum();
            let mut out = vec![0.0; head_size];
            for (weight, key) in weights.iter().zip(text.clone()) {
                for (out, value) in out.iter_mut().zip(part(key, 2, head)) {
                    *out += weight / sum * f64::from(*value);
                }
            }
            out
        });
        attended.collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn a_text_is_attended_to_by_itself_whatever_stands_beside_it(
            lengths in proptest::collection::vec(1_usize..40, 1..4),
            n_heads in 1_usize..4, head_size in 1_usize..36, seed: u32
        ) {
            let heads = Heads { n_heads, head_size, bias: None };
            let size = n_heads * head_size;
            let n_rows: usize = lengths.iter().sum();
            let mut state = seed;
            let projected: Vec<f32> = (0..n_rows * 3 * size)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 8) as f32 / 8_388_608.0 - 1.0
                })
                .collect();
            let mut texts = Vec::new();
            for length in lengths {
                let start = texts.last().map_or(0, |text: &Range<usize>| text.end);
                texts.push(start..start + length);
            }
            let on = |level, projected: &[f32], texts: &[Range<usize>]| {
                let mut out = vec![0.0; projected.len() / 3];
                attend(Cpu::with_level(level).unwrap(), heads, projected, texts, &mut out);
                out
            };
            let all = on(CpuLevel::Portable, &projected, &texts);
            for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
                prop_assert_eq!(&on(level, &projected, &texts), &all);
            }
            for text in &texts {
                let alone = &projected[text.start * 3 * size..text.end * 3 * size];
                let own = std::iter::once(0..text.len()).collect::<Vec<_>>();
                let alone = on(Cpu::detect().level(), alone, &own);
                prop_assert_eq!(&alone, &all[text.start * size..text.end * size]);
                for row in text.clone() {
                    let expected = expected(heads, &projected, text.clone(), row);
                    for (ours, expected) in all[row * size..][..size].iter().zip(expected) {
                        prop_assert!((f64::from(*ours) - expected).abs() < 1e-5);
                    }
                }
            }
        }
    }
}
