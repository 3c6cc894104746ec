//! The essays and what their instructors said of them.

mod natural;
mod parts;
mod level;
mod id;
mod draft;
mod target;
mod wire;
mod draft_file;
mod error;
mod layout;
mod rubric;
mod load;
mod selection;
mod digest;
mod place;
mod statistics;
mod figures;
mod paper;
mod finding;
mod prose_marks;
mod draft_inspection;
mod inspection;

pub use draft::{
    Anchor, Annotation, Assessment, Color, Draft, Grade, MIN_COMMENT_CHARS, Paragraph, Rubric,
};
pub use draft_file::DraftFileError;
pub use error::CorpusError;
pub use figures::{Amount, Figure};
pub use finding::{Finding, FindingKind};
pub use id::{DraftId, InvalidParagraphId, ParagraphId};
pub use inspection::{Inspection, inspect};
pub use level::Level;
pub use load::{Corpus, UnknownField};
pub use natural::natural_order;
pub use paper::PaperFigure;
pub use parts::{ClassId, DraftParts, EssayId};
pub use place::Place;
pub use selection::Selection;
pub use statistics::{
    AnnotationCounts, DraftCounts, GradeCounts, ParagraphCounts, Statistics, WordCounts,
};
pub use target::Target;
