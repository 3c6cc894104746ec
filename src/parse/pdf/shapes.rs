//! Punctuation by its shape: quotes, dashes and dots outside ASCII, which stand at any code in
//! a font that was cut down, when the file has no Unicode for them.

use hayro_interpret::kurbo::{BezPath, PathEl, Rect, Shape as _};

/// The mark that an outline of a thousand units to the font's size looks like; a quote opens
/// or closes by where it stands.
pub(super) fn mark(outline: &BezPath, opens: bool) -> Option<char> {
    let parts = parts(outline);
    let bounds = parts.iter().copied().reduce(|all, part| all.union(part))?;
    let width = bounds.width();
    // A straight quote is a stroke, a curly one is a drop with a tail.
    let is_straight = parts.iter().all(|part| part.width() < STRAIGHT * part.height());
    match parts.len() {
        1 if is_dash(bounds) && width >= 750.0 => Some('—'),
        1 if is_dash(bounds) && width >= 400.0 => Some('–'),
        1 if is_raised(bounds) && width < 250.0 => Some(match (is_straight, opens) {
            (true, _) => '\'',
            (_, true) => '‘',
            (_, false) => '’',
        }),
        2 if is_raised(bounds) && (150.0..600.0).contains(&width) => {
            Some(match (is_straight, opens) {
                (true, _) => '"',
                (_, true) => '“',
                (_, false) => '”',
            })
        }
        3 if bounds.y0 > -60.0 && bounds.y1 < 200.0 && width > 500.0 => Some('…'),
        _ => None,
    }
}

/// A straight quote is at most this wide for its height.
const STRAIGHT: f64 = 0.42;

/// The boxes of the closed parts of an outline that have an inside.
fn parts(outline: &BezPath) -> Vec<Rect> {
    let mut parts: Vec<BezPath> = Vec::new();
    for element in outline.elements() {
        match parts.last_mut() {
            Some(part) if !matches!(element, PathEl::MoveTo(_)) => part.push(*element),
            _ => parts.push(BezPath::from_vec(vec![*element])),
        }
    }
    let boxes = parts.iter().map(BezPath::bounding_box);
    boxes.filter(|part| part.width() > 0.0 && part.height() > 0.0).collect()
}

fn is_dash(bounds: Rect) -> bool {
    bounds.height() < 120.0 && bounds.y0 > 130.0 && bounds.y1 < 420.0
}

/// Whether it hangs from the height of capitals, as quotes do.
fn is_raised(bounds: Rect) -> bool {
    bounds.y0 > 380.0 && bounds.y1 > 550.0 && (100.0..360.0).contains(&bounds.height())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(boxes: &[(f64, f64, f64, f64)]) -> BezPath {
        let rects = boxes.iter().map(|(x0, y0, x1, y1)| Rect::new(*x0, *y0, *x1, *y1).to_path(0.1));
        rects.flatten().collect()
    }

    #[test]
    fn marks_are_known_by_their_boxes() {
        let quote = [(40.0, 430.0, 180.0, 680.0), (220.0, 430.0, 360.0, 680.0)];
        assert_eq!(mark(&boxes(&quote), true), Some('“'));
        assert_eq!(mark(&boxes(&quote), false), Some('”'));
        assert_eq!(mark(&boxes(&quote[..1]), false), Some('’'));
        assert_eq!(mark(&boxes(&[(50.0, 430.0, 130.0, 680.0)]), false), Some('\''));
        assert_eq!(mark(&boxes(&[(0.0, 200.0, 1000.0, 250.0)]), false), Some('—'));
        assert_eq!(mark(&boxes(&[(0.0, 200.0, 500.0, 250.0)]), false), Some('–'));
        let dots = [0.0, 300.0, 600.0].map(|x| (x, -10.0, x + 100.0, 90.0));
        assert_eq!(mark(&boxes(&dots), false), Some('…'));
        assert_eq!(mark(&boxes(&[(0.0, 0.0, 400.0, 700.0)]), false), None);
        assert_eq!(mark(&BezPath::new(), false), None);
    }
}
