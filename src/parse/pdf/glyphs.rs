//! The glyphs of a page: what they say, and where they stand.

use std::collections::BTreeMap;

use hayro_interpret::font::{Glyph as FontGlyph, GlyphRun, OutlineGlyph, PositionedGlyph};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::object::{Dict, String as PdfString};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    InterpreterCache, InterpreterSettings, RenderContent, SoftMask, TransformExt as _,
    interpret_page,
};

use super::{
    font,
    geometry::{Area, Turn},
    shapes, strings,
};

/// The most glyphs that are read of one page: a page of a book has some thousands.
const MAX_GLYPHS: usize = 50_000;

/// One glyph, upright.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Glyph {
    /// What it stands for; a ligature is several letters.
    pub(super) text: String,
    /// Where it begins.
    pub(super) x0: f64,
    /// Where the next one may begin.
    pub(super) x1: f64,
    /// Its baseline.
    pub(super) y: f64,
    /// The size of its font, in points.
    pub(super) size: f64,
    /// Whether the document marks it as furniture of the page.
    pub(super) is_artifact: bool,
}

impl Glyph {
    /// Whether it is white space.
    pub(super) fn is_space(&self) -> bool {
        self.text.chars().all(char::is_whitespace)
    }

    /// The middle of its small letters: a mark that covers the glyph covers this point.
    pub(super) fn middle(&self) -> (f64, f64) {
        (f64::midpoint(self.x0, self.x1), self.y - 0.3 * self.size)
    }
}

/// The glyphs of a page.
#[derive(Debug)]
pub(super) struct PageGlyphs {
    /// Those that run the way most of the page does, in the order of drawing.
    pub(super) main: Vec<Glyph>,
    /// The others by the way they run, each upright in its own frame.
    pub(super) aside: Vec<Vec<Glyph>>,
    /// From the page's own coordinates to upright ones.
    pub(super) to_upright: Affine,
    /// The page, upright.
    pub(super) area: Area,
    /// How many glyphs have no Unicode and were read by their character codes.
    pub(super) n_guessed: usize,
    /// Whether there were more than can be read.
    pub(super) is_cut: bool,
}

/// Reads the glyphs of a page.
pub(super) fn page_glyphs<'a>(
    page: &Page<'a>,
    cache: &InterpreterCache<'a>,
    settings: &InterpreterSettings,
) -> PageGlyphs {
    let initial = page.initial_transform(true).to_kurbo();
    let (width, height) = page.render_dimensions();
    let frame = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let settings = InterpreterSettings { render_content: RenderContent::PAGE, ..settings.clone() };
    let mut context = Context::new(initial, frame, cache, page.xref(), settings);
    let mut collector = Collector::default();
    interpret_page(page, &mut context, &mut collector);

    let count = |turn| collector.glyphs.iter().filter(|glyph| glyph.turn == turn).count();
    let turn = Turn::ALL.into_iter().max_by_key(|turn| (count(*turn), *turn == Turn::None));
    let upright = turn.unwrap_or_default().upright();
    let mut main = Vec::new();
    let mut aside = Vec::new();
    for other in Turn::ALL {
        let of_turn = collector.glyphs.iter().filter(|glyph| glyph.turn == other);
        if Some(other) == turn {
            main = of_turn.map(|glyph| glyph.turned(upright)).collect();
        } else {
            aside.push(of_turn.map(|glyph| glyph.turned(other.upright())).collect::<Vec<_>>());
        }
    }
    aside.retain(|glyphs| !glyphs.is_empty());
    let frame = Area { x0: frame.x0, y0: frame.y0, x1: frame.x1, y1: frame.y1 };
    PageGlyphs {
        main,
        aside,
        to_upright: upright * initial,
        area: frame.transformed(upright).unwrap_or(frame),
        n_guessed: collector.n_guessed,
        is_cut: collector.is_cut,
    }
}

/// A glyph as it was drawn.
#[derive(Debug)]
struct Drawn {
    text: String,
    start: Point,
    end: Point,
    size: f64,
    turn: Turn,
    is_artifact: bool,
}

impl Drawn {
    fn turned(&self, upright: Affine) -> Glyph {
        let (start, end) = (upright * self.start, upright * self.end);
        Glyph {
            text: self.text.clone(),
            x0: start.x.min(end.x),
            x1: start.x.max(end.x),
            y: start.y,
            size: self.size,
            is_artifact: self.is_artifact,
        }
    }
}

/// A stretch of marked content.
#[derive(Debug, Default)]
struct Marked {
    is_artifact: bool,
    /// What its glyphs say together, until the first of them has taken it.
    actual_text: Option<String>,
    has_actual_text: bool,
}

/// A device that keeps glyphs and draws nothing.
#[derive(Debug, Default)]
struct Collector {
    glyphs: Vec<Drawn>,
    marked: Vec<Marked>,
    /// The characters of fonts that say nothing else, by the keys of the fonts.
    fonts: BTreeMap<u128, font::Characters>,
    n_guessed: usize,
    is_cut: bool,
}

impl Collector {
    /// What a glyph says that is drawn with this transform.
    fn text_of(&mut self, glyph: &FontGlyph<'_>, transform: Affine) -> String {
        if let Some(marked) = self.marked.iter_mut().rev().find(|marked| marked.has_actual_text) {
            return marked.actual_text.take().unwrap_or_default();
        }
        let text = match glyph.as_unicode() {
            Some(BfString::Char(ch)) => String::from(ch),
            Some(BfString::String(text)) => text,
            None => String::new(),
        };
        // A font may say that a glyph is nothing; its code says more.
        let code = glyph.char_code();
        if text.chars().any(|ch| ch != '\0') {
            return match glyph {
                // Where a font states no encoding, this code is either quote.
                FontGlyph::Outline(outline) if text == "’" && code == 0x27 => {
                    shapes::mark(&outline.outline(), false).unwrap_or('’').into()
                }
                _ => strings::plain_letters(&text),
            };
        }
        let known = match glyph {
            FontGlyph::Outline(outline) => self.by_font(outline),
            FontGlyph::Type3(_) => None,
        };
        if let Some(ch) = known {
            return strings::plain_letters(&ch.to_string());
        }
        self.n_guessed += 1;
        let is_plain = (0x20..0x7f).contains(&code);
        match glyph {
            FontGlyph::Outline(outline) if !is_plain => {
                let start = transform * Point::ZERO;
                let opens = self.glyphs.last().is_none_or(|last| {
                    last.text.ends_with([' ', '(', '[', '“', '‘'])
                        || last.end.distance(start) > 0.1 * last.size
                });
                let mark = shapes::mark(&outline.outline(), opens);
                mark.map_or_else(|| strings::by_character_code(code), String::from)
            }
            _ => strings::by_character_code(code),
        }
    }

    /// The character that the font itself has for a glyph.
    fn by_font(&mut self, glyph: &OutlineGlyph) -> Option<char> {
        let data = glyph.font_data()?;
        let characters = self
            .fonts
            .entry(data.cache_key)
            .or_insert_with(|| font::characters((*data.data).as_ref()));
        characters.get(&glyph.glyph_id().to_u32()).copied()
    }

    fn add(&mut self, placed: &PositionedGlyph<'_>, transform: Affine, has_true_scale: bool) {
        let is_artifact = self.marked.iter().any(|marked| marked.is_artifact);
        let has_actual_text = self.marked.iter().any(|marked| marked.has_actual_text);
        let transform = transform * placed.transform();
        let text = self.text_of(placed, transform);
        let [a, b, c, d, _, _] = transform.as_coeffs();
        let (across, up) = (a.hypot(b), c.hypot(d));
        let mut width = f64::from(advance(placed).unwrap_or(500.0));
        if has_true_scale && across > 0.0 {
            width *= up / across;
        }
        let (start, end) = (transform * Point::ZERO, transform * Point::new(width, 0.0));
        if !(start.is_finite() && end.is_finite() && up.is_finite()) {
            return;
        }
        if text.is_empty() {
            // What the first glyph of such a stretch says, all of them say together.
            let stretch = self.glyphs.last_mut().filter(|_| has_actual_text);
            if let Some(last) = stretch.filter(|last| last.end.distance(start) < last.size) {
                last.end = end;
            }
            return;
        }
        let turn = Turn::of(a, b);
        self.glyphs.push(Drawn { text, start, end, size: 1000.0 * up, turn, is_artifact });
    }
}

/// The advance of a glyph, in thousandths of its font's size.
fn advance(placed: &PositionedGlyph<'_>) -> Option<f32> {
    match &**placed {
        FontGlyph::Outline(glyph) => glyph.advance_width(),
        FontGlyph::Type3(glyph) => glyph.advance_width(),
    }
}

/// How long one unit to the right and one unit upwards become.
fn scales(transform: Affine) -> (f64, f64) {
    let [right_x, right_y, up_x, up_y, _, _] = transform.as_coeffs();
    (right_x.hypot(right_y), up_x.hypot(up_y))
}

/// Whether the glyphs follow one another by their advances only where the scale across is
/// taken to be the scale up: a font that stands in for one that is not embedded is stretched
/// glyph by glyph, and its advances are those of the font that is missing.
fn is_stretched(glyphs: &[PositionedGlyph<'_>]) -> bool {
    let (mut as_drawn, mut as_tall) = (0_usize, 0_usize);
    for pair in glyphs.windows(2) {
        let [first, second] = pair else { continue };
        let (across, up) = scales(first.transform());
        let step = (second.transform() * Point::ZERO).distance(first.transform() * Point::ZERO);
        let width = f64::from(advance(first).unwrap_or(0.0));
        let (drawn, tall) = ((step - width * across).abs(), (step - width * up).abs());
        if drawn + 1e-6 < tall {
            as_drawn += 1;
        } else if tall + 1e-6 < drawn {
            as_tall += 1;
        }
    }
    as_drawn < as_tall
}

impl<'a> Device<'a> for Collector {
    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}

    fn draw_glyph_run(
        &mut self,
        run: &GlyphRun<'_, 'a>,
        props: DrawProps<'a>,
        draw_mode: &DrawMode,
    ) {
        // Text that is filled and stroked is drawn twice: the second time is no second text.
        if matches!(draw_mode, DrawMode::Stroke(_)) && self.repeats(run, props.transform) {
            return;
        }
        let is_stretched = is_stretched(run.glyphs());
        for placed in run.glyphs() {
            if self.glyphs.len() >= MAX_GLYPHS {
                self.is_cut = true;
                return;
            }
            self.add(placed, props.transform, is_stretched);
        }
    }

    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}

    fn begin_marked_content(&mut self, tag: &[u8], properties: Option<&Dict<'_>>) {
        let actual_text = properties
            .and_then(|properties| properties.get::<PdfString<'_>>("ActualText"))
            .map(|text| strings::plain_letters(&strings::text(text.as_bytes())));
        self.marked.push(Marked {
            is_artifact: tag == b"Artifact",
            has_actual_text: actual_text.is_some(),
            actual_text,
        });
    }

    fn end_marked_content(&mut self) {
        self.marked.pop();
    }
}

impl Collector {
    fn repeats(&self, run: &GlyphRun<'_, '_>, transform: Affine) -> bool {
        let Some(first) = run.glyphs().first() else { return false };
        let start = transform * first.transform() * Point::ZERO;
        self.glyphs.iter().rev().take(run.glyphs().len()).any(|glyph| glyph.start == start)
    }
}
