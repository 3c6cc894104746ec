//! What sheets export, brought together again.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use serde::Deserialize;

use super::{
    AnnotationError, PairAnnotation,
    annotation_error::{json_lines, read},
    pair_id,
};

/// A line that a sheet exports.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(rename = "sheet")]
    _sheet: String,
    rater: String,
    id: String,
    draft: String,
    paragraph: String,
    kind: String,
    a: String,
    b: String,
    rating: u8,
}

/// The annotations of one or several raters.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The pairs, in the order in which they first come.
    pub pairs: Vec<PairAnnotation>,
    /// How many each rater rated.
    pub by_rater: BTreeMap<String, usize>,
    /// The pairs that all raters rated.
    pub n_by_all: usize,
}

/// Reads the files that sheets exported, one or several of each rater, and puts the ratings
/// of a pair together.
///
/// # Errors
///
/// Each names the file and the line: what is no line of a sheet, a rating that is none
/// from 0 to 4, a rater without a name, a pair whose place and words are not those that its
/// name was made of, a pair that a rater rated twice and not alike.
pub fn import_sheets(paths: &[Utf8PathBuf]) -> Result<Imported, AnnotationError> {
    let mut order: Vec<(Line, BTreeMap<String, u8>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_rater: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths {
        let lines: Vec<(usize, Line)> = json_lines(path, &read(path)?)?;
        if lines.is_empty() {
            return Err(AnnotationError::of(path, "there is no rating in it"));
        }
        for (number, line) in lines {
            let fault = |reason: &str| AnnotationError::at(path, number, reason);
            let rater = line.rater.trim().to_owned();
            if rater.is_empty() {
                return Err(fault("the rater has no name: fill it in on the sheet"));
            }
            if 4 < line.rating {
                return Err(fault("a rating is not from 0 to 4"));
            }
            if line.id != pair_id([&line.draft, &line.paragraph, &line.a, &line.b]) {
                return Err(fault(
                    "the pair is not as a sheet shows it: it was edited; give what the sheet exported",
                ));
            }
            let place = *places.entry(line.id.clone()).or_insert(order.len());
            if place == order.len() {
                *by_rater.entry(rater.clone()).or_default() += 1;
                let ratings = BTreeMap::from([(rater, line.rating)]);
                order.push((line, ratings));
                continue;
            }
            let (_, ratings) = &mut order[place];
            match ratings.insert(rater.clone(), line.rating) {
                None => *by_rater.entry(rater).or_default() += 1,
                Some(before) if before == line.rating => {}
                Some(_) => {
                    return Err(fault(
                        "this rater rated the pair before, and not alike: keep one of the two",
                    ));
                }
            }
        }
    }
    let raters: Vec<String> = by_rater.keys().cloned().collect();
    let n_by_all = order.iter().filter(|(_, ratings)| ratings.len() == raters.len()).count();
    let pairs = order.into_iter().map(|(line, ratings)| pair(line, &ratings, &raters)).collect();
    Ok(Imported { pairs, by_rater, n_by_all })
}

fn pair(line: Line, ratings: &BTreeMap<String, u8>, raters: &[String]) -> PairAnnotation {
    let Line { id, draft, paragraph, kind, a, b, .. } = line;
    PairAnnotation {
        id,
        student: None,
        draft: Some(draft),
        paragraph: Some(paragraph),
        kind: Some(kind),
        a,
        b,
        ratings: raters.iter().map(|rater| ratings.get(rater).copied().map(f64::from)).collect(),
        raters: raters.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::*;

    fn line(rater: &str, name: &str, rating: &str) -> String {
        let id = pair_id(["D", "3", &format!("A {name}"), "B"]);
        format!(
            "{{\"sheet\":\"s\",\"rater\":\"{rater}\",\"id\":\"{id}\",\"draft\":\"D\",\"paragraph\":\"3\",\
             \"kind\":\"natural\",\"a\":\"A {name}\",\"b\":\"B\",\"rating\":{rating}}}\n"
        )
    }

    fn import(files: &[&str]) -> Result<Imported, String> {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let paths: Vec<Utf8PathBuf> = files
            .iter()
            .enumerate()
            .map(|(at, text)| {
                let path = dir.join(format!("{at}.jsonl"));
                fs_err::write(&path, text).unwrap();
                path
            })
            .collect();
        import_sheets(&paths).map_err(|error| error.to_string())
    }

    #[test]
    fn ratings_of_several_raters_come_together() {
        let anna = line("anna", "x", "3") + &line("anna", "y", "0");
        let found = import(&[&line("ben", "y", "1"), &anna]).unwrap();
        let units: Vec<&str> = found.pairs.iter().map(|pair| pair.a.as_str()).collect();
        assert_eq!(units, ["A y", "A x"]);
        assert_eq!(found.pairs[0].raters, ["anna", "ben"]);
        assert_eq!(found.pairs[0].ratings, [Some(0.0), Some(1.0)]);
        assert_eq!(found.pairs[1].ratings, [Some(3.0), None]);
        assert_eq!((found.by_rater["anna"], found.n_by_all), (2, 1));
    }

    #[test]
    fn what_does_not_go_together_is_named_with_its_line() {
        let good = line("anna", "x", "3");
        for (text, expected) in [
            (good.clone() + &line("anna", "x", "2"), "0.jsonl, line 2"),
            (line("anna", "x", "5"), "0 to 4"),
            (line(" ", "x", "1"), "no name"),
            (
                good.clone() + &line("ben", "x", "3").replace("A x", "A z"),
                "line 2: the pair is not as",
            ),
            (good.replace("\"D\"", "\"E\""), "line 1: the pair is not as a sheet shows it"),
            (good.replace("\"kind\"", "\"kin\""), "line 1"),
            (String::new(), "no rating"),
        ] {
            let message = import(&[&text]).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
        // The same rating in two exports of one rater is one rating.
        assert_eq!(import(&[&good, &good]).unwrap().by_rater["anna"], 1);
    }
}
