//! What each kind of broken corpus is answered with.

use camino::Utf8Path;
use serde_json::json;
use unimatch::corpus::Corpus;

use super::{INITIAL, draft_with, highlight, sample, scratch};

/// The message that a corpus of one file is answered with.
fn message_for(bytes: &[u8]) -> String {
    let (_folder, path) = scratch();
    fs_err::write(path.join("draft.json"), bytes).unwrap();
    let message = Corpus::load(&path).unwrap_err().to_string();
    let message = message.strip_prefix(path.as_str()).expect("the message names the file");
    message.strip_prefix("/draft.json: ").unwrap().to_owned()
}

#[test]
fn each_broken_draft_gets_one_message_that_names_the_field() {
    let whole = fs_err::read(sample().join(INITIAL)).unwrap();
    let half = &whole[..whole.len() / 2];
    let last_line = String::from_utf8_lossy(half).lines().count();
    let truncated =
        format!("the JSON breaks off at line {last_line}: the file is truncated, fetch it again");
    let mut bad_annotation = highlight("pink");
    bad_annotation["comment"] = json!(7);
    let mut no_text = highlight("pink");
    no_text.as_object_mut().unwrap().remove("text");
    let mut bad_kind = highlight("pink");
    bad_kind["type"] = json!("underline");
    let cases: [(&[u8], &str); 16] = [
        (b"", "the file is empty: a copy of it may have been cut off"),
        (b" \n", "the file is empty: a copy of it may have been cut off"),
        (half, truncated.as_str()),
        (b"{\"paragraphs\": [}", "not JSON at line 1, column 17: expected value"),
        (b"{\"paragraphs\": []} {}", "not JSON at line 1, column 20: trailing characters"),
        (b"{\n\"paragraphs\": \"caf\xe9\"}", "line 2 is not UTF-8: save the file as UTF-8 text"),
        (b"{}", "line 1: the draft: missing field `paragraphs`"),
        (
            b"7",
            "line 1: the draft: invalid type: integer `7`, expected a draft: an object with `paragraphs`",
        ),
        (b"{\"paragraphs\": {}}", "line 1: paragraphs: invalid type: map, expected a sequence"),
        (
            b"{\"paragraphs\": [{\"body\": \"a\"}]}",
            "line 1: paragraphs[0]: missing field `annotations`",
        ),
        (
            b"{\"paragraphs\": [{\"body\": \"a\", \"body\": \"b\", \"annotations\": []}]}",
            "line 1: paragraphs[0]: duplicate field `body`",
        ),
        (
            b"{\"paragraphs\": [], \"annotations\": [{\"grades\": {\"Total\": []}}]}",
            "line 1: annotations[0].grades.Total: invalid type: sequence, expected a number, or a mark as text",
        ),
        (
            b"{\"paragraphs\": [], \"annotations\": [{\"grades\": {}}, {\"grades\": {}}]}",
            "annotations: holds 2 assessments, and a draft has one at most",
        ),
        (
            &draft_with(&bad_annotation),
            "line 1: paragraphs[0].annotations[0].comment: invalid type: integer `7`, expected a string",
        ),
        (
            &draft_with(&no_text),
            "paragraphs[0].annotations[0].text: is missing, and a highlight has it",
        ),
        (
            &draft_with(&bad_kind),
            "paragraphs[0].annotations[0].type: \"underline\" is not one of highlight, note, strikeout",
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(message_for(bytes), expected);
    }
    assert_eq!(
        message_for(&draft_with(&highlight("purple"))),
        "paragraphs[0].annotations[0].color: \"purple\" is not one of green, pink, yellow, generic"
    );
}

#[test]
fn a_draft_that_is_cut_off_anywhere_is_refused() {
    let whole = fs_err::read(sample().join(INITIAL)).unwrap();
    for n_bytes in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        let message = message_for(&whole[..n_bytes]);
        let is_told =
            ["truncated", "is empty", "not UTF-8"].iter().any(|word| message.contains(word));
        assert!(is_told, "cut to {n_bytes} bytes: {message}");
    }
}

#[test]
fn no_message_quotes_an_essay() {
    let prose = "I never told anybody about this, expected as it was";
    let wrong_type = json!({"paragraphs": [{"body": "b", "annotations": prose}]});
    let wrong_color = draft_with(&highlight(prose));
    for bytes in [wrong_type.to_string().into_bytes(), wrong_color] {
        let message = message_for(&bytes);
        assert!(!message.contains("told anybody"), "{message}");
        assert!(message.contains("a text"), "{message}");
    }
}

#[test]
fn each_wrong_path_gets_one_message_with_the_way_out() {
    let (_folder, path) = scratch();
    let message = |path: &Utf8Path| Corpus::load(path).unwrap_err().to_string();
    let layout = "drafts are .json files, in folders Batch_*/Course_*/Class_*/Essay_*/<Stage> or \
                  all in one folder";
    assert_eq!(message(&path), format!("{path}: no draft in it (it is empty): {layout}"));
    fs_err::write(path.join("essay.docx"), "x").unwrap();
    fs_err::write(path.join(".hidden.json"), "x").unwrap();
    assert_eq!(message(&path), format!("{path}: no draft in it (only 1 other file): {layout}"));
    let file = path.join("essay.docx");
    let expected = format!("{file}: not a draft: name a .json file, or the folder of the corpus");
    assert_eq!(message(&file), expected);
    let absent = path.join("absent");
    assert_eq!(message(&absent), format!("{absent}: no such file or folder"));
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_or_back_gets_one_message() {
    let (_folder, path) = scratch();
    let link = path.join("draft.json");
    fs_err::os::unix::fs::symlink("gone.json", &link).unwrap();
    let message = Corpus::load(&path).unwrap_err().to_string();
    assert!(message.contains(link.as_str()), "{message}");
    fs_err::remove_file(&link).unwrap();
    fs_err::os::unix::fs::symlink(&path, path.join("again")).unwrap();
    let message = Corpus::load(&path).unwrap_err().to_string();
    assert!(message.ends_with("does a link lead back into itself?"), "{message}");
}

#[test]
fn two_files_of_one_name_are_both_named() {
    let (_folder, path) = scratch();
    for folder in ["a", "b"] {
        fs_err::create_dir(path.join(folder)).unwrap();
        fs_err::write(path.join(folder).join("draft.json"), b"{\"paragraphs\": []}").unwrap();
    }
    assert_eq!(
        Corpus::load(&path).unwrap_err().to_string(),
        format!(
            "two drafts are called draft: {path}/a/draft.json and {path}/b/draft.json: rename or \
             remove one"
        )
    );
}
