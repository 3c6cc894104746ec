//! The choice among matchings of equal weight.

use pathfinding::prelude::Matrix as Square;

/// Turns a best matching into the first of the best: `col_of`, read as a word,
/// becomes the least in lexicographic order of those with the greatest sum.
///
/// `col_of[row]` is the column of each row. By the duality of linear programming
/// there are prices of rows and columns that no cell exceeds and that every cell
/// of a best matching meets; so the best matchings are those made of such
/// *tight* cells, and no sum needs to be compared again.
pub(super) fn take_first_of_equals(weights: &Square<i128>, col_of: &mut [usize]) {
    let size = col_of.len();
    let tight = tight_cells(weights, col_of);
    for row in 0..size {
        let given_up = col_of[row];
        // Rows below that may move, each to the column of the row it leads to,
        // until the last of them takes the column that `row` gives up.
        let mut leads_to = vec![None; size];
        let mut reached = vec![row];
        while let Some(taken) = reached.pop() {
            for mover in row + 1..size {
                if leads_to[mover].is_none() && tight[(mover, col_of[taken])] {
                    leads_to[mover] = Some(taken);
                    reached.push(mover);
                }
            }
        }
        let first = (row + 1..size)
            .filter(|&mover| leads_to[mover].is_some())
            .filter(|&mover| col_of[mover] < given_up && tight[(row, col_of[mover])])
            .min_by_key(|&mover| col_of[mover]);
        let Some(mut mover) = first else { continue };
        col_of[row] = col_of[mover];
        while let Some(next) = leads_to[mover].filter(|&next| next != row) {
            col_of[mover] = col_of[next];
            mover = next;
        }
        col_of[mover] = given_up;
    }
}

/// The cells that may stand in a best matching, `col_of` being one.
fn tight_cells(weights: &Square<i128>, col_of: &[usize]) -> Square<bool> {
    let size = col_of.len();
    // The most that a row, and those it pushes on, could gain by taking other
    // rows' columns; there is no circle of gain in a best matching, so this ends.
    let mut gain = vec![0; size];
    loop {
        let mut has_changed = false;
        for row in 0..size {
            for other in 0..size {
                let through = weights[(row, col_of[other])] - weights[(row, col_of[row])];
                if gain[row] < through + gain[other] {
                    gain[row] = through + gain[other];
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            break;
        }
    }
    let mut tight = Square::new(size, size, false);
    for row in 0..size {
        for other in 0..size {
            let col = col_of[other];
            let through = weights[(row, col)] - weights[(row, col_of[row])];
            tight[(row, col)] = gain[row] == through + gain[other];
        }
    }
    tight
}
