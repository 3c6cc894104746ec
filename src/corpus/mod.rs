//! The essays and what their instructors said of them.

mod draft;
mod id;

pub use draft::{
    Anchor, Annotation, Assessment, Color, Draft, MIN_COMMENT_CHARS, Paragraph, Rubric,
};
pub use id::{DraftId, ParagraphId};
