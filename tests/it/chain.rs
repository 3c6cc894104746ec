//! The whole chain, as a person drives it: at once, stage by stage, from a file.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::{
    material::model,
    program::{fail, rehearsal, succeed, text, unimatch},
};

const RESULTS: [&str; 3] = ["results.json", "results.csv", "paragraphs.jsonl"];

fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
    (dir, path)
}

fn same_results(left: &Utf8Path, right: &Utf8Path) {
    for name in RESULTS {
        let (left, right) = (left.join(name), right.join(name));
        assert_eq!(fs_err::read(left).unwrap(), fs_err::read(right).unwrap(), "{name}");
    }
}

fn json(path: &Utf8Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

fn lines(path: &Utf8Path) -> Vec<Value> {
    let text = fs_err::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn stage_by_stage_comes_to_the_same_as_all_at_once() {
    let (_guard, dir) = scratch();
    let (at_once, by_stage) = (dir.join("at-once"), dir.join("by-stage"));
    succeed(&mut rehearsal(&at_once));
    let mut generate = rehearsal(&by_stage);
    let args: Vec<_> = generate.get_args().skip(1).map(ToOwned::to_owned).collect();
    generate = unimatch();
    succeed(generate.arg("generate").args(args));
    for stage in ["segment", "score", "match"] {
        assert!(!by_stage.join("results.json").exists());
        succeed(unimatch().args([stage, by_stage.as_str()]));
    }
    same_results(&at_once, &by_stage);
}

#[test]
fn a_run_is_repeated_from_its_config_and_from_the_environment() {
    let (_guard, dir) = scratch();
    let (first, from_file, from_variables) =
        (dir.join("first"), dir.join("file"), dir.join("variables"));
    succeed(rehearsal(&first).args(["--condition", "v1+guided", "--limit", "3", "--seed", "5"]));
    let config = first.join("config.toml");
    succeed(unimatch().args(["run", "--config", config.as_str(), "--out", from_file.as_str()]));
    same_results(&first, &from_file);
    succeed(
        unimatch()
            .args(["run", "tests/fixtures/corpus", "--out", from_variables.as_str()])
            .env("UNIMATCH_GENERATOR", "scripted:tests/fixtures/replies.jsonl")
            .env("UNIMATCH_SEGMENTER", "sentence")
            .env("UNIMATCH_SCORER", "lexical:chrf")
            .env("UNIMATCH_CONDITION", "guided+v1")
            .env("UNIMATCH_LIMIT", "3")
            .env("UNIMATCH_SEED", "5"),
    );
    same_results(&first, &from_variables);
}

#[test]
fn each_distinct_pair_is_rated_once_and_every_matrix_is_full() {
    let (_guard, dir) = scratch();
    succeed(&mut rehearsal(&dir.join("run")));
    let mut seen = BTreeSet::new();
    for record in lines(&dir.join("run/score/0000-of-0001.jsonl")) {
        for pair in record["outcome"]["done"]["pairs"].as_array().unwrap() {
            let texts = (pair["generated"].to_string(), pair["gold"].to_string());
            assert!(seen.insert(texts), "a pair was rated twice");
        }
    }
    let mut needed = BTreeSet::new();
    for paragraph in lines(&dir.join("run/paragraphs.jsonl")) {
        for generated in paragraph["generated"].as_array().unwrap() {
            for gold in paragraph["gold"].as_array().unwrap() {
                needed.insert((generated.to_string(), gold["text"].to_string()));
            }
        }
        for row in paragraph["ratings"].as_array().unwrap() {
            assert!(row.as_array().unwrap().iter().all(Value::is_number));
        }
    }
    assert_eq!(seen, needed);
}

#[test]
fn an_exported_run_gives_the_same_figures_in_the_layout_of_the_release() {
    let (_guard, dir) = scratch();
    let (run, release) = (dir.join("run"), dir.join("release"));
    succeed(rehearsal(&run).args(["--empty", "skip"]));
    succeed(unimatch().args(["export", run.as_str(), "--out", release.as_str()]));
    let output = succeed(unimatch().args(["match", "--release", release.as_str(), "-f", "json"]));
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ours = json(&run.join("results.json"));
    let ours = &ours["evaluation"]["full"]["estimate"]["soft"];
    for (average, names) in [
        ("micro", ["micro_precision", "micro_recall", "micro_f1"]),
        ("macro", ["macro_precision", "macro_recall", "macro_f1"]),
    ] {
        for (name, measure) in names.iter().zip(["precision", "recall", "f1"]) {
            let left = figures["soft"]["full"][name].as_f64().unwrap();
            let right = ours[average][measure].as_f64().unwrap();
            assert!((left - right).abs() < 1e-12, "{name}: {left} {right}");
        }
    }
    let message = fail(unimatch().args(["export", run.as_str(), "--out", release.as_str()]));
    assert!(message.contains("already"), "{message}");
}

#[test]
fn the_prompts_can_be_seen_and_the_work_counted_before_anything_is_run() {
    let (_guard, dir) = scratch();
    let generator = format!("local:{}", model("SmolLM2-135M-Instruct.Q4_1.gguf"));
    let look = |flag: &[&str]| {
        let output = succeed(
            unimatch()
                .args(["run", "tests/fixtures/corpus", "--limit", "2", "--generator", &generator])
                .args(["--condition", "v2+guided+rubric", "--out", dir.join("run").as_str()])
                .args(flag),
        );
        text(&output.stdout)
    };
    let prompts = look(&["--print-prompts", "2"]);
    assert_eq!(prompts.matches("===== Batch_").count(), 2, "{prompts}");
    assert_eq!(prompts.matches("<|im_start|>assistant").count(), 2, "{prompts}");
    assert!(prompts.contains("### Target paragraph"), "{prompts}");
    let counts = look(&["--dry-run"]);
    assert!(counts.contains("prompt tokens, shared beginnings once"), "{counts}");
    assert!(!dir.join("run").exists(), "a look began a run");
}

#[test]
fn a_program_that_is_not_on_a_terminal_says_nothing_beside_its_results() {
    let (_guard, dir) = scratch();
    let output = succeed(&mut rehearsal(&dir.join("run")));
    assert_eq!(text(&output.stderr), "");
    let printed = text(&output.stdout);
    assert!(printed.contains("| corpus ") && printed.contains("| seed 42 |"), "{printed}");
    assert!(!printed.contains('\u{1b}'), "colour without a terminal");
}

#[test]
fn texts_from_elsewhere_are_evaluated_with_real_sentence_vectors() {
    let (_guard, dir) = scratch();
    let (references, candidates) = (dir.join("r.jsonl"), dir.join("c.jsonl"));
    fs_err::write(
        &references,
        "{\"id\": \"a\", \"text\": \"Add more detail about the harbour.\"}\n\
         {\"id\": \"a\", \"units\": [\"Lovely first line.\"]}\n\
         {\"id\": \"b\", \"text\": \"Check your commas. Who is speaking here?\"}\n",
    )
    .unwrap();
    fs_err::write(
        &candidates,
        "{\"id\": \"a\", \"text\": \"Lovely first line.\"}\n\
         {\"id\": \"b\", \"units\": []}\n",
    )
    .unwrap();
    let scorer = format!("embedding:{}", model("all-MiniLM-L6-v2"));
    let output = succeed(unimatch().args(["eval", "--references", references.as_str()]).args([
        "--candidates",
        candidates.as_str(),
        "--scorer",
        &scorer,
        "-f",
        "json",
    ]));
    let evaluation: Value = serde_json::from_slice(&output.stdout).unwrap();
    let full = &evaluation["metrics"]["full"];
    assert_eq!(full["coverage"]["paragraphs"]["n_empty_answers"], 1);
    let soft = &full["estimate"]["soft"]["micro"];
    assert!((soft["precision"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{soft}");
    assert!((soft["recall"].as_f64().unwrap() - 0.25).abs() < 1e-6, "{soft}");
}

#[test]
fn a_judge_with_real_replies_rates_through_the_whole_chain() {
    let (_guard, dir) = scratch();
    let judge = dir.join("judge.jsonl");
    let rule = serde_json::json!({"contains": "", "reply": "A) 3"});
    fs_err::write(&judge, format!("{rule}\n")).unwrap();
    let out = dir.join("run");
    succeed(rehearsal(&out).args([
        "--scorer",
        &format!("judge:scripted:{judge}"),
        "--judge-batch-size",
        "1",
    ]));
    let results = json(&out.join("results.json"));
    let full = &results["evaluation"]["full"];
    assert_eq!(full["coverage"]["pairs"]["n_unscored"], 0);
    let precision = full["estimate"]["threshold"]["3"]["micro"]["precision"].as_f64().unwrap();
    assert!((precision - 1.0).abs() < 1e-12, "every unit finds a partner rated 3");
    assert_eq!(full["estimate"]["threshold"]["4"]["micro"]["precision"], 0.0);
}

#[test]
fn a_run_that_was_moved_goes_on_where_it_is_now() {
    let (_guard, dir) = scratch();
    let (old, new) = (dir.join("old"), dir.join("new"));
    succeed(&mut rehearsal(&old));
    fs_err::rename(&old, &new).unwrap();
    fs_err::remove_file(new.join("results.json")).unwrap();
    succeed(unimatch().args(["run", "--config", new.join("config.toml").as_str()]));
    assert!(new.join("results.json").exists() && !old.exists());
}

#[test]
fn a_manifest_that_was_edited_is_told() {
    let (_guard, dir) = scratch();
    let run = dir.join("run");
    succeed(&mut rehearsal(&run));
    let path = run.join("run.json");
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, text.replace("\"seed\": 42", "\"seed\": 43")).unwrap();
    let message = fail(unimatch().args(["match", run.as_str()]));
    assert!(message.contains("edited") && message.contains(path.as_str()), "{message}");
    fs_err::write(&path, "{}").unwrap();
    let message = fail(unimatch().args(["match", run.as_str()]));
    assert!(message.contains("no manifest"), "{message}");
}

#[test]
fn a_stage_that_comes_too_early_says_so() {
    let (_guard, dir) = scratch();
    let run = dir.join("run");
    let mut generate = rehearsal(&run);
    let args: Vec<_> = generate.get_args().skip(1).map(ToOwned::to_owned).collect();
    generate = unimatch();
    succeed(generate.arg("generate").args(args));
    for (stage, n_unready) in [("score", "45 paragraphs are not ready"), ("match", "45")] {
        let output = unimatch().args([stage, run.as_str()]).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{stage}");
        assert!(text(&output.stdout).contains(n_unready), "{}", text(&output.stdout));
    }
}
