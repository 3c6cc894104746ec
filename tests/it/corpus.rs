//! Corpora on disk: what is loaded, counted and found odd.

mod broken;
mod command;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use unimatch::corpus::{Corpus, DraftId, Level, Selection, inspect};

use crate::material;

/// A draft of the sample corpus.
const INITIAL: &str = "Batch_1/Course_1/Class_1/Essay_1/Initial/\
                       Batch_1_Course_1_Class_1_Essay_1_Initial_ID0001.json";

fn sample() -> Utf8PathBuf {
    material::fixture("corpus")
}

/// A folder that is removed at the end, and its path.
fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().to_owned()).unwrap();
    (folder, path)
}

/// All files under a folder, copied into one.
fn copy_flat(from: &Utf8Path, to: &Utf8Path) {
    for entry in from.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        if path.is_dir() {
            copy_flat(&path, to);
        } else {
            fs_err::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// A draft of one paragraph with one annotation.
fn draft_with(annotation: &Value) -> Vec<u8> {
    let paragraphs = json!([{"body": "A body.", "annotations": [annotation]}]);
    serde_json::to_vec(&json!({ "paragraphs": paragraphs })).unwrap()
}

fn highlight(color: &str) -> Value {
    json!({
        "type": "highlight", "color": color, "text": "body", "comment": "Good.",
        "context_left": "A ", "context_right": "."
    })
}

/// Compares figures and findings with those of `scripts/golden/corpus_stats.py`.
fn check_against_golden(name: &str, path: &Utf8Path) {
    let golden = fs_err::read_to_string(material::fixture("golden/corpus_stats.json")).unwrap();
    let golden: Value = serde_json::from_str(&golden).unwrap();
    let counted: BTreeMap<String, f64> = Corpus::load(path)
        .unwrap()
        .statistics()
        .figures()
        .into_iter()
        .map(|figure| (figure.key, figure.amount.value()))
        .filter(|(_, value)| *value != 0.0)
        .collect();
    let expected: BTreeMap<String, f64> = golden[name]["figures"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.clone(), value.as_f64().unwrap()))
        .filter(|(_, value)| *value != 0.0)
        .collect();
    assert_eq!(counted, expected);

    let findings = inspect(path).unwrap().by_kind();
    for (kind, expected) in golden[name]["findings"].as_object().unwrap() {
        let found = findings.iter().find(|(found, _)| found.name() == kind);
        assert_eq!(found.map(|(_, n)| *n as u64), expected.as_u64(), "{kind}");
    }
}

#[test]
fn the_figures_of_the_sample_are_those_of_an_independent_count() {
    check_against_golden("sample", &sample());
}

#[test]
fn the_figures_of_the_release_are_those_of_an_independent_count() {
    let Some(path) = material::shared("sefora/SEFORA") else { return };
    check_against_golden("sefora", &path);
    assert!(Corpus::load(&path).unwrap().is_sefora());
}

#[test]
fn drafts_come_in_natural_order_and_are_found_by_name() {
    let corpus = Corpus::load(&sample()).unwrap();
    let ids: Vec<&DraftId> = corpus.drafts().iter().map(|draft| &draft.id).collect();
    assert_eq!(ids.len(), 12);
    assert!(ids.is_sorted());
    for id in ids {
        assert_eq!(corpus.draft(id).map(|draft| &draft.id), Some(id));
        assert_eq!(corpus.file(id).and_then(Utf8Path::file_stem), Some(id.as_str()));
    }
    assert_eq!(corpus.draft(&DraftId::new("absent")), None);
    assert!(!corpus.is_sefora());
}

#[test]
fn targets_are_the_annotated_paragraphs_with_the_places_of_their_comments() {
    let corpus = Corpus::load(&sample()).unwrap();
    assert_eq!(corpus.targets().count(), 46);
    assert_eq!(corpus.scorable_targets().count(), 45);
    for target in corpus.targets() {
        for (index, comment) in &target.comments {
            assert_eq!(target.paragraph.annotations[*index].comment.trim(), *comment);
        }
    }
    let skipped = corpus.targets().find(|target| target.comments.is_empty()).unwrap();
    assert_eq!(skipped.id().to_string(), "Batch_1_Course_1_Class_1_Essay_1_Revision_ID0001#3");
}

#[test]
fn a_flat_copy_is_the_same_corpus_rubrics_included() {
    let (_folder, flat) = scratch();
    copy_flat(&sample(), &flat);
    let (nested, flat) = (Corpus::load(&sample()).unwrap(), Corpus::load(&flat).unwrap());
    assert_eq!(nested.digest(), flat.digest());
    assert_eq!(nested.statistics(), flat.statistics());
}

#[test]
fn a_flat_copy_of_the_release_is_the_release() {
    let Some(path) = material::shared("sefora/SEFORA") else { return };
    let (_folder, flat) = scratch();
    copy_flat(&path, &flat);
    let flat = Corpus::load(&flat).unwrap();
    assert!(flat.is_sefora());
    assert_eq!(flat.drafts().iter().filter(|draft| draft.rubric.is_none()).count(), 0);
}

#[test]
fn a_part_of_a_corpus_finds_the_rubrics_above_it() {
    let whole = Corpus::load(&sample()).unwrap();
    for part in ["Batch_1", "Batch_1/Course_1/Class_1/Essay_2/Initial", INITIAL] {
        let part = Corpus::load(&sample().join(part)).unwrap();
        for draft in part.drafts() {
            assert_eq!(Some(draft), whole.draft(&draft.id), "{}", draft.id);
        }
    }
    let part = Corpus::load(&sample().join("Batch_1/Course_1/Class_1/Essay_2")).unwrap();
    let levels: Vec<_> =
        part.drafts().iter().map(|draft| draft.rubric.as_ref().unwrap().level()).collect();
    assert_eq!(levels, [Level::Class, Level::Class]);
}

#[test]
fn the_digest_sees_every_change_of_content_and_none_of_layout() {
    let (_folder, path) = scratch();
    let draft = fs_err::read_to_string(sample().join(INITIAL)).unwrap();
    let file = path.join("draft.json");
    let digest_of = |text: &str| {
        fs_err::write(&file, text).unwrap();
        Corpus::load(&path).unwrap().digest()
    };
    let original = digest_of(&draft);
    let value: Value = serde_json::from_str(&draft).unwrap();
    assert_eq!(digest_of(&value.to_string()), original);
    assert_eq!(digest_of(&format!("\u{feff}{draft}")), original);
    let annotation = "/paragraphs/1/annotations/0";
    let mut digests = BTreeSet::from([original.to_hex()]);
    for (place, changed) in [
        ("/paragraphs/0/body".to_owned(), json!("Another title")),
        (format!("{annotation}/color"), json!("green")),
        (format!("{annotation}/type"), json!("strikeout")),
        (format!("{annotation}/text"), json!("The first thing")),
        (format!("{annotation}/comment"), json!("")),
        (format!("{annotation}/context_left"), json!("")),
        (format!("{annotation}/context_right"), json!("")),
        ("/paragraphs/1/annotations".to_owned(), json!([])),
        ("/annotations/0/grades/Organization".to_owned(), json!("15+")),
        ("/annotations/0/grades/Central idea".to_owned(), json!(15.5)),
        ("/annotations/0/comment".to_owned(), json!("Good.")),
        ("/annotations".to_owned(), json!([])),
    ] {
        let mut value = value.clone();
        *value.pointer_mut(&place).unwrap() = changed;
        assert!(digests.insert(digest_of(&value.to_string()).to_hex()), "{place}");
    }
    fs_err::write(&file, &draft).unwrap();
    fs_err::write(path.join("rubric.txt"), "Write well.").unwrap();
    assert_ne!(Corpus::load(&path).unwrap().digest(), original);
}

#[test]
fn a_choice_of_drafts_keeps_the_order_of_the_corpus() {
    let names = |selection: &Selection| -> Vec<String> {
        let corpus = Corpus::load(&sample()).unwrap().select(selection).unwrap();
        corpus.drafts().iter().map(|draft| draft.id.to_string()).collect()
    };
    let all = names(&Selection::default());
    assert_eq!(all.len(), 12);
    assert_eq!(names(&Selection { limit: Some(3), ..Selection::default() }), all[..3]);
    let (_folder, path) = scratch();
    let list = path.join("subset.txt");
    fs_err::write(&list, format!("\u{feff}# chosen\r\n\r\n  {}.json \r\n{}", all[7], all[2]))
        .unwrap();
    let mut selection = Selection { list: Some(list.clone()), ..Selection::default() };
    assert_eq!(names(&selection), [all[2].as_str(), all[7].as_str()]);
    selection.names = vec![all[4].clone()];
    selection.limit = Some(2);
    assert_eq!(names(&selection), [all[2].as_str(), all[4].as_str()]);

    let refused = |selection: &Selection| {
        Corpus::load(&sample()).unwrap().select(selection).unwrap_err().to_string()
    };
    fs_err::write(&list, format!("{}\nnobody\n", all[0])).unwrap();
    let message = refused(&selection);
    assert!(
        message.starts_with(&format!("{list}: no draft is called nobody (line 2)")),
        "{message}"
    );
    fs_err::write(&list, "# nothing\n").unwrap();
    assert_eq!(refused(&selection), format!("{list}: it names no draft"));
    let none = Selection { limit: Some(0), ..Selection::default() };
    assert_eq!(refused(&none), "a limit of 0 drafts: it names no draft");
}

#[test]
fn a_misplaced_file_is_told_from_a_misnamed_one() {
    let (_folder, path) = scratch();
    let stage = path.join("Batch_1/Course_1/Class_1/Essay_3/Final");
    fs_err::create_dir_all(&stage).unwrap();
    let draft = b"{\"paragraphs\": []}";
    fs_err::write(stage.join("Batch_1_Course_1_Class_1_Essay_2_Final_ID0001.json"), draft).unwrap();
    fs_err::write(stage.join("Batch_1_Course_1_Class_1_Essay_2_Final_rubric.txt"), "x".repeat(30))
        .unwrap();
    fs_err::write(path.join("Batch_1/Course_1/Batch_1__Course_1_.txt"), "Short.").unwrap();
    let found = inspect(&path).unwrap();
    let found: Vec<_> = found.findings.iter().map(|finding| finding.kind.name()).collect();
    assert_eq!(
        found,
        [
            "rubric-name",
            "rubric-short",
            "rubric-unused",
            "name-disagrees",
            "no-paragraphs",
            "rubric-misplaced"
        ]
    );
}
