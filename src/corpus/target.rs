//! The units of work: paragraphs that an instructor marked.

use super::{Corpus, Draft, Paragraph, ParagraphId};

/// A paragraph with at least one annotation, in its draft.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    /// The draft it stands in.
    pub draft: &'a Draft,
    /// Its place in the draft, counted from zero.
    pub index: usize,
    /// Itself.
    pub paragraph: &'a Paragraph,
    /// The comments on it that can be scored, trimmed, each with the index of
    /// its annotation in the paragraph. May be empty.
    pub comments: Vec<(usize, &'a str)>,
}

impl Target<'_> {
    /// Its name.
    pub fn id(&self) -> ParagraphId {
        ParagraphId { draft: self.draft.id.clone(), index: self.index }
    }
}

impl Draft {
    /// The paragraphs with at least one annotation, in order.
    pub fn targets(&self) -> impl Iterator<Item = Target<'_>> {
        self.paragraphs.iter().enumerate().filter(|(_, paragraph)| paragraph.is_annotated()).map(
            |(index, paragraph)| Target {
                draft: self,
                index,
                paragraph,
                comments: paragraph.usable_comments().collect(),
            },
        )
    }
}

impl Corpus {
    /// The paragraphs with at least one annotation, in the order of the drafts:
    /// what feedback is generated for.
    pub fn targets(&self) -> impl Iterator<Item = Target<'_>> {
        self.drafts().iter().flat_map(Draft::targets)
    }

    /// Those of the [`targets`](Self::targets) with at least one comment that
    /// can be scored.
    pub fn scorable_targets(&self) -> impl Iterator<Item = Target<'_>> {
        self.targets().filter(|target| !target.comments.is_empty())
    }
}
