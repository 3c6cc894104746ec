//! The layout of the public release: its figures, what is wrong in it, and back.

use assert_cmd::Command;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use unimatch::{
    metrics::{
        EmptyAnswers, evaluate,
        release::{Answer, MissingPairs, ReadOptions, Release, load, write},
    },
    similarity::{Rating, ScoreMatrix},
};

use crate::material;

const DRAFT: &str = "Batch_1_Course_1_Class_1_Essay_1_Draft_ID0001.json";

#[test]
fn figures_are_those_of_the_release() {
    let Some(dir) = material::shared("golden/unimatch") else { return };
    let golden = fs_err::read_to_string(dir.join("expected.json")).unwrap();
    check_figures(&dir, &golden);
}

#[test]
fn figures_of_our_own_folder_are_those_of_scipy() {
    let golden = fs_err::read_to_string(material::fixture("golden/release.json")).unwrap();
    check_figures(&material::fixture("release"), &golden);
}

/// Checks that the command prints the golden structure, all of it and no more.
#[track_caller]
fn check_figures(dir: &Utf8Path, golden: &str) {
    let assert = matching(dir).args(["-f", "json"]).assert().code(0);
    let figures: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    let golden: Value = serde_json::from_str(golden).unwrap();
    let (figures, golden) = (leaves(&figures), leaves(&golden));
    assert_eq!(figures.len(), 77);
    for ((path, ours), (golden_path, golden)) in figures.iter().zip(&golden) {
        assert_eq!(path, golden_path);
        assert!((ours - golden).abs() < 1e-12, "{path} is {ours}, not {golden}");
    }
    assert_eq!(figures.len(), golden.len());
}

/// The numbers of a JSON text with their paths, in its order.
fn leaves(value: &Value) -> Vec<(String, f64)> {
    match value {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| {
                leaves(value).into_iter().map(move |(path, leaf)| (format!("{key}.{path}"), leaf))
            })
            .collect(),
        _ => vec![(String::new(), value.as_f64().unwrap())],
    }
}

#[test]
fn empty_answers_count_if_asked() {
    let skipped = evaluation_of(&material::fixture("release"), EmptyAnswers::Skip);
    let counted = evaluation_of(&material::fixture("release"), EmptyAnswers::Count);
    let recalls =
        [&skipped, &counted].map(|evaluation| evaluation.full.estimate.soft.micro.recall.unwrap());
    assert!(recalls[1] < recalls[0], "{recalls:?}");
    assert_eq!(skipped.full.coverage.paragraphs.n_empty_answers, 1);
    let printed = |empty| {
        let mut command = matching(&material::fixture("release"));
        let assert = command.args(["-f", "json", "--empty", empty]).assert().success();
        let figures: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
        figures["soft"]["full"]["micro_recall"].as_f64().unwrap()
    };
    assert!((printed("count") - recalls[1]).abs() < 1e-12);
    assert!((printed("skip") - recalls[0]).abs() < 1e-12);
}

#[test]
fn table_says_what_the_figures_rest_on() {
    let assert = matching(&material::fixture("release")).assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    // The rows of the whole: soft figures with 19 generated and 15 gold units, then 12
    // paragraphs of which 9 are evaluated, 1 is empty and 2 failed.
    for row in
        ["full soft 0.566 0.717 0.632 0.588 0.745 0.616 9 19 15", "full 12 9 1 2 0", "unimatch"]
    {
        let found = text
            .lines()
            .any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(row));
        assert!(found, "{row:?} is not in\n{text}");
    }
}

#[test]
fn csv_has_a_row_for_each_figure() {
    let assert = matching(&material::fixture("release")).args(["-f", "csv"]).assert().success();
    let mut reader = csv::Reader::from_reader(assert.get_output().stdout.as_slice());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    // Three kinds of figures for two subsets, one for that where nothing is missing.
    assert_eq!(rows.len(), (3 + 3 + 1) * 5 * 2);
    let row = rows.iter().find(|row| &row[0] == "multi_reference" && &row[3] == "micro").unwrap();
    assert_eq!((&row[1], &row[2], &row[4]), ("estimate", "soft", "0.75"));
}

#[test]
fn broken_folder_is_refused_with_its_place() {
    let annot = format!("seg_annot/{DRAFT}");
    let model = format!("seg_model/{DRAFT}");
    check_refused(|dir| remove(dir, "seg_annot"), &["there is no folder", "seg_annot"]);
    check_refused(|dir| remove(dir, "seg_model"), &["there is no folder", "seg_model"]);
    check_refused(|dir| remove(dir, &annot), &[&model, "has no counterpart"]);
    check_refused(
        |dir| replace(dir, &model, "\"paragraphs\": [", "\"paragraphs\": [{\"body\":\"x\"},"),
        &["has 5 paragraphs and", "has 4"],
    );
    check_refused(
        |dir| replace(dir, &model, "The ferry was late", "The train was late"),
        &[&model, "paragraphs[0]", "field body"],
    );
    check_refused(
        |dir| replace(dir, &model, "\"model\": [", "\"model\": [{\"feedback\":[]},"),
        &[&model, "paragraphs[0]", "field model has 2 entries"],
    );
    check_refused(
        |dir| replace(dir, &annot, "\"comment\": \"Tense: counted\"", "\"comment\": 5"),
        &[&annot, "line ", "invalid type: integer `5`, expected a string"],
    );
    check_refused(|dir| truncate(dir, &annot), &[&annot, "line ", "EOF while parsing"]);
}

#[test]
fn broken_scores_are_refused_with_their_line() {
    const FIRST: &str = "stage1_scores_s1.jsonl";
    const SECOND: &str = "stage1_scores_s1_g1GT.jsonl";
    check_refused(|dir| remove(dir, FIRST), &["holds no stage1_scores*.jsonl", "--scores"]);
    check_refused(
        |dir| {
            fs_err::copy(dir.join(FIRST), dir.join("stage1_scores_s2.jsonl")).unwrap();
        },
        &["holds 2 files of scores", "stage1_scores_s1.jsonl, stage1_scores_s2.jsonl", "--scores"],
    );
    check_refused(|dir| truncate(dir, SECOND), &[SECOND, "line 22", "EOF while parsing"]);
    check_refused(
        |dir| replace(dir, FIRST, "\"score\": 2", "\"score\": 5"),
        &[FIRST, "line 4", "field score is 5, not from 0 to 4"],
    );
    check_refused(
        |dir| replace(dir, FIRST, "\"score\": 2", "\"score\": -1"),
        &[FIRST, "line 4", "field score is -1"],
    );
    check_refused(
        |dir| replace(dir, FIRST, ", \"score\": 2", ""),
        &[FIRST, "line 4", "missing field `score`"],
    );
    check_refused(
        |dir| replace(dir, FIRST, "\"model_seg_index\": 1", "\"model_seg_index\": 2"),
        &[FIRST, "line 2", "field model_seg_index is 2, and there are 2 units"],
    );
    check_refused(
        |dir| replace(dir, SECOND, "\"annot_index\": 1", "\"annot_index\": 9"),
        &[SECOND, "line 2", "field annot_index is 9, and there are 2 comments"],
    );
    check_refused(
        |dir| replace(dir, FIRST, "\"paragraph_index\": 0", "\"paragraph_index\": 4"),
        &[FIRST, "line 1", "field paragraph_index is 4, and there are"],
    );
    check_refused(
        |dir| replace(dir, FIRST, "ID0003.json", "ID0004.json"),
        &[FIRST, "line 7", "field file names no file of seg_model"],
    );
    check_refused(
        |dir| replace(dir, FIRST, "What a funny image", "What an image"),
        &[FIRST, "line 1", "field feedback is not the unit"],
    );
    check_refused(
        |dir| replace(dir, FIRST, "Wonderful, funny image!", "Wonderful!"),
        &[FIRST, "line 1", "field comment is not the comment"],
    );
    check_refused(
        |dir| edit(dir, FIRST, |text| format!("{text}{}", text.lines().next().unwrap())),
        &[FIRST, "line 10", "the pair is scored on line 1 already"],
    );
    check_refused(
        |dir| edit(dir, FIRST, |text| text.split_inclusive('\n').skip(1).collect()),
        &[FIRST, "scores 1 pairs too few", "model_seg_index 0", "paragraph_index 0", DRAFT],
    );
    check_refused(|dir| remove(dir, SECOND), &[FIRST, "scores 22 pairs too few"]);
}

#[test]
fn message_quotes_no_text_of_a_student() {
    let dir = copy();
    let path = dir.path.join("seg_annot").join(DRAFT);
    fs_err::write(path, r#"{"paragraphs": "My secret is out."}"#).unwrap();
    let assert = matching(&dir.path).assert().code(1);
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(message.contains("invalid type: a text, expected a sequence"), "{message}");
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn pair_in_both_files_takes_the_score_of_the_first() {
    let dir = copy();
    let first = fs_err::read_to_string(dir.path.join("stage1_scores_s1.jsonl")).unwrap();
    let contested = first.lines().next().unwrap().replace("\"score\": 4", "\"score\": 0");
    edit(&dir.path, "stage1_scores_s1_g1GT.jsonl", |text| format!("{text}{contested}\n"));
    let golden = fs_err::read_to_string(material::fixture("golden/release.json")).unwrap();
    check_figures(&dir.path, &golden);
    let assert = matching(&dir.path).assert().success();
    let notes = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(notes.contains("note: 1 pairs have another score in the companion"), "{notes}");
}

#[test]
fn draft_without_generated_feedback_is_noted() {
    let dir = copy();
    remove(&dir.path, &format!("seg_model/{DRAFT}"));
    for name in ["stage1_scores_s1.jsonl", "stage1_scores_s1_g1GT.jsonl"] {
        edit(&dir.path, name, |text| {
            text.split_inclusive('\n').filter(|line| !line.contains(DRAFT)).collect()
        });
    }
    let assert = matching(&dir.path).assert().success();
    let notes = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(notes.contains("note: 1 drafts of"), "{notes}");
}

#[test]
fn missing_pairs_are_unscored_if_asked() {
    let dir = copy();
    edit(&dir.path, "stage1_scores_s1.jsonl", |text| text.split_inclusive('\n').skip(1).collect());
    let assert = matching(&dir.path).args(["--missing-pairs", "unscored"]).assert().code(3);
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    let found = text.lines().any(|line| {
        line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with("full 12 8 1 2 1")
    });
    assert!(found, "{text}");
}

#[test]
fn scores_are_taken_from_where_they_are_said_to_lie() {
    let dir = copy();
    for suffix in ["", "_g1GT"] {
        let name = |run| dir.path.join(format!("{run}{suffix}.jsonl"));
        fs_err::rename(name("stage1_scores_s1"), name("judged")).unwrap();
    }
    let scores = dir.path.join("judged.jsonl");
    matching(&dir.path).args(["--scores", scores.as_str()]).assert().success();
}

#[test]
fn what_is_written_reads_back_with_the_same_figures() {
    let mut release = read(&material::fixture("release"));
    // A judge's gap and a real rating must survive too.
    let Answer::Cut { scores, .. } = &mut release.drafts[0].paragraphs[3].answer else {
        panic!("the fixture has changed")
    };
    assert_eq!((scores.n_generated(), scores.n_gold()), (2, 2));
    *scores = ScoreMatrix::from_fn(2, 2, |row, col| [None, Rating::new(2.625)][(row + col) % 2]);
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().join("export")).unwrap();
    write(&path, "v2+guided", &release.drafts).unwrap();
    let options = ReadOptions { scores: None, missing_pairs: MissingPairs::Unscored };
    let back = load(&path, &options).unwrap();
    assert_eq!(back, release);
    let figures = |release: &Release| evaluate(&release.paragraphs(), EmptyAnswers::Count);
    assert_eq!(figures(&back), figures(&release));
    assert!(load(&path, &ReadOptions::default()).is_err());

    let error = write(&path, "v2+guided", &release.drafts).unwrap_err();
    assert!(error.to_string().contains("export to a new folder"), "{error}");
}

#[test]
fn unit_that_would_not_be_read_back_is_not_written() {
    let release = read(&material::fixture("release"));
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().join("export")).unwrap();
    let mut drafts = release.drafts.clone();
    let Answer::Cut { units, .. } = &mut drafts[0].paragraphs[0].answer else {
        panic!("the fixture has changed")
    };
    units[0] = "no".to_owned();
    let error = format!("{:#}", write(&path, "v1", &drafts).unwrap_err());
    assert!(error.contains("paragraph 0, counted from zero: a generated unit is too short"));
    let mut drafts = release.drafts;
    drafts[1].id = drafts[0].id.clone();
    let error = write(&path, "v1", &drafts).unwrap_err().to_string();
    assert!(error.ends_with("comes twice"), "{error}");
    assert!(!path.exists());
}

fn evaluation_of(dir: &Utf8Path, empty: EmptyAnswers) -> unimatch::metrics::Evaluation {
    evaluate(&read(dir).paragraphs(), empty)
}

fn read(dir: &Utf8Path) -> Release {
    load(dir, &ReadOptions::default()).unwrap()
}

fn matching(dir: &Utf8Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("unimatch"));
    command.args(["match", "--release", dir.as_str()]);
    command
}

/// A copy of the fixture that may be broken.
struct Copy {
    path: Utf8PathBuf,
    _dir: tempfile::TempDir,
}

fn copy() -> Copy {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
    let fixture = material::fixture("release");
    for folder in [".", "seg_model", "seg_annot"] {
        fs_err::create_dir_all(path.join(folder)).unwrap();
        for entry in fixture.join(folder).read_dir_utf8().unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_file() {
                fs_err::copy(entry.path(), path.join(folder).join(entry.file_name())).unwrap();
            }
        }
    }
    Copy { path, _dir: dir }
}

/// Checks that a folder broken in this way ends in one message with these parts.
#[track_caller]
fn check_refused(break_it: impl FnOnce(&Utf8Path), parts: &[&str]) {
    let dir = copy();
    break_it(&dir.path);
    let assert = matching(&dir.path).args(["-f", "json"]).assert().code(1).stdout("");
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in\n{message}");
    }
    assert_eq!(message.matches("error:").count(), 1, "{message}");
}

fn edit(dir: &Utf8Path, name: &str, change: impl FnOnce(&str) -> String) {
    let path = dir.join(name);
    let text = fs_err::read_to_string(&path).unwrap();
    let changed = change(&text);
    assert_ne!(changed, text);
    fs_err::write(path, changed).unwrap();
}

fn replace(dir: &Utf8Path, name: &str, from: &str, to: &str) {
    edit(dir, name, |text| text.replacen(from, to, 1));
}

/// Cuts a file in the middle of its last line or value.
fn truncate(dir: &Utf8Path, name: &str) {
    edit(dir, name, |text| text[..text.trim_end().len() - 7].to_owned());
}

fn remove(dir: &Utf8Path, name: &str) {
    let path = dir.join(name);
    if path.is_dir() {
        fs_err::remove_dir_all(path).unwrap();
    } else {
        fs_err::remove_file(path).unwrap();
    }
}
