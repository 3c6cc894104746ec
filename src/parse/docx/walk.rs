//! One part from its first element to its last, as paragraphs.

use super::{
    DocxError, Tracked,
    field::Fields,
    flow::{AnchorKind, FlowParagraph, NoteKind, Pen},
    pen::{Styles, read_pen},
    symbol::symbol,
    tag::Tag,
    xml::{Element, Node, XmlReader},
};

/// As many paragraphs may a part have.
const MAX_PARAGRAPHS: usize = 100_000;

/// How the text of a part is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Prose: white space runs are one space.
    Flow,
    /// Comments: as they are, with line breaks.
    Lines,
}

/// A comment or a note: what stands in it and what is said of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Story {
    pub(super) id: String,
    pub(super) author: Option<String>,
    pub(super) date: Option<String>,
    pub(super) paragraphs: Vec<FlowParagraph>,
}

/// What a part holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Walked {
    /// The paragraphs that belong to no story.
    pub(super) paragraphs: Vec<FlowParagraph>,
    /// The comments or notes, in order.
    pub(super) stories: Vec<Story>,
    /// How many symbols have no character.
    pub(super) n_unknown_symbols: usize,
    /// How many documents of other formats stand in it unread.
    pub(super) n_embedded: usize,
}

/// Reads a part with its name `part` and its content `text`.
pub(super) fn walk(
    (part, text): (&str, &str),
    layout: Layout,
    tracked: Tracked,
    styles: &Styles,
) -> Result<Walked, DocxError> {
    let mut walker = Walker {
        xml: XmlReader::new(part, text),
        layout,
        tracked,
        styles,
        frames: Vec::new(),
        done: Vec::new(),
        story: None,
        waiting: Vec::new(),
        changes: Vec::new(),
        fields: Fields::default(),
        alternates: Vec::new(),
        pen: Pen::default(),
        n_paragraphs: 0,
        walked: Walked::default(),
    };
    walker.run()?;
    Ok(walker.walked)
}

struct Walker<'a> {
    xml: XmlReader<'a>,
    layout: Layout,
    tracked: Tracked,
    styles: &'a Styles,
    /// The paragraphs that are open: one in another where a text box stands in one.
    frames: Vec<Frame>,
    done: Vec<FlowParagraph>,
    /// The story that is open, without its paragraphs.
    story: Option<Story>,
    /// Anchors that stand before the first paragraph or between two.
    waiting: Vec<(AnchorKind, String)>,
    /// The tracked changes that are open.
    changes: Vec<Tag>,
    fields: Fields,
    /// Of each alternative content that is open, whether one has been chosen.
    alternates: Vec<bool>,
    pen: Pen,
    n_paragraphs: usize,
    walked: Walked,
}

struct Frame {
    paragraph: FlowParagraph,
    /// The paragraphs of text boxes in it; they follow it.
    after: Vec<FlowParagraph>,
    outer_fields: Fields,
    outer_pen: Pen,
}

impl<'a> Walker<'a> {
    fn run(&mut self) -> Result<(), DocxError> {
        loop {
            match self.xml.next()? {
                Node::Open(element) => self.open(&element)?,
                Node::Close(tag) => self.close(tag)?,
                Node::Text(text) => match self.xml.current() {
                    Some(Tag::Text) => self.push(&text, false),
                    Some(Tag::DeletedText) => self.push(&text, true),
                    _ => (),
                },
                Node::End => {
                    self.walked.paragraphs = self.take_paragraphs();
                    return Ok(());
                }
            }
        }
    }

    fn open(&mut self, element: &Element<'a>) -> Result<(), DocxError> {
        match element.tag {
            Tag::Skipped => self.xml.skip()?,
            Tag::Comment | Tag::Footnote | Tag::Endnote => self.open_story(element),
            Tag::Paragraph => self.open_paragraph(element),
            Tag::ParagraphProperties => self.read_paragraph_properties()?,
            Tag::TableCell => self.end_continuation(),
            Tag::Run => self.pen = Pen::default(),
            Tag::RunProperties => self.pen = read_pen(&mut self.xml, self.styles)?,
            Tag::Tab => self.push(" ", false),
            Tag::Break => self.push("\n", false),
            Tag::NoBreakHyphen => self.push("-", false),
            Tag::Symbol => self.push_symbol(element),
            Tag::FieldChar => {
                self.fields.turn(&element.attribute("fldCharType").unwrap_or_default());
            }
            Tag::Insertion | Tag::Deletion | Tag::MoveFrom | Tag::MoveTo => {
                self.changes.push(element.tag);
            }
            Tag::CommentRangeStart => self.anchor(AnchorKind::Start, element),
            Tag::CommentRangeEnd => self.anchor(AnchorKind::End, element),
            Tag::CommentReference => self.anchor(AnchorKind::Reference, element),
            Tag::FootnoteReference => self.note(NoteKind::Footnote, element),
            Tag::EndnoteReference => self.note(NoteKind::Endnote, element),
            Tag::AltChunk => self.walked.n_embedded += 1,
            Tag::AlternateContent => self.alternates.push(false),
            Tag::Alternative => match self.alternates.last_mut() {
                Some(is_chosen @ false) => *is_chosen = true,
                Some(true) => self.xml.skip()?,
                None => (),
            },
            _ => (),
        }
        Ok(())
    }

    fn close(&mut self, tag: Tag) -> Result<(), DocxError> {
        match tag {
            Tag::Paragraph => return self.close_paragraph(),
            Tag::TableCell => self.end_continuation(),
            Tag::Run => self.pen = Pen::default(),
            Tag::Insertion | Tag::Deletion | Tag::MoveFrom | Tag::MoveTo => {
                self.changes.pop();
            }
            Tag::AlternateContent => {
                self.alternates.pop();
            }
            Tag::Comment | Tag::Footnote | Tag::Endnote => self.close_story(),
            _ => (),
        }
        Ok(())
    }

    fn open_story(&mut self, element: &Element<'a>) {
        self.close_story();
        self.story = Some(Story {
            id: element.attribute("id").unwrap_or_default(),
            author: element.attribute("author").filter(|author| !author.is_empty()),
            date: element.attribute("date").filter(|date| !date.is_empty()),
            paragraphs: Vec::new(),
        });
    }

    fn close_story(&mut self) {
        if let Some(story) = self.story.take() {
            let paragraphs = self.take_paragraphs();
            self.walked.stories.push(Story { paragraphs, ..story });
        }
    }

    /// The paragraphs since the last story.
    fn take_paragraphs(&mut self) -> Vec<FlowParagraph> {
        if !self.waiting.is_empty() {
            if self.done.is_empty() {
                self.done.push(FlowParagraph::default());
            }
            if let Some(last) = self.done.last_mut() {
                let end = last.text.len();
                last.anchors.extend(self.waiting.drain(..).map(|(kind, id)| (end, kind, id)));
            }
        }
        self.fields = Fields::default();
        std::mem::take(&mut self.done)
    }

    fn open_paragraph(&mut self, element: &Element<'a>) {
        let mut paragraph = FlowParagraph::default();
        if self.layout == Layout::Lines {
            paragraph.ids.extend(element.attribute("paraId"));
        }
        paragraph.anchors.extend(self.waiting.drain(..).map(|(kind, id)| (0, kind, id)));
        // Fields may go on over paragraphs, but not into a text box.
        let outer_fields = if self.frames.is_empty() {
            Fields::default()
        } else {
            std::mem::take(&mut self.fields)
        };
        let frame = Frame { paragraph, after: Vec::new(), outer_fields, outer_pen: self.pen };
        self.frames.push(frame);
        self.pen = Pen::default();
    }

    fn close_paragraph(&mut self) -> Result<(), DocxError> {
        let Some(Frame { paragraph, after, outer_fields, outer_pen }) = self.frames.pop() else {
            return Ok(());
        };
        self.fields.end_instructions();
        self.pen = outer_pen;
        let target = match self.frames.last_mut() {
            Some(outer) => {
                self.fields = outer_fields;
                &mut outer.after
            }
            None => &mut self.done,
        };
        let has_boxes = !after.is_empty();
        match target.last_mut() {
            Some(last) if last.continues => last.append(paragraph),
            // What is empty counts in a comment alone.
            _ if self.layout == Layout::Flow && paragraph.is_blank() => (),
            _ => {
                self.n_paragraphs += 1;
                target.push(paragraph);
            }
        }
        target.extend(after);
        if let Some(last) = target.last_mut()
            && has_boxes
        {
            last.continues = false;
        }
        if MAX_PARAGRAPHS < self.n_paragraphs {
            let limit = MAX_PARAGRAPHS as u64;
            return Err(DocxError::TooMuch { part: self.xml.part(), what: "paragraphs", limit });
        }
        Ok(())
    }

    /// A paragraph does not continue over the border of a cell.
    fn end_continuation(&mut self) {
        let last = match self.frames.last_mut() {
            Some(outer) => outer.after.last_mut(),
            None => self.done.last_mut(),
        };
        if let Some(last) = last {
            last.continues = false;
        }
    }

    fn read_paragraph_properties(&mut self) -> Result<(), DocxError> {
        loop {
            match self.xml.next()? {
                Node::Open(element) if element.tag == Tag::Skipped => self.xml.skip()?,
                Node::Open(element) => {
                    let is_of_mark = self.xml.parent() == Some(Tag::RunProperties);
                    let continues = match element.tag {
                        // A large first letter has a paragraph of its own.
                        Tag::Frame => element.attribute("dropCap").is_some_and(|it| it != "none"),
                        Tag::StyleSeparator => is_of_mark && element.is_on(),
                        tag => is_of_mark && self.leaves_out(tag),
                    };
                    if let Some(frame) = self.frames.last_mut() {
                        frame.paragraph.continues |= continues;
                    }
                }
                Node::Close(Tag::ParagraphProperties) | Node::End => return Ok(()),
                Node::Close(_) | Node::Text(_) => (),
            }
        }
    }

    /// Whether the text of such a change is left out.
    fn leaves_out(&self, change: Tag) -> bool {
        match self.tracked {
            Tracked::Accept => matches!(change, Tag::Deletion | Tag::MoveFrom),
            Tracked::Reject => matches!(change, Tag::Insertion | Tag::MoveTo),
            Tracked::Keep => false,
        }
    }

    fn push(&mut self, text: &str, is_deleted: bool) {
        if self.fields.is_instruction() {
            return;
        }
        let is_left_out = is_deleted && self.leaves_out(Tag::Deletion)
            || self.changes.iter().any(|change| self.leaves_out(*change));
        let Some(frame) = self.frames.last_mut() else { return };
        if is_left_out {
            frame.paragraph.push_left_out(text);
        } else {
            match self.layout {
                Layout::Flow => frame.paragraph.push_flow(text, self.pen),
                Layout::Lines => frame.paragraph.push_lines(text),
            }
        }
    }

    fn push_symbol(&mut self, element: &Element<'a>) {
        let font = element.attribute("font").unwrap_or_default();
        let found = element.attribute("char").and_then(|code| symbol(&font, &code));
        self.walked.n_unknown_symbols += usize::from(found.is_none());
        let ch = found.unwrap_or(char::REPLACEMENT_CHARACTER);
        self.push(ch.encode_utf8(&mut [0; 4]), false);
    }

    fn anchor(&mut self, kind: AnchorKind, element: &Element<'a>) {
        let Some(id) = element.attribute("id") else { return };
        match (self.frames.last_mut(), self.done.last_mut(), kind) {
            (Some(frame), _, _) => {
                frame.paragraph.anchors.push((frame.paragraph.text.len(), kind, id));
            }
            (None, Some(last), AnchorKind::End) => last.anchors.push((last.text.len(), kind, id)),
            _ => self.waiting.push((kind, id)),
        }
    }

    fn note(&mut self, kind: NoteKind, element: &Element<'a>) {
        if let (Some(frame), Some(id)) = (self.frames.last_mut(), element.attribute("id")) {
            frame.paragraph.notes.push((frame.paragraph.text.len(), kind, id));
        }
    }
}
