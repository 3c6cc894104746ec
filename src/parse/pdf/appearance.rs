//! What the appearance of an annotation paints: where, and in which colour.
//!
//! The appearance is interpreted by itself, on white: neither the text below it nor another
//! mark across it changes its colour.

use std::collections::BTreeMap;

use hayro_interpret::font::GlyphRun;
use hayro_interpret::hayro_syntax::content::TypedIter;
use hayro_interpret::hayro_syntax::object::{Dict, Name, Object, Rect as PdfRect, Stream};
use hayro_interpret::hayro_syntax::page::Resources;
use hayro_interpret::kurbo::{Affine, BezPath, Rect, Shape as _};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, Paint,
    RectExt as _, SoftMask, interpret,
};

use super::{annotations::Canvas, color, geometry::Area};

/// Something that was painted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Painted {
    /// Where, upright.
    pub(super) area: Area,
    /// Its colour as seen on white, red, green and blue from 0 to 1.
    pub(super) rgb: [f64; 3],
}

/// The most shapes that are read of one appearance.
const MAX_SHAPES: usize = 1_000;

/// What the normal appearance of an annotation paints, in order; nothing where there is none.
pub(super) fn painted<'a>(canvas: &Canvas<'_, 'a>, annotation: &Dict<'a>) -> Vec<Painted> {
    shapes(canvas, annotation).unwrap_or_default()
}

fn shapes<'a>(canvas: &Canvas<'_, 'a>, annotation: &Dict<'a>) -> Option<Vec<Painted>> {
    let stream = normal_appearance(annotation)?;
    let form = stream.dict();
    let program = stream.decoded_data().ok()?;
    let matrix = form.get::<[f64; 6]>("Matrix").map_or(Affine::IDENTITY, Affine::new);
    let bbox = form.get::<PdfRect>("BBox")?.to_kurbo();
    let rect = annotation.get::<PdfRect>("Rect")?.to_kurbo();
    let fit = fit((matrix * bbox.to_path(0.1)).bounding_box(), rect)?;
    let page_resources = canvas.page.resources();
    let resources = form.get::<Dict<'_>>("Resources").map(Resources::new);
    let transform = canvas.to_upright * fit * matrix;
    let frame = transform.transform_rect_bbox(bbox);
    let (cache, xref) = (canvas.cache, canvas.page.xref());
    let mut context = Context::new(transform, frame, cache, xref, canvas.settings.clone());
    let mut painter = Painter::default();
    let operations = TypedIter::new(&program);
    interpret(operations, resources.as_ref().unwrap_or(page_resources), &mut context, &mut painter);
    Some(painter.painted)
}

/// What moves and scales the box of an appearance to the rectangle of its annotation (ISO
/// 32000-2, algorithm 8).
fn fit(bbox: Rect, rect: Rect) -> Option<Affine> {
    let (across, down) = (rect.width() / bbox.width(), rect.height() / bbox.height());
    let (x, y) = (rect.x0 - across * bbox.x0, rect.y0 - down * bbox.y0);
    let fit = Affine::new([across, 0.0, 0.0, down, x, y]);
    fit.is_finite().then_some(fit)
}

fn normal_appearance<'a>(annotation: &Dict<'a>) -> Option<Stream<'a>> {
    match annotation.get::<Dict<'_>>("AP")?.get::<Object<'_>>("N")? {
        Object::Stream(stream) => Some(stream),
        Object::Dict(states) => {
            annotation.get::<Name<'_>>("AS").and_then(|state| states.get::<Stream<'_>>(state))
        }
        _ => None,
    }
}

/// The colour that covers most, other than white, and other than black where there is another.
pub(super) fn color(painted: &[Painted]) -> Option<[f64; 3]> {
    let mut sizes: BTreeMap<[u64; 3], (f64, [f64; 3])> = BTreeMap::new();
    for shape in painted {
        let key = shape.rgb.map(f64::to_bits);
        sizes.entry(key).or_insert((0.0, shape.rgb)).0 += shape.area.size();
    }
    let is_white = |rgb: &[f64; 3]| rgb.iter().all(|part| *part > 0.99);
    let is_black = |rgb: &[f64; 3]| rgb.iter().all(|part| *part < 0.01);
    let seen: Vec<(f64, [f64; 3])> = sizes.into_values().collect();
    let seen = seen.into_iter().filter(|(_, rgb)| !is_white(rgb));
    let largest = seen.max_by(|(a, first), (b, second)| {
        (!is_black(first)).cmp(&!is_black(second)).then(a.total_cmp(b))
    });
    largest.map(|(_, rgb)| rgb)
}

/// A device that keeps the boxes of what is painted.
#[derive(Default)]
struct Painter {
    painted: Vec<Painted>,
    /// The opacities of the groups around what is painted.
    groups: Vec<f64>,
}

impl Painter {
    fn add(&mut self, bounds: Rect, props: &DrawProps<'_>, mode: &DrawMode) {
        let Paint::Color(paint) = &props.paint else { return };
        let line = match mode {
            DrawMode::Invisible => return,
            DrawMode::Fill(_) => 0.0,
            DrawMode::Stroke(stroke) | DrawMode::FillAndStroke(_, stroke) => {
                f64::from(stroke.line_width)
            }
        };
        // A stroke is wide across its way, and ends where it ends.
        let across = if bounds.width() < line { line / 2.0 } else { 0.0 };
        let down = if bounds.height() < line { line / 2.0 } else { 0.0 };
        let bounds = props.transform.transform_rect_bbox(bounds.inflate(across, down));
        let [red, green, blue, alpha] = paint.to_rgba().components().map(f64::from);
        let opacity = alpha * self.groups.iter().product::<f64>();
        let area = Area { x0: bounds.x0, y0: bounds.y0, x1: bounds.x1, y1: bounds.y1 };
        if self.painted.len() < MAX_SHAPES && opacity > 0.0 && area.size().is_finite() {
            let rgb = color::on_white([red, green, blue], opacity);
            self.painted.push(Painted { area, rgb });
        }
    }
}

impl<'a> Device<'a> for Painter {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        self.add(path.bounding_box(), &props, mode);
    }

    fn draw_rect(&mut self, rect: &Rect, props: DrawProps<'a>, mode: &DrawMode) {
        self.add(*rect, &props, mode);
    }

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, opacity: f32, _: Option<SoftMask<'a>>, _: BlendMode) {
        self.groups.push(f64::from(opacity));
    }

    fn draw_glyph_run(&mut self, _: &GlyphRun<'_, 'a>, _: DrawProps<'a>, _: &DrawMode) {}

    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {
        self.groups.pop();
    }
}
