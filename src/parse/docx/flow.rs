//! A paragraph as it is being read: its text, the pens over it, and what hangs where.

use crate::text::is_white_space;

/// What lies over a run of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pen {
    /// The colour of a highlighter.
    pub(super) rgb: Option<[u8; 3]>,
    /// Whether a line goes through it.
    pub(super) is_struck: bool,
}

/// A paragraph of a part. All places are bytes of its text.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowParagraph {
    /// The text, in a paragraph of the essay with white space runs as one space and none at
    /// its beginning; there may be one at its end.
    pub(super) text: String,
    /// Where a pen lies, in order; neighbours differ.
    pub(super) pens: Vec<(usize, usize, Pen)>,
    /// Where comments begin, end and are referred to, in order.
    pub(super) anchors: Vec<(usize, AnchorKind, String)>,
    /// Where footnotes and endnotes are referred to, in order.
    pub(super) notes: Vec<(usize, NoteKind, String)>,
    /// Text of tracked changes that was left out.
    pub(super) left_out: Vec<String>,
    /// The names of its paragraph, to which threads of comments refer.
    pub(super) ids: Vec<String>,
    /// Whether the next paragraph belongs to it: its end is a tracked change that was left
    /// out, or it is no more than a large first letter or a heading in line.
    pub(super) continues: bool,
    /// Whether there was white space before its text.
    is_spaced: bool,
    /// Where text was left out last.
    left_out_at: Option<usize>,
}

/// What a comment does at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnchorKind {
    Start,
    End,
    Reference,
}

/// The two kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum NoteKind {
    Footnote,
    Endnote,
}

impl FlowParagraph {
    /// Adds text of the essay.
    pub(super) fn push_flow(&mut self, text: &str, pen: Pen) {
        let start = self.text.len();
        for ch in text.chars() {
            if is_white_space(ch) {
                if self.text.is_empty() {
                    self.is_spaced = true;
                } else if !self.text.ends_with(' ') {
                    self.text.push(' ');
                }
            } else if !is_invisible(ch) {
                self.text.push(ch);
            }
        }
        self.mark(start, pen);
    }

    /// Adds text of a comment: as it is.
    pub(super) fn push_lines(&mut self, text: &str) {
        self.text.extend(text.chars().filter(|&ch| ch == '\n' || !is_invisible(ch)));
    }

    /// Notes text that is left out here.
    pub(super) fn push_left_out(&mut self, text: &str) {
        match self.left_out.last_mut() {
            Some(last) if self.left_out_at == Some(self.text.len()) => last.push_str(text),
            _ => self.left_out.push(text.to_owned()),
        }
        self.left_out_at = Some(self.text.len());
    }

    /// Whether it holds nothing at all.
    pub(super) fn is_blank(&self) -> bool {
        self.text.is_empty()
            && self.anchors.is_empty()
            && self.notes.is_empty()
            && self.left_out.is_empty()
            && !self.continues
    }

    /// Adds all of another paragraph behind this one.
    pub(super) fn append(&mut self, next: Self) {
        if next.is_spaced {
            self.push_flow(" ", Pen::default());
        }
        let offset = self.text.len();
        let moved = |at: usize| offset + at;
        self.text.push_str(&next.text);
        for (start, end, pen) in next.pens {
            self.push_pen(moved(start), moved(end), pen);
        }
        self.anchors.extend(next.anchors.into_iter().map(|(at, kind, id)| (moved(at), kind, id)));
        self.notes.extend(next.notes.into_iter().map(|(at, kind, id)| (moved(at), kind, id)));
        self.left_out.extend(next.left_out);
        self.ids.extend(next.ids);
        self.continues = next.continues;
        self.left_out_at = None;
    }

    fn mark(&mut self, start: usize, pen: Pen) {
        if pen != Pen::default() && start < self.text.len() {
            self.push_pen(start, self.text.len(), pen);
        }
    }

    fn push_pen(&mut self, start: usize, end: usize, pen: Pen) {
        match self.pens.last_mut() {
            Some((_, last_end, last)) if *last == pen && *last_end == start => *last_end = end,
            _ if start < end => self.pens.push((start, end, pen)),
            _ => (),
        }
    }
}

/// Characters without a look of their own: controls, soft hyphens and byte order marks.
fn is_invisible(ch: char) -> bool {
    ch.is_control() || matches!(ch, '\u{ad}' | '\u{feff}')
}
