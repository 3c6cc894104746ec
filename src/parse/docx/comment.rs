//! The comments of a document, with their answers.

use std::collections::HashMap;

use super::{
    DocxError,
    tag::Tag,
    walk::{Story, Walked},
    xml::{Node, XmlReader},
};
use crate::parse::Reply;

/// As many comments may a document have.
pub(super) const MAX_COMMENTS: usize = 10_000;

/// A comment that answers no other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Comment {
    /// Its own name, then those of its answers.
    pub(super) ids: Vec<String>,
    pub(super) text: String,
    pub(super) author: Option<String>,
    pub(super) date: Option<String>,
    pub(super) replies: Vec<Reply>,
}

/// Which paragraph of a comment answers which of another, as the part `commentsExtended`
/// says.
pub(super) fn read_threads(part: &str, text: &str) -> Result<HashMap<String, String>, DocxError> {
    let mut xml = XmlReader::new(part, text);
    let mut parents = HashMap::new();
    loop {
        match xml.next()? {
            Node::Open(element) if element.tag == Tag::CommentExtended => {
                let ids = element.attribute("paraId").zip(element.attribute("paraIdParent"));
                parents.extend(ids.map(|(id, parent)| (upper(&id), upper(&parent))));
            }
            Node::End => return Ok(parents),
            Node::Open(_) | Node::Close(_) | Node::Text(_) => (),
        }
    }
}

/// The comments of a part, in order; of two with one name the first counts. An answer to an
/// answer belongs to the comment that began the thread.
pub(super) fn threads(
    part: &str,
    walked: Walked,
    parents: &HashMap<String, String>,
) -> Result<Vec<Comment>, DocxError> {
    if MAX_COMMENTS < walked.stories.len() {
        let limit = MAX_COMMENTS as u64;
        return Err(DocxError::TooMuch { part: part.to_owned(), what: "comments", limit });
    }
    let stories = walked.stories;
    let mut by_paragraph: HashMap<String, usize> = HashMap::new();
    for (index, story) in stories.iter().enumerate() {
        for id in story.paragraphs.iter().flat_map(|paragraph| &paragraph.ids) {
            by_paragraph.entry(upper(id)).or_insert(index);
        }
    }
    let parent_of: Vec<Option<usize>> = stories
        .iter()
        .map(|story| {
            let mut ids = story.paragraphs.iter().flat_map(|paragraph| &paragraph.ids);
            ids.find_map(|id| by_paragraph.get(parents.get(&upper(id))?)).copied()
        })
        .collect();
    let roots: Vec<usize> = (0..stories.len()).map(|index| root(index, &parent_of)).collect();
    let mut comments: Vec<Comment> = Vec::new();
    let mut place_of = HashMap::new();
    let (heads, answers): (Vec<_>, Vec<_>) =
        stories.into_iter().zip(roots).enumerate().partition(|(index, (_, root))| index == root);
    for (index, (story, _)) in heads {
        place_of.insert(index, comments.len());
        let text = text_of(&story);
        let Story { id, author, date, .. } = story;
        comments.push(Comment { ids: vec![id], text, author, date, replies: Vec::new() });
    }
    for (_, (story, root)) in answers {
        let place = place_of.get(&root).copied();
        let Some(comment) = place.and_then(|place| comments.get_mut(place)) else { continue };
        let text = text_of(&story);
        comment.ids.push(story.id);
        comment.replies.push(Reply { text, author: story.author, date: story.date });
    }
    Ok(comments)
}

/// The beginning of a thread; of one that runs in a circle, its first comment.
fn root(index: usize, parent_of: &[Option<usize>]) -> usize {
    /// Longer threads are cut: no program shows them.
    const MAX_STEPS: usize = 64;
    let parent = |index: &usize| parent_of.get(*index).copied().flatten();
    let mut path = vec![index];
    while let Some(next) = path.last().and_then(parent) {
        if let Some(at) = path.iter().position(|step| *step == next) {
            return path.iter().skip(at).min().copied().unwrap_or(index);
        }
        path.push(next);
        if path.len() == MAX_STEPS {
            return index;
        }
    }
    path.last().copied().unwrap_or(index)
}

/// What a comment says: its paragraphs, a line each.
fn text_of(story: &Story) -> String {
    let lines: Vec<&str> = story.paragraphs.iter().map(|it| it.text.as_str()).collect();
    lines.join("\n").trim().to_owned()
}

fn upper(id: &str) -> String {
    id.to_ascii_uppercase()
}
