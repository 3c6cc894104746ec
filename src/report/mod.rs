//! What people read: tables of results, cards.

pub mod page;

mod assembly;
mod card;
mod card_figures;
mod card_ranking;
mod comparison;
mod markdown;
mod preview;
mod reproduction;
mod results;
mod sheet;
mod table;

pub use assembly::{Material, assemble};
pub use card::{Titled, segmentation_tables, similarity_tables};
pub use card_figures::{calibration_svg, confusion_svg};
pub use card_ranking::ranking_tables;
pub use comparison::{certainty, differences};
pub use markdown::render_markdown;
pub use preview::preview;
pub use reproduction::{
    claims_table, effects_table, instruments_table, published_table, reproductions_table,
};
pub use results::{all_figures, coverage, figures};
pub use sheet::{pairs_sheet, ranking_sheet};
pub use table::{Table, render_csv, render_text};
