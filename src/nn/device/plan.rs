//! Which new tokens attend to which parts of which segments, and in what company.
//!
//! A segment that many sequences share is read once for all their rows. Pieces of
//! about the same size share one multiplication, padded to the largest of them, so
//! that a step of many short sequences costs few calls. A row may have several
//! pieces, one a segment; what they give is merged by the logarithms of their sums
//! of exponentials (Milakov and Gimelshein 2018).

use std::ops::Range;

/// What is added to a score that must not count. Finite, so that a row of nothing
/// else gives numbers that weigh nothing later, and no NaN.
pub(super) const MASKED: f32 = -1e30;

/// The most scores of all heads that one multiplication may give: 64 MiB.
const MAX_SCORES: usize = 1 << 24;

/// The most keys that are brought side by side for one multiplication.
const MAX_KEYS: usize = 1 << 16;

/// Numbers of keys up to here count as alike.
const FEW_KEYS: usize = 64;

/// A segment that some rows of a step see.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Where in the sequence its first token stands.
    pub(super) start: usize,
    /// The number of its tokens, the new ones with them.
    pub(super) length: usize,
    /// The tokens that it has room for.
    pub(super) capacity: usize,
    /// The rows whose sequence it is part of.
    pub(super) readers: Vec<Reader>,
}

/// One new token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    /// Its row.
    pub(super) row: u32,
    /// Where in its sequence it stands.
    pub(super) position: usize,
}

impl Seen {
    /// The tokens of this segment that a row sees, itself among them if it is here.
    fn visible(&self, reader: Reader, window: Option<usize>) -> Range<usize> {
        let first = window.map_or(0, |window| (reader.position + 1).saturating_sub(window));
        let within = |key: usize| key.saturating_sub(self.start).min(self.length);
        within(first)..within(reader.position + 1)
    }
}

/// The attention of all rows of a step under one window.
#[derive(Debug)]
pub(super) struct Plan {
    /// What is multiplied.
    pub(super) buckets: Vec<Bucket>,
    /// What the rows take from it.
    pub(super) merging: Merging,
}

/// Pieces that share a multiplication.
#[derive(Debug)]
pub(super) struct Bucket {
    /// The keys of each.
    pub(super) slices: Vec<Slice>,
    /// The rows of each, short pieces filled up with rows of their own.
    pub(super) n_rows: usize,
    /// The keys of each, short pieces filled up with keys that are masked.
    pub(super) n_keys: usize,
    /// Which rows: `n_rows` of each piece after those of the last.
    pub(super) rows: Vec<u32>,
    /// What is added to the scores, `[pieces, n_rows, n_keys]`; `None` where all
    /// count.
    pub(super) mask: Option<Vec<f32>>,
}

/// Some keys of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// Which of the segments.
    pub(super) segment: usize,
    /// The first key; those behind it may go beyond the room of the segment.
    pub(super) from: usize,
}

/// Which rows of all buckets, one after the other, make up the rows of the step.
#[derive(Debug)]
pub(super) struct Merging {
    /// The most pieces that a row has.
    pub(super) depth: usize,
    /// `depth` rows of buckets for each row.
    pub(super) places: Vec<u32>,
    /// As many masks: rows with fewer pieces have places that do not count.
    pub(super) mask: Vec<f32>,
}

impl Merging {
    /// Whether the rows of the buckets are those of the step as they are.
    pub(super) fn is_plain(&self, n_bucket_rows: usize) -> bool {
        self.depth == 1 && n_bucket_rows == self.places.len() && are_consecutive(&self.places)
    }
}

/// Whether these are zero, one, two and so on.
pub(super) fn are_consecutive(indices: &[u32]) -> bool {
    indices.iter().zip(0..).all(|(&index, place)| index == place)
}

/// Some rows and the keys of one segment that any of them sees.
#[derive(Debug)]
struct Piece<'a> {
    segment: usize,
    readers: &'a [Reader],
    keys: Range<usize>,
}

impl Plan {
    /// Every row must see something.
    pub(super) fn new(seen: &[Seen], n_rows: usize, window: Option<usize>, n_heads: usize) -> Self {
        let readers: Vec<Vec<Reader>> = seen
            .iter()
            .map(|segment| {
                let sees = |reader: &&Reader| !segment.visible(**reader, window).is_empty();
                segment.readers.iter().filter(sees).copied().collect()
            })
            .collect();
        let mut pieces: Vec<Piece<'_>> = Vec::new();
        for (index, (segment, readers)) in seen.iter().zip(&readers).enumerate() {
            let n_scores = n_heads * segment.length.max(1);
            pieces.extend(readers.chunks((MAX_SCORES / n_scores).max(1)).map(|readers| {
                let ranges = readers.iter().map(|reader| segment.visible(*reader, window));
                let keys = ranges.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
                Piece { segment: index, readers, keys: keys.unwrap_or_default() }
            }));
        }
        // Like sizes side by side, and else the order of segments and rows.
        pieces.sort_by_key(|piece| (piece.readers.len(), piece.keys.len()));
        let mut buckets = Vec::new();
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); n_rows];
        let mut n_before = 0;
        for group in groups(&pieces, n_heads) {
            let bucket = Bucket::new(group, seen, window);
            for (piece, first) in group.iter().zip((n_before..).step_by(bucket.n_rows)) {
                for (reader, place) in piece.readers.iter().zip(first..) {
                    places[reader.row as usize].push(place);
                }
            }
            n_before += u32::try_from(bucket.rows.len()).unwrap_or(u32::MAX);
            buckets.push(bucket);
        }
        Self { buckets, merging: Merging::new(&places) }
    }
}

/// Cuts sorted pieces where padding them to one size would more than double them.
fn groups<'a, 'b>(pieces: &'a [Piece<'b>], n_heads: usize) -> Vec<&'a [Piece<'b>]> {
    let mut groups = Vec::new();
    let mut rest = pieces;
    while let Some(first) = rest.first() {
        let (mut least, mut most) = (first.keys.len(), first.keys.len());
        let fits = |(index, piece): &(usize, &Piece<'_>)| {
            let (n_rows, n_pieces) = (piece.readers.len(), index + 1);
            least = least.min(piece.keys.len());
            most = most.max(piece.keys.len());
            *index == 0
                || n_rows <= 2 * first.readers.len()
                    && most <= 2 * least.max(FEW_KEYS)
                    && n_pieces * most <= MAX_KEYS
                    && n_pieces * most * n_rows * n_heads <= MAX_SCORES
        };
        let count = rest.iter().enumerate().take_while(fits).count();
        let (group, others) = rest.split_at(count);
        groups.push(group);
        rest = others;
    }
    groups
}

impl Bucket {
    fn new(pieces: &[Piece<'_>], seen: &[Seen], window: Option<usize>) -> Self {
        let n_rows = pieces.iter().map(|piece| piece.readers.len()).max().unwrap_or(0);
        let n_keys = pieces.iter().map(|piece| piece.keys.len()).max().unwrap_or(0);
        let mut bucket = Self {
            slices: Vec::with_capacity(pieces.len()),
            n_rows,
            n_keys,
            rows: Vec::with_capacity(pieces.len() * n_rows),
            mask: None,
        };
        let mut mask = vec![0.0; pieces.len() * n_rows * n_keys];
        let mut is_needed = false;
        for (piece, mask) in pieces.iter().zip(mask.chunks_mut(n_rows * n_keys)) {
            let segment = &seen[piece.segment];
            // Further back where that spares a copy, as long as there is room.
            let from = piece.keys.start.min(segment.capacity.saturating_sub(n_keys));
            bucket.slices.push(Slice { segment: piece.segment, from });
            let fill = piece.readers.iter().cycle().take(n_rows);
            bucket.rows.extend(fill.map(|reader| reader.row));
            for (reader, mask) in piece.readers.iter().zip(mask.chunks_mut(n_keys)) {
                let visible = segment.visible(*reader, window);
                for (key, mask) in (from..).zip(mask) {
                    if !visible.contains(&key) {
                        *mask = MASKED;
                        is_needed = true;
                    }
                }
            }
        }
        bucket.mask = is_needed.then_some(mask);
        bucket
    }
}

impl Merging {
    fn new(places: &[Vec<u32>]) -> Self {
        let depth = places.iter().map(Vec::len).max().unwrap_or(0);
        let mut merging = Self { depth, places: Vec::new(), mask: Vec::new() };
        for places in places {
            for index in 0..depth {
                merging.places.push(places.get(index).or(places.first()).copied().unwrap_or(0));
                merging.mask.push(if index < places.len() { 0.0 } else { MASKED });
            }
        }
        merging
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readers(rows: Range<u32>, first_position: usize) -> Vec<Reader> {
        rows.zip(first_position..).map(|(row, position)| Reader { row, position }).collect()
    }

    /// A prefix of ten tokens that two sequences continue, by one and by three.
    fn shared() -> Vec<Seen> {
        let both = [readers(0..1, 14), readers(1..4, 10)].concat();
        vec![
            Seen { start: 0, length: 10, capacity: 10, readers: both },
            Seen { start: 10, length: 5, capacity: 8, readers: readers(0..1, 14) },
            Seen { start: 10, length: 3, capacity: 3, readers: readers(1..4, 10) },
        ]
    }

    /// Each row's keys, as (segment, key), that a plan lets it see.
    fn keys(plan: &Plan, n_rows: usize) -> Vec<Vec<(usize, usize)>> {
        let mut flat: Vec<Vec<(usize, usize)>> = Vec::new();
        for bucket in &plan.buckets {
            for (index, slice) in bucket.slices.iter().enumerate() {
                for row in 0..bucket.n_rows {
                    let counts = |key: &usize| {
                        let place = (index * bucket.n_rows + row) * bucket.n_keys + key;
                        bucket.mask.as_ref().is_none_or(|mask| mask[place] == 0.0)
                    };
                    let keys = (0..bucket.n_keys).filter(counts);
                    flat.push(keys.map(|key| (slice.segment, slice.from + key)).collect());
                }
            }
        }
        let depth = plan.merging.depth;
        (0..n_rows)
            .map(|row| {
                let mut keys: Vec<(usize, usize)> = (row * depth..(row + 1) * depth)
                    .filter(|&place| plan.merging.mask[place] == 0.0)
                    .flat_map(|place| flat[plan.merging.places[place] as usize].clone())
                    .collect();
                keys.sort_unstable();
                keys
            })
            .collect()
    }

    fn run(segment: usize, keys: Range<usize>) -> Vec<(usize, usize)> {
        keys.map(|key| (segment, key)).collect()
    }

    #[test]
    fn a_row_sees_its_own_sequence_up_to_itself() {
        let plan = Plan::new(&shared(), 4, None, 2);
        let expected = [
            [run(0, 0..10), run(1, 0..5)].concat(),
            [run(0, 0..10), run(2, 0..1)].concat(),
            [run(0, 0..10), run(2, 0..2)].concat(),
            [run(0, 0..10), run(2, 0..3)].concat(),
        ];
        assert_eq!(keys(&plan, 4), expected);
        assert_eq!(plan.merging.depth, 2);
    }

    #[test]
    fn a_window_hides_what_lies_further_back() {
        let plan = Plan::new(&shared(), 4, Some(3), 2);
        let expected = [
            run(1, 2..5),
            [run(0, 8..10), run(2, 0..1)].concat(),
            [run(0, 9..10), run(2, 0..2)].concat(),
            run(2, 0..3),
        ];
        assert_eq!(keys(&plan, 4), expected);
    }

    #[test]
    fn sequences_that_grow_together_share_a_multiplication_and_their_prefix_another() {
        let n_sequences = 5;
        let rows = 0..n_sequences;
        let mut seen = vec![Seen {
            start: 0,
            length: 500,
            capacity: 500,
            readers: rows.clone().map(|row| Reader { row, position: 520 }).collect(),
        }];
        seen.extend(rows.map(|row| Seen {
            start: 500,
            length: 21,
            capacity: 60,
            readers: vec![Reader { row, position: 520 }],
        }));
        let plan = Plan::new(&seen, 5, None, 8);
        let sizes: Vec<(usize, usize, usize)> = plan
            .buckets
            .iter()
            .map(|bucket| (bucket.slices.len(), bucket.n_rows, bucket.n_keys))
            .collect();
        assert_eq!(sizes, [(5, 1, 21), (1, 5, 500)]);
        assert!(plan.buckets.iter().all(|bucket| bucket.mask.is_none()));
    }

    #[test]
    fn one_sequence_by_itself_needs_no_merging() {
        let seen = Seen { start: 0, length: 4, capacity: 9, readers: readers(0..4, 0) };
        let plan = Plan::new(&[seen], 4, None, 2);
        assert!(plan.merging.is_plain(4));
        assert_eq!(plan.buckets[0].mask.as_ref().map(Vec::len), Some(16));
    }

    #[test]
    fn long_prompts_are_cut_so_that_no_multiplication_gives_too_much() {
        let seen = Seen { start: 0, length: 4096, capacity: 4096, readers: readers(0..4096, 0) };
        let plan = Plan::new(&[seen], 4096, None, 32);
        assert!(plan.buckets.len() > 1);
        for bucket in &plan.buckets {
            assert!(bucket.rows.len() * bucket.n_keys * 32 <= MAX_SCORES);
        }
    }
}
