//! What the steps of some sequences come to: rows, and the segments that they see.

use std::{collections::BTreeMap, ops::Range};

use super::plan::{Reader, Seen};
use crate::nn::{decoder::Step, kv::Segment};

/// What the steps of some sequences come to.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    /// The segments of all sequences, each once.
    pub(super) segments: Vec<&'a Segment>,
    /// The same, as plans see them.
    pub(super) seen: Vec<Seen>,
    /// Where the keys and values of the rows go.
    pub(super) writes: Vec<Write>,
    /// Where in its sequence each row stands.
    pub(super) positions: Vec<usize>,
}

/// Where the keys and values of some rows go.
#[derive(Clone, Debug)]
pub(super) struct Write {
    /// Which of the segments.
    pub(super) segment: usize,
    /// The place of the first in the segment.
    pub(super) offset: usize,
    pub(super) rows: Range<usize>,
}

impl<'a> Reading<'a> {
    /// The tokens are not yet part of their sequences.
    pub(super) fn new(steps: &'a [Step<'_>]) -> Self {
        let mut reading = Self {
            segments: Vec::new(),
            seen: Vec::new(),
            writes: Vec::new(),
            positions: Vec::new(),
        };
        let mut known: BTreeMap<*const Segment, usize> = BTreeMap::new();
        for step in steps.iter().filter(|step| !step.tokens.is_empty()) {
            let (tail, first) = (step.sequence.tail(), reading.positions.len());
            let position = step.sequence.n_tokens();
            let positions = position..position + step.tokens.len();
            reading.positions.extend(positions.clone());
            for segment in tail.chain() {
                let index = *known.entry(std::ptr::from_ref(segment)).or_insert_with(|| {
                    reading.segments.push(segment);
                    reading.seen.push(Seen {
                        start: segment.start(),
                        length: segment.length(),
                        capacity: segment.capacity(),
                        readers: Vec::new(),
                    });
                    reading.segments.len() - 1
                });
                let seen = &mut reading.seen[index];
                if std::ptr::eq(segment, tail) {
                    let rows = first..reading.positions.len();
                    reading.writes.push(Write { segment: index, offset: seen.length, rows });
                    seen.length += step.tokens.len();
                }
                let row = |place: usize| u32::try_from(first + place).unwrap_or(u32::MAX);
                let readers = positions.clone().enumerate();
                seen.readers
                    .extend(readers.map(|(place, position)| Reader { row: row(place), position }));
            }
        }
        reading
    }
}
