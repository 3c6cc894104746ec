//! What run properties put over their text: highlighters, shading and strikes.

use std::collections::HashMap;

use super::{
    DocxError,
    flow::Pen,
    tag::Tag,
    xml::{Node, XmlReader},
};
use crate::parse::color::{is_paper, parse_hex};

/// What properties say of a pen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PenChange {
    highlight: Ink,
    shading: Ink,
    is_struck: Option<bool>,
}

/// What properties say of a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ink {
    /// Nothing: what lies below shows.
    #[default]
    Unsaid,
    /// That there is none.
    None,
    Color([u8; 3]),
}

impl Ink {
    fn over(self, below: Self) -> Self {
        if self == Self::Unsaid { below } else { self }
    }

    fn rgb(self) -> Option<[u8; 3]> {
        match self {
            Self::Color(rgb) => Some(rgb),
            Self::Unsaid | Self::None => None,
        }
    }
}

impl From<Option<[u8; 3]>> for Ink {
    fn from(rgb: Option<[u8; 3]>) -> Self {
        rgb.map_or(Self::None, Self::Color)
    }
}

impl PenChange {
    /// These properties where they speak, else those of the style below.
    fn over(self, below: Self) -> Self {
        Self {
            highlight: self.highlight.over(below.highlight),
            shading: self.shading.over(below.shading),
            is_struck: self.is_struck.or(below.is_struck),
        }
    }

    /// The pen; a highlighter lies over shading, and what is as light as paper marks nothing.
    fn pen(self) -> Pen {
        let rgb = self.highlight.rgb().or(self.shading.rgb());
        Pen {
            rgb: rgb.filter(|rgb| !is_paper(*rgb)),
            is_struck: self.is_struck.unwrap_or_default(),
        }
    }
}

/// What the styles of characters put over text, by their names.
#[derive(Clone, Debug, Default)]
pub(super) struct Styles(HashMap<String, PenChange>);

/// Reads the properties that the reader has just entered, to their end.
pub(super) fn read_pen(xml: &mut XmlReader<'_>, styles: &Styles) -> Result<Pen, DocxError> {
    let (change, style) = read_properties(xml)?;
    let below = style.and_then(|style| styles.0.get(&style).copied()).unwrap_or_default();
    Ok(change.over(below).pen())
}

fn read_properties(xml: &mut XmlReader<'_>) -> Result<(PenChange, Option<String>), DocxError> {
    let (mut change, mut style) = (PenChange::default(), None);
    loop {
        match xml.next()? {
            Node::Open(element) => match element.tag {
                Tag::Skipped => xml.skip()?,
                Tag::RunStyle => style = element.value(),
                Tag::Strike => {
                    change.is_struck = Some(change.is_struck == Some(true) || element.is_on());
                }
                Tag::Highlight => change.highlight = highlighter(element.value().as_deref()).into(),
                Tag::Shading => {
                    let fill = element.attribute("fill").and_then(|fill| parse_hex(&fill));
                    let solid = || element.attribute("color").and_then(|color| parse_hex(&color));
                    let ink = match element.value().as_deref() {
                        Some("nil") => None,
                        Some("solid") => solid().or(fill),
                        _ => fill,
                    };
                    change.shading = ink.into();
                }
                _ => (),
            },
            Node::Close(Tag::RunProperties) | Node::End => return Ok((change, style)),
            Node::Close(_) | Node::Text(_) => (),
        }
    }
}

impl Styles {
    /// Reads the part of styles. Those of paragraphs and tables colour whole blocks, which no
    /// pen does, so only those of characters count; and their shading is a matter of layout.
    pub(super) fn read(part: &str, text: &str) -> Result<Self, DocxError> {
        let mut xml = XmlReader::new(part, text);
        let mut styles: HashMap<String, (PenChange, Option<String>)> = HashMap::new();
        let mut current: Option<String> = None;
        loop {
            match xml.next()? {
                Node::Open(element) => match element.tag {
                    Tag::Style => {
                        let is_of_characters =
                            element.attribute("type").is_some_and(|kind| kind == "character");
                        current = element.attribute("styleId").filter(|_| is_of_characters);
                        if let Some(id) = &current {
                            styles.entry(id.clone()).or_default();
                        }
                    }
                    Tag::BasedOn => {
                        let style = current.as_ref().and_then(|id| styles.get_mut(id));
                        if let Some((_, base)) = style {
                            *base = element.value();
                        }
                    }
                    Tag::RunProperties => {
                        let (change, _) = read_properties(&mut xml)?;
                        let style = current.as_ref().and_then(|id| styles.get_mut(id));
                        if let Some((own, _)) = style {
                            *own = PenChange { shading: Ink::Unsaid, ..change };
                        }
                    }
                    Tag::Skipped => xml.skip()?,
                    _ => (),
                },
                Node::Close(Tag::Style) => current = None,
                Node::End => break,
                Node::Close(_) | Node::Text(_) => (),
            }
        }
        let whole = styles.keys().map(|id| (id.clone(), inherited(id, &styles))).collect();
        Ok(Self(whole))
    }
}

/// A style with what it is based on, as far down as anybody builds.
fn inherited(id: &str, styles: &HashMap<String, (PenChange, Option<String>)>) -> PenChange {
    const MAX_BASES: usize = 16;
    let bases = std::iter::successors(styles.get(id), |(_, base)| styles.get(base.as_ref()?));
    bases.take(MAX_BASES).fold(PenChange::default(), |upper, (below, _)| upper.over(*below))
}

/// The colour of a highlighter by its name (ECMA-376, part 1, 17.18.40); `None` for none.
fn highlighter(name: Option<&str>) -> Option<[u8; 3]> {
    Some(match name? {
        "black" => [0, 0, 0],
        "blue" => [0, 0, 255],
        "cyan" => [0, 255, 255],
        "darkBlue" => [0, 0, 128],
        "darkCyan" => [0, 128, 128],
        "darkGray" => [128, 128, 128],
        "darkGreen" => [0, 128, 0],
        "darkMagenta" => [128, 0, 128],
        "darkRed" => [128, 0, 0],
        "darkYellow" => [128, 128, 0],
        "green" => [0, 255, 0],
        "lightGray" => [192, 192, 192],
        "magenta" => [255, 0, 255],
        "red" => [255, 0, 0],
        "white" => [255, 255, 255],
        "yellow" => [255, 255, 0],
        _ => return None,
    })
}
