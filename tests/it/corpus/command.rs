//! `unimatch corpus`, as it is typed.

use std::{collections::BTreeMap, process::Output};

use serde_json::{Value, json};

use super::{INITIAL, copy_flat, draft_with, highlight, sample, scratch};
use crate::material;

fn unimatch(args: &[&str]) -> Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_unimatch"))
        .current_dir(material::root())
        .env_remove("UNIMATCH_CORPUS")
        .args(args)
        .output()
        .unwrap()
}

/// What a command prints that must succeed.
fn stdout(args: &[&str]) -> String {
    let output = unimatch(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn unknown_fields_are_warned_of_once_each() {
    let (_folder, path) = scratch();
    let mut annotation = json!({
        "type": "note", "text": "not of a note", "comment": "Good.", "author": "me",
        "context_left": "A", "context_right": ""
    });
    fs_err::write(path.join("draft_2.json"), draft_with(&annotation)).unwrap();
    annotation["date"] = json!({"year": 2024});
    fs_err::write(path.join("draft_10.json"), draft_with(&annotation)).unwrap();
    let output = unimatch(&["corpus", "stats", path.as_str()]);
    assert!(output.status.success());
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = [
        ("draft_2", "paragraphs[].annotations[].author (2 times"),
        ("draft_10", "paragraphs[].annotations[].date (1 time"),
        ("draft_2", "paragraphs[].annotations[].text of a note (2 times"),
    ]
    .map(|(file, field)| {
        format!("warning: {path}/{file}.json: unknown field {field} in the corpus), ignored\n")
    });
    assert_eq!(stderr, expected.concat());
}

#[test]
fn check_lists_a_broken_file_and_goes_on_with_the_others() {
    let (_folder, path) = scratch();
    copy_flat(&sample(), &path);
    fs_err::write(path.join("broken.json"), b"{\"paragraphs\": 1}").unwrap();
    fs_err::write(path.join("latin1.txt"), b"caf\xe9").unwrap();
    let odd = json!({"paragraphs": [
        {"body": "", "annotations": []},
        {"body": "Same.", "annotations": []},
        {"body": "Same.\u{7}", "annotations": [highlight("pink"), highlight("pink")]},
    ], "extra": 1});
    fs_err::write(path.join("odd.json"), odd.to_string()).unwrap();
    let output = stdout(&["corpus", "check", path.as_str(), "-f", "csv"]);
    let mut rows: Vec<Vec<String>> = csv::Reader::from_reader(output.as_bytes())
        .into_records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect();
    rows.retain(|row| ["broken", "latin1", "odd"].iter().any(|name| row[0].contains(name)));
    let found: Vec<[&str; 3]> = rows
        .iter()
        .map(|row| [row[0].rsplit('/').next().unwrap(), row[1].as_str(), row[2].as_str()])
        .collect();
    assert_eq!(
        found,
        [
            ["broken.json", "", "name-off-pattern"],
            ["broken.json", "", "no-rubric"],
            ["broken.json", "paragraphs", "unloadable"],
            ["latin1.txt", "", "unloadable"],
            ["odd.json", "", "name-off-pattern"],
            ["odd.json", "", "no-rubric"],
            ["odd.json", "extra", "unknown-field"],
            ["odd.json", "paragraphs[0].body", "empty-paragraph"],
            ["odd.json", "paragraphs[2].annotations[0].text", "words-not-found"],
            ["odd.json", "paragraphs[2].annotations[1]", "duplicate-annotation"],
            ["odd.json", "paragraphs[2].annotations[1].text", "words-not-found"],
            ["odd.json", "paragraphs[2].body", "control-character"],
        ]
    );
}

#[test]
fn findings_fail_only_a_strict_check() {
    let path = sample();
    assert_eq!(unimatch(&["corpus", "check", path.as_str()]).status.code(), Some(0));
    let strict = unimatch(&["corpus", "check", path.as_str(), "--strict"]);
    assert_eq!(strict.status.code(), Some(3));
    let draft = path.join(INITIAL);
    let strict = unimatch(&["corpus", "check", draft.as_str(), "--strict"]);
    assert_eq!(strict.status.code(), Some(0), "{}", String::from_utf8_lossy(&strict.stdout));
}

#[test]
fn the_three_formats_of_stats_say_the_same() {
    let path = "tests/fixtures/corpus";
    let json: Value =
        serde_json::from_str(&stdout(&["corpus", "stats", path, "-f", "json", "--paper"])).unwrap();
    assert_eq!(json["is_sefora"], false);
    assert_eq!(json["paper"]["students.total"], 155);
    let csv = stdout(&["corpus", "stats", path, "-f", "csv"]);
    let rows: BTreeMap<String, f64> = csv::Reader::from_reader(csv.as_bytes())
        .into_records()
        .map(|row| row.unwrap())
        .map(|row| (row[0].to_owned(), row[1].parse().unwrap()))
        .collect();
    let figures: BTreeMap<String, f64> = json["figures"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.clone(), value.as_f64().unwrap()))
        .collect();
    assert_eq!(rows, figures);
    insta::assert_snapshot!("corpus_stats", stdout(&["corpus", "stats", path]));
}

#[test]
fn a_check_reads_like_this() {
    insta::assert_snapshot!("corpus_check", stdout(&["corpus", "check", "tests/fixtures/corpus"]));
}

#[test]
fn a_draft_is_shown_with_its_annotations_in_place() {
    let args = ["corpus", "show", "Essay_1_Revision_ID0002", "--corpus", "tests/fixtures/corpus"];
    let by_name = stdout(&args);
    let file = "tests/fixtures/corpus/Batch_1/Course_1/Class_1/Essay_1/Revision/\
                Batch_1_Course_1_Class_1_Essay_1_Revision_ID0002.json";
    assert_eq!(by_name, stdout(&["corpus", "show", file]));
    insta::assert_snapshot!("corpus_show", by_name);
}

#[test]
fn a_name_that_several_drafts_share_lists_them() {
    let show = |name| {
        let output = unimatch(&["corpus", "show", name, "--corpus", "tests/fixtures/corpus"]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        show("ID0002"),
        "error: ID0002: 2 drafts have this in their name: \
         Batch_1_Course_1_Class_1_Essay_1_Initial_ID0002, \
         Batch_1_Course_1_Class_1_Essay_1_Revision_ID0002\n"
    );
    assert!(show("ID0009").starts_with("error: the corpus: no draft is called ID0009"));
}
