//! Attention of some rows over the keys and values of their own sequences.
//!
//! All scores of a row stand in one buffer in the order of the sequence, the
//! softmax runs over that buffer, and values are added key by key in the same
//! order. Where a sequence is cut into segments, and which other rows are worked on
//! at the same time, therefore changes no bit.

use std::ops::Range;

use half::f16;
use rayon::prelude::*;

use super::{
    kernels::{Cell, Columns, Cpu, LANES, Lanes, MAX_FLOAT_ROWS, accumulate, grid, softmax},
    kv::Segment,
    kv_layout::{KvElement, KvNumbers},
};

/// Query rows that share a pass over keys and values: as many as the kernel takes.
const ROWS_PER_GROUP: usize = MAX_FLOAT_ROWS;

/// Keys whose values are used up for all rows of a group before the next come:
/// these stay in the first cache.
const KEYS_PER_STEP: usize = 64;

/// The least multiplications worth a task of their own.
const MIN_TASK: usize = 1 << 16;

/// Query heads of some rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queries<'a> {
    /// The rows, each beginning with its query heads, scaled and rotated.
    pub(super) rows: &'a [f32],
    /// From one row to the next.
    pub(super) stride: usize,
    /// The size of a head.
    pub(super) head_size: usize,
    /// The number of key and value heads.
    pub(super) n_kv_heads: usize,
    /// The query heads that share one of these.
    pub(super) n_heads_per_kv_head: usize,
}

impl<'a> Queries<'a> {
    fn head(&self, row: usize, head: usize) -> &'a [f32] {
        &self.rows[row * self.stride + head * self.head_size..][..self.head_size]
    }
}

/// What one row attends to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attended<'a> {
    /// The segments of its sequence, the first first.
    pub(super) chain: &'a [&'a Segment],
    /// The first key that it sees.
    pub(super) first_key: usize,
    /// Where in the sequence the keys that it sees end; after `first_key`.
    pub(super) n_keys: usize,
}

impl<'a> Attended<'a> {
    fn segment(&self, depth: usize) -> Option<&'a Segment> {
        self.chain.get(depth).copied()
    }

    /// The tokens of a segment of its sequence that it sees.
    fn visible(&self, segment: &Segment) -> Range<usize> {
        let within = |key: usize| key.saturating_sub(segment.start()).min(segment.length());
        within(self.first_key)..within(self.n_keys)
    }
}

/// Attention in one layer. Row `i` of `out` gets the heads of row `i`, side by
/// side.
pub(super) fn attend(
    cpu: Cpu,
    layer: usize,
    queries: Queries<'_>,
    attended: &[Attended<'_>],
    out: &mut [f32],
) {
    let shared = queries.n_heads_per_kv_head;
    let group = (ROWS_PER_GROUP / shared).max(1);
    let mut row_cuts: Vec<usize> = (0..attended.len()).step_by(group).collect();
    row_cuts.push(attended.len());
    let width = shared * queries.head_size;
    let column_cuts: Vec<usize> = (0..=queries.n_kv_heads).map(|head| head * width).collect();
    let cells = grid(out, width * queries.n_kv_heads, &row_cuts, &column_cuts);
    let work: usize =
        attended.iter().map(|row| (row.n_keys - row.first_key) * queries.head_size).sum();
    let numbers =
        attended.first().and_then(|row| row.segment(0)).map(|part| part.shape().numbers());
    let attend_cell = |scratch: &mut Scratch, mut cell: Cell<'_>| {
        let head = cell.columns().start / width;
        let group = Group { cpu, layer, head, queries, rows: cell.rows(), attended };
        match numbers {
            Some(KvNumbers::F16) => group.attend::<f16>(scratch, &mut cell),
            _ => group.attend::<f32>(scratch, &mut cell),
        }
    };
    if work < MIN_TASK || rayon::current_num_threads() == 1 {
        let mut scratch = Scratch::default();
        for cell in cells {
            attend_cell(&mut scratch, cell);
        }
    } else {
        cells.into_par_iter().for_each_init(Scratch::default, attend_cell);
    }
}

/// Buffers that one task leaves to the next.
#[derive(Debug, Default)]
struct Scratch {
    /// A run of scores for each query row.
    scores: Vec<f32>,
    /// Sixteen columns after sixteen columns of the values, the query rows of each
    /// side by side.
    totals: Vec<Lanes>,
}

/// Some rows and one key and value head.
struct Group<'a> {
    cpu: Cpu,
    layer: usize,
    head: usize,
    queries: Queries<'a>,
    rows: Range<usize>,
    attended: &'a [Attended<'a>],
}

/// Where the scores of a group stand.
#[derive(Clone, Copy)]
struct ScorePlace {
    /// The key whose scores stand first.
    origin: usize,
    /// From one query row to the next.
    stride: usize,
}

impl ScorePlace {
    /// The score of a query row for a key of its sequence.
    fn of(self, query: usize, key: usize) -> usize {
        query * self.stride + key - self.origin
    }
}

/// Consecutive rows of a group that see the same segment.
struct Run<'a> {
    segment: &'a Segment,
    rows: Range<usize>,
}

impl<'a> Group<'a> {
    fn attend<E: KvElement>(&self, scratch: &mut Scratch, cell: &mut Cell<'_>) {
        let shared = self.queries.n_heads_per_kv_head;
        let n_queries = self.rows.len() * shared;
        let rows = &self.attended[self.rows.clone()];
        // A tile may begin up to fifteen keys before the first that is seen, and end
        // up to fifteen behind the last.
        let first_key = rows.iter().map(|row| row.first_key).min().unwrap_or(0);
        let origin = first_key.saturating_sub(LANES);
        let end = rows.iter().map(|row| row.n_keys).max().unwrap_or(0);
        let stride = (end - origin).next_multiple_of(LANES) + LANES;
        let place = ScorePlace { origin, stride };
        let n_columns = self.queries.head_size.div_ceil(LANES);
        scratch.scores.resize(n_queries * stride, 0.0);
        scratch.totals.clear();
        scratch.totals.resize(n_queries * n_columns, [0.0; LANES]);
        let runs = self.runs();
        for run in &runs {
            self.score::<E>(run, &mut scratch.scores, place);
        }
        let mut inverses = Vec::with_capacity(n_queries);
        for (query, scores) in scratch.scores.chunks_mut(stride).take(n_queries).enumerate() {
            let row = self.attended[self.rows.start + query / shared];
            let seen = &mut scores[row.first_key - origin..row.n_keys - origin];
            inverses.push(1.0 / softmax(self.cpu, seen));
        }
        for run in &runs {
            self.add_values::<E>(run, &scratch.scores, place, &mut scratch.totals);
        }
        for (query, inverse) in inverses.into_iter().enumerate() {
            let row = cell.row_mut(self.rows.start + query / shared);
            let size = self.queries.head_size;
            let out = &mut row[query % shared * size..][..size];
            for (column, out) in out.chunks_mut(LANES).enumerate() {
                let totals = &scratch.totals[column * n_queries + query];
                for (out, total) in out.iter_mut().zip(totals) {
                    *out = total * inverse;
                }
            }
        }
    }

    /// All runs, those of segments further on in the sequence later.
    fn runs(&self) -> Vec<Run<'a>> {
        let mut runs: Vec<Run<'a>> = Vec::new();
        for depth in 0.. {
            let before = runs.len();
            for row in self.rows.clone() {
                let Some(segment) = self.attended[row].segment(depth) else { continue };
                match runs[before..].last_mut() {
                    Some(run) if run.rows.end == row && std::ptr::eq(run.segment, segment) => {
                        run.rows.end = row + 1;
                    }
                    _ => runs.push(Run { segment, rows: row..row + 1 }),
                }
            }
            if runs.len() == before {
                break;
            }
        }
        runs
    }

    /// Writes the scores of a run over its segment, and maybe some that mean
    /// nothing after them, which those of the next segment overwrite.
    fn score<E: KvElement>(&self, run: &Run<'_>, scores: &mut [f32], place: ScorePlace) {
        let shared = self.queries.n_heads_per_kv_head;
        let queries: Vec<&[f32]> = run
            .rows
            .clone()
            .flat_map(|row| (0..shared).map(move |head| (row, self.head * shared + head)))
            .map(|(row, head)| self.queries.head(row, head))
            .collect();
        let first = (run.rows.start - self.rows.start) * shared;
        let start = run.segment.start();
        let seen = self.seen_by_any(run);
        let tiles = seen.start / LANES..seen.end.div_ceil(LANES);
        let keys = run.segment.keys::<E>(self.layer, self.head);
        let keys = keys.chunks(self.queries.head_size * LANES);
        for (tile, values) in keys.enumerate().take(tiles.end).skip(tiles.start) {
            for (part, queries) in queries.chunks(MAX_FLOAT_ROWS).enumerate() {
                let mut totals = [[0.0; LANES]; MAX_FLOAT_ROWS];
                let totals = &mut totals[..queries.len()];
                accumulate(self.cpu, queries, Columns { values, stride: LANES }, totals);
                for (index, totals) in totals.iter().enumerate() {
                    let query = first + part * MAX_FLOAT_ROWS + index;
                    let place = place.of(query, start + tile * LANES);
                    scores[place..][..LANES].copy_from_slice(totals);
                }
            }
        }
    }

    /// Adds the weighted values of a run's segment: the keys that all its rows see
    /// for all of them at once, and row by row those before and after that only some
    /// of them see. Each row takes its keys in their order.
    fn add_values<E: KvElement>(
        &self,
        run: &Run<'_>,
        scores: &[f32],
        place: ScorePlace,
        totals: &mut [Lanes],
    ) {
        let common = self.seen_by_all(run);
        let add_each = |totals: &mut [Lanes], part: &dyn Fn(Range<usize>) -> Range<usize>| {
            for row in run.rows.clone() {
                let keys = part(self.attended[row].visible(run.segment));
                if !keys.is_empty() {
                    let weights = (scores, place);
                    self.add_keys::<E>(run.segment, keys, &(row..row + 1), weights, totals);
                }
            }
        };
        add_each(totals, &|seen| seen.start..seen.end.min(common.start));
        for start in common.clone().step_by(KEYS_PER_STEP) {
            let keys = start..common.end.min(start + KEYS_PER_STEP);
            self.add_keys::<E>(run.segment, keys, &run.rows, (scores, place), totals);
        }
        add_each(totals, &|seen| seen.start.max(common.end)..seen.end);
    }

    /// The tokens of a run's segment from the first to the last that any row sees.
    fn seen_by_any(&self, run: &Run<'_>) -> Range<usize> {
        let seen = self.seen(run).filter(|seen| !seen.is_empty());
        seen.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or_default()
    }

    /// Those that all rows see; where there are none, an empty range between what
    /// single rows see before it and behind it.
    fn seen_by_all(&self, run: &Run<'_>) -> Range<usize> {
        let common = self.seen(run).reduce(|a, b| a.start.max(b.start)..a.end.min(b.end));
        let common = common.unwrap_or_default();
        common.start..common.end.max(common.start)
    }

    fn seen(&self, run: &Run<'a>) -> impl Iterator<Item = Range<usize>> {
        let segment = run.segment;
        self.attended[run.rows.clone()].iter().map(move |row| row.visible(segment))
    }

    fn add_keys<E: KvElement>(
        &self,
        segment: &Segment,
        keys: Range<usize>,
        rows: &Range<usize>,
        (scores, place): (&[f32], ScorePlace),
        totals: &mut [Lanes],
    ) {
        let shared = self.queries.n_heads_per_kv_head;
        let n_queries = self.rows.len() * shared;
        let first = (rows.start - self.rows.start) * shared;
        let first_key = segment.start() + keys.start;
        let weights: Vec<&[f32]> = (first..first + rows.len() * shared)
            .map(|query| &scores[place.of(query, first_key)..][..keys.len()])
            .collect();
        let width = segment.shape().value_width();
        let values = &segment.values::<E>(self.layer, self.head)[keys.start * width..];
        for column in 0..width / LANES {
            let columns = Columns { values: &values[column * LANES..], stride: width };
            for (part, weights) in weights.chunks(MAX_FLOAT_ROWS).enumerate() {
                let place = column * n_queries + first + part * MAX_FLOAT_ROWS;
                accumulate(self.cpu, weights, columns, &mut totals[place..][..weights.len()]);
            }
        }
    }
}
