//! The levels of the tree that a corpus is laid out in.

use std::fmt;

use camino::Utf8Path;

/// A level of the tree `Batch_*/Course_*/Class_*/Essay_*/<Stage>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The whole corpus.
    Corpus,
    /// `Batch_*`.
    Batch,
    /// `Course_*`.
    Course,
    /// `Class_*`.
    Class,
    /// `Essay_*`: one assignment.
    Essay,
    /// One stage of one assignment.
    Stage,
}

impl Level {
    /// All of them, the outermost first.
    pub const ALL: [Self; 6] =
        [Self::Corpus, Self::Batch, Self::Course, Self::Class, Self::Essay, Self::Stage];

    /// The level of a folder, told from its name and those above it; `None` for
    /// a folder that is not of the tree.
    pub fn of_folder(folder: &Utf8Path) -> Option<Self> {
        let names: Vec<&str> = folder.components().map(|component| component.as_str()).collect();
        let depth = (1..=LABELS.len() + 1).rev().find(|depth| {
            let above = names.len().checked_sub(*depth);
            above.is_some_and(|above| begins_tree(&names[above..]))
        })?;
        Some(Self::ALL[depth])
    }

    /// How many folders lie above it in the tree.
    pub fn depth(self) -> usize {
        self as usize
    }

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Corpus => "corpus",
            Self::Batch => "batch",
            Self::Course => "course",
            Self::Class => "class",
            Self::Essay => "essay",
            Self::Stage => "stage",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

const LABELS: [&str; 4] = ["Batch_", "Course_", "Class_", "Essay_"];

/// Whether these are folders of the tree from a batch on, one below the other.
fn begins_tree(names: &[&str]) -> bool {
    names.iter().zip(LABELS).all(|(name, label)| {
        name.strip_prefix(label)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_told_by_its_name_and_those_above_it() {
        let level = |path: &str| Level::of_folder(Utf8Path::new(path));
        assert_eq!(level("SEFORA"), None);
        assert_eq!(level("SEFORA/Batch_1"), Some(Level::Batch));
        assert_eq!(level("a/Batch_1/Course_2/Class_3"), Some(Level::Class));
        assert_eq!(level("Batch_1/Course_2/Class_3/Essay_4"), Some(Level::Essay));
        assert_eq!(level("x/Batch_1/Course_2/Class_3/Essay_4/Final"), Some(Level::Stage));
        assert_eq!(level("x/Batch_1/Course_2/Class_3/Essay_4/Final/old"), None);
        assert_eq!(level("Essay_4/Final"), None);
        assert_eq!(level("Batch_one"), None);
    }
}
