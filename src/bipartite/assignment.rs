//! The assignment problem, solved by the algorithm of Kuhn and Munkres.

use pathfinding::prelude::{Matrix as Square, kuhn_munkres};

use super::{Matrix, ties};

/// Pairs rows with columns so that the sum of the paired weights is greatest
/// (Kuhn 1955).
///
/// Each row and each column is used at most once, and `min(rows, cols)` pairs
/// come back, in order of row: a pair of weight zero or less is still a pair, so
/// drop those that mean nothing to you.
///
/// Ties: of all matchings with the greatest sum, the one whose list of pairs is
/// first in lexicographic order. So the first row is matched if it can be, to
/// the lowest column that it can have, then the second, and so on.
pub fn max_weight_matching(weights: &Matrix) -> Vec<(usize, usize)> {
    let (n_rows, n_cols) = (weights.n_rows(), weights.n_cols());
    if n_rows == 0 || n_cols == 0 {
        return Vec::new();
    }
    // Padded to a square, every row has a column and every column a row, so that
    // it does not matter which side is the longer. The padding adds the same to
    // every matching: nothing.
    let size = n_rows.max(n_cols);
    let square = Square::from_fn(size, size, |(row, col)| {
        // Sums of 64-bit weights fit in 128 bits.
        weights.get(row, col).map_or(0, i128::from)
    });
    let (_, mut col_of) = kuhn_munkres(&square);
    ties::take_first_of_equals(&square, &mut col_of);
    let pairs = col_of.into_iter().enumerate();
    pairs.filter(|&(row, col)| row < n_rows && col < n_cols).collect()
}

/// Pairs as many related rows and columns as can be, one to one.
///
/// The pairs come in order of row. Of several matchings of that size the choice
/// is always the same: the related pairs of the [`max_weight_matching`] that
/// weighs a related pair one and any other nothing.
pub fn max_cardinality_matching(
    n_rows: usize,
    n_cols: usize,
    related: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let weights = Matrix::from_fn(n_rows, n_cols, |row, col| i64::from(related(row, col)));
    let mut pairs = max_weight_matching(&weights);
    pairs.retain(|&(row, col)| related(row, col));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matrix<const R: usize, const C: usize>(cells: [[i64; C]; R]) -> Matrix {
        Matrix::from_fn(R, C, |row, col| cells[row][col])
    }

    fn total(weights: &Matrix, pairs: &[(usize, usize)]) -> i128 {
        pairs.iter().map(|&(row, col)| i128::from(weights.get(row, col).unwrap())).sum()
    }

    /// Every way to make `left` pairs of the rows from `row` on, in
    /// lexicographic order.
    fn every_matching(
        weights: &Matrix,
        (row, left): (usize, usize),
        pairs: &mut Vec<(usize, usize)>,
        visit: &mut impl FnMut(&[(usize, usize)]),
    ) {
        if left == 0 {
            return visit(pairs);
        }
        if weights.n_rows() - row < left {
            return;
        }
        for col in 0..weights.n_cols() {
            if pairs.iter().all(|&(_, used)| used != col) {
                pairs.push((row, col));
                every_matching(weights, (row + 1, left - 1), pairs, visit);
                pairs.pop();
            }
        }
        every_matching(weights, (row + 1, left), pairs, visit);
    }

    /// The first of the best matchings, by trying them all.
    fn brute_force(weights: &Matrix) -> Vec<(usize, usize)> {
        let n_pairs = weights.n_rows().min(weights.n_cols());
        let mut best: Option<(i128, Vec<(usize, usize)>)> = None;
        every_matching(weights, (0, n_pairs), &mut Vec::new(), &mut |pairs| {
            let total = total(weights, pairs);
            if best.as_ref().is_none_or(|(most, _)| *most < total) {
                best = Some((total, pairs.to_vec()));
            }
        });
        best.unwrap().1
    }

    #[test]
    fn empty_side_matches_nothing() {
        assert_eq!(max_weight_matching(&Matrix::from_fn(0, 3, |_, _| 1)), []);
        assert_eq!(max_weight_matching(&Matrix::from_fn(3, 0, |_, _| 1)), []);
        assert_eq!(max_weight_matching(&Matrix::from_fn(0, 0, |_, _| 1)), []);
        assert_eq!(max_cardinality_matching(0, 3, |_, _| true), []);
    }

    #[test]
    fn better_total_wins_over_the_best_cell() {
        assert_eq!(max_weight_matching(&matrix([[4, 3], [3, 0]])), [(0, 1), (1, 0)]);
    }

    #[test]
    fn longer_side_leaves_some_out() {
        assert_eq!(max_weight_matching(&matrix([[1], [3], [2]])), [(1, 0)]);
        assert_eq!(max_weight_matching(&matrix([[1, 3, 2]])), [(0, 1)]);
    }

    #[test]
    fn of_equals_the_first_rows_and_columns_win() {
        assert_eq!(max_weight_matching(&matrix([[2, 2], [2, 2], [2, 2]])), [(0, 0), (1, 1)]);
        assert_eq!(max_weight_matching(&matrix([[0, 0, 0], [0, 0, 0]])), [(0, 0), (1, 1)]);
        assert_eq!(max_weight_matching(&matrix([[0, 0], [1, 1]])), [(0, 0), (1, 1)]);
    }

    #[test]
    fn weights_at_the_limits_do_not_overflow() {
        let weights = matrix([[i64::MAX, i64::MIN], [i64::MAX, i64::MAX]]);
        assert_eq!(max_weight_matching(&weights), [(0, 0), (1, 1)]);
        let weights = matrix([[i64::MIN, i64::MIN], [i64::MIN, i64::MIN]]);
        assert_eq!(max_weight_matching(&weights), [(0, 0), (1, 1)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn matching_is_the_first_of_the_best(
            n_rows in 0usize..=6,
            n_cols in 0usize..=6,
            highest in 1i64..=8,
            cells in proptest::collection::vec(-2i64..=1000, 36),
        ) {
            // Few values make many ties.
            let weights = Matrix::from_fn(n_rows, n_cols, |row, col| {
                cells[row * 6 + col].rem_euclid(highest + 1) - 1
            });
            let pairs = max_weight_matching(&weights);
            prop_assert_eq!(pairs, brute_force(&weights));
        }

        #[test]
        fn matching_of_large_weights_is_the_first_of_the_best(
            n_rows in 0usize..=5,
            n_cols in 0usize..=5,
            cells in proptest::collection::vec(any::<i64>(), 25),
        ) {
            let weights = Matrix::from_fn(n_rows, n_cols, |row, col| cells[row * 5 + col]);
            prop_assert_eq!(max_weight_matching(&weights), brute_force(&weights));
        }

        #[test]
        fn as_many_related_pairs_as_can_be(
            n_rows in 0usize..=6,
            n_cols in 0usize..=6,
            cells in proptest::collection::vec(any::<bool>(), 36),
        ) {
            let related = |row: usize, col: usize| cells[row * 6 + col];
            let pairs = max_cardinality_matching(n_rows, n_cols, related);
            prop_assert!(pairs.iter().all(|&(row, col)| related(row, col)));
            prop_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0));
            let weights = Matrix::from_fn(n_rows, n_cols, |r, c| i64::from(related(r, c)));
            prop_assert_eq!(pairs.len() as i128, total(&weights, &brute_force(&weights)));
        }
    }
}
