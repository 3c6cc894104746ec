//! Pairs of units that somebody rated, to learn from.

use camino::Utf8Path;

use crate::{
    agreement::{AnnotationError, PairAnnotation, load_pairs},
    corpus::DraftParts,
};

/// A pair of units with its rating.
#[derive(Clone, Debug, PartialEq)]
pub struct RatedPair {
    /// Whose essay it is about.
    pub student: String,
    /// Which paragraph it is about: draft and paragraph.
    pub paragraph: String,
    /// What kind of pair it is.
    pub kind: String,
    /// One unit.
    pub a: String,
    /// The other.
    pub b: String,
    /// The mean of its ratings, `0.0..=4.0`.
    pub rating: f64,
}

/// Loads a file of rated pairs, JSON lines or CSV, as [`load_pairs`].
pub fn load_rated(path: &Utf8Path) -> Result<Vec<RatedPair>, AnnotationError> {
    Ok(load_pairs(path)?.into_iter().map(RatedPair::from).collect())
}

impl From<PairAnnotation> for RatedPair {
    fn from(pair: PairAnnotation) -> Self {
        Self {
            student: student(&pair),
            paragraph: pair.group(),
            rating: pair.gold(),
            kind: pair.kind.unwrap_or_default(),
            a: pair.a,
            b: pair.b,
        }
    }
}

/// The student, or what stands for one.
pub(super) fn student(pair: &PairAnnotation) -> String {
    if let Some(student) = &pair.student {
        return student.clone();
    }
    match &pair.draft {
        Some(draft) => match DraftParts::parse(draft) {
            Some(parts) => parts.student.to_owned(),
            None => draft.clone(),
        },
        None => stem(&pair.id).to_owned(),
    }
}

/// An id up to its first `-`.
pub(super) fn stem(id: &str) -> &str {
    id.split_once('-').map_or(id, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn a_pair_has_the_mean_of_its_ratings_and_a_student() {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("pairs.jsonl")).unwrap();
        let draft = "Batch_1_Course_2_Class_1_Essay_3_Final_ID0017";
        let lines = [
            format!(
                r#"{{"id": "P1-a", "draft": "{draft}", "paragraph": 3, "a": "x", "b": "y", "ratings": [3, 4]}}"#
            ),
            r#"{"id": "2", "student": 9, "draft": "D", "a": "x", "b": "y", "ratings": [1]}"#.into(),
            r#"{"id": "3", "draft": "D", "a": "x", "b": "y", "ratings": [1]}"#.into(),
            r#"{"id": "P4-b-c", "a": "x", "b": "y", "ratings": [1]}"#.into(),
        ];
        fs_err::write(&path, lines.join("\n")).unwrap();
        let pairs = load_rated(&path).unwrap();
        let students: Vec<&str> = pairs.iter().map(|pair| pair.student.as_str()).collect();
        assert_eq!(students, ["ID0017", "9", "D", "P4"]);
        assert!((pairs[0].rating - 3.5).abs() < 1e-12);
        assert_eq!(pairs[0].paragraph, format!("{draft}#3"));
    }
}
