//! Which paragraphs hang together.

use std::{collections::BTreeMap, fmt, str::FromStr};

use crate::corpus::ParagraphId;

/// What paragraphs must share to be drawn together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing: each is by itself.
    Paragraph,
    /// The draft.
    Draft,
    /// The student, whatever the class: what is alike in texts is mostly who wrote them.
    #[default]
    Student,
    /// The class, and with it the instructor.
    Class,
}

impl Level {
    /// All of them, the finest first.
    pub const ALL: [Self; 4] = [Self::Paragraph, Self::Draft, Self::Student, Self::Class];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paragraph => "paragraph",
            Self::Draft => "draft",
            Self::Student => "student",
            Self::Class => "class",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|level| level.name() == text)
            .ok_or_else(|| format!("`{text}` is none of paragraph, draft, student and class"))
    }
}

/// The cluster of each of some paragraphs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clusters {
    /// For each paragraph, in order, the number of its cluster, from zero.
    pub of: Vec<usize>,
    /// The clusters' names, in order of their numbers.
    pub names: Vec<String>,
    /// Paragraphs whose draft's name does not tell the student or class: there the draft
    /// stands in for it.
    pub n_untold: usize,
}

/// Puts paragraphs, by their names as `DRAFT#3`, into clusters, numbered as they first
/// occur.
pub fn clusters<'a>(keys: impl IntoIterator<Item = &'a str>, level: Level) -> Clusters {
    let mut found = Clusters { of: Vec::new(), names: Vec::new(), n_untold: 0 };
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for key in keys {
        let (name, is_told) = cluster_name(key, level);
        found.n_untold += usize::from(!is_told);
        let number = *numbers.entry(name.clone()).or_insert_with(|| {
            found.names.push(name);
            found.names.len() - 1
        });
        found.of.push(number);
    }
    found
}

fn cluster_name(key: &str, level: Level) -> (String, bool) {
    if level == Level::Paragraph {
        return (key.to_owned(), true);
    }
    let Ok(ParagraphId { draft, .. }) = key.parse::<ParagraphId>() else {
        return (key.to_owned(), level == Level::Draft);
    };
    match (level, draft.parts()) {
        (Level::Student, Some(parts)) => (parts.student.to_owned(), true),
        (Level::Class, Some(parts)) => (parts.class.to_string(), true),
        (Level::Draft, _) => (draft.as_str().to_owned(), true),
        _ => (draft.as_str().to_owned(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 4] = [
        "Batch_1_Course_1_Class_1_Essay_1_Initial_ID0001#1",
        "Batch_1_Course_1_Class_1_Essay_1_Final_ID0001#2",
        "Batch_1_Course_1_Class_2_Essay_1_Final_ID0001#2",
        "notes#4",
    ];

    #[test]
    fn a_student_is_one_in_all_classes_and_a_name_that_tells_nothing_is_counted() {
        let of = |level| clusters(KEYS, level);
        assert_eq!(of(Level::Paragraph).of, [0, 1, 2, 3]);
        assert_eq!(of(Level::Draft).of, [0, 1, 2, 3]);
        assert_eq!(of(Level::Student).of, [0, 0, 0, 1]);
        assert_eq!(of(Level::Class).of, [0, 0, 1, 2]);
        assert_eq!(of(Level::Class).n_untold, 1);
        assert_eq!(of(Level::Draft).n_untold, 0);
        assert_eq!(of(Level::Student).names, ["ID0001", "notes"]);
    }
}
