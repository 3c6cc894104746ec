//! Files of texts that experts put in order.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::RankedText;
use crate::{
    agreement::{
        AnnotationError,
        annotation_error::{json_lines, read},
    },
    stats::average_ranks,
};

/// Texts on one paragraph, and how raters put them in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranking {
    /// Its name, which no other set of the file has.
    pub id: String,
    /// The draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
    /// The paragraph of the draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paragraph: Option<String>,
    /// The instructor's units.
    pub gold: Vec<String>,
    /// The texts.
    pub texts: Vec<RankedText>,
    /// The ranks of each rater, in the order of the texts: 1 is the best, equal ranks are
    /// ties; `null` for a rater who did not rank this set.
    pub ranks: Vec<Option<Vec<f64>>>,
    /// The raters, in the order of their ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raters: Vec<String>,
}

impl Ranking {
    /// With the place of each text in its rater's order in stead of the rank, texts of one
    /// rank in the mean of the places that they share: 1, 1, 3 and 2, 2, 7 both become 1.5,
    /// 1.5, 3. Raters number differently, and means of their numbers would weigh them so.
    #[must_use]
    pub fn placed(&self) -> Self {
        let ranks = self.ranks.iter().map(|ranks| ranks.as_deref().map(average_ranks)).collect();
        Self { ranks, ..self.clone() }
    }
}

/// Loads sets of ranked texts from JSON lines.
///
/// # Errors
///
/// Each names the file and the line: an unknown field, a set of fewer than two texts or
/// without a unit of the instructor, ranks that are not one for each text or are not
/// numbers from 1 up, a set that nobody ranked, an id of a set or of a text in it that
/// comes twice.
pub fn load_rankings(path: &Utf8Path) -> Result<Vec<Ranking>, AnnotationError> {
    let sets: Vec<(usize, Ranking)> = json_lines(path, &read(path)?)?;
    if sets.is_empty() {
        return Err(AnnotationError::of(path, "there is no set of texts in it"));
    }
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, set) in &sets {
        check(set).map_err(|reason| AnnotationError::at(path, *line, reason))?;
        if let Some(first) = lines.insert(&set.id, *line) {
            let reason = format!("the id is that of line {first}: give each set its own");
            return Err(AnnotationError::at(path, *line, reason));
        }
    }
    Ok(sets.into_iter().map(|(_, set)| set).collect())
}

fn check(set: &Ranking) -> Result<(), &'static str> {
    if set.gold.iter().all(|unit| unit.trim().is_empty()) {
        return Err("there is no unit of the instructor: give some in `gold`");
    }
    if set.texts.len() < 2 {
        return Err("there are fewer than two texts to put in order");
    }
    if set.texts.iter().any(|text| text.text.trim().is_empty()) {
        return Err("a text is blank");
    }
    let ids: BTreeSet<&str> = set.texts.iter().map(|text| text.id.as_str()).collect();
    if ids.len() < set.texts.len() {
        return Err("two texts of the set have one id: give each its own");
    }
    if !set.raters.is_empty() && set.raters.len() != set.ranks.len() {
        return Err("the raters and their ranks differ in number");
    }
    if set.ranks.iter().all(Option::is_none) {
        return Err("nobody ranked these texts: give `ranks`, or take the line out");
    }
    for ranks in set.ranks.iter().flatten() {
        if ranks.len() != set.texts.len() {
            return Err("a rater gave not one rank for each text");
        }
        if ranks.iter().any(|rank| !(1.0..=1e6).contains(rank)) {
            return Err("a rank is no number from 1 up, 1 being the best");
        }
    }
    Ok(())
}

/// The sets as JSON lines, which [`load_rankings`] reads.
pub fn write_rankings(sets: &[Ranking]) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    for set in sets {
        text.push_str(&serde_json::to_string(set)?);
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: &str = r#"{"id":"1","gold":["Who is Alex?"],"texts":[{"id":"a","text":"Say who Alex is."},{"id":"b","text":"Nice."}],"ranks":[[1,2],null]}"#;

    fn load(text: &str) -> Result<Vec<Ranking>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(dir.path()).unwrap().join("r.jsonl");
        fs_err::write(&path, text).unwrap();
        load_rankings(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_set_is_read_as_it_is_written() {
        let sets = load(SET).unwrap();
        assert_eq!(sets[0].ranks, [Some(vec![1.0, 2.0]), None]);
        assert_eq!(load(&write_rankings(&sets).unwrap()).unwrap(), sets);
    }

    #[test]
    fn what_is_no_ranking_is_named_with_its_line() {
        for (text, expected) in [
            (SET.replace("[1,2]", "[1]"), "line 1: a rater gave not one rank"),
            (SET.replace("[1,2]", "[0,2]"), "from 1 up"),
            (SET.replace("[[1,2],null]", "[null]"), "nobody ranked"),
            (SET.replace("\"Who is Alex?\"", ""), "no unit of the instructor"),
            (SET.replace("Nice.", " "), "blank"),
            (
                SET.replace("\"id\":\"b\"", "\"id\":\"a\""),
                "line 1: two texts of the set have one id",
            ),
            (SET.replace("\"gold\"", "\"golden\""), "line 1"),
            (format!("{SET}\n{SET}"), "line 2: the id is that of line 1"),
            (String::new(), "no set"),
        ] {
            let message = load(&text).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
