//! Which pens and comments on a paragraph are one mark.

use super::{DocxError, anchor::trimmed, flow::FlowParagraph};

/// As many comparisons of comments with pens may a document need, and as many bytes may the
/// words and contexts of its annotations have, together; essays need a hundredth of it.
pub(super) const MAX_WORK: usize = 16 << 20;

/// A pen that covers so much of a comment, and vice versa, is the mark of that comment: the
/// bytes that both cover to those that either does.
const MIN_OVERLAP: f64 = 0.5;

/// A pen or a comment on a paragraph, or both in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PenMark {
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// The colour over it.
    pub(super) rgb: Option<[u8; 3]>,
    /// Whether a line goes through it.
    pub(super) is_struck: bool,
}

/// The marks of one paragraph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// One for each comment that was given, in order.
    pub(super) commented: Vec<PenMark>,
    /// Pens that belong to no comment, in order.
    pub(super) bare: Vec<PenMark>,
}

/// A stretch under one pen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment<K> {
    start: usize,
    end: usize,
    key: K,
}

/// What can still be spent on a document.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new() -> Self {
        Self(MAX_WORK)
    }

    /// Takes from what is left.
    pub(super) fn spend(&mut self, amount: usize, part: &str) -> Result<(), DocxError> {
        let limit = MAX_WORK as u64;
        let what = "bytes or steps for marks";
        let too_much = || DocxError::TooMuch { part: part.to_owned(), what, limit };
        self.0 = self.0.checked_sub(amount).ok_or_else(too_much)?;
        Ok(())
    }
}

/// Puts together the pens over a paragraph and the comments on it, whose ranges are given.
///
/// Runs under the same pen that touch are one mark, unless one comment ends and another
/// begins between them. Such a mark belongs to the comment that it overlaps most, if by
/// [`MIN_OVERLAP`] at least: then both are one mark with the range of the comment. A line
/// through exactly what a highlighter covers is one mark with it too. Pens over nothing but
/// spaces mark nothing.
pub(super) fn marks(
    paragraph: &FlowParagraph,
    comments: &[(usize, usize)],
    (budget, part): (&mut Budget, &str),
) -> Result<Marks, DocxError> {
    let text = &paragraph.text;
    let pens = &paragraph.pens;
    let cuts = cuts(text, comments);
    let colours = pens.iter().filter_map(|(start, end, pen)| Some((*start, *end, pen.rgb?)));
    let colours = segments(text, colours, &cuts);
    let strikes = pens.iter().filter(|it| it.2.is_struck).map(|(start, end, _)| (*start, *end, ()));
    let strikes = segments(text, strikes, &cuts);
    let mut spend = |amount| budget.spend(amount, part);
    let (colour_of, bare_colours) = claim(comments, colours, &mut spend)?;
    let (strike_of, bare_strikes) = claim(comments, strikes, &mut spend)?;
    let pens_of = colour_of.into_iter().zip(strike_of);
    let commented = comments.iter().zip(pens_of).map(|((start, end), (rgb, strike))| PenMark {
        start: *start,
        end: *end,
        rgb,
        is_struck: strike.is_some(),
    });
    Ok(Marks { commented: commented.collect(), bare: bare(bare_colours, bare_strikes) })
}

/// Where one comment begins right behind another.
fn cuts(text: &str, comments: &[(usize, usize)]) -> Vec<usize> {
    let ranges = || comments.iter().filter(|(start, end)| start < end);
    let mut ends: Vec<usize> = ranges().map(|(_, end)| *end).collect();
    ends.sort_unstable();
    let behind_another = |start: &usize| {
        let before = text.get(..*start).unwrap_or_default().trim_end().len();
        ends.binary_search(&before).is_ok()
    };
    let mut cuts: Vec<usize> = ranges().map(|(start, _)| *start).filter(behind_another).collect();
    cuts.sort_unstable();
    cuts
}

/// Joins stretches that touch and have one key, cuts them, and drops those without words.
fn segments<K: Copy + PartialEq>(
    text: &str,
    stretches: impl Iterator<Item = (usize, usize, K)>,
    cuts: &[usize],
) -> Vec<Segment<K>> {
    let mut joined: Vec<Segment<K>> = Vec::new();
    for (start, end, key) in stretches {
        match joined.last_mut() {
            Some(last) if last.end == start && last.key == key => last.end = end,
            _ => joined.push(Segment { start, end, key }),
        }
    }
    let mut parts = Vec::with_capacity(joined.len());
    for Segment { mut start, end, key } in joined {
        let from = cuts.partition_point(|cut| *cut <= start);
        for cut in cuts.iter().skip(from).take_while(|cut| **cut < end) {
            parts.push(Segment { start, end: *cut, key });
            start = *cut;
        }
        parts.push(Segment { start, end, key });
    }
    let worded = parts.into_iter().filter_map(|Segment { start, end, key }| {
        trimmed(text, start, end.min(text.len())).map(|(start, end)| Segment { start, end, key })
    });
    worded.collect()
}

/// The key that each comment claims, and the segments that no comment does.
type Claims<K> = (Vec<Option<K>>, Vec<Segment<K>>);

/// Gives each segment to the comment that it fits best, if it fits any.
fn claim<K: Copy + PartialEq>(
    comments: &[(usize, usize)],
    segments: Vec<Segment<K>>,
    spend: &mut impl FnMut(usize) -> Result<(), DocxError>,
) -> Result<Claims<K>, DocxError> {
    let mut is_taken = vec![false; segments.len()];
    let mut claimed = vec![None; comments.len()];
    let mut order = Vec::new();
    for (index, range) in comments.iter().enumerate() {
        let near = near(*range, &segments);
        spend(near.len())?;
        if let Some((overlap, _)) = best_key(*range, &segments, &is_taken, near) {
            order.push((overlap, index, *range));
        }
    }
    // The best fit first; of equals, the longer.
    order.sort_by(|a, b| {
        let length = |(start, end): (usize, usize)| end - start;
        b.0.total_cmp(&a.0).then_with(|| length(b.2).cmp(&length(a.2))).then(a.1.cmp(&b.1))
    });
    for (_, index, range) in order {
        let near = near(range, &segments);
        spend(near.len())?;
        let best = best_key(range, &segments, &is_taken, near.clone());
        let Some((overlap, key)) = best else { continue };
        if MIN_OVERLAP <= overlap
            && let Some(slot) = claimed.get_mut(index)
        {
            *slot = Some(key);
            let own = is_taken.iter_mut().zip(&segments).take(near.end).skip(near.start);
            own.filter(|(_, segment)| segment.key == key)
                .for_each(|(is_taken, _)| *is_taken = true);
        }
    }
    let left = segments.into_iter().zip(is_taken).filter(|(_, is_taken)| !is_taken);
    Ok((claimed, left.map(|(segment, _)| segment).collect()))
}

/// The indices of the segments that a range touches.
fn near<K>((start, end): (usize, usize), segments: &[Segment<K>]) -> std::ops::Range<usize> {
    let first = segments.partition_point(|segment| segment.end <= start);
    let last = segments.partition_point(|segment| segment.start < end);
    first..last.max(first)
}

/// The key that overlaps a range most among the segments that are free, and how much.
fn best_key<K: Copy + PartialEq>(
    (start, end): (usize, usize),
    segments: &[Segment<K>],
    is_taken: &[bool],
    near: std::ops::Range<usize>,
) -> Option<(f64, K)> {
    // Bytes in both, and bytes in all, by key; a passage has few colours.
    let mut sums: Vec<(K, usize, usize)> = Vec::new();
    let free = segments.iter().zip(is_taken).take(near.end).skip(near.start);
    for (segment, _) in free.filter(|(_, is_taken)| !**is_taken) {
        let both = segment.end.min(end).saturating_sub(segment.start.max(start));
        let all = segment.end - segment.start;
        match sums.iter_mut().take(MAX_COLOURS).find(|(key, ..)| *key == segment.key) {
            Some((_, sum_both, sum_all)) => {
                *sum_both += both;
                *sum_all += all;
            }
            None => sums.push((segment.key, both, all)),
        }
    }
    let overlaps = sums.into_iter().map(|(key, both, all)| {
        let either = (end - start) + all - both;
        (both as f64 / either.max(1) as f64, key)
    });
    overlaps.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// As many colours are told apart under one comment.
const MAX_COLOURS: usize = 32;

/// Pens without comments; where a line covers just what a colour does, one mark.
fn bare(colours: Vec<Segment<[u8; 3]>>, strikes: Vec<Segment<()>>) -> Vec<PenMark> {
    let range = |start: usize, end: usize| (start, end);
    let mut marks: Vec<PenMark> = colours
        .into_iter()
        .map(|it| PenMark { start: it.start, end: it.end, rgb: Some(it.key), is_struck: false })
        .collect();
    let n_colours = marks.len();
    for strike in strikes {
        let coloured = marks.get_mut(..n_colours).unwrap_or_default();
        let same = coloured
            .binary_search_by_key(&range(strike.start, strike.end), |it| range(it.start, it.end));
        match same.ok().and_then(|index| coloured.get_mut(index)) {
            Some(mark) => mark.is_struck = true,
            None => marks.push(PenMark {
                start: strike.start,
                end: strike.end,
                rgb: None,
                is_struck: true,
            }),
        }
    }
    marks.sort_by_key(|mark| range(mark.start, mark.end));
    marks
}
