//! Annotations that belong together: answers, groups, and the same mark made twice.

use super::annotations::{Parent, RawAnnotation};
use crate::parse::Reply;

/// An annotation with the answers to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) annotation: RawAnnotation,
    pub(super) replies: Vec<Reply>,
}

/// The threads of a page, in the order of the file, and how many annotations were left out
/// because the same one stood there already.
pub(super) fn threads(annotations: Vec<RawAnnotation>) -> (Vec<Thread>, usize) {
    let roots: Vec<(usize, bool)> =
        (0..annotations.len()).map(|index| root(&annotations, index)).collect();
    let mut slots: Vec<Option<Thread>> = vec![None; annotations.len()];
    let mut hanging = Vec::new();
    for (index, (annotation, (root, is_group))) in annotations.into_iter().zip(roots).enumerate() {
        if root != index {
            hanging.push((root, is_group, annotation));
        } else if let Some(slot) = slots.get_mut(index) {
            *slot = Some(Thread { annotation, replies: Vec::new() });
        }
    }
    for (root, is_group, annotation) in hanging {
        let Some(thread) = slots.get_mut(root).and_then(Option::as_mut) else { continue };
        if is_group {
            thread.annotation = joined(std::mem::take(&mut thread.annotation), annotation);
        } else if !annotation.comment.is_empty() {
            let RawAnnotation { comment: text, author, date, .. } = annotation;
            thread.replies.push(Reply { text, author, date });
        }
    }
    let mut kept: Vec<Thread> = Vec::new();
    let mut n_doubles = 0;
    for thread in slots.into_iter().flatten() {
        match kept.iter_mut().find(|other| is_double(&other.annotation, &thread.annotation)) {
            Some(other) => {
                n_doubles += 1;
                other.replies.extend(thread.replies);
            }
            None => kept.push(thread),
        }
    }
    (kept, n_doubles)
}

/// The longest chain of answers that is followed.
const MAX_CHAIN: usize = 50;

/// The annotation that this one hangs on in the end, itself where it hangs on none, and
/// whether they are one group all the way.
fn root(annotations: &[RawAnnotation], index: usize) -> (usize, bool) {
    let (mut at, mut is_group) = (index, true);
    // A longer chain goes in a circle.
    for _ in 0..MAX_CHAIN {
        let Some(parent) = annotations.get(at).and_then(|annotation| annotation.parent.as_ref())
        else {
            return (at, is_group);
        };
        match find(annotations, parent) {
            Some(next) if next != at => at = next,
            _ => return (at, is_group),
        }
        is_group &= parent.is_group;
    }
    (index, true)
}

fn find(annotations: &[RawAnnotation], parent: &Parent) -> Option<usize> {
    let by_id = parent
        .id
        .and_then(|id| annotations.iter().position(|annotation| annotation.id == Some(id)));
    by_id.or_else(|| {
        let name = parent.name.as_ref()?;
        annotations.iter().position(|annotation| annotation.name.as_ref() == Some(name))
    })
}

/// Two annotations of one group: the one that marks words leads, and both comments count.
fn joined(first: RawAnnotation, second: RawAnnotation) -> RawAnnotation {
    let comment = match (first.comment.is_empty(), second.comment.is_empty()) {
        (false, false) if first.comment != second.comment => {
            format!("{}\n{}", first.comment, second.comment)
        }
        (true, _) => second.comment.clone(),
        _ => first.comment.clone(),
    };
    let (lead, other) = if second.marks_words() && !first.marks_words() {
        (second, first)
    } else {
        (first, second)
    };
    let author = lead.author.or(other.author);
    let date = lead.date.or(other.date);
    RawAnnotation { comment, author, date, ..lead }
}

fn is_double(first: &RawAnnotation, second: &RawAnnotation) -> bool {
    first.page == second.page
        && first.mark == second.mark
        && first.comment == second.comment
        && first.author == second.author
        && first.quads == second.quads
        && first.rect == second.rect
        && first.rgb == second.rgb
        && (!first.quads.is_empty() || first.rect.is_some())
}

#[cfg(test)]
mod tests {
    use hayro_interpret::hayro_syntax::object::ObjRef;

    use super::{super::geometry::Area, *};
    use crate::parse::Mark;

    fn annotation(
        id: u32,
        mark: Mark,
        comment: &str,
        parent: Option<(u32, bool)>,
    ) -> RawAnnotation {
        RawAnnotation {
            id: Some(ObjRef::new(id, 0)),
            mark: Some(mark),
            comment: comment.to_owned(),
            parent: parent.map(|(id, is_group)| Parent {
                id: Some(ObjRef::new(id, 0)),
                name: None,
                is_group,
            }),
            rect: Some(Area { x0: f64::from(id), ..Area::default() }),
            ..RawAnnotation::default()
        }
    }

    #[test]
    fn answers_hang_on_what_they_answer() {
        let (threads, _) = threads(vec![
            annotation(3, Mark::Note, "and thanks", Some((2, false))),
            annotation(1, Mark::Highlight, "good", None),
            annotation(2, Mark::Note, "why", Some((1, false))),
        ]);
        assert_eq!(threads.len(), 1);
        let texts: Vec<&str> = threads[0].replies.iter().map(|reply| reply.text.as_str()).collect();
        assert_eq!(texts, ["and thanks", "why"]);
    }

    #[test]
    fn a_group_is_one_annotation_on_its_words() {
        let (threads, _) = threads(vec![
            annotation(1, Mark::Note, "which", None),
            annotation(2, Mark::Strikeout, "", Some((1, true))),
        ]);
        assert_eq!(threads.len(), 1);
        assert_eq!(threads[0].annotation.mark, Some(Mark::Strikeout));
        assert_eq!(threads[0].annotation.comment, "which");
        assert!(threads[0].replies.is_empty());
    }

    #[test]
    fn circles_and_lost_parents_lose_nothing() {
        let (threads, _) = threads(vec![
            annotation(1, Mark::Note, "a", Some((2, false))),
            annotation(2, Mark::Note, "b", Some((1, false))),
            annotation(3, Mark::Note, "c", Some((9, false))),
        ]);
        assert_eq!(threads.len(), 3);
    }

    #[test]
    fn the_same_mark_made_twice_is_one() {
        let mut double = annotation(1, Mark::Note, "a", None);
        double.id = Some(ObjRef::new(2, 0));
        let original = annotation(1, Mark::Note, "a", None);
        let other = annotation(3, Mark::Note, "a", None);
        let (threads, n_doubles) = threads(vec![original, double, other]);
        assert_eq!((threads.len(), n_doubles), (2, 1));
    }
}
