//! A small writer of SVG.
//!
//! Colours are presentation attributes, so that a figure stands alone in any program, and
//! each has a class beside it, by which a page's style recolours the same figure.

use std::fmt::{Display, Write};

use super::text::escaped;

/// What everything is set in.
const FACE: &str = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif";

/// Attributes of words over lines, which stay readable by it.
pub(super) const HALO: &str = " stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\" \
                               stroke-linejoin=\"round\"";

/// A colour by what it is for. Its name is a class, and a page says what it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// Words and points.
    Text,
    /// Words that stand back.
    Soft,
    /// Grids and isolines.
    Line,
    /// What lies under everything.
    Paper,
    /// A run by its place.
    Run(usize),
    /// What rose.
    Rise,
    /// What fell.
    Fall,
}

/// Okabe and Ito's palette (Color Universal Design, 2008), darkened where white is near.
const RUNS: [&str; 7] =
    ["#0072b2", "#c44e00", "#00795c", "#a8427f", "#7a6200", "#3f7fb0", "#4d4d4d"];

impl Ink {
    fn class(self) -> String {
        match self {
            Self::Text => "k-text".to_owned(),
            Self::Soft => "k-soft".to_owned(),
            Self::Line => "k-line".to_owned(),
            Self::Paper => "k-paper".to_owned(),
            Self::Run(at) => format!("k-run{}", at % RUNS.len()),
            Self::Rise => "k-rise".to_owned(),
            Self::Fall => "k-fall".to_owned(),
        }
    }

    fn color(self) -> &'static str {
        match self {
            Self::Text => "#1c1f23",
            Self::Soft => "#5a626c",
            Self::Line => "#d3d6da",
            Self::Paper => "#ffffff",
            Self::Run(at) => RUNS.get(at % RUNS.len()).copied().unwrap_or("#4d4d4d"),
            Self::Rise => "#0072b2",
            Self::Fall => "#c44e00",
        }
    }
}

/// Where words lie about their point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// They begin there.
    Start,
    /// Their middle is there.
    Middle,
    /// They end there.
    End,
}

/// A figure as it is drawn.
pub(super) struct Svg {
    body: String,
    name: String,
    title: String,
    description: String,
    width: f64,
    height: f64,
}

impl Svg {
    /// An empty figure. The name is unlike those of other figures on the page.
    pub(super) fn new(name: &str, title: &str, description: &str, width: f64, height: f64) -> Self {
        let (name, title, description) =
            (name.to_owned(), title.to_owned(), description.to_owned());
        let mut svg = Self { body: String::new(), name, title, description, width, height };
        let size = format!("width=\"{}\" height=\"{}\"", num(width), num(height));
        svg.put(format_args!("<rect {size} {}/>", fill(Ink::Paper)));
        svg
    }

    /// The figure as an element of a page.
    pub(super) fn inline(&self) -> String {
        self.written("")
    }

    /// The figure as a file of its own.
    pub(super) fn file(&self) -> String {
        let style = "<style>text{font-variant-numeric:tabular-nums}</style>";
        format!("{}\n", self.written(style))
    }

    fn written(&self, style: &str) -> String {
        let Self { body, name, .. } = self;
        let (width, height) = (num(self.width), num(self.height));
        let (title, description) = (escaped(&self.title), escaped(&self.description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" \
             aria-labelledby=\"{name}-title {name}-desc\" font-family=\"{FACE}\" font-size=\"12\">\
             <title id=\"{name}-title\">{title}</title><desc id=\"{name}-desc\">{description}</desc>\
             {style}{body}</svg>"
        )
    }

    fn put(&mut self, what: std::fmt::Arguments<'_>) {
        // A text takes whatever is written to it.
        let _ = self.body.write_fmt(what);
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, width: f64) {
        self.put(format_args!(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>",
            num(from.0),
            num(from.1),
            num(to.0),
            num(to.1),
            stroke(ink, width)
        ));
    }

    /// A line through points, with attributes as they are given.
    pub(super) fn path(&mut self, points: &[(f64, f64)], ink: Ink, width: f64, more: &str) {
        let mut d = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if at == 0 { "M" } else { "L" }, num(*x), num(*y));
        }
        self.put(format_args!("<path d=\"{d}\" fill=\"none\" {}{more}/>", stroke(ink, width)));
    }

    /// A rectangle, filled or not, and what a pointer on it is told.
    pub(super) fn rect(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        paint: Paint,
        told: &str,
    ) {
        self.put(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}>{}</rect>",
            num(x),
            num(y),
            num(width),
            num(height),
            paint.attributes(),
            tip(told)
        ));
    }

    /// The mark of a run: its colour and its shape are its own for 42 runs.
    pub(super) fn mark(&mut self, (x, y): (f64, f64), run: usize, radius: f64, told: &str) {
        let r = radius;
        let shape = match run % 6 {
            0 => vec![],
            1 => vec![(-r, -r), (r, -r), (r, r), (-r, r)],
            2 => vec![(0.0, -1.35 * r), (1.2 * r, 0.9 * r), (-1.2 * r, 0.9 * r)],
            3 => vec![(0.0, -1.35 * r), (1.35 * r, 0.0), (0.0, 1.35 * r), (-1.35 * r, 0.0)],
            4 => vec![(0.0, 1.35 * r), (1.2 * r, -0.9 * r), (-1.2 * r, -0.9 * r)],
            _ => cross(r),
        };
        let paint = Paint::Filled(Ink::Run(run)).attributes();
        if shape.is_empty() {
            let (x, y, r) = (num(x), num(y), num(1.1 * r));
            self.put(format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" {paint}>{}</circle>",
                tip(told)
            ));
            return;
        }
        let points: Vec<String> =
            shape.iter().map(|(dx, dy)| format!("{},{}", num(x + dx), num(y + dy))).collect();
        self.put(format_args!(
            "<polygon points=\"{}\" {paint}>{}</polygon>",
            points.join(" "),
            tip(told)
        ));
    }

    /// A dot, and what a pointer on it is told.
    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, paint: Paint, told: &str) {
        self.put(format_args!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}>{}</circle>",
            num(x),
            num(y),
            num(radius),
            paint.attributes(),
            tip(told)
        ));
    }

    /// Words on the base line through a point.
    pub(super) fn text(&mut self, (x, y): (f64, f64), side: Side, ink: Ink, words: impl Display) {
        self.text_with((x, y), side, ink, "", words);
    }

    /// The same with attributes as they are given.
    pub(super) fn text_with(
        &mut self,
        (x, y): (f64, f64),
        side: Side,
        ink: Ink,
        more: &str,
        words: impl Display,
    ) {
        let side = match side {
            Side::Start => "",
            Side::Middle => " text-anchor=\"middle\"",
            Side::End => " text-anchor=\"end\"",
        };
        self.put(format_args!(
            "<text x=\"{}\" y=\"{}\"{side} {}{more}>{}</text>",
            num(x),
            num(y),
            fill(ink),
            escaped(&words.to_string())
        ));
    }
}

/// How a shape is painted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Paint {
    /// Full, with a seam of paper that parts it from its neighbours.
    Filled(Ink),
    /// Full, pale.
    Pale(Ink),
    /// Its outline on paper.
    Hollow(Ink),
}

impl Paint {
    fn attributes(self) -> String {
        match self {
            Self::Filled(ink) => {
                format!(
                    "fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"1\" class=\"{}\"",
                    ink.color(),
                    format_args!("{} s-paper", ink.class())
                )
            }
            Self::Pale(ink) => format!("{} fill-opacity=\"0.28\"", fill(ink)),
            Self::Hollow(ink) => format!(
                "fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"1.5\" class=\"k-paper s{}\"",
                ink.color(),
                ink.class()
            ),
        }
    }
}

fn fill(ink: Ink) -> String {
    format!("fill=\"{}\" class=\"{}\"", ink.color(), ink.class())
}

fn stroke(ink: Ink, width: f64) -> String {
    let (color, class) = (ink.color(), ink.class());
    format!("stroke=\"{color}\" stroke-width=\"{}\" class=\"s{class}\"", num(width))
}

fn tip(told: &str) -> String {
    if told.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(told)) }
}

fn cross(r: f64) -> Vec<(f64, f64)> {
    let (long, short) = (1.3 * r, 0.45 * r);
    let quarter = [(-short, -long), (short, -long), (short, -short)];
    (0..4)
        .flat_map(|turn| {
            quarter.map(|(x, y)| match turn {
                0 => (x, y),
                1 => (-y, x),
                2 => (-x, -y),
                _ => (y, -x),
            })
        })
        .collect()
}

/// A length to two places, without trailing zeros.
pub(super) fn num(value: f64) -> String {
    let text = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// About how wide words are at 12 pixels, in pixels: rather too wide than too narrow.
pub(super) fn measured(words: &str) -> f64 {
    words
        .chars()
        .map(|ch| match ch {
            'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | 't' | 'f'
            | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 4.5,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 11.4,
            'A'..='Z' | '+' | '=' | '<' | '>' | '&' | '~' | '\u{2212}' => 9.0,
            '\u{300}'..='\u{36f}' => 0.0,
            '\u{2e80}'.. => 12.4,
            _ => 7.4,
        })
        .sum()
}

/// Words cut to a width in pixels, with an ellipsis where something is missing.
pub(super) fn cut(words: &str, width: f64) -> String {
    if measured(words) <= width {
        return words.to_owned();
    }
    let mut text = String::new();
    for ch in words.chars() {
        if width < measured(&text) + measured(&ch.to_string()) + 12.0 {
            break;
        }
        text.push(ch);
    }
    format!("{}…", text.trim_end())
}
