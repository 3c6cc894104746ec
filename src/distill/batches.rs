//! The order in which data is gone through: another one in each epoch, the same for the
//! same seed.

use std::collections::BTreeSet;

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// Texts among which those of about equal length come into one batch, in batches.
const SORTED_TOGETHER: usize = 8;

/// The generator of an epoch.
fn generator(seed: u64, epoch: usize) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(epoch as u64 + 1);
    generator
}

/// Whole groups, `size` of them a batch.
pub(super) fn of_groups(
    groups: &[Vec<usize>],
    size: usize,
    seed: u64,
    epoch: usize,
) -> Vec<Vec<usize>> {
    let mut order: Vec<&Vec<usize>> = groups.iter().collect();
    order.shuffle(&mut generator(seed, epoch));
    order.chunks(size).map(|groups| groups.iter().copied().flatten().copied().collect()).collect()
}

/// Items of about equal length, `size` of them a batch.
pub(super) fn of_lengths(
    lengths: &[usize],
    size: usize,
    seed: u64,
    epoch: usize,
) -> Vec<Vec<usize>> {
    let mut generator = generator(seed, epoch);
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.shuffle(&mut generator);
    let mut batches = Vec::new();
    for some in order.chunks_mut(size * SORTED_TOGETHER) {
        some.sort_by_key(|item| lengths[*item]);
        batches.extend(some.chunks(size).map(<[usize]>::to_vec));
    }
    batches.shuffle(&mut generator);
    batches
}

/// Students in parts of about equal number, drawn by the seed.
pub(super) fn folds<'a>(
    students: impl Iterator<Item = &'a str>,
    n_folds: usize,
    seed: u64,
) -> Vec<BTreeSet<&'a str>> {
    let mut order: Vec<&str> = students.collect::<BTreeSet<_>>().into_iter().collect();
    order.shuffle(&mut generator(seed, usize::MAX >> 1));
    let mut folds = vec![BTreeSet::new(); n_folds];
    for (index, student) in order.into_iter().enumerate() {
        folds[index % n_folds].insert(student);
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_epoch_has_all_items_once_in_an_order_of_its_own() {
        let lengths: Vec<usize> = (0..50).map(|item| item * 7 % 11).collect();
        let epoch = |epoch| of_lengths(&lengths, 4, 3, epoch);
        assert_eq!(epoch(0), epoch(0));
        assert_ne!(epoch(0), epoch(1));
        let mut all = epoch(1).concat();
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>());
        let groups = [vec![0, 1], vec![2], vec![3, 4, 5]];
        let batches = of_groups(&groups, 2, 1, 0);
        assert_eq!(batches.iter().map(Vec::len).sum::<usize>(), 6);
        assert_eq!(batches.len(), 2);
    }

    #[test]
    fn no_student_is_in_two_folds() {
        let folds = folds(["a", "b", "c", "a", "d", "e"].into_iter(), 2, 1);
        assert_eq!(folds.iter().map(BTreeSet::len).collect::<Vec<_>>(), [3, 2]);
        assert!(folds[0].is_disjoint(&folds[1]));
    }
}
