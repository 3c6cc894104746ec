//! What people read: tables of results.

mod table;

pub use table::{Table, render_text};
