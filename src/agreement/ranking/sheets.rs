//! What ranking sheets export, brought together with their key.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::{RankedText, Ranking, guard::unguarded};
use crate::agreement::{
    AnnotationError,
    annotation_error::{json_lines, read},
    csv_rows::{Columns, is_csv, rows},
};

/// A set of the key: what a sheet shows, and what it does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyedSet {
    /// The set.
    pub id: String,
    /// The draft.
    pub draft: String,
    /// The paragraph of the draft.
    pub paragraph: String,
    /// The instructor's units.
    pub gold: Vec<String>,
    /// The texts.
    pub texts: Vec<KeyedText>,
}

/// A text of the key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyedText {
    /// Its name on the sheet.
    pub id: String,
    /// The text.
    pub text: String,
    /// Its units as they were put together.
    pub units: Vec<String>,
    /// The soft F1 that it was put together for.
    pub f1: f64,
    /// How many of its units are the instructor's own.
    pub n_own: usize,
}

impl From<&KeyedText> for RankedText {
    fn from(text: &KeyedText) -> Self {
        Self { id: text.id.clone(), text: text.text.clone() }
    }
}

/// A line that a sheet exports.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Which exported it; a CSV does not say.
    sheet: Option<String>,
    rater: String,
    id: String,
    text: String,
    rank: f64,
    /// The words that the rater saw, where a CSV shows them.
    #[serde(skip)]
    words: Option<String>,
}

/// The name of the sheet with these sets.
pub fn ranking_sheet_name(sets: &[KeyedSet]) -> String {
    let ids: Vec<&str> = sets.iter().map(|set| set.id.as_str()).collect();
    format!("ranking-{}", &blake3::hash(ids.join(" ").as_bytes()).to_hex()[..8])
}

/// The rankings of one or several raters.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRankings {
    /// The sets that somebody ranked, in the order of the key.
    pub sets: Vec<Ranking>,
    /// How many sets each rater ranked.
    pub by_rater: BTreeMap<String, usize>,
}

/// Reads the key of a sheet.
///
/// # Errors
///
/// Names the file and the line of what is no set, or of an id of a set or a text that
/// comes twice.
pub fn load_key(path: &Utf8Path) -> Result<Vec<KeyedSet>, AnnotationError> {
    let sets: Vec<(usize, KeyedSet)> = json_lines(path, &read(path)?).map_err(|mut error| {
        error.reason.push_str("; the key is the .key.jsonl that was written beside the sheet");
        error
    })?;
    if sets.is_empty() {
        return Err(AnnotationError::of(path, "there is no set in it"));
    }
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, set) in &sets {
        if let Some(first) = lines.insert(&set.id, *line) {
            let reason = format!("the id is that of line {first}: the key was put together twice");
            return Err(AnnotationError::at(path, *line, reason));
        }
        let ids: BTreeSet<&str> = set.texts.iter().map(|text| text.id.as_str()).collect();
        if ids.len() < set.texts.len() {
            let reason = "two texts of the set have one id: give the key as it was written";
            return Err(AnnotationError::at(path, *line, reason));
        }
    }
    Ok(sets.into_iter().map(|(_, set)| set).collect())
}

/// Reads what sheets exported (.jsonl) and sheets that were filled in (.csv), one or
/// several of each rater, and puts the ranks of a set together.
///
/// # Errors
///
/// Each names the file and the line: what is no line of a sheet, a rank that is none from
/// 1 to the number of texts, a rater without a name, a line of another sheet than that of
/// the key, a set or text that the key does not have, a text whose words are not those of
/// the key, a text ranked twice and not alike, a set of which only some texts are ranked.
pub fn import_rankings(
    key: &[KeyedSet],
    sheets: &[Utf8PathBuf],
) -> Result<ImportedRankings, AnnotationError> {
    let places: BTreeMap<&str, usize> =
        key.iter().enumerate().map(|(at, set)| (set.id.as_str(), at)).collect();
    let sheet = ranking_sheet_name(key);
    // By rater and set, the rank of each text and where it was read.
    let mut given: BTreeMap<(String, usize), Vec<Option<f64>>> = BTreeMap::new();
    let mut seen: BTreeMap<(String, usize), (Utf8PathBuf, usize)> = BTreeMap::new();
    for path in sheets {
        for (number, line) in lines(path)? {
            let fault = |reason: &str| AnnotationError::at(path, number, reason);
            let rater = line.rater.trim().to_owned();
            if rater.is_empty() {
                return Err(fault("the rater has no name: fill it in on the sheet"));
            }
            if line.sheet.as_ref().is_some_and(|name| *name != sheet) {
                return Err(fault(&format!(
                    "another sheet exported it than that of the key, which is {sheet}: give its key"
                )));
            }
            let set = *places
                .get(line.id.as_str())
                .ok_or_else(|| fault("the key has no such set: is it that of another sheet?"))?;
            let texts = &key[set].texts;
            let text = texts
                .iter()
                .position(|text| text.id == line.text)
                .ok_or_else(|| fault("the set of the key has no such text"))?;
            let is_other =
                |words: &String| !words.split_whitespace().eq(texts[text].text.split_whitespace());
            if line.words.as_ref().is_some_and(is_other) {
                return Err(fault(
                    "the text is not that of the key: it was edited, or is of another sheet; rank \
                     it on the sheet as it was written",
                ));
            }
            if !(1.0..=texts.len() as f64).contains(&line.rank) || line.rank.fract() != 0.0 {
                let reason = format!("a rank is not from 1 to {}", texts.len());
                return Err(fault(&reason));
            }
            let ranks =
                given.entry((rater.clone(), set)).or_insert_with(|| vec![None; texts.len()]);
            if ranks[text].is_some_and(|before| before.total_cmp(&line.rank).is_ne()) {
                return Err(fault(
                    "this rater ranked the text before, and not alike: keep one of the two",
                ));
            }
            ranks[text] = Some(line.rank);
            seen.insert((rater, set), (path.clone(), number));
        }
    }
    let mut whole: BTreeMap<(String, usize), Vec<f64>> = BTreeMap::new();
    for (place, ranks) in given {
        let Some(ranks) = ranks.into_iter().collect() else {
            let (path, number) = &seen[&place];
            let reason = "a text of this set has no rank: rank all of them, or none";
            return Err(AnnotationError::at(path, *number, reason));
        };
        whole.insert(place, ranks);
    }
    let mut by_rater: BTreeMap<String, usize> = BTreeMap::new();
    for (rater, _) in whole.keys() {
        *by_rater.entry(rater.clone()).or_default() += 1;
    }
    let raters: Vec<String> = by_rater.keys().cloned().collect();
    let ranking = |(at, set): (usize, &KeyedSet)| -> Option<Ranking> {
        let ranks: Vec<Option<Vec<f64>>> =
            raters.iter().map(|rater| whole.get(&(rater.clone(), at)).cloned()).collect();
        ranks.iter().any(Option::is_some).then(|| Ranking {
            id: set.id.clone(),
            draft: Some(set.draft.clone()),
            paragraph: Some(set.paragraph.clone()),
            gold: set.gold.clone(),
            texts: set.texts.iter().map(RankedText::from).collect(),
            ranks,
            raters: raters.clone(),
        })
    };
    let sets = key.iter().enumerate().filter_map(ranking).collect();
    Ok(ImportedRankings { sets, by_rater })
}

/// The ranks of a sheet with the lines they stand on. Rows of a CSV without a rank are
/// left out.
fn lines(path: &Utf8Path) -> Result<Vec<(usize, Line)>, AnnotationError> {
    let text = read(path)?;
    let lines = if is_csv(path)? {
        let (_, rows) = rows(path, &text, &COLUMNS)?;
        let ranked = rows.into_iter().filter(|row| row.cells.contains_key("rank"));
        ranked
            .map(|row| {
                let rank = row.needed(path, "rank")?;
                let rank = rank.trim().parse().map_err(|_| {
                    AnnotationError::at(path, row.line, "the column rank holds no number")
                })?;
                let line = Line {
                    sheet: None,
                    words: row.cells.get("text").map(|text| unguarded(text).to_owned()),
                    rater: unguarded(&row.needed(path, "rater")?).to_owned(),
                    id: row.needed(path, "id")?,
                    text: row.needed(path, "text_id")?,
                    rank,
                };
                Ok((row.line, line))
            })
            .collect::<Result<_, _>>()?
    } else {
        let lines: Vec<(usize, Line)> = json_lines(path, &text)?;
        if let Some((number, _)) = lines.iter().find(|(_, line)| line.sheet.is_none()) {
            return Err(AnnotationError::at(path, *number, "missing field `sheet`"));
        }
        lines
    };
    if lines.is_empty() {
        return Err(AnnotationError::of(path, "there is no rank in it"));
    }
    Ok(lines)
}

const COLUMNS: Columns = Columns {
    needed: &["rater", "id", "text_id", "rank"],
    optional: &["draft", "paragraph", "gold", "text"],
    prefix: None,
};

/// The columns of a sheet as CSV.
pub const SHEET_COLUMNS: [&str; 8] =
    ["rater", "id", "draft", "paragraph", "gold", "text_id", "text", "rank"];

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Vec<KeyedSet> {
        let text = |id: &str| KeyedText {
            id: id.to_owned(),
            text: format!("Text {id}."),
            units: vec![format!("Text {id}.")],
            f1: 0.5,
            n_own: 0,
        };
        let set = |id: &str| KeyedSet {
            id: id.to_owned(),
            draft: "D".to_owned(),
            paragraph: "3".to_owned(),
            gold: vec!["Who is Alex?".to_owned()],
            texts: vec![text("x"), text("y")],
        };
        vec![set("s1"), set("s2")]
    }

    fn line(rater: &str, id: &str, text: &str, rank: &str) -> String {
        let sheet = ranking_sheet_name(&key());
        format!(
            "{{\"sheet\":\"{sheet}\",\"rater\":\"{rater}\",\"id\":\"{id}\",\"text\":\"{text}\",\"rank\":{rank}}}\n"
        )
    }

    fn import(name: &str, text: &str) -> Result<ImportedRankings, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(dir.path()).unwrap().join(name);
        fs_err::write(&path, text).unwrap();
        import_rankings(&key(), &[path]).map_err(|error| error.to_string())
    }

    #[test]
    fn ranks_of_several_raters_come_together() {
        let text = [
            line("ben", "s2", "y", "1"),
            line("ben", "s2", "x", "1"),
            line("anna", "s2", "x", "2"),
            line("anna", "s2", "y", "1"),
        ]
        .concat();
        let found = import("a.jsonl", &text).unwrap();
        assert_eq!(found.sets.len(), 1, "nobody ranked the other");
        assert_eq!(found.sets[0].raters, ["anna", "ben"]);
        assert_eq!(found.sets[0].ranks, [Some(vec![2.0, 1.0]), Some(vec![1.0, 1.0])]);
        let csv = "rater,id,text_id,text,rank\nanna,s2,x,Text x.,2\nanna,s2,y, Text\u{a0}y.,1\n,s1,x,Text,\n";
        assert_eq!(import("a.csv", csv).unwrap().sets[0].ranks, [Some(vec![2.0, 1.0])]);
    }

    #[test]
    fn what_does_not_go_together_is_named_with_its_line() {
        let good = line("anna", "s1", "x", "1") + &line("anna", "s1", "y", "2");
        for (text, expected) in [
            (line("anna", "s1", "x", "1"), "line 1: a text of this set has no rank"),
            (line("anna", "s1", "x", "3"), "from 1 to 2"),
            (line("anna", "s1", "x", "1.5"), "from 1 to 2"),
            (line(" ", "s1", "x", "1"), "no name"),
            (line("anna", "s9", "x", "1"), "no such set"),
            (line("anna", "s1", "z", "1"), "no such text"),
            (good.clone() + &line("anna", "s1", "x", "2"), "line 3: this rater ranked"),
            (
                good.replace("\"sheet\":\"ranking-", "\"sheet\":\"ranking-z"),
                "line 1: another sheet",
            ),
            (String::new(), "no rank"),
        ] {
            let message = import("a.jsonl", &text).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
        assert!(
            import("a.csv", "rater,id,text_id,rank\n,s1,x,1\n").unwrap_err().contains("line 2")
        );
    }

    #[test]
    fn a_text_edited_in_a_spreadsheet_is_named_with_its_line() {
        let csv = "rater,id,text_id,text,rank\r\nanna,s1,x,Text x.,1\r\nanna,s1,y,Text z.,2\r\n";
        let message = import("a.csv", csv).unwrap_err();
        assert!(message.contains("a.csv, line 3: the text is not that of the key"), "{message}");
    }

    #[test]
    fn a_key_that_names_two_things_alike_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(dir.path()).unwrap().join("s.key.jsonl");
        let set = |set: &KeyedSet| serde_json::to_string(set).unwrap();
        let mut sets = key();
        let twice = format!("{}\n{}\n", set(&sets[0]), set(&sets[0]));
        sets[0].texts[1].id = "x".to_owned();
        let cases = [
            (twice, "line 2: the id is that of line 1"),
            (set(&sets[0]), "line 1: two texts of the set have one id"),
            ("rater,id\n".to_owned(), ".key.jsonl that was written beside the sheet"),
        ];
        for (text, expected) in cases {
            fs_err::write(&path, text).unwrap();
            let message = load_key(&path).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
