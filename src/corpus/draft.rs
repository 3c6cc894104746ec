//! What a draft is made of.

use std::fmt;

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
    /// Whether the instructor marked anything here, with or without a comment.
    pub fn is_annotated(&self) -> bool {
        !self.annotations.is_empty()
    }

    /// The comments that can be scored, trimmed, in order, with the index of
    /// their annotation in the paragraph: those of at least
    /// [`MIN_COMMENT_CHARS`] characters.
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

impl Annotation {
    /// What it is: `highlight`, `strikeout` or `note`.
    pub fn kind(&self) -> &'static str {
        match self.anchor {
            Anchor::Highlight { .. } => "highlight",
            Anchor::Strikeout { .. } => "strikeout",
            Anchor::Note => "note",
        }
    }

    /// The colour of a highlight; `None` for anything else.
    pub fn color(&self) -> Option<Color> {
        match self.anchor {
            Anchor::Highlight { color, .. } => Some(color),
            Anchor::Strikeout { .. } | Anchor::Note => None,
        }
    }

    /// The words it covers; `None` for a note, which covers none.
    pub fn text(&self) -> Option<&str> {
        match &self.anchor {
            Anchor::Highlight { text, .. } | Anchor::Strikeout { text } => Some(text),
            Anchor::Note => None,
        }
    }
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

impl Color {
    /// All of them, in the order of the corpus figures.
    pub const ALL: [Self; 4] = [Self::Green, Self::Pink, Self::Yellow, Self::Generic];

    /// Its name in the files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Pink => "pink",
            Self::Yellow => "yellow",
            Self::Generic => "generic",
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What an instructor said of a whole draft.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assessment {
    /// Grades by name, in the order of the file.
    pub grades: Vec<(String, Grade)>,
    /// The overall comment, empty where there is none.
    pub comment: String,
    /// A fellow student's comment, empty where there is none.
    pub peer_comment: String,
}

/// One grade of one draft.
#[derive(Clone, Debug, PartialEq)]
pub enum Grade {
    /// Points; finite.
    Points(f64),
    /// A mark in words, such as `A-`.
    Mark(String),
    /// The item stands there without a grade: `N/A`, an empty text or null.
    NotGiven,
}

impl Grade {
    /// Reads a grade that was written as text: a number gives points.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("n/a") || text.eq_ignore_ascii_case("na") {
            return Self::NotGiven;
        }
        match text.parse::<f64>() {
            Ok(points) if points.is_finite() => Self::Points(points),
            _ => Self::Mark(text.to_owned()),
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Points(points) => write!(f, "{points}"),
            Self::Mark(mark) => f.write_str(mark),
            Self::NotGiven => f.write_str("not given"),
        }
    }
}

/// An assignment prompt or rubric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rubric {
    /// The file it was read from, relative to the corpus: to the folder that
    /// holds the batches, where the corpus is laid out in batches.
    pub path: camino::Utf8PathBuf,
    /// Its text.
    pub text: std::sync::Arc<str>,
}
