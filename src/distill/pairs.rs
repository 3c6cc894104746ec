//! Pairs of units that somebody rated.

use camino::Utf8Path;
use serde::Deserialize;
use serde_json::Value;

use super::{
    DistillError,
    lines::{self, Owner},
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

#[derive(Deserialize)]
struct Line {
    a: String,
    b: String,
    ratings: Vec<u8>,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    paragraph: Value,
    draft: Option<String>,
}

/// Reads a file of rated pairs.
pub fn load_pairs(path: &Utf8Path) -> Result<Vec<RatedPair>, DistillError> {
    lines::load(path, |line| {
        let owner: Owner = lines::object(line)?;
        let Line { a, b, ratings, kind, paragraph, draft } = lines::object(line)?;
        if a.trim().is_empty() || b.trim().is_empty() {
            return Err("a unit is empty".to_owned());
        }
        if ratings.is_empty() {
            return Err("there is no rating".to_owned());
        }
        if let Some(rating) = ratings.iter().find(|rating| 4 < **rating) {
            return Err(format!("{rating} is not a rating from 0 to 4"));
        }
        let sum: f64 = ratings.iter().map(|rating| f64::from(*rating)).sum();
        let rating = sum / ratings.len() as f64;
        let student = owner.student().ok_or("it has none of `student`, `draft` and `id`")?;
        let paragraph = format!("{} {paragraph}", draft.as_ref().unwrap_or(&student));
        Ok(RatedPair { student, paragraph, kind, a, b, rating })
    })
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    fn check(lines: &str) -> Result<Vec<RatedPair>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("pairs.jsonl")).unwrap();
        fs_err::write(&path, lines).unwrap();
        load_pairs(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_pair_has_the_mean_of_its_ratings_and_a_student() {
        let draft = "Batch_1_Course_2_Class_1_Essay_3_Final_ID0017";
        let line = format!(
            r#"{{"id": "P1-a", "draft": "{draft}", "paragraph": 3, "kind": "natural", "a": "x", "b": "y", "ratings": [3, 4]}}"#
        );
        let pairs = check(&line).unwrap();
        assert_eq!((pairs[0].rating, pairs[0].student.as_str()), (3.5, "ID0017"));
        assert_eq!(pairs[0].paragraph, format!("{draft} 3"));
    }

    #[test]
    fn what_is_no_rated_pair_is_named_with_its_line() {
        let good = r#"{"id": "1", "a": "x", "b": "y", "ratings": [0]}"#;
        for (bad, expected) in [
            (r#"{"id": "1", "a": "x", "b": "y", "ratings": [5]}"#, "5 is not a rating"),
            (r#"{"id": "1", "a": "x", "b": "y", "ratings": []}"#, "no rating"),
            (r#"{"id": "1", "a": "x", "b": " ", "ratings": [1]}"#, "empty"),
            (r#"{"a": "x", "b": "y", "ratings": [1]}"#, "`student`"),
            (r#"{"id": "1", "a": "x", "ratings": [1]}"#, "`b`"),
        ] {
            let error = check(&format!("{good}\n\n{bad}\n")).unwrap_err();
            assert!(error.contains("pairs.jsonl, line 3: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
        assert!(check("\n").unwrap_err().contains("empty"));
    }
}
