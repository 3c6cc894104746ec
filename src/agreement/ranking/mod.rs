//! The whole chain against people: texts on one paragraph that experts put in order.
//!
//! The protocol of the paper: for some twenty paragraphs, three texts each at an F1 near
//! 0, 0.5 and 1; an expert who does not see the F1 ranks the three by how much of what
//! the instructor said they say. The F1 must rise with the expert's opinion.

mod card;
mod composing;
mod guard;
mod rankings_file;
mod sheets;

pub use card::{RankerFigures, RankingCard, RankingFigures, ranking_card};
pub use composing::{ComposedSet, ComposedText, Material, TARGETS, compose};
pub use guard::guarded;
pub use rankings_file::{Ranking, load_rankings, write_rankings};
pub use sheets::{
    ImportedRankings, KeyedSet, KeyedText, SHEET_COLUMNS, import_rankings, load_key,
    ranking_sheet_name,
};

use serde::{Deserialize, Serialize};

/// A text that is ranked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankedText {
    /// Its name, which says nothing of its F1.
    pub id: String,
    /// The text.
    pub text: String,
}
