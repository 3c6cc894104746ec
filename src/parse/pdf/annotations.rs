//! The annotations of a page as its file has them.

use hayro_interpret::hayro_syntax::object::{
    Array, Dict, MaybeRef, Name, ObjRef, Object, Rect, String as PdfString,
};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo::{Affine, Point};
use hayro_interpret::{InterpreterCache, InterpreterSettings};

use super::{
    appearance::{self, Painted},
    color,
    geometry::{Area, quad_areas},
    strings,
};
use crate::parse::Mark;

/// The most annotations that are read of one page.
const MAX_ANNOTATIONS: usize = 2_000;

/// The most numbers that are read of one array.
const MAX_NUMBERS: usize = 8 * 1_000;

/// One annotation.
#[derive(Clone, Debug, Default)]
pub(super) struct RawAnnotation {
    /// Its page, from zero.
    pub(super) page: usize,
    /// How it marks; `None` for a shape that is drawn on the page.
    pub(super) mark: Option<Mark>,
    /// The boxes that it names, upright.
    pub(super) quads: Vec<Area>,
    /// Its rectangle, upright.
    pub(super) rect: Option<Area>,
    /// What its appearance paints, upright.
    pub(super) painted: Vec<Painted>,
    /// What it says.
    pub(super) comment: String,
    /// Who wrote it.
    pub(super) author: Option<String>,
    /// When it was changed, or made.
    pub(super) date: Option<String>,
    /// Its colour as seen on white.
    pub(super) rgb: Option<[f64; 3]>,
    /// The object it is.
    pub(super) id: Option<ObjRef>,
    /// Its name among the annotations of the page.
    pub(super) name: Option<String>,
    /// What it answers, or is joined to.
    pub(super) parent: Option<Parent>,
}

/// The annotation that another one hangs on.
#[derive(Clone, Debug)]
pub(super) struct Parent {
    /// The object it is.
    pub(super) id: Option<ObjRef>,
    /// Its name among the annotations of the page.
    pub(super) name: Option<String>,
    /// Whether both are one, and not one the answer to the other.
    pub(super) is_group: bool,
}

impl RawAnnotation {
    /// Whether it marks words.
    pub(super) fn marks_words(&self) -> bool {
        matches!(
            self.mark,
            Some(Mark::Highlight | Mark::Underline | Mark::Squiggly | Mark::Strikeout)
        )
    }
}

/// What annotations need of the page they stand on.
pub(super) struct Canvas<'p, 'a> {
    pub(super) page: &'p Page<'a>,
    pub(super) index: usize,
    pub(super) to_upright: Affine,
    pub(super) cache: &'p InterpreterCache<'a>,
    pub(super) settings: &'p InterpreterSettings,
}

/// The annotations of a page, in the order of the file, and how many of them say and mark
/// nothing that could be told.
pub(super) fn read(canvas: &Canvas<'_, '_>) -> (Vec<RawAnnotation>, usize) {
    let mut annotations = Vec::new();
    let mut popups: Vec<(ObjRef, String)> = Vec::new();
    let mut n_silent = 0;
    let items = canvas.page.raw().get::<Array<'_>>("Annots");
    for item in items.iter().flat_map(Array::raw_iter).take(MAX_ANNOTATIONS) {
        let (id, dict) = match item {
            MaybeRef::Ref(id) => (Some(id), canvas.page.xref().get::<Dict<'_>>(id.into())),
            MaybeRef::NotRef(object) => (None, object.into_dict()),
        };
        let Some(dict) = dict else { continue };
        let Some(subtype) = dict.get::<Name<'_>>("Subtype") else { continue };
        let comment = comment(&dict);
        let mark = match &*subtype {
            b"Highlight" => Some(Mark::Highlight),
            b"Underline" => Some(Mark::Underline),
            b"Squiggly" => Some(Mark::Squiggly),
            b"StrikeOut" => Some(Mark::Strikeout),
            b"Text" | b"Caret" => Some(Mark::Note),
            b"FreeText" => Some(Mark::FreeText),
            b"Popup" => {
                if let Some(parent) = dict.get_ref("Parent") {
                    popups.push((parent, comment));
                }
                continue;
            }
            b"Link" | b"Widget" | b"PrinterMark" | b"TrapNet" | b"Screen" => continue,
            _ if comment.is_empty() => {
                n_silent += 1;
                continue;
            }
            _ => None,
        };
        annotations.push(annotation(canvas, &dict, id, mark, comment));
    }
    for (parent, comment) in popups {
        let parent = annotations.iter_mut().find(|annotation| annotation.id == Some(parent));
        if let Some(parent) = parent.filter(|parent| parent.comment.is_empty()) {
            parent.comment = comment;
        }
    }
    (annotations, n_silent)
}

fn annotation<'a>(
    canvas: &Canvas<'_, 'a>,
    dict: &Dict<'a>,
    id: Option<ObjRef>,
    mark: Option<Mark>,
    comment: String,
) -> RawAnnotation {
    let rect = dict.get::<Rect>("Rect");
    let corners = rect.map(|rect| [Point::new(rect.x0, rect.y0), Point::new(rect.x1, rect.y1)]);
    let rect = corners.and_then(|corners| Area::around(corners)?.transformed(canvas.to_upright));
    let marks_words = !matches!(mark, None | Some(Mark::Note | Mark::FreeText));
    let painted = if marks_words { appearance::painted(canvas, dict) } else { Vec::new() };
    let quads = numbers(dict, "QuadPoints");
    RawAnnotation {
        page: canvas.index,
        mark,
        quads: quad_areas(&quads, canvas.to_upright),
        rect,
        rgb: appearance::color(&painted).or_else(|| stated_color(dict)),
        painted,
        comment,
        author: string(dict, "T"),
        date: string(dict, "M").or_else(|| string(dict, "CreationDate")),
        id,
        name: string(dict, "NM"),
        parent: parent(dict),
    }
}

/// What it says: its contents, else its rich text.
fn comment(dict: &Dict<'_>) -> String {
    let contents = string(dict, "Contents").unwrap_or_default();
    if !contents.is_empty() {
        return contents;
    }
    let rich = match dict.get::<Object<'_>>("RC") {
        Some(Object::String(text)) => strings::text(text.as_bytes()),
        Some(Object::Stream(stream)) => {
            stream.decoded_data().map(|bytes| strings::text(&bytes)).unwrap_or_default()
        }
        _ => String::new(),
    };
    strings::rich_text(&rich)
}

/// A text string, trimmed; `None` where there is none or it is empty.
fn string(dict: &Dict<'_>, key: &str) -> Option<String> {
    let string = dict.get::<PdfString<'_>>(key)?;
    let text = strings::text(string.as_bytes());
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The numbers of an array; not finite where an item is none.
fn numbers(dict: &Dict<'_>, key: &str) -> Vec<f64> {
    let array = dict.get::<Array<'_>>(key);
    let items = array.iter().flat_map(Array::iter::<Object<'_>>).take(MAX_NUMBERS);
    items.map(|item| item.into_number().map_or(f64::NAN, |number| number.as_f64())).collect()
}

/// The colour that the annotation states, as it looks on white.
fn stated_color(dict: &Dict<'_>) -> Option<[f64; 3]> {
    let opacity = dict.get::<f64>("CA").unwrap_or(1.0);
    color::of_components(&numbers(dict, "C")).map(|rgb| color::on_white(rgb, opacity))
}

fn parent(dict: &Dict<'_>) -> Option<Parent> {
    if !dict.contains_key("IRT") {
        return None;
    }
    let is_group = dict.get::<Name<'_>>("RT").is_some_and(|kind| &*kind == b"Group");
    let id = dict.get_ref("IRT");
    let name = dict.get::<Dict<'_>>("IRT").and_then(|parent| string(&parent, "NM"));
    Some(Parent { id, name, is_group })
}
