//! The colours of highlighters.

use crate::corpus::Color;

/// The mean colours that the corpus has under the three names, as rendered on white.
const NAMED: [(Color, [f64; 3]); 3] = [
    (Color::Pink, [254.89, 185.05, 241.04]),
    (Color::Green, [153.04, 234.89, 163.89]),
    (Color::Yellow, [252.06, 229.93, 127.97]),
];

/// A colour whose hue is farther than this from those of all named ones is none of them, in
/// degrees. Hues are compared and not the colours themselves, since the same pen is paler or
/// stronger from one viewer to the next; the named hues are 49, 128 and 312.
const MAX_HUE_DISTANCE: f64 = 20.0;

/// A colour paler than this is none of them: its saturation in the model of hue, saturation
/// and value, from 0 to 1.
const MIN_SATURATION: f64 = 0.15;

/// The named colour that is near, else the generic one; red, green and blue from 0 to 1.
pub(super) fn named(rgb: [f64; 3]) -> Color {
    let (hue, saturation) = hue_and_saturation(rgb);
    let distance = |other: f64| {
        let distance = (hue - other).abs();
        distance.min(360.0 - distance)
    };
    let near = NAMED.map(|(color, named)| (color, distance(hue_and_saturation(named).0)));
    let nearest = near.into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
    match nearest {
        Some((color, distance)) if distance <= MAX_HUE_DISTANCE && saturation >= MIN_SATURATION => {
            color
        }
        _ => Color::Generic,
    }
}

/// The hue in degrees, zero for grey, and the saturation from 0 to 1.
fn hue_and_saturation([red, green, blue]: [f64; 3]) -> (f64, f64) {
    let most = red.max(green).max(blue);
    let range = most - red.min(green).min(blue);
    if range <= 0.0 || most <= 0.0 {
        return (0.0, 0.0);
    }
    let sixth = if most <= red {
        (green - blue) / range
    } else if most <= green {
        2.0 + (blue - red) / range
    } else {
        4.0 + (red - green) / range
    };
    ((60.0 * sixth).rem_euclid(360.0), range / most)
}

/// A colour as `#rrggbb`; red, green and blue from 0 to 1.
pub(super) fn hex(rgb: [f64; 3]) -> String {
    let digits = rgb.map(|part| format!("{:02x}", byte(part)));
    format!("#{}", digits.concat())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn byte(part: f64) -> u8 {
    (255.0 * part.clamp(0.0, 1.0)).round() as u8
}

/// What `rgb` looks like on white where it lets this much of it through.
pub(super) fn on_white(rgb: [f64; 3], opacity: f64) -> [f64; 3] {
    let opacity = opacity.clamp(0.0, 1.0);
    rgb.map(|part| 1.0 - opacity + opacity * part.clamp(0.0, 1.0))
}

/// The colour of a `/C` entry: grey, RGB or CMYK by how many numbers it has; none for no
/// number, which is transparent.
pub(super) fn of_components(components: &[f64]) -> Option<[f64; 3]> {
    match components {
        [grey] => Some([*grey; 3]),
        [r, g, b] => Some([*r, *g, *b]),
        [c, m, y, k] => Some([c, m, y].map(|ink| (1.0 - ink) * (1.0 - k))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_colours_have_names_and_far_ones_none() {
        assert_eq!(named([1.0, 0.82, 0.45]), Color::Yellow);
        assert_eq!(named([0.6, 0.92, 0.64]), Color::Green);
        assert_eq!(named([1.0, 0.7, 0.9]), Color::Pink);
        assert_eq!(named([1.0, 1.0, 0.0]), Color::Yellow);
        assert_eq!(named([0.6, 0.8, 1.0]), Color::Generic);
        assert_eq!(named([0.75, 0.63, 0.98]), Color::Generic);
        assert_eq!(named([1.0, 0.0, 0.0]), Color::Generic);
        assert_eq!(named([0.8; 3]), Color::Generic);
    }

    #[test]
    fn components_and_opacity_are_seen_on_white() {
        assert_eq!(of_components(&[]), None);
        assert_eq!(of_components(&[0.0, 0.0, 1.0, 0.0]), Some([1.0, 1.0, 0.0]));
        assert_eq!(hex(on_white([1.0, 0.0, 0.0], 0.5)), "#ff8080");
        assert_eq!(hex([f64::NAN, 2.0, -1.0]), "#00ff00");
    }
}
