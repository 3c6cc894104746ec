//! A matrix cut into rectangles, for several threads to fill at once.

#![expect(unsafe_code, reason = "a rectangle of a matrix does not lie in one piece")]

use std::{marker::PhantomData, ops::Range};

/// One rectangle of a matrix; nobody else can reach it.
#[derive(Debug)]
pub(in crate::nn) struct Cell<'a> {
    matrix: *mut f32,
    width: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    borrow: PhantomData<&'a mut [f32]>,
}

// SAFETY: a cell is a borrowed part of a `&mut [f32]` that overlaps no other, and
// such a borrow may go to another thread.
unsafe impl Send for Cell<'_> {}

/// Cuts a matrix of rows of `width` numbers: from each row cut to the next and
/// from each column cut to the next lies one cell. Cells come row by row.
///
/// # Panics
///
/// If the matrix is not made of such rows, if cuts do not ascend, or if the last
/// ones lie outside.
pub(in crate::nn) fn grid<'a>(
    matrix: &'a mut [f32],
    width: usize,
    row_cuts: &[usize],
    column_cuts: &[usize],
) -> Vec<Cell<'a>> {
    assert!(width > 0 && matrix.len().is_multiple_of(width), "the matrix has no such rows");
    let n_rows = matrix.len() / width;
    assert!(ascend_within(row_cuts, n_rows) && ascend_within(column_cuts, width), "wrong cuts");
    let matrix = matrix.as_mut_ptr();
    row_cuts
        .windows(2)
        .flat_map(|rows| column_cuts.windows(2).map(move |columns| (rows, columns)))
        .map(|(rows, columns)| Cell {
            matrix,
            width,
            rows: rows[0]..rows[1],
            columns: columns[0]..columns[1],
            borrow: PhantomData,
        })
        .collect()
}

fn ascend_within(cuts: &[usize], end: usize) -> bool {
    cuts.is_sorted_by(|a, b| a < b) && cuts.last().is_none_or(|&last| last <= end)
}

impl Cell<'_> {
    /// The rows of the matrix that it covers.
    pub(in crate::nn) fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The columns of the matrix that it covers.
    pub(in crate::nn) fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Its part of one row of the matrix.
    ///
    /// # Panics
    ///
    /// If it does not cover the row.
    pub(in crate::nn) fn row_mut(&mut self, row: usize) -> &mut [f32] {
        assert!(self.rows.contains(&row), "row {row} is outside {:?}", self.rows);
        let first = row * self.width + self.columns.start;
        // SAFETY: `grid` checked that the rows and columns lie within the matrix,
        // which is borrowed for as long as the cell lives, and that no two cells
        // overlap; `&mut self` lends this one to one user at a time.
        unsafe { std::slice::from_raw_parts_mut(self.matrix.add(first), self.columns.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_cover_what_lies_between_their_cuts_and_nothing_else() {
        let mut matrix = vec![0.0; 5 * 7];
        for (index, mut cell) in
            grid(&mut matrix, 7, &[0, 2, 5], &[1, 4, 6]).into_iter().enumerate()
        {
            assert!(cell.columns().len() == if index % 2 == 0 { 3 } else { 2 });
            for row in cell.rows() {
                for place in cell.row_mut(row) {
                    *place += index as f32 + 1.0;
                }
            }
        }
        let upper = [0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 0.0];
        let lower = [0.0, 3.0, 3.0, 3.0, 4.0, 4.0, 0.0];
        assert_eq!(matrix, [upper, upper, lower, lower, lower].concat());
    }

    #[test]
    #[should_panic(expected = "wrong cuts")]
    fn cells_that_would_overlap_are_refused() {
        let mut matrix = vec![0.0; 12];
        drop(grid(&mut matrix, 4, &[0, 3], &[0, 2, 1]));
    }

    #[test]
    #[should_panic(expected = "is outside")]
    fn a_row_of_another_cell_is_refused() {
        let mut matrix = vec![0.0; 12];
        grid(&mut matrix, 4, &[0, 2], &[0, 4])[0].row_mut(2);
    }
}
