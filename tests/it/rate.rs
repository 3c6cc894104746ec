//! `unimatch rate` and the scorers behind it.

use assert_cmd::Command;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use unimatch::nn::Cpu;
use unimatch::similarity::{EmbeddingScorer, Rating, Scorer, UnitPair};

use crate::material;

const PAIRS: &str = r#"{"id": "same", "a": "Who is Alex?", "b": "Who is Alex?", "kind": "x"}

{"id": 7, "a": "Tell us who Alex is.", "b": "Who is Alex?"}
{"a": "Fix the comma in line two.", "b": "Who is Alex?"}
"#;

fn rate(arguments: &[&str], pairs: &str) -> std::process::Output {
    Command::cargo_bin("unimatch")
        .unwrap()
        .args(["rate", "-", "--generated-field", "a", "--gold-field", "b"])
        .args(arguments)
        .write_stdin(pairs)
        .output()
        .unwrap()
}

fn lines(output: &std::process::Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check_refused(pairs: &str, expected: &[&str]) {
    let output = rate(&[], pairs);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    for part in expected {
        assert!(message.contains(part), "{message}");
    }
    assert!(!message.contains("secret"), "{message}");
}

fn encoder_argument() -> String {
    format!("embedding:{}", material::model("all-MiniLM-L6-v2"))
}

/// A folder with the encoder, its weights a link.
fn linked_encoder(folder: &Utf8Path) -> Utf8PathBuf {
    let copy = folder.join("all-MiniLM-L6-v2");
    fs_err::create_dir(&copy).unwrap();
    for entry in material::model("all-MiniLM-L6-v2").read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        fs_err::os::unix::fs::symlink(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    copy
}

fn temporary_folder(folder: &tempfile::TempDir) -> &Utf8Path {
    Utf8Path::from_path(folder.path()).unwrap()
}

#[test]
fn pairs_are_rated_in_order_under_their_ids() {
    let scorer = encoder_argument();
    let rated = lines(&rate(&["--scorer", &scorer], PAIRS));
    let ids: Vec<&Value> = rated.iter().map(|line| &line["id"]).collect();
    assert_eq!(ids, [&json!("same"), &json!(7), &json!(4)]);
    let ratings: Vec<f64> = rated.iter().map(|line| line["rating"].as_f64().unwrap()).collect();
    assert!((ratings[0] - Rating::MAX).abs() < 1e-3, "{ratings:?}");
    assert!(ratings.is_sorted_by(|a, b| a > b), "{ratings:?}");
}

#[test]
fn raw_measures_are_printed_as_they_are() {
    let scorer = encoder_argument();
    let cosines = lines(&rate(&["--raw", "--scorer", &scorer], PAIRS));
    assert!((cosines[0]["raw"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{cosines:?}");
    assert_eq!(cosines[0].as_object().unwrap().len(), 2);
    let long = format!("{{\"a\": \"{}\", \"b\": \"x\"}}", "word ".repeat(300));
    assert_eq!(lines(&rate(&["--raw", "--scorer", &scorer], &long))[0]["long"], json!(true));
    let chrf = lines(&rate(&["--raw", "--scorer", "lexical:chrf"], PAIRS));
    assert!((chrf[0]["raw"].as_f64().unwrap() - 100.0).abs() < 1e-9, "{chrf:?}");
}

#[test]
fn a_line_that_is_no_pair_is_named_and_not_quoted() {
    check_refused("\"secret\"\n\"secret\"", &["of -", "line 1", "not a JSON object"]);
    check_refused("{\"a\": \"secret\"}", &["line 1", "no field `b`", "--gold-field"]);
    check_refused("{\"a\": [\"secret\"], \"b\": \"y\"}", &["field `a` is not a text"]);
    let output = rate(&["--scorer", "gpt"], PAIRS);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("embedding:FOLDER"));
}

#[test]
fn a_bad_line_costs_the_others_no_rating() {
    let pairs = "{\"id\": \"x\", \"a\": \"Why?\", \"b\": \"Why?\"}\n\"secret\"\n\
                 {\"id\": \"z\", \"a\": \"Why?\", \"b\": 4}\n{\"a\": \"Who?\", \"b\": \"Why?\"}\n";
    let output = rate(&["--scorer", "lexical:chrf"], pairs);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0]["rating"].is_f64() && lines[3]["rating"].is_f64(), "{text}");
    assert_eq!((&lines[1]["id"], &lines[1]["line"]), (&json!(2), &json!(2)));
    assert_eq!((&lines[2]["id"], &lines[2]["line"]), (&json!("z"), &json!(3)));
    assert!(lines[2]["error"].as_str().unwrap().contains("`b` is not a text"), "{text}");
    assert!(!text.contains("secret"), "{text}");
    let twice = pairs.replace("\"z\"", "\"x\"").replace(": 4", ": \"y\"");
    check_refused(&twice, &["line 3", "that of line 1"]);
}

#[test]
fn pairs_as_csv_are_refused_in_words() {
    let dir = tempfile::tempdir().unwrap();
    let path = temporary_folder(&dir).join("pairs.csv");
    fs_err::write(&path, "a,b\nx,y\n").unwrap();
    let output = Command::cargo_bin("unimatch").unwrap().args(["rate", path.as_str()]).output();
    let message = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(message.contains("JSON lines, not from CSV"), "{message}");
}

#[test]
fn a_unit_without_a_word_is_an_error_of_its_pair() {
    let pairs = "{\"a\": \"...\", \"b\": \"Good.\"}\n{\"a\": \"Good.\", \"b\": \"\u{200f}\"}\n\
                 {\"a\": \"\", \"b\": \"Good.\"}\n{\"a\": \"Good.\", \"b\": \"Good.\"}\n";
    let embedding = encoder_argument();
    let bert_score = embedding.replace("embedding:", "bertscore:");
    let chrf = "lexical:chrf";
    let mut asked =
        vec![vec![chrf], vec!["lexical:bleu"], vec![chrf, "--raw"], vec![&embedding, "--raw"]];
    asked.extend([vec![&*embedding], vec![&bert_score, "--raw"]]);
    if cfg!(feature = "distilled") {
        asked.push(vec!["distilled"]);
    }
    for scorer in asked {
        let output = rate(&[&["--scorer"][..], &scorer].concat(), pairs);
        assert_eq!(output.status.code(), Some(3), "{scorer:?}");
        let lines: Vec<Value> = std::str::from_utf8(&output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for line in &lines[..3] {
            let error = line["error"].as_str().unwrap_or_default();
            assert!(error.contains("no word in the unit"), "{scorer:?}: {lines:?}");
        }
        let rated = lines[3].get("rating").or(lines[3].get("raw"));
        assert!(rated.is_some_and(Value::is_f64), "{scorer:?}: {lines:?}");
    }
}

#[test]
fn a_calibration_in_the_encoders_folder_holds_for_its_weights_only() {
    let folder = tempfile::tempdir().unwrap();
    let encoder = linked_encoder(temporary_folder(&folder));
    let shipped = material::root().join("models/calibration/all-MiniLM-L6-v2.toml");
    let shipped: toml::Table = fs_err::read_to_string(shipped).unwrap().parse().unwrap();
    let calibration = |digest: &str| {
        format!(
            "format_version = 1\nencoder = \"mine\"\nweights_blake3 = \"{digest}\"\n\
             cosines = [0.0, 1.0]\nratings = [3.0, 3.0]\n[provenance]\n"
        )
    };
    let path = encoder.join("calibration.toml");
    fs_err::write(&path, calibration(shipped["weights_blake3"].as_str().unwrap())).unwrap();
    let scorer = EmbeddingScorer::open(&encoder, Cpu::detect()).unwrap();
    let pair = UnitPair { generated: "Who?", gold: "Fix the comma." };
    let rating = scorer.score(&[pair]).remove(0).unwrap();
    assert!(scorer.id().starts_with("embedding:all-MiniLM-L6-v2#"), "{}", scorer.id());
    assert!((rating.get() - 3.0).abs() < 1e-12);

    fs_err::write(&path, calibration("0123")).unwrap();
    let error = EmbeddingScorer::open(&encoder, Cpu::detect()).err().unwrap().to_string();
    assert!(error.contains("calibration.toml") && error.contains("mine"), "{error}");
}

#[test]
fn a_text_that_was_rated_before_is_not_read_again_and_rates_the_same() {
    let scorer =
        EmbeddingScorer::open(&material::model("all-MiniLM-L6-v2"), Cpu::detect()).unwrap();
    let gold = "Say more about the kitchen.";
    let rate = |generated: &[&str]| -> Vec<f64> {
        let pairs: Vec<UnitPair<'_>> =
            generated.iter().map(|generated| UnitPair { generated, gold }).collect();
        scorer.score(&pairs).into_iter().map(|rating| rating.unwrap().get()).collect()
    };
    let first = rate(&["Describe the kitchen.", "Fix the comma."]);
    assert_eq!(scorer.encoder().n_known(), 3);
    let second = rate(&["Fix the comma.", "Who?"]);
    assert_eq!(scorer.encoder().n_known(), 4);
    assert_eq!(second[0].to_bits(), first[1].to_bits());
}

#[test]
fn an_encoder_that_nobody_calibrated_rates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let encoder = linked_encoder(temporary_folder(&folder));
    let path = encoder.join("model.safetensors");
    let mut weights = fs_err::read(&path).unwrap();
    *weights.last_mut().unwrap() ^= 1;
    fs_err::remove_file(&path).unwrap();
    fs_err::write(&path, weights).unwrap();
    let error = EmbeddingScorer::open(&encoder, Cpu::detect()).err().unwrap().to_string();
    assert!(error.contains("calibrate_similarity.py"), "{error}");
}

#[test]
fn a_judge_rates_pairs_by_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let rules = dir.path().join("judge.jsonl");
    fs_err::write(&rules, "{\"contains\": \"\", \"reply\": \"A) 3\"}\n").unwrap();
    let judge = format!("judge:scripted:{}", rules.display());
    let pair = "{\"id\": \"7\", \"a\": \"Well done.\", \"b\": \"Good job.\"}\n";
    assert_eq!(lines(&rate(&["--scorer", &judge], pair))[0]["rating"], json!(3.0));
    assert_eq!(rate(&["--raw", "--scorer", &judge], pair).status.code(), Some(1));
}
