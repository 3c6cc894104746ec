//! How far the units of two segmentations are the same stretches of words.

use std::ops::Range;

use super::Boundaries;
use crate::bipartite::{Matrix, max_weight_matching};

/// The units of two segmentations of one text, matched one to one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct UnitOverlap {
    /// Units of the reference.
    pub(super) n_reference: usize,
    /// Units of the hypothesis.
    pub(super) n_hypothesis: usize,
    /// Units that are the very same stretch in both.
    pub(super) n_same: usize,
    /// The greatest sum of overlaps of matched units, each shared over joint words.
    pub(super) overlap: f64,
}

/// Matches units so that the sum of their overlaps (Jaccard, over words) is greatest.
pub(super) fn unit_overlap(reference: &Boundaries, hypothesis: &Boundaries) -> UnitOverlap {
    const SCALE: f64 = (1_u64 << 40) as f64;
    let (rows, columns) = (reference.units(), hypothesis.units());
    #[expect(clippy::cast_possible_truncation, reason = "an overlap is at most one")]
    let weights = Matrix::from_fn(rows.len(), columns.len(), |row, column| {
        (jaccard(&rows[row], &columns[column]) * SCALE).round() as i64
    });
    let matched = max_weight_matching(&weights);
    let overlap = matched.iter().map(|&(row, column)| jaccard(&rows[row], &columns[column])).sum();
    UnitOverlap {
        n_reference: rows.len(),
        n_hypothesis: columns.len(),
        n_same: rows.iter().filter(|row| columns.contains(row)).count(),
        overlap,
    }
}

fn jaccard(a: &Range<usize>, b: &Range<usize>) -> f64 {
    let shared = a.end.min(b.end).saturating_sub(a.start.max(b.start));
    let joint = a.len() + b.len() - shared;
    shared as f64 / joint as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_is_matched_once_and_a_half_is_half_the_same() {
        let two = Boundaries::from_gaps(vec![false, true, false]);
        let one = Boundaries::from_gaps(vec![false, false, false]);
        let found = unit_overlap(&two, &one);
        assert_eq!((found.n_reference, found.n_hypothesis, found.n_same), (2, 1, 0));
        assert!((found.overlap - 0.5).abs() < 1e-12);
        assert!((unit_overlap(&two, &two).overlap - 2.0).abs() < 1e-12);
    }
}
