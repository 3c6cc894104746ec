//! The files of the corpus as they are written: one JSON object a draft.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor},
};

use super::{Anchor, Annotation, Assessment, Color, Grade, Paragraph};

/// A draft as its file has it.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a draft: an object with `paragraphs`")]
pub(super) struct WireDraft {
    paragraphs: Vec<WireParagraph>,
    /// What was said of the whole draft: at most one.
    #[serde(default)]
    annotations: Option<Vec<WireAssessment>>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a paragraph: an object with `body` and `annotations`")]
struct WireParagraph {
    body: String,
    annotations: Vec<WireAnnotation>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an annotation: an object with `type` and `comment`")]
struct WireAnnotation {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    color: Option<String>,
    comment: String,
    context_left: String,
    context_right: String,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an assessment: an object with `grades`")]
struct WireAssessment {
    grades: WireGrades,
    #[serde(default)]
    comment: Option<String>,
    #[serde(default, rename = "Peer Comment")]
    peer_comment: Option<String>,
}

/// Grades by name, in the order of the file; two of one name are both kept.
#[derive(Debug)]
struct WireGrades(Vec<(String, Grade)>);

/// What a file says of a draft, and what it says besides.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) paragraphs: Vec<Paragraph>,
    pub(super) assessment: Option<Assessment>,
    /// Fields that hold something but have no meaning where they stand.
    pub(super) surplus: Vec<String>,
}

/// A field that has a value of the right type, and no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldError {
    /// Where it stands: `paragraphs[3].annotations[0].color`.
    pub(super) field: String,
    pub(super) problem: String,
}

impl TryFrom<WireDraft> for Content {
    type Error = FieldError;

    fn try_from(wire: WireDraft) -> Result<Self, FieldError> {
        let mut surplus = Vec::new();
        let mut paragraphs = Vec::with_capacity(wire.paragraphs.len());
        for (paragraph_index, paragraph) in wire.paragraphs.into_iter().enumerate() {
            let mut annotations = Vec::with_capacity(paragraph.annotations.len());
            for (index, annotation) in paragraph.annotations.into_iter().enumerate() {
                let place = format!("paragraphs[{paragraph_index}].annotations[{index}]");
                annotations.push(annotation.into_annotation(&place, &mut surplus)?);
            }
            paragraphs.push(Paragraph { text: paragraph.body, annotations });
        }
        let mut assessments = wire.annotations.unwrap_or_default();
        if 1 < assessments.len() {
            return Err(FieldError {
                field: "annotations".to_owned(),
                problem: format!(
                    "holds {} assessments, and a draft has one at most",
                    assessments.len()
                ),
            });
        }
        let assessment = assessments.pop().map(|wire| Assessment {
            grades: wire.grades.0,
            comment: wire.comment.unwrap_or_default(),
            peer_comment: wire.peer_comment.unwrap_or_default(),
        });
        Ok(Self { paragraphs, assessment, surplus })
    }
}

impl WireAnnotation {
    /// The annotation; what stands in a field that its type does not have is
    /// named in `surplus`.
    fn into_annotation(
        self,
        place: &str,
        surplus: &mut Vec<String>,
    ) -> Result<Annotation, FieldError> {
        let field_error =
            |field: &str, problem| FieldError { field: format!("{place}.{field}"), problem };
        let missing = |field: &str| {
            let problem = format!("is missing, and a {} has it", self.kind);
            FieldError { field: format!("{place}.{field}"), problem }
        };
        let anchor = match self.kind.as_str() {
            "highlight" => Anchor::Highlight {
                text: self.text.ok_or_else(|| missing("text"))?,
                color: {
                    let color = self.color.ok_or_else(|| missing("color"))?;
                    parse_color(&color).map_err(|problem| field_error("color", problem))?
                },
            },
            "strikeout" => {
                note_surplus(surplus, "strikeout", "color", self.color.as_deref());
                Anchor::Strikeout { text: self.text.ok_or_else(|| missing("text"))? }
            }
            "note" => {
                note_surplus(surplus, "note", "text", self.text.as_deref());
                note_surplus(surplus, "note", "color", self.color.as_deref());
                Anchor::Note
            }
            other => {
                let problem = format!("{} is not one of highlight, note, strikeout", quoted(other));
                return Err(field_error("type", problem));
            }
        };
        Ok(Annotation {
            anchor,
            comment: self.comment,
            context_left: self.context_left,
            context_right: self.context_right,
        })
    }
}

fn parse_color(name: &str) -> Result<Color, String> {
    Color::ALL.into_iter().find(|color| color.name() == name).ok_or_else(|| {
        let names = Color::ALL.map(Color::name).join(", ");
        format!("{} is not one of {names}", quoted(name))
    })
}

fn note_surplus(surplus: &mut Vec<String>, kind: &str, field: &str, value: Option<&str>) {
    if value.is_some_and(|value| !value.is_empty()) {
        surplus.push(format!("paragraphs[].annotations[].{field} of a {kind}"));
    }
}

/// A short value in quotes; of a long one, which may be somebody's prose, only
/// the length.
fn quoted(value: &str) -> String {
    const MAX_CHARS: usize = 24;
    match value.chars().count() {
        0..=MAX_CHARS => format!("{value:?}"),
        n_chars => format!("a text of {n_chars} characters"),
    }
}

impl<'de> Deserialize<'de> for WireGrades {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GradesVisitor;

        impl<'de> Visitor<'de> for GradesVisitor {
            type Value = WireGrades;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of grades by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WireGrades, A::Error> {
                let mut grades = Vec::new();
                while let Some((name, WireGrade(grade))) = map.next_entry::<String, WireGrade>()? {
                    grades.push((name, grade));
                }
                Ok(WireGrades(grades))
            }
        }

        deserializer.deserialize_map(GradesVisitor)
    }
}

struct WireGrade(Grade);

impl<'de> Deserialize<'de> for WireGrade {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GradeVisitor;

        impl Visitor<'_> for GradeVisitor {
            type Value = WireGrade;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a mark as text")
            }

            fn visit_f64<E: de::Error>(self, points: f64) -> Result<WireGrade, E> {
                Ok(WireGrade(Grade::Points(points)))
            }

            fn visit_i64<E: de::Error>(self, points: i64) -> Result<WireGrade, E> {
                self.visit_f64(points as f64)
            }

            fn visit_u64<E: de::Error>(self, points: u64) -> Result<WireGrade, E> {
                self.visit_f64(points as f64)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<WireGrade, E> {
                Ok(WireGrade(Grade::parse(text)))
            }

            fn visit_unit<E: de::Error>(self) -> Result<WireGrade, E> {
                Ok(WireGrade(Grade::NotGiven))
            }
        }

        deserializer.deserialize_any(GradeVisitor)
    }
}
