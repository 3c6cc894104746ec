//! Bad input and bad luck: one clear message each, and nothing lost.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use crate::{
    material::{model, root, shared},
    program::{fail, rehearsal, succeed, text, unimatch},
};

fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
    (dir, path)
}

/// A run of a corpus with one file in it.
fn run_on_draft(name: &str, content: &[u8]) -> String {
    let (_guard, dir) = scratch();
    let corpus = dir.join("corpus");
    fs_err::create_dir(&corpus).unwrap();
    fs_err::write(corpus.join(name), content).unwrap();
    let message = fail(
        unimatch()
            .args(["run", corpus.as_str(), "--generator", "scripted:tests/fixtures/replies.jsonl"])
            .args(["--out", dir.join("run").as_str()]),
    );
    assert!(message.contains(name), "{message}");
    assert!(!dir.join("run").exists(), "a run was begun on a corpus that cannot be read");
    message
}

#[test]
fn a_truncated_draft_is_named() {
    let message = run_on_draft("a.json", br#"{"paragraphs": [{"body": "On"#);
    assert!(message.contains("line 1"), "{message}");
}

#[test]
fn a_draft_with_a_wrong_type_is_named_with_its_field() {
    let message = run_on_draft(
        "a.json",
        br#"{"paragraphs": [{"body": "One.", "annotations": [{"type": "note", "comment": 7,
            "context_left": "", "context_right": ""}]}]}"#,
    );
    assert!(message.contains("annotations[0]") && message.contains("comment"), "{message}");
}

#[test]
fn an_empty_folder_and_a_missing_one_are_told_apart() {
    let (_guard, dir) = scratch();
    let run = |corpus: &Utf8Path| {
        fail(unimatch().args(["run", corpus.as_str(), "--generator", "scripted:x.jsonl"]))
    };
    let empty = run(&dir);
    let missing = run(&dir.join("nowhere"));
    assert!(empty.contains(dir.as_str()) && empty != missing, "{empty}\n{missing}");
    assert!(missing.contains("nowhere"), "{missing}");
}

#[test]
fn a_corrupt_model_is_named_and_the_run_is_left_as_it_was() {
    let (_guard, dir) = scratch();
    let whole = fs_err::read(model("SmolLM2-135M-Instruct.Q4_1.gguf")).unwrap();
    let cut = &whole[..whole.len() / 2];
    let cases: [(&str, &[u8]); 4] = [
        ("empty.gguf", b""),
        ("words.gguf", b"this is not a model at all, only some words"),
        ("head.gguf", &whole[..100]),
        ("half.gguf", cut),
    ];
    for (name, bytes) in cases {
        let path = dir.join(name);
        fs_err::write(&path, bytes).unwrap();
        let message = fail(
            unimatch()
                .args(["run", "tests/fixtures/corpus", "--limit", "1"])
                .args(["--generator", &format!("local:{path}")])
                .args(["--out", dir.join(format!("run-{name}")).as_str()]),
        );
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn a_missing_model_is_named() {
    let (_guard, dir) = scratch();
    let message = fail(
        unimatch()
            .args(["run", "tests/fixtures/corpus", "--generator", "local:absent/model.gguf"])
            .args(["--out", dir.join("run").as_str()]),
    );
    assert!(message.contains("absent/model.gguf"), "{message}");
}

/// A shell line in a mount namespace of its own, with `$disk` a file system of
/// 256 KiB; `None`, with the reason printed, where namespaces are not allowed.
fn on_small_disk(script: &str) -> Option<std::process::Output> {
    let (_guard, dir) = scratch();
    let disk = dir.join("disk");
    fs_err::create_dir(&disk).unwrap();
    let mount = "mount -t tmpfs -o size=256k none \"$disk\"";
    let namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--map-root-user", "sh", "-c", script])
            .env("disk", &disk)
            .env("unimatch", env!("CARGO_BIN_EXE_unimatch"))
            .current_dir(root());
        command.output()
    };
    if !namespace(mount).is_ok_and(|output| output.status.success()) {
        skip("mount namespaces are not allowed here");
        return None;
    }
    Some(namespace(&format!("{mount} && {script}")).unwrap())
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

const REHEARSAL: &str = "\"$unimatch\" run tests/fixtures/corpus \
     --generator scripted:tests/fixtures/replies.jsonl --segmenter sentence --scorer lexical:chrf \
     --out \"$disk/run\"";

#[test]
fn a_full_disk_is_told_and_the_run_goes_on_when_there_is_room() {
    // Nearly all of the disk is taken, given back in steps until the run is through.
    let script = format!(
        "head -c 230k /dev/zero > \"$disk/ballast\"; {REHEARSAL}; echo \"first $?\"; \
         rm \"$disk/ballast\"; {REHEARSAL} > \"$disk/out\"; echo \"second $?\"; \
         cat \"$disk/run/results.json\""
    );
    let Some(output) = on_small_disk(&script) else { return };
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(out.contains("first 1\n"), "{out}{errors}");
    assert!(errors.contains("o space left on device"), "{errors}");
    assert!(out.contains("second 0\n"), "{out}{errors}");

    let (_guard, dir) = scratch();
    succeed(&mut rehearsal(&dir.join("run")));
    let undisturbed = fs_err::read_to_string(dir.join("run/results.json")).unwrap();
    assert!(out.ends_with(&undisturbed), "{out}");
}

#[test]
fn a_read_only_run_directory_is_told_and_keeps_what_it_has() {
    let script = format!(
        "{REHEARSAL} --limit 2 > /dev/null && \"$unimatch\" generate tests/fixtures/corpus \
         --generator scripted:tests/fixtures/replies.jsonl --out \"$disk/part\" > /dev/null && \
         cp \"$disk/part/run.json\" \"$disk/before\" && mount -o remount,ro \"$disk\" && \
         {{ \"$unimatch\" segment \"$disk/part\"; echo \"code $?\"; \
         cmp \"$disk/before\" \"$disk/part/run.json\" && echo kept; }}"
    );
    let Some(output) = on_small_disk(&script) else { return };
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(out.contains("code 1\nkept"), "{out}{errors}");
    assert!(errors.contains("ead-only file system") && errors.contains("part"), "{errors}");
}

/// A file of rules that reply in one way to everything.
fn script(dir: &Utf8Path, reply: &str) -> String {
    let path = dir.join("script.jsonl");
    let rule = serde_json::json!({"contains": "", "reply": reply});
    fs_err::write(&path, format!("{rule}\n")).unwrap();
    format!("scripted:{path}")
}

#[test]
fn a_judge_that_answers_nonsense_leaves_pairs_unscored_and_never_at_zero() {
    let (_guard, dir) = scratch();
    let judge = script(&dir, "Sure! Here are the ratings: all of them are great.");
    let out = dir.join("run");
    let output = rehearsal(&out).args(["--scorer", &format!("judge:{judge}")]).output().unwrap();
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{printed}{}", text(&output.stderr));
    let results: serde_json::Value =
        serde_json::from_slice(&fs_err::read(out.join("results.json")).unwrap()).unwrap();
    let full = &results["evaluation"]["full"];
    let pairs = &full["coverage"]["pairs"];
    assert_eq!(pairs["n_scored"], 0, "{pairs}");
    assert!(0 < pairs["n_unscored"].as_u64().unwrap(), "{pairs}");
    assert_eq!(full["bounds"]["lower"]["soft"]["micro"]["f1"], 0.0);
    assert!(0.0 < full["bounds"]["upper"]["soft"]["micro"]["f1"].as_f64().unwrap());
    let scored = full["estimate"]["n_paragraphs"].as_u64().unwrap();
    let empty = full["coverage"]["paragraphs"]["n_empty_answers"].as_u64().unwrap();
    assert_eq!(scored, empty, "only empty answers need no rating");
}

#[test]
fn a_generator_that_answers_nothing_costs_recall_and_is_counted() {
    let (_guard, dir) = scratch();
    let out = dir.join("run");
    let output = succeed(rehearsal(&out).args(["--generator", &script(&dir, "<think>Hm, let me")]));
    let results: serde_json::Value =
        serde_json::from_slice(&fs_err::read(out.join("results.json")).unwrap()).unwrap();
    let full = &results["evaluation"]["full"];
    assert_eq!(full["estimate"]["soft"]["micro"]["recall"], 0.0);
    assert!(full["estimate"]["soft"]["micro"]["precision"].is_null());
    let n_asked = results["replies"]["n_asked"].as_u64().unwrap();
    assert_eq!(results["replies"]["n_empty"], n_asked);
    assert!(text(&output.stdout).contains("replies hold no feedback"));
}

#[test]
fn a_segmenter_that_rewrites_the_text_fails_that_text_alone() {
    let (_guard, dir) = scratch();
    let judge = script(&dir, "Something else entirely.$$");
    let out = dir.join("run");
    let output = rehearsal(&out)
        .args(["--segmenter", &format!("judge:{judge}"), "--constrained-units", "segment"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let results: serde_json::Value =
        serde_json::from_slice(&fs_err::read(out.join("results.json")).unwrap()).unwrap();
    let paragraphs = &results["evaluation"]["full"]["coverage"]["paragraphs"];
    assert_eq!(paragraphs["n_failed"], paragraphs["n_total"]);
    assert!(results["evaluation"]["full"]["estimate"]["soft"]["micro"]["f1"].is_null());
}

#[test]
fn wrong_usage_ends_with_code_two() {
    let cases: [&[&str]; 6] = [
        &["run", "--no-such-flag"],
        &["nonsense"],
        &["match"],
        &["run"],
        &["run", "x", "--generator", "local:m.gguf", "--temperature", "nan"],
        &["run", "x", "--generator", "local:m.gguf", "-j", "0"],
    ];
    for args in cases {
        let output = unimatch().args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn essays_and_feedback_reach_no_message() {
    let (_guard, dir) = scratch();
    let secret = "Sesquipedalian";
    let out = dir.join("run");
    let output = rehearsal(&out)
        .args(["--generator", &script(&dir, &format!("{secret} words."))])
        .args(["--segmenter", &format!("judge:{}", script(&dir, "other$$"))])
        .output()
        .unwrap();
    assert!(!text(&output.stderr).contains(secret));
    assert!(!text(&output.stdout).contains(secret));
}

#[test]
fn the_first_six_drafts_of_the_real_corpus_go_through() {
    let Some(corpus) = shared("sefora/SEFORA") else { return };
    let (_guard, dir) = scratch();
    let out = dir.join("run");
    succeed(
        unimatch()
            .args(["run", corpus.as_str(), "--limit", "6", "--max-new-tokens", "16"])
            .args(["--generator", &format!("local:{}", model("SmolLM2-135M-Instruct.Q4_1.gguf"))])
            .args(["--scorer", &format!("embedding:{}", model("all-MiniLM-L6-v2"))])
            .args(["--out", out.as_str()]),
    );
    let results: serde_json::Value =
        serde_json::from_slice(&fs_err::read(out.join("results.json")).unwrap()).unwrap();
    let full = &results["evaluation"]["full"];
    let pairs = &full["coverage"]["pairs"];
    assert_eq!(pairs["n_unscored"], 0, "{pairs}");
    assert!(0.0 < full["estimate"]["soft"]["micro"]["recall"].as_f64().unwrap());
}

#[test]
fn a_judge_that_is_not_there_is_known_before_the_first_reply_is_written() {
    let (_guard, dir) = scratch();
    let out = dir.join("run");
    let command = |broken: [&str; 2], more: &[&str]| {
        let mut command = rehearsal(&out);
        command.args(broken).args(more);
        fail(&mut command)
    };
    let judge = ["--segmenter", "judge:local:absent/judge.gguf"];
    for broken in [judge, ["--cleaner", "judge:local:absent/judge.gguf"]] {
        for more in [&[][..], &["--dry-run"]] {
            let message = command(broken, more);
            assert!(message.contains("absent/judge.gguf"), "{message}");
        }
    }
    assert!(!out.join("generate").exists(), "replies were written before the judge was opened");
}

#[test]
fn what_most_failures_have_in_common_is_said_on_the_terminal() {
    let (_guard, dir) = scratch();
    let replies = dir.join("replies.jsonl");
    fs_err::write(&replies, "{\"contains\": \"no prompt has these words\", \"reply\": \"x\"}\n")
        .unwrap();
    let output = unimatch()
        .args(["run", "tests/fixtures/corpus", "--limit", "2"])
        .args(["--generator", &format!("scripted:{replies}")])
        .args(["--scorer", "lexical:chrf", "--out", dir.join("run").as_str()])
        .output()
        .unwrap();
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}{}", text(&output.stderr));
    let line = said.lines().find(|line| line.contains(" failures: ")).unwrap_or_default();
    let n_failed = line.trim().split(' ').next().unwrap_or_default();
    assert!(line.contains(&format!("{n_failed} of {n_failed} failures: ")), "{said}");
}
