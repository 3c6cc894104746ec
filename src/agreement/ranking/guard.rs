//! Cells that a spreadsheet takes for text whatever they begin with.

use std::borrow::Cow;

/// What a spreadsheet may take for a formula when a cell begins with it.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

fn may_be_formula(cell: &str) -> bool {
    cell.trim_start_matches('\'').starts_with(FORMULA)
}

/// A cell for a spreadsheet, which takes it for text whatever it begins with: an
/// apostrophe before what would be a formula. The import takes it away again.
pub fn guarded(cell: &str) -> Cow<'_, str> {
    if may_be_formula(cell) { format!("'{cell}").into() } else { cell.into() }
}

/// The cell as it was before it was [`guarded`].
pub(super) fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|_| may_be_formula(cell)).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_formula_is_guarded_and_comes_back() {
        for (cell, expected) in [
            ("=1+1", "'=1+1"),
            ("- Say who Alex is.", "'- Say who Alex is."),
            ("@a", "'@a"),
            ("\tx", "'\tx"),
            ("'=x", "''=x"),
            ("'tis so", "'tis so"),
            ("2-1=1", "2-1=1"),
            ("", ""),
        ] {
            assert_eq!(guarded(cell), expected);
            assert_eq!(unguarded(&guarded(cell)), cell);
        }
    }
}
