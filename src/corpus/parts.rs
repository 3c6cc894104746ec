//! What the name of a draft says of it.

use std::fmt;

/// The parts of a name like
/// `Batch_1_Course_2_Class_1_Essay_3_Final_ID0017`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftParts<'a> {
    /// The class it was written for.
    pub class: ClassId,
    /// The number of the assignment in that class.
    pub essay: u32,
    /// The stage of the essay: `Initial`, `Revision`, `Final` and others, as
    /// each instructor calls them.
    pub stage: &'a str,
    /// The student, as in the name: `ID0017`.
    pub student: &'a str,
}

/// Names one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId {
    /// The batch of the collection.
    pub batch: u32,
    /// The course in that batch.
    pub course: u32,
    /// The class of that course.
    pub class: u32,
}

/// Names one essay, of which there may be several drafts: what one student
/// wrote for one assignment of one class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EssayId {
    /// The class it was written for.
    pub class: ClassId,
    /// The number of the assignment in that class.
    pub essay: u32,
    /// The student.
    pub student: String,
}

impl<'a> DraftParts<'a> {
    /// Takes a name apart; `None` unless it follows the pattern to the letter.
    pub fn parse(name: &'a str) -> Option<Self> {
        let (batch, rest) = number_after(name, "Batch_")?;
        let (course, rest) = number_after(rest, "_Course_")?;
        let (class, rest) = number_after(rest, "_Class_")?;
        let (essay, rest) = number_after(rest, "_Essay_")?;
        let (stage, student) = rest.strip_prefix('_')?.rsplit_once('_')?;
        let digits = student.strip_prefix("ID")?;
        let is_student = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_stage = !stage.is_empty() && !stage.starts_with('_') && !stage.ends_with('_');
        (is_student && is_stage).then_some(Self {
            class: ClassId { batch, course, class },
            essay,
            stage,
            student,
        })
    }

    /// The essay that this is a draft of.
    pub fn essay_id(&self) -> EssayId {
        EssayId { class: self.class, essay: self.essay, student: self.student.to_owned() }
    }

    /// The names of the five folders in which the corpus keeps it, outermost
    /// first.
    pub fn folders(&self) -> [String; 5] {
        let ClassId { batch, course, class } = self.class;
        [
            format!("Batch_{batch}"),
            format!("Course_{course}"),
            format!("Class_{class}"),
            format!("Essay_{}", self.essay),
            self.stage.to_owned(),
        ]
    }
}

impl fmt::Display for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, course, class } = self;
        write!(f, "Batch_{batch}_Course_{course}_Class_{class}")
    }
}

/// The number behind `label` at the start of `text`, and what follows it.
fn number_after<'a>(text: &'a str, label: &str) -> Option<(u32, &'a str)> {
    let rest = text.strip_prefix(label)?;
    let end = rest.find(|ch: char| !ch.is_ascii_digit()).unwrap_or(rest.len());
    Some((rest[..end].parse().ok()?, &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_corpus_comes_apart_into_its_parts() {
        let parts = DraftParts::parse("Batch_2_Course_10_Class_1_Essay_3_Story_Telling_ID0017");
        let expected = DraftParts {
            class: ClassId { batch: 2, course: 10, class: 1 },
            essay: 3,
            stage: "Story_Telling",
            student: "ID0017",
        };
        assert_eq!(parts, Some(expected));
        assert_eq!(
            expected.folders(),
            ["Batch_2", "Course_10", "Class_1", "Essay_3", "Story_Telling"]
        );
    }

    #[test]
    fn a_name_off_the_pattern_has_no_parts() {
        for name in [
            "essay",
            "Batch_2_Course_1_Class_1_Essay_3_ID0017",
            "Batch_2_Course_1_Class_1_Essay_3__Final_ID0017",
            "Batch_2_Course_1_Class_1_Essay_3_Final_0017",
            "Batch_x_Course_1_Class_1_Essay_3_Final_ID0017",
            "batch_2_Course_1_Class_1_Essay_3_Final_ID0017",
        ] {
            assert_eq!(DraftParts::parse(name), None, "{name}");
        }
    }
}
