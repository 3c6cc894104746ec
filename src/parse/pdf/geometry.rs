//! Boxes on a page, y downwards, and the quadrilaterals of text markup.

use hayro_interpret::kurbo::{Affine, Point};

/// An upright box in points, y downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Area {
    pub(super) x0: f64,
    pub(super) y0: f64,
    pub(super) x1: f64,
    pub(super) y1: f64,
}

impl Area {
    /// The box around the points; `None` where there is none or one is not finite.
    pub(super) fn around(points: impl IntoIterator<Item = Point>) -> Option<Self> {
        let mut area: Option<Self> = None;
        for point in points {
            if !(point.x.is_finite() && point.y.is_finite()) {
                return None;
            }
            let one = Self { x0: point.x, y0: point.y, x1: point.x, y1: point.y };
            area = Some(area.map_or(one, |area| area.union(one)));
        }
        area
    }

    /// The box around both.
    pub(super) fn union(self, other: Self) -> Self {
        Self {
            x0: self.x0.min(other.x0),
            y0: self.y0.min(other.y0),
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
        }
    }

    /// The same box on a page that was turned or moved.
    pub(super) fn transformed(self, transform: Affine) -> Option<Self> {
        let corners =
            [(self.x0, self.y0), (self.x1, self.y0), (self.x1, self.y1), (self.x0, self.y1)];
        Self::around(corners.map(|corner| transform * Point::from(corner)))
    }

    /// Whether the point lies in it, its edges included.
    pub(super) fn contains(self, x: f64, y: f64) -> bool {
        (self.x0..=self.x1).contains(&x) && (self.y0..=self.y1).contains(&y)
    }

    /// Its width.
    pub(super) fn width(self) -> f64 {
        self.x1 - self.x0
    }

    /// Its height.
    pub(super) fn height(self) -> f64 {
        self.y1 - self.y0
    }

    /// What it covers, in square points.
    pub(super) fn size(self) -> f64 {
        self.width() * self.height()
    }

    /// The point in its middle.
    pub(super) fn middle(self) -> (f64, f64) {
        (f64::midpoint(self.x0, self.x1), f64::midpoint(self.y0, self.y1))
    }
}

/// The boxes of `/QuadPoints`: eight numbers each, whose four corners stand in whatever
/// order the program that wrote them liked. Quadrilaterals with a number that is not finite
/// are left out, and so is an incomplete one at the end.
pub(super) fn quad_areas(numbers: &[f64], to_page: Affine) -> Vec<Area> {
    let quads = numbers.chunks_exact(8);
    quads
        .filter_map(|quad| {
            let corners = quad.chunks_exact(2);
            Area::around(corners.filter_map(|corner| match corner {
                [x, y] => Some(to_page * Point::new(*x, *y)),
                _ => None,
            }))
        })
        .collect()
}

/// A quarter turn, as the direction in which text runs on the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Turn {
    /// To the right.
    #[default]
    None,
    /// Downwards.
    Down,
    /// To the left, upside down.
    Over,
    /// Upwards.
    Up,
    /// Anything between.
    Slanted,
}

impl Turn {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [Self::None, Self::Down, Self::Over, Self::Up, Self::Slanted];

    /// The turn of text that advances by this much.
    pub(super) fn of(dx: f64, dy: f64) -> Self {
        // Within six degrees: a page that was scanned askew is still upright.
        const SLANT: f64 = 0.1;

        if dy.abs() <= SLANT * dx.abs() {
            if dx >= 0.0 { Self::None } else { Self::Over }
        } else if dx.abs() <= SLANT * dy.abs() {
            if dy >= 0.0 { Self::Down } else { Self::Up }
        } else {
            Self::Slanted
        }
    }

    /// What turns such text upright.
    pub(super) fn upright(self) -> Affine {
        match self {
            Self::None | Self::Slanted => Affine::IDENTITY,
            Self::Down => Affine::new([0.0, -1.0, 1.0, 0.0, 0.0, 0.0]),
            Self::Over => Affine::new([-1.0, 0.0, 0.0, -1.0, 0.0, 0.0]),
            Self::Up => Affine::new([0.0, 1.0, -1.0, 0.0, 0.0, 0.0]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_in_any_order_give_the_same_box() {
        let z = [10.0, 30.0, 50.0, 30.0, 10.0, 20.0, 50.0, 20.0];
        let around = [10.0, 20.0, 50.0, 20.0, 50.0, 30.0, 10.0, 30.0];
        let area = Area { x0: 10.0, y0: 20.0, x1: 50.0, y1: 30.0 };
        assert_eq!(quad_areas(&z, Affine::IDENTITY), [area]);
        assert_eq!(quad_areas(&around, Affine::IDENTITY), [area]);
    }

    #[test]
    fn broken_quads_are_left_out() {
        assert!(quad_areas(&[1.0; 7], Affine::IDENTITY).is_empty());
        let mut numbers = [1.0; 20];
        numbers[3] = f64::NAN;
        assert_eq!(quad_areas(&numbers, Affine::IDENTITY).len(), 1);
    }

    #[test]
    fn turned_text_becomes_upright() {
        for (dx, dy) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)] {
            let turn = Turn::of(dx, dy);
            let end = turn.upright() * Point::new(dx, dy);
            assert!((end.x - 1.0).abs() < 1e-12 && end.y.abs() < 1e-12, "{turn:?}");
        }
        assert_eq!(Turn::of(1.0, 1.0), Turn::Slanted);
        assert_eq!(Turn::of(1.0, 0.05), Turn::None);
    }
}
