//! The parts of a document, put together.

use std::collections::{HashMap, HashSet};

use super::{
    DocxError, DocxOptions,
    anchor::{Doubt, Spot, spots},
    comment::Comment,
    flow::{FlowParagraph, NoteKind},
    mark::{Budget, PenMark, marks},
    name_block::name_block,
    related::{Parts, joined},
    walk::Story,
};
use crate::{
    corpus::{Anchor, Annotation, Color},
    parse::{
        Mark, ParsedAnnotation, ParsedDocument, ParsedParagraph, RemovalReason, RemovedText,
        color::nearest_color, written::contexts,
    },
};

/// Makes one document of what was read.
pub(super) fn assemble(parts: Parts, options: &DocxOptions) -> Result<ParsedDocument, DocxError> {
    let Parts { main, body, comments, notes, headers, footers, warnings } = parts;
    let mut document = ParsedDocument { warnings, ..ParsedDocument::default() };
    let mut out = Vec::new();
    let flow = with_notes(body, notes, &mut out);
    let mut spots = spots(&flow);
    note_strangers(&spots, &comments, &mut document.warnings);
    let mut hanging: HashMap<usize, Vec<(Spot, &Comment)>> = HashMap::new();
    let mut orphans = Vec::new();
    for (number, comment) in (1..).zip(&comments) {
        let spot = comment.ids.iter().find_map(|id| spots.remove(id));
        if let Some(doubt) = spot.and_then(|spot| spot.doubt) {
            document.warnings.push(warning_of(number, doubt));
        }
        match spot {
            Some(spot) => hanging.entry(spot.paragraph).or_default().push((spot, comment)),
            None => orphans.push((number, comment)),
        }
    }
    let mut budget = Budget::new();
    for (index, paragraph) in flow.iter().enumerate() {
        let comments = hanging.remove(&index).unwrap_or_default();
        if !paragraph.text.trim_end().is_empty() {
            let builder = Builder { paragraph, part: &main, context: options.context };
            document.paragraphs.push(builder.build(comments, &mut budget)?);
        }
    }
    keep_orphans(&orphans, &mut document, options.context, (&mut budget, &main))?;
    remove(&mut document, RemovalReason::Header, headers);
    take_name_block(&mut document);
    document.removed.extend(out);
    remove(&mut document, RemovalReason::Footer, footers);
    Ok(document)
}

/// The paragraphs, with the notes on which something hangs behind what refers to them. What
/// is left out goes to `out`.
fn with_notes(
    body: Vec<FlowParagraph>,
    mut notes: HashMap<(NoteKind, String), Story>,
    out: &mut Vec<RemovedText>,
) -> Vec<FlowParagraph> {
    let mut flow = Vec::with_capacity(body.len());
    for mut paragraph in body {
        let own: Vec<Story> = paragraph
            .notes
            .drain(..)
            .filter_map(|(_, kind, id)| notes.remove(&(kind, id)))
            .collect();
        leave_out(&mut paragraph, out);
        flow.push(paragraph);
        for story in own {
            add_note(story, &mut flow, out);
        }
    }
    let mut unreferred: Vec<_> = notes.into_iter().collect();
    unreferred.sort_by(|a, b| a.0.cmp(&b.0));
    for (_, story) in unreferred {
        add_note(story, &mut flow, out);
    }
    flow
}

fn add_note(story: Story, flow: &mut Vec<FlowParagraph>, out: &mut Vec<RemovedText>) {
    let mut paragraphs = story.paragraphs;
    for paragraph in &mut paragraphs {
        leave_out(paragraph, out);
    }
    let bears = |it: &FlowParagraph| !it.anchors.is_empty() || !it.pens.is_empty();
    if paragraphs.iter().any(bears) {
        flow.extend(paragraphs);
    } else {
        let text = joined(&paragraphs);
        if !text.is_empty() {
            out.push(RemovedText { text, reason: RemovalReason::Footnote, page: None });
        }
    }
}

fn leave_out(paragraph: &mut FlowParagraph, out: &mut Vec<RemovedText>) {
    let texts = paragraph.left_out.drain(..).filter(|text| !text.trim().is_empty());
    let reason = RemovalReason::TrackedChange;
    out.extend(texts.map(|text| RemovedText { text, reason, page: None }));
}

fn remove(document: &mut ParsedDocument, reason: RemovalReason, texts: Vec<String>) {
    let texts = texts.into_iter().map(|text| RemovedText { text, reason, page: None });
    document.removed.extend(texts);
}

/// Warns of places of comments that are not there.
fn note_strangers(spots: &HashMap<String, Spot>, comments: &[Comment], warnings: &mut Vec<String>) {
    let known: HashSet<&str> =
        comments.iter().flat_map(|comment| &comment.ids).map(String::as_str).collect();
    let n_strange = spots.keys().filter(|id| !known.contains(id.as_str())).count();
    if 0 < n_strange {
        warnings.push(format!("{n_strange} comments are referred to and not there"));
    }
}

fn warning_of(number: usize, doubt: Doubt) -> String {
    let what = match doubt {
        Doubt::ReachesOn => "reaches over several paragraphs: it hangs on the first",
        Doubt::Moved => "stands in an empty paragraph: it hangs on the nearest text",
        Doubt::Collapsed => "has a broken range, or its words were left out: it is a note now",
    };
    format!("comment {number} {what}")
}

/// Comments that stand nowhere become notes at the end.
fn keep_orphans(
    orphans: &[(usize, &Comment)],
    document: &mut ParsedDocument,
    context: usize,
    (budget, part): (&mut Budget, &str),
) -> Result<(), DocxError> {
    for (number, comment) in orphans {
        let Some(last) = document.paragraphs.last_mut() else {
            let warning =
                format!("comment {number} is lost: the document has no text to hang it on");
            document.warnings.push(warning);
            continue;
        };
        let end = last.text.len();
        let point = PenMark { start: end, end, rgb: None, is_struck: false };
        budget.spend(end.min(context.saturating_mul(8)), part)?;
        last.annotations.push(annotation(&last.text, point, Some(comment), context));
        let warning =
            format!("comment {number} stands nowhere in the text: it is a note at the end");
        document.warnings.push(warning);
    }
    Ok(())
}

/// Takes out the block of name, course and date, except for lines on which something hangs.
fn take_name_block(document: &mut ParsedDocument) {
    let lines = document.paragraphs.iter().map(|paragraph| paragraph.text.as_str());
    let n_lines = name_block(lines);
    if document.paragraphs.len() <= n_lines {
        return;
    }
    let rest = document.paragraphs.split_off(n_lines);
    for paragraph in std::mem::replace(&mut document.paragraphs, Vec::with_capacity(rest.len())) {
        if paragraph.annotations.is_empty() {
            let reason = RemovalReason::NameBlock;
            document.removed.push(RemovedText { text: paragraph.text, reason, page: None });
        } else {
            document.paragraphs.push(paragraph);
        }
    }
    document.paragraphs.extend(rest);
}

struct Builder<'a> {
    paragraph: &'a FlowParagraph,
    part: &'a str,
    context: usize,
}

impl Builder<'_> {
    fn build(
        &self,
        comments: Vec<(Spot, &Comment)>,
        budget: &mut Budget,
    ) -> Result<ParsedParagraph, DocxError> {
        let text = self.paragraph.text.trim_end();
        let mut comments = comments;
        comments.sort_by_key(|(spot, _)| (spot.start, spot.end));
        let ranges: Vec<_> = comments.iter().map(|(spot, _)| (spot.start, spot.end)).collect();
        let marks = marks(self.paragraph, &ranges, (&mut *budget, self.part))?;
        let commented =
            marks.commented.into_iter().zip(&comments).map(|(mark, (_, it))| (mark, Some(*it)));
        let mut all: Vec<_> =
            commented.chain(marks.bare.into_iter().map(|it| (it, None))).collect();
        all.sort_by_key(|(mark, _)| (mark.start, mark.end));
        let mut annotations = Vec::with_capacity(all.len());
        for (mark, comment) in all {
            // Characters of context have four bytes at most.
            let n_context = text.len().min(self.context.saturating_mul(8));
            budget.spend(mark.end - mark.start + n_context, self.part)?;
            annotations.push(annotation(text, mark, comment, self.context));
        }
        Ok(ParsedParagraph { text: text.to_owned(), annotations, page: None })
    }
}

fn annotation(
    text: &str,
    mark: PenMark,
    comment: Option<&Comment>,
    context: usize,
) -> ParsedAnnotation {
    let PenMark { start, end, rgb, is_struck } = mark;
    let named = rgb.map(nearest_color);
    let words = || text.get(start..end).unwrap_or_default().to_owned();
    let color = named.as_ref().map_or(Color::Generic, |named| named.color);
    let (anchor, kind) = match (start == end, is_struck, rgb) {
        (true, ..) => (Anchor::Note, Mark::Note),
        (_, true, _) => (Anchor::Strikeout { text: words() }, Mark::Strikeout),
        (_, _, Some(_)) => (Anchor::Highlight { text: words(), color }, Mark::Highlight),
        (_, _, None) => (Anchor::Highlight { text: words(), color }, Mark::Comment),
    };
    let (left, right) = contexts(text, start, end, context);
    let annotation = Annotation {
        anchor,
        comment: comment.map(|comment| comment.text.clone()).unwrap_or_default(),
        context_left: left.to_owned(),
        context_right: right.to_owned(),
    };
    ParsedAnnotation {
        annotation,
        start,
        end,
        mark: kind,
        hex: named.map(|named| named.hex),
        author: comment.and_then(|comment| comment.author.clone()),
        date: comment.and_then(|comment| comment.date.clone()),
        replies: comment.map(|comment| comment.replies.clone()).unwrap_or_default(),
    }
}
