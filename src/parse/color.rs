//! Colours of pens, and which of the corpus's three they come nearest to.
//!
//! Distances are taken in CIE L\*a\*b\* (1976) of sRGB under D65, in which one is about what
//! an eye can tell apart. A pen is named by its hue rather than by plain distance: a marker
//! laid on thickly (`#ff00ff`) and the same one laid on thinly (`#ffccf5`) lie 80 apart and
//! are both pink.

use crate::corpus::Color;

/// As many degrees may the hue of a colour lie from that of a pen to take its name.
pub const MAX_HUE_DEGREES: f64 = 20.0;
/// A colour that lies this near to a pen takes its name whatever its hue.
pub const MAX_DISTANCE: f64 = 24.0;
/// A colour with less chroma is a grey and takes no name by its hue.
const MIN_CHROMA: f64 = 8.0;
/// A darker colour takes no name by its hue: a dark pink is a purple.
const MIN_LIGHTNESS: f64 = 45.0;

/// The pens of the corpus: the mean colours, red, green and blue up to 255, that its paper
/// gives for the marks of each name.
const PENS: [(Color, [f64; 3]); 3] = [
    (Color::Green, [153.04, 234.89, 163.89]),
    (Color::Pink, [254.89, 185.05, 241.04]),
    (Color::Yellow, [252.06, 229.93, 127.97]),
];

/// A colour and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedColor {
    /// The corpus's name; [`Color::Generic`] where none of its pens is near.
    pub color: Color,
    /// The colour itself, as `#rrggbb`.
    pub hex: String,
}

/// A colour in L\*a\*b\*.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lab {
    lightness: f64,
    a: f64,
    b: f64,
}

/// The name of a colour (red, green, blue) by the pens of the corpus.
///
/// It takes the name of the pen whose hue is nearest if that is within
/// [`MAX_HUE_DEGREES`] and it is neither grey nor dark; else that of the nearest pen if that
/// is within [`MAX_DISTANCE`].
pub fn nearest_color(rgb: [u8; 3]) -> NamedColor {
    let lab = Lab::of(rgb.map(f64::from));
    let pens = PENS.map(|(color, pen)| (color, Lab::of(pen)));
    let nearest = |measure: &dyn Fn(Lab) -> f64, limit: f64| {
        let measured = pens.iter().map(|(color, pen)| (*color, measure(*pen)));
        let nearest = measured.min_by(|a, b| a.1.total_cmp(&b.1));
        nearest.filter(|(_, value)| *value <= limit).map(|(color, _)| color)
    };
    let by_hue = (MIN_CHROMA <= lab.chroma() && MIN_LIGHTNESS <= lab.lightness)
        .then(|| nearest(&|pen| lab.hue_degrees_to(pen), MAX_HUE_DEGREES))
        .flatten();
    let color = by_hue.or_else(|| nearest(&|pen| lab.distance_to(pen), MAX_DISTANCE));
    NamedColor { color: color.unwrap_or(Color::Generic), hex: hex(rgb) }
}

/// Whether a colour is as light and as grey as paper, so that it marks nothing.
pub fn is_paper(rgb: [u8; 3]) -> bool {
    let lab = Lab::of(rgb.map(f64::from));
    94.0 <= lab.lightness && lab.chroma() < 4.0
}

/// The colour as `#rrggbb`.
pub fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Reads six hexadecimal digits, with or without `#`; `None` for anything else.
pub fn parse_hex(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
    Some([red, green, blue])
}

impl Lab {
    /// From red, green and blue up to 255 (IEC 61966-2-1, CIE 15).
    fn of(rgb: [f64; 3]) -> Self {
        let [red, green, blue] = rgb.map(|channel| {
            let value = channel / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        let x = (0.412_456_4 * red + 0.357_576_1 * green + 0.180_437_5 * blue) / 0.950_47;
        let y = 0.212_672_9 * red + 0.715_152_2 * green + 0.072_175 * blue;
        let z = (0.019_333_9 * red + 0.119_192 * green + 0.950_304_1 * blue) / 1.088_83;
        let [fx, fy, fz] = [x, y, z].map(|value: f64| {
            if value > 216.0 / 24389.0 {
                value.cbrt()
            } else {
                (24389.0 / 27.0 * value + 16.0) / 116.0
            }
        });
        Self { lightness: 116.0 * fy - 16.0, a: 500.0 * (fx - fy), b: 200.0 * (fy - fz) }
    }

    fn chroma(self) -> f64 {
        self.a.hypot(self.b)
    }

    fn hue_degrees_to(self, other: Self) -> f64 {
        let degrees = (self.b.atan2(self.a) - other.b.atan2(other.a)).to_degrees().abs();
        degrees.min(360.0 - degrees)
    }

    /// The distance of 1976: Euclid's.
    fn distance_to(self, other: Self) -> f64 {
        let lightness = self.lightness - other.lightness;
        lightness.hypot(self.a - other.a).hypot(self.b - other.b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pens_take_the_name_of_their_hue() {
        for (text, expected) in [
            ("fce680", Color::Yellow),
            ("ffff00", Color::Yellow),
            ("ffd100", Color::Yellow),
            ("#fff2cc", Color::Yellow),
            ("99eba4", Color::Green),
            ("00ff00", Color::Green),
            ("d9ead3", Color::Green),
            ("ffb9f1", Color::Pink),
            ("ff00ff", Color::Pink),
            ("ffc0cb", Color::Pink),
            ("ff69b4", Color::Pink),
            ("00ffff", Color::Generic),
            ("96c8ff", Color::Generic),
            ("c8c8c8", Color::Generic),
            ("bea0fa", Color::Generic),
            ("ff0000", Color::Generic),
            ("ff9900", Color::Generic),
            ("800080", Color::Generic),
            ("000000", Color::Generic),
        ] {
            let named = nearest_color(parse_hex(text).expect("six digits"));
            assert_eq!(named.color, expected, "{text}");
            assert_eq!(named.hex.trim_start_matches('#'), text.trim_start_matches('#'));
        }
    }

    #[test]
    fn lab_agrees_with_published_values() {
        // The corners of sRGB, from Lindbloom's calculator.
        for (rgb, [lightness, a, b]) in [
            ([255.0, 255.0, 255.0], [100.0, 0.0, 0.0]),
            ([255.0, 0.0, 0.0], [53.24, 80.09, 67.20]),
            ([0.0, 255.0, 0.0], [87.73, -86.18, 83.18]),
            ([0.0, 0.0, 255.0], [32.30, 79.19, -107.86]),
        ] {
            let lab = Lab::of(rgb);
            for (value, expected) in [(lab.lightness, lightness), (lab.a, a), (lab.b, b)] {
                assert!((value - expected).abs() < 0.02, "{rgb:?}: {lab:?}");
            }
        }
    }

    #[test]
    fn paper_is_white_or_nearly() {
        assert!(is_paper([255, 255, 255]) && is_paper([248, 249, 250]));
        assert!(!is_paper([255, 242, 204]) && !is_paper([200, 200, 200]));
    }

    #[test]
    fn only_six_digits_are_a_colour() {
        assert_eq!(parse_hex("FFf2cC"), Some([255, 242, 204]));
        for text in ["auto", "", "#", "fff", "+fffff", "fffffff", "ggffff", "éééé"] {
            assert_eq!(parse_hex(text), None, "{text}");
        }
    }
}
