//! What people read: tables of results.

mod results;
mod table;

pub use results::{all_figures, coverage, figures};
pub use table::{Table, render_csv, render_text};
