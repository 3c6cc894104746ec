//! Files of pairs of units that people rated.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    AnnotationError,
    annotation_error::{json_lines, plain, read},
    csv_rows::{Columns, Row, is_csv, rows},
};

/// A pair of units, and what each rater gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct PairAnnotation {
    /// Its name, which no other pair of the file has.
    pub id: String,
    /// Whose essay the units speak of, where it is not said by the draft.
    pub student: Option<String>,
    /// The draft that the units speak of.
    pub draft: Option<String>,
    /// The paragraph of the draft.
    pub paragraph: Option<String>,
    /// What sort of pair it is, as `natural`.
    pub kind: Option<String>,
    /// The first unit.
    pub a: String,
    /// The second unit.
    pub b: String,
    /// A rating from 0 to 4 of each rater, in one order throughout the file; `None` where a
    /// rater gave none. At least one is there.
    pub ratings: Vec<Option<f64>>,
    /// The names of the raters, where the file has them.
    pub raters: Vec<String>,
}

impl PairAnnotation {
    /// The mean of the ratings.
    pub fn gold(&self) -> f64 {
        let given: Vec<f64> = self.ratings.iter().copied().flatten().collect();
        given.iter().sum::<f64>() / given.len() as f64
    }

    /// What pairs are drawn together by: the paragraph of a draft or of a student, else
    /// the draft or the student, else the pair.
    pub fn group(&self) -> String {
        match (self.draft.as_ref().or(self.student.as_ref()), &self.paragraph) {
            (Some(draft), Some(paragraph)) => format!("{draft}#{paragraph}"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => format!("pair {}", self.id),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WirePair {
    id: Value,
    student: Option<Value>,
    draft: Option<String>,
    paragraph: Option<Value>,
    kind: Option<String>,
    a: String,
    b: String,
    ratings: Vec<Option<f64>>,
    #[serde(default)]
    raters: Vec<String>,
}

/// Loads pairs from JSON lines or CSV, as the name of the file says.
///
/// JSON: `{"id", "student", "draft", "paragraph", "kind", "a", "b", "ratings": [0, 1]}`, of
/// which `student`, `draft`, `paragraph` and `kind` may be missing; `raters` may name those who gave the
/// ratings, in their order. CSV: columns of these names, and for each rater a column that
/// begins with `rating`, blank where there is none.
///
/// # Errors
///
/// Each names the file and the line: an unknown field, a rating that is none from 0 to 4,
/// a pair without a rating or with a blank unit, an id that comes twice.
pub fn load_pairs(path: &Utf8Path) -> Result<Vec<PairAnnotation>, AnnotationError> {
    let text = read(path)?;
    let pairs = if is_csv(path)? { from_csv(path, &text)? } else { from_json(path, &text)? };
    if pairs.is_empty() {
        return Err(AnnotationError::of(path, "there is no pair in it"));
    }
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, pair) in &pairs {
        let fault = |reason: &str| Err(AnnotationError::at(path, *line, reason));
        if pair.a.trim().is_empty() || pair.b.trim().is_empty() {
            return fault("a unit is blank");
        }
        if pair.ratings.iter().all(Option::is_none) {
            return fault("there is no rating: give one, or take the line out");
        }
        if pair.ratings.iter().flatten().any(|rating| !(0.0..=4.0).contains(rating)) {
            return fault("a rating is not from 0 to 4");
        }
        if let Some(first) = lines.insert(&pair.id, *line) {
            return fault(&format!("the id is that of line {first}: give each pair its own"));
        }
    }
    Ok(pairs.into_iter().map(|(_, pair)| pair).collect())
}

fn from_json(path: &Utf8Path, text: &str) -> Result<Vec<(usize, PairAnnotation)>, AnnotationError> {
    let wires: Vec<(usize, WirePair)> = json_lines(path, text)?;
    // Where raters have names, their places are those of the sorted names.
    let names: BTreeSet<&String> = wires.iter().flat_map(|(_, wire)| &wire.raters).collect();
    let names: Vec<String> = names.into_iter().cloned().collect();
    let mut pairs = Vec::new();
    for (line, wire) in wires {
        let fault = |reason: &str| AnnotationError::at(path, line, reason);
        let ratings = if names.is_empty() {
            wire.ratings
        } else {
            if wire.raters.len() != wire.ratings.len() {
                return Err(fault("the raters and their ratings differ in number"));
            }
            let given: BTreeMap<&String, Option<f64>> =
                wire.raters.iter().zip(wire.ratings).collect();
            if given.len() != wire.raters.len() {
                return Err(fault("a rater comes twice"));
            }
            names.iter().map(|name| given.get(name).copied().flatten()).collect()
        };
        let id = plain(&wire.id).ok_or_else(|| fault("field id is neither text nor number"))?;
        let optional = |value: &Option<Value>, reason: &str| match value {
            None => Ok(None),
            Some(value) => plain(value).map(Some).ok_or_else(|| fault(reason)),
        };
        let student = optional(&wire.student, "field student is neither text nor number")?;
        let paragraph = optional(&wire.paragraph, "field paragraph is neither text nor number")?;
        let WirePair { draft, kind, a, b, .. } = wire;
        let raters = names.clone();
        let pair = PairAnnotation { id, student, draft, paragraph, kind, a, b, ratings, raters };
        pairs.push((line, pair));
    }
    Ok(pairs)
}

fn from_csv(path: &Utf8Path, text: &str) -> Result<Vec<(usize, PairAnnotation)>, AnnotationError> {
    const COLUMNS: Columns = Columns {
        needed: &["id", "a", "b"],
        optional: &["student", "draft", "paragraph", "kind"],
        prefix: Some("rating"),
    };
    let (columns, rows) = rows(path, text, &COLUMNS)?;
    let raters: Vec<String> =
        columns.into_iter().filter(|column| column.starts_with("rating")).collect();
    if raters.is_empty() {
        let reason = "there is no column that begins with `rating`, one for each rater";
        return Err(AnnotationError::at(path, 1, reason));
    }
    let pair = |row: Row| {
        let rating = |column: &String| match row.cells.get(column) {
            None => Ok(None),
            Some(cell) => cell.trim().parse().map(Some).map_err(|_| {
                let reason = format!("the column {column} holds no number");
                AnnotationError::at(path, row.line, reason)
            }),
        };
        let ratings = raters.iter().map(rating).collect::<Result<_, _>>()?;
        let cell = |column: &str| row.cells.get(column).cloned();
        let pair = PairAnnotation {
            id: row.needed(path, "id")?,
            student: cell("student"),
            draft: cell("draft"),
            paragraph: cell("paragraph"),
            kind: cell("kind"),
            a: row.needed(path, "a")?,
            b: row.needed(path, "b")?,
            ratings,
            raters: raters.clone(),
        };
        Ok((row.line, pair))
    };
    rows.into_iter().map(pair).collect()
}

/// The pairs as JSON lines, which [`load_pairs`] reads.
pub fn write_pairs(pairs: &[PairAnnotation]) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    for pair in pairs {
        text.push_str(&serde_json::to_string(&WirePairOut::of(pair))?);
        text.push('\n');
    }
    Ok(text)
}

#[derive(Serialize)]
struct WirePairOut<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    student: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draft: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paragraph: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    a: &'a str,
    b: &'a str,
    ratings: Vec<Option<Value>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    raters: &'a [String],
}

impl<'a> WirePairOut<'a> {
    fn of(pair: &'a PairAnnotation) -> Self {
        let number = |text: &String| text.parse::<u64>().map_or_else(|_| json!(text), |n| json!(n));
        Self {
            id: &pair.id,
            student: pair.student.as_deref(),
            draft: pair.draft.as_deref(),
            paragraph: pair.paragraph.as_ref().map(number),
            kind: pair.kind.as_deref(),
            a: &pair.a,
            b: &pair.b,
            ratings: pair.ratings.iter().map(|rating| rating.map(whole)).collect(),
            raters: &pair.raters,
        }
    }
}

/// A whole number as one, so that a rating reads `3` and not `3.0`.
fn whole(rating: f64) -> Value {
    let is_whole = rating.fract().abs() <= 0.0 && (0.0..=4.0).contains(&rating);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 4")]
    if is_whole { json!(rating as u8) } else { json!(rating) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(name: &str, text: &str) -> Result<Vec<PairAnnotation>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(dir.path()).unwrap().join(name);
        fs_err::write(&path, text).unwrap();
        load_pairs(&path).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check_refused(name: &str, text: &str, expected: &[&str]) {
        let message = load(name, text).unwrap_err();
        for part in [name].iter().chain(expected) {
            assert!(message.contains(part), "{message}");
        }
        assert!(!message.contains("secret"), "{message}");
    }

    #[test]
    fn jsonl_and_csv_hold_the_same_pairs() {
        let json = "{\"id\":\"x\",\"draft\":\"D\",\"paragraph\":4,\"kind\":\"natural\",\"a\":\"A, b\",\
                    \"b\":\"B\",\"ratings\":[0,null]}\n\n{\"id\":7,\"a\":\"C\",\"b\":\"D\",\"ratings\":[2.5,3]}\n";
        let csv = "id,draft,paragraph,kind,a,b,rating_1,rating_2\nx,D,4,natural,\"A, b\",B,0,\n7,,,,C,D,2.5,3\n";
        let strip = |mut pairs: Vec<PairAnnotation>| {
            for pair in &mut pairs {
                pair.raters.clear();
            }
            pairs
        };
        let (json, csv) = (load("p.jsonl", json).unwrap(), load("p.csv", csv).unwrap());
        assert_eq!(json, strip(csv));
        assert_eq!((json[0].group(), json[1].group()), ("D#4".into(), "pair 7".into()));
        assert!((json[1].gold() - 2.75).abs() < 1e-12);
        assert_eq!(load("p.jsonl", &write_pairs(&json).unwrap()).unwrap(), json);
    }

    #[test]
    fn named_raters_keep_their_places_whatever_the_order_in_a_line() {
        let text = "{\"id\":\"1\",\"a\":\"A\",\"b\":\"B\",\"ratings\":[4,0],\"raters\":[\"ben\",\"anna\"]}\n\
                    {\"id\":\"2\",\"a\":\"A\",\"b\":\"B\",\"ratings\":[1],\"raters\":[\"ben\"]}\n";
        let pairs = load("p.jsonl", text).unwrap();
        assert_eq!(pairs[0].ratings, [Some(0.0), Some(4.0)]);
        assert_eq!(pairs[1].ratings, [None, Some(1.0)]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_not_quoted() {
        let good = "{\"id\":\"1\",\"a\":\"A\",\"b\":\"B\",\"ratings\":[0]}\n";
        check_refused("p.jsonl", &format!("{good}\"secret\"\n"), &["line 2"]);
        check_refused("p.jsonl", &format!("{good}{good}"), &["line 2", "line 1"]);
        check_refused("p.jsonl", &good.replace("[0]", "[5]"), &["line 1", "0 to 4"]);
        check_refused("p.jsonl", &good.replace("[0]", "[null]"), &["line 1", "no rating"]);
        check_refused("p.jsonl", &good.replace("\"A\"", "\" \""), &["line 1", "blank"]);
        check_refused("p.jsonl", &good.replace("\"a\"", "\"aa\""), &["line 1", "unknown field"]);
        check_refused("p.jsonl", "", &["no pair"]);
        check_refused("p.txt", good, &[".jsonl"]);
        check_refused("p.csv", "id,a,b,rating\n1,A,B,secret\n", &["line 2", "no number"]);
        check_refused("p.csv", "id,a,b\n1,A,B\n", &["line 1", "rating"]);
        check_refused("p.csv", "id,a,b,rating\n1,A\n", &["line 2", "2 columns"]);
        check_refused("p.csv", "id,a,b,rating,note\n", &["line 1", "`note`"]);
    }
}
