//! Labels beside points of a plane, none over another, over a point or outside.

use super::svg::{Side, measured};

/// How high a line of words is, in pixels.
const HEIGHT: f64 = 15.0;

/// The ends of a line, or two corners.
type Ends = ((f64, f64), (f64, f64));

/// Where a label stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    /// The end of its base line that is nearer to its point, or its middle.
    pub(super) at: (f64, f64),
    /// Which of these.
    pub(super) side: Side,
    /// Where a line to its point begins, where it is too far off to need none.
    pub(super) leader: Option<(f64, f64)>,
}

#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_inside(&self, (from, to): Ends) -> bool {
        from.0 <= self.left && from.1 <= self.top && self.right <= to.0 && self.bottom <= to.1
    }
}

/// A place for the label of each point inside a frame, from its upper left to its lower right
/// corner; `None` where there is no room left.
///
/// Each takes the nearest of places on rings about its point that nothing is on, nor any of
/// the `lines`, by their ends, if that can be had; those that stand closest to others choose
/// first.
pub(super) fn place(
    points: &[(f64, f64)],
    labels: &[String],
    lines: &[Ends],
    frame: Ends,
) -> Vec<Option<Placed>> {
    let mut taken: Vec<Area> = points.iter().map(|&(x, y)| about((x, y), 6.0)).collect();
    let lines: Vec<Area> = lines.iter().map(|&(from, to)| spanned(from, to)).collect();
    let mut order: Vec<usize> = (0..points.len().min(labels.len())).collect();
    let room = |at: usize| nearest(points, at);
    order.sort_by(|&a, &b| room(a).total_cmp(&room(b)).then(a.cmp(&b)));
    let mut placed = vec![None; labels.len()];
    for at in order {
        let (Some(&point), Some(label)) = (points.get(at), labels.get(at)) else {
            continue;
        };
        let width = measured(label) + 2.0;
        let is_free =
            |area: &Area| area.is_inside(frame) && !taken.iter().any(|one| one.overlaps(area));
        let found = candidates(point, width)
            .take_while(|(_, distance)| *distance < 60.0)
            .find(|(area, _)| is_free(area) && !lines.iter().any(|one| one.overlaps(area)))
            .or_else(|| candidates(point, width).find(|(area, _)| is_free(area)));
        if let (Some((area, distance)), Some(slot)) = (found, placed.get_mut(at)) {
            // Where a face is wider than was reckoned, words grow away from their point.
            let (x, side) = if point.0 < area.left {
                (area.left + 1.0, Side::Start)
            } else if area.right < point.0 {
                (area.right - 1.0, Side::End)
            } else {
                (f64::midpoint(area.left, area.right), Side::Middle)
            };
            *slot = Some(Placed {
                at: (x, area.bottom - 3.5),
                side,
                leader: (16.0 < distance).then(|| nearest_on(&area, point)),
            });
            taken.push(area);
        }
    }
    placed
}

fn about((x, y): (f64, f64), radius: f64) -> Area {
    Area { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
}

fn spanned(from: (f64, f64), to: (f64, f64)) -> Area {
    Area {
        left: from.0.min(to.0) - 1.0,
        top: from.1.min(to.1) - 1.0,
        right: from.0.max(to.0) + 1.0,
        bottom: from.1.max(to.1) + 1.0,
    }
}

fn nearest(points: &[(f64, f64)], at: usize) -> f64 {
    let Some(&(x, y)) = points.get(at) else {
        return f64::INFINITY;
    };
    points
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != at)
        .map(|(_, &(u, v))| (u - x).hypot(v - y))
        .fold(f64::INFINITY, f64::min)
}

/// Areas about a point with their distance from it, the nearest first.
fn candidates((x, y): (f64, f64), width: f64) -> impl Iterator<Item = (Area, f64)> {
    const TURNS: u8 = 24;
    let rings = (0..14_u8).map(|ring| 10.0 + 9.0 * f64::from(ring));
    rings.flat_map(move |distance| {
        (0..TURNS).map(move |turn| {
            // To the right first, then up and down from there by turns.
            let half = f64::from(turn.div_ceil(2));
            let sign = if turn % 2 == 0 { 1.0 } else { -1.0 };
            let angle = sign * half * std::f64::consts::TAU / f64::from(TURNS);
            let (dx, dy) = (angle.cos(), angle.sin());
            let middle = (x + dx * (distance + width / 2.0), y + dy * (distance + HEIGHT / 3.0));
            let area = Area {
                left: middle.0 - width / 2.0,
                top: middle.1 - HEIGHT / 2.0,
                right: middle.0 + width / 2.0,
                bottom: middle.1 + HEIGHT / 2.0,
            };
            (area, distance)
        })
    })
}

fn nearest_on(area: &Area, (x, y): (f64, f64)) -> (f64, f64) {
    (x.clamp(area.left, area.right), y.clamp(area.top + 2.0, area.bottom - 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_a_crowd_lie_apart_and_inside() {
        let points: Vec<(f64, f64)> = (0..14_u8)
            .map(|at| (300.0 + f64::from(at % 4) * 9.0, 200.0 + f64::from(at / 4) * 7.0))
            .collect();
        let labels: Vec<String> = (0..14).map(|at| format!("model-{at} guided+rubric")).collect();
        let frame = ((0.0, 0.0), (640.0, 420.0));
        let placed = place(&points, &labels, &[], frame);
        let areas: Vec<Area> = placed
            .iter()
            .zip(&labels)
            .map(|(one, label)| {
                let Placed { at: (x, base), side, .. } = one.unwrap();
                let width = measured(label);
                let left = match side {
                    Side::Start => x,
                    Side::Middle => x - width / 2.0,
                    Side::End => x - width,
                };
                let right = left + width;
                Area { left, top: base - 11.0, right, bottom: base + 3.0 }
            })
            .collect();
        for (at, area) in areas.iter().enumerate() {
            assert!(area.is_inside(frame));
            assert!(areas[..at].iter().all(|other| !other.overlaps(area)), "label {at}");
            assert!(points.iter().all(|&point| !about(point, 4.0).overlaps(area)), "label {at}");
        }
    }

    #[test]
    fn a_label_steps_aside_from_a_line() {
        let line = [((10.0, 100.0), (390.0, 100.0))];
        let frame = ((0.0, 0.0), (400.0, 200.0));
        let placed = place(&[(200.0, 100.0)], &["a name".to_owned()], &line, frame);
        let base = placed[0].unwrap().at.1;
        assert!(!(99.0..=112.0).contains(&base), "{base}");
    }

    #[test]
    fn a_label_without_room_is_left_out() {
        let placed =
            place(&[(5.0, 5.0)], &["far too long".to_owned()], &[], ((0.0, 0.0), (30.0, 30.0)));
        assert_eq!(placed, [None]);
    }
}
