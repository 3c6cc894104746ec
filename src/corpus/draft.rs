//! What a draft is made of.

use super::DraftId;

/// One draft of one essay.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Its name.
    pub id: DraftId,
    /// Its paragraphs, in order.
    pub paragraphs: Vec<Paragraph>,
    /// What the instructor said of the whole draft.
    pub assessment: Option<Assessment>,
    /// The assignment or rubric text that holds for it: the nearest `.txt`
    /// going up from the draft's folder.
    pub rubric: Option<Rubric>,
}

/// One paragraph and the annotations that hang on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Paragraph {
    /// The student's words.
    pub text: String,
    /// The instructor's annotations, in the order of the file.
    pub annotations: Vec<Annotation>,
}

impl Paragraph {
    /// The comments that can be scored, trimmed, with the index of their
    /// annotation: those of at least [`MIN_COMMENT_CHARS`] characters.
    pub fn usable_comments(&self) -> impl Iterator<Item = (usize, &str)> {
        self.annotations
            .iter()
            .map(|annotation| annotation.comment.trim())
            .enumerate()
            .filter(|(_, comment)| MIN_COMMENT_CHARS <= comment.chars().count())
    }
}

/// The fewest characters of a comment or feedback unit that can be scored.
pub const MIN_COMMENT_CHARS: usize = 3;

/// An instructor's comment and the place it points at.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// The place in the paragraph.
    pub anchor: Anchor,
    /// What the instructor wrote; empty for a bare highlight.
    pub comment: String,
    /// The text of the paragraph just before the anchor.
    pub context_left: String,
    /// The text of the paragraph just after the anchor.
    pub context_right: String,
}

/// The place in a paragraph that an annotation points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Highlighted words.
    Highlight {
        /// The words.
        text: String,
        /// The colour of the pen.
        color: Color,
    },
    /// Struck-out words.
    Strikeout {
        /// The words.
        text: String,
    },
    /// A point between two words.
    Note,
}

/// The colour of a highlight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Color {
    /// Interesting: expand it in the next draft.
    Green,
    /// Excellent.
    Pink,
    /// A problem.
    Yellow,
    /// Any other colour.
    Generic,
}

/// What an instructor said of a whole draft.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assessment {
    /// Grades by name, in the order of the file.
    pub grades: Vec<(String, f64)>,
    /// The overall comment, empty where there is none.
    pub comment: String,
    /// A fellow student's comment, empty where there is none.
    pub peer_comment: String,
}

/// An assignment prompt or rubric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rubric {
    /// The file it was read from, relative to the corpus.
    pub path: camino::Utf8PathBuf,
    /// Its text.
    pub text: std::sync::Arc<str>,
}
