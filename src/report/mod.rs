//! What people read: tables of results, cards.

mod card;
mod card_figures;
mod card_ranking;
mod markdown;
mod results;
mod sheet;
mod table;

pub use card::{Titled, segmentation_tables, similarity_tables};
pub use card_figures::{calibration_svg, confusion_svg};
pub use card_ranking::ranking_tables;
pub use markdown::render_markdown;
pub use results::{all_figures, coverage, figures};
pub use sheet::{pairs_sheet, ranking_sheet};
pub use table::{Table, render_csv, render_text};
