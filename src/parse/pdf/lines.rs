//! From the glyphs of a page to its rows, and from pieces of rows to lines of text.

use std::cmp::Ordering;

use super::glyphs::Glyph;

/// Glyphs on one baseline, from left to right.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    /// The baseline.
    pub(super) y: f64,
    /// The size of most of its glyphs.
    pub(super) size: f64,
    /// Its glyphs, without white space at the ends.
    pub(super) glyphs: Vec<Glyph>,
}

impl Row {
    /// A row of these glyphs, which stand in order; `None` where they are all white space.
    pub(super) fn new(mut glyphs: Vec<Glyph>) -> Option<Self> {
        let end = glyphs.iter().rposition(|glyph| !glyph.is_space())? + 1;
        let start = glyphs.iter().position(|glyph| !glyph.is_space())?;
        glyphs.truncate(end);
        glyphs.drain(..start);
        let size = usual(glyphs.iter().map(|glyph| glyph.size).take(ENOUGH));
        let of_size = glyphs.iter().filter(|glyph| near(glyph.size, size));
        let y = usual(of_size.map(|glyph| glyph.y).take(ENOUGH));
        Some(Self { y, size, glyphs })
    }

    /// Where it begins.
    pub(super) fn x0(&self) -> f64 {
        self.glyphs.first().map_or(0.0, |glyph| glyph.x0)
    }

    /// Where it ends.
    pub(super) fn x1(&self) -> f64 {
        self.glyphs.iter().map(|glyph| glyph.x1).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The stretches that bear ink, between gaps wider than `gap` of its size.
    pub(super) fn stretches(&self, gap: f64) -> Vec<(f64, f64)> {
        let mut stretches: Vec<(f64, f64)> = Vec::new();
        for glyph in self.glyphs.iter().filter(|glyph| !glyph.is_space()) {
            match stretches.last_mut() {
                Some((_, end)) if glyph.x0 - *end <= gap * self.size => *end = end.max(glyph.x1),
                _ => stretches.push((glyph.x0, glyph.x1)),
            }
        }
        stretches
    }
}

/// As many glyphs tell what most of a row is like.
const ENOUGH: usize = 500;

/// The value that most of them have, of several the first; zero where there is none.
fn usual(values: impl Iterator<Item = f64>) -> f64 {
    let mut counts: Vec<(f64, usize)> = Vec::new();
    for value in values {
        match counts.iter_mut().find(|(known, _)| near(*known, value)) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max();
    let usual = counts.iter().find(|(_, count)| Some(*count) == most);
    usual.map_or(0.0, |(value, _)| *value)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.05 * a.abs().max(b.abs()).min(12.0)
}

/// How far glyphs of one row may stand apart in height, in sizes of their font.
const BASELINE_SLACK: f64 = 0.2;

/// The rows of a page from top to bottom. Raised and lowered glyphs, such as the marks of
/// footnotes, join the row that they stand at.
pub(super) fn rows(mut glyphs: Vec<Glyph>) -> Vec<Row> {
    glyphs.sort_by(|a, b| compare(a.y, b.y));
    let mut clusters: Vec<Vec<Glyph>> = Vec::new();
    for glyph in glyphs {
        match clusters.last_mut() {
            Some(cluster) if continues(cluster, &glyph) => cluster.push(glyph),
            _ => clusters.push(vec![glyph]),
        }
    }
    let clusters = with_raised_joined(clusters);
    clusters.into_iter().filter_map(|cluster| Row::new(in_order(cluster))).collect()
}

fn compare(a: f64, b: f64) -> Ordering {
    a.total_cmp(&b)
}

fn continues(cluster: &[Glyph], glyph: &Glyph) -> bool {
    let (Some(first), Some(last)) = (cluster.first(), cluster.last()) else { return false };
    let slack = BASELINE_SLACK * glyph.size.max(last.size);
    // The second bound keeps a slope from chaining a whole page together.
    glyph.y - last.y <= slack && glyph.y - first.y <= 2.0 * slack
}

/// What is needed of a cluster to judge whether it belongs to a neighbour.
struct Shape {
    y: f64,
    size: f64,
}

fn shape(cluster: &[Glyph]) -> Shape {
    let ink = || cluster.iter().filter(|glyph| !glyph.is_space());
    Shape {
        y: cluster.first().map_or(0.0, |glyph| glyph.y),
        size: ink().map(|glyph| glyph.size).fold(0.0, f64::max),
    }
}

fn with_raised_joined(clusters: Vec<Vec<Glyph>>) -> Vec<Vec<Glyph>> {
    let shapes: Vec<Shape> = clusters.iter().map(|cluster| shape(cluster)).collect();
    let mut homes: Vec<usize> = (0..clusters.len()).collect();
    for (index, cluster) in clusters.iter().enumerate() {
        let neighbours = [index.checked_sub(1), Some(index + 1)].into_iter().flatten();
        let home = neighbours.filter(|other| {
            clusters
                .get(*other)
                .is_some_and(|base| is_raised(cluster, base, &shapes, index, *other))
        });
        let distance = |other: &usize| match (shapes.get(*other), shapes.get(index)) {
            (Some(base), Some(own)) => (base.y - own.y).abs(),
            _ => f64::INFINITY,
        };
        if let Some(home) = home.min_by(|a, b| compare(distance(a), distance(b)))
            && let Some(own) = homes.get_mut(index)
        {
            *own = home;
        }
    }
    let mut joined: Vec<Vec<Glyph>> = vec![Vec::new(); clusters.len()];
    for (home, cluster) in homes.into_iter().zip(clusters) {
        if let Some(target) = joined.get_mut(home) {
            target.extend(cluster);
        }
    }
    joined
}

/// Whether all glyphs of a cluster are smaller than those of `base`, and stand beside them a
/// little higher or lower.
fn is_raised(
    cluster: &[Glyph],
    base: &[Glyph],
    shapes: &[Shape],
    index: usize,
    other: usize,
) -> bool {
    let (Some(own), Some(home)) = (shapes.get(index), shapes.get(other)) else { return false };
    let is_small = own.size < 0.85 * home.size;
    // No mark is that long; the check below compares each with each.
    if !is_small || cluster.len() > 100 || (own.y - home.y).abs() > 0.6 * home.size {
        return false;
    }
    let mut ink = cluster.iter().filter(|glyph| !glyph.is_space());
    ink.all(|glyph| {
        base.iter().chain(cluster).filter(|near| !near.is_space() && *near != glyph).any(|near| {
            glyph.x0 - near.x1 < 0.4 * home.size && near.x0 - glyph.x1 < 0.4 * home.size
        })
    }) && base.iter().any(|near| {
        cluster.iter().any(|glyph| {
            glyph.x0 - near.x1 < 0.4 * home.size && near.x0 - glyph.x1 < 0.4 * home.size
        })
    })
}

/// The glyphs from left to right, without those that were drawn twice to look bold.
fn in_order(mut cluster: Vec<Glyph>) -> Vec<Glyph> {
    cluster.sort_by(|a, b| compare(a.x0, b.x0));
    let mut kept: Vec<Glyph> = Vec::with_capacity(cluster.len());
    for glyph in cluster {
        let is_shadow = |other: &Glyph| {
            other.text == glyph.text
                && (other.x0 - glyph.x0).abs() < 0.08 * glyph.size
                && (other.y - glyph.y).abs() < 0.08 * glyph.size
                && near(other.size, glyph.size)
                && glyph.x1 - glyph.x0 > 0.1 * glyph.size
        };
        if glyph.is_space() || !kept.iter().rev().take(3).any(is_shadow) {
            kept.push(glyph);
        }
    }
    kept
}

/// A gap wider than this, in sizes of the font, is a space that was not drawn.
const SPACE_GAP: f64 = 0.16;

/// The glyphs of a row in the order of reading, with a glyph for each space: one between
/// words, whether it was drawn or left as a gap.
pub(super) fn with_spaces(glyphs: &[Glyph]) -> Vec<Glyph> {
    let tracking = letter_spacing(glyphs);
    let mut spaced: Vec<Glyph> = Vec::with_capacity(glyphs.len() + 16);
    let mut end = f64::NEG_INFINITY;
    let mut space: Option<Glyph> = None;
    for glyph in glyphs {
        if glyph.is_space() {
            space = space.or_else(|| Some(glyph.clone()));
            continue;
        }
        let gap = glyph.x0 - end;
        let is_gap = gap > (SPACE_GAP * glyph.size + tracking).max(0.0) && end.is_finite();
        if let Some(last) = spaced.last()
            && (space.is_some() || is_gap)
        {
            let (x0, x1) = (end.min(glyph.x0), glyph.x0.max(end));
            spaced.push(Glyph { text: " ".to_owned(), x0, x1, ..last.clone() });
        }
        space = None;
        end = end.max(glyph.x1);
        spaced.push(glyph.clone());
    }
    super::bidi::logical_order(spaced)
}

/// What is added between all letters, in points: the median gap, where it is not small.
fn letter_spacing(glyphs: &[Glyph]) -> f64 {
    let mut gaps: Vec<f64> = glyphs
        .windows(2)
        .filter_map(|pair| match pair {
            [a, b] if !a.is_space() && !b.is_space() => Some(b.x0 - a.x1),
            _ => None,
        })
        .collect();
    gaps.sort_by(f64::total_cmp);
    // With few gaps the median may itself be a space between words.
    if gaps.len() < 8 {
        return 0.0;
    }
    gaps.get(gaps.len() / 2).copied().unwrap_or(0.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Glyphs of `text`, half their size wide, from `x`.
    fn glyphs(text: &str, x: f64, y: f64, size: f64) -> Vec<Glyph> {
        let mut x = x;
        let glyph = |ch: char| {
            x += size / 2.0;
            Glyph { text: ch.into(), x0: x - size / 2.0, x1: x, y, size, ..Glyph::default() }
        };
        text.chars().map(glyph).collect()
    }

    fn text(glyphs: &[Glyph]) -> String {
        glyphs.iter().map(|glyph| glyph.text.as_str()).collect()
    }

    #[test]
    fn rows_stand_in_order_whatever_the_order_of_drawing() {
        let mut page = glyphs("below", 10.0, 120.0, 10.0);
        page.extend(glyphs("there", 40.0, 100.0, 10.0));
        page.extend(glyphs("up", 10.0, 100.5, 10.0));
        let rows = rows(page);
        let texts: Vec<String> = rows.iter().map(|row| text(&with_spaces(&row.glyphs))).collect();
        assert_eq!(texts, ["up there", "below"]);
    }

    #[test]
    fn a_raised_mark_joins_its_row() {
        let mut page = glyphs("word", 10.0, 100.0, 10.0);
        page.extend(glyphs("1", 30.0, 96.0, 6.0));
        page.extend(glyphs("next", 10.0, 112.0, 10.0));
        let rows = rows(page);
        assert_eq!(rows.len(), 2);
        assert_eq!(text(&rows[0].glyphs), "word1");
        assert!((rows[0].y - 100.0).abs() < 1e-9);
    }

    #[test]
    fn gaps_are_spaces_and_letters_drawn_twice_are_one() {
        let mut page = glyphs("no", 0.0, 100.0, 10.0);
        page.extend(glyphs("gap", 12.6, 100.0, 10.0));
        page.extend(glyphs("gap", 12.9, 100.0, 10.0));
        let rows = rows(page);
        assert_eq!(text(&with_spaces(&rows[0].glyphs)), "no gap");
    }

    #[test]
    fn letter_spaced_words_stay_whole() {
        let mut page = Vec::new();
        for (index, ch) in "spacedletters".chars().enumerate() {
            page.extend(glyphs(&ch.to_string(), 8.0 * index as f64, 100.0, 10.0));
        }
        page.extend(glyphs("on", 8.0 * 13.0 + 5.0, 100.0, 10.0));
        let rows = rows(page);
        assert_eq!(text(&with_spaces(&rows[0].glyphs)), "spacedletters on");
    }
}
