//! The models that the program carries, with nothing beside it.
#![cfg(feature = "distilled")]

use std::process::Command;

use camino::Utf8Path;
use serde_json::Value;

use crate::{
    material,
    program::{succeed, text, unimatch},
};

const REFERENCES: &str = r#"{"id": "same", "units": ["Cite the source of this number.", "A vivid opening image!"]}
{"id": "other", "units": ["Cite the source of this number.", "A vivid opening image!"]}
{"id": "copy", "units": ["I love the image of the kitchen.", "This sentence is a run-on."]}
"#;

const CANDIDATES: &str = r#"{"id": "same", "text": "What a vivid image to open with! Where does this number come from? Please cite it."}
{"id": "other", "text": "The comma here should be a semicolon. Who is the man in the third paragraph?"}
{"id": "copy", "units": ["This sentence is a run-on.", " I love the image of the kitchen."]}
"#;

/// The program in an empty folder, without anything of its environment.
fn alone(folder: &Utf8Path) -> Command {
    let mut command = unimatch();
    command.env_clear().env("HOME", folder).current_dir(folder);
    command
}

#[test]
fn the_program_alone_evaluates_feedback_by_the_models_it_carries() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(dir.path()).unwrap();
    fs_err::write(folder.join("r.jsonl"), REFERENCES).unwrap();
    fs_err::write(folder.join("c.jsonl"), CANDIDATES).unwrap();
    let eval = ["eval", "--references", "r.jsonl", "--candidates", "c.jsonl"];
    let table = text(&succeed(alone(folder).args(eval)).stdout);
    assert!(table.contains("segmenter distilled#"), "{table}");
    assert!(table.contains("scorer distilled#"), "{table}");
    assert!(table.contains("(validated: Pearson 0."), "{table}");
    assert!(table.contains("rated by language models"), "{table}");

    let output = succeed(alone(folder).args(eval).args(["-f", "json"]));
    let evaluation: Value = serde_json::from_slice(&output.stdout).unwrap();
    let texts = evaluation["texts"].as_array().unwrap();
    let f1 = |id: &str| {
        let of_id = texts.iter().find(|entry| entry["id"] == id).unwrap();
        of_id["outcome"]["measured"]["soft"]["f1"].as_f64().unwrap()
    };
    assert!((f1("copy") - 1.0).abs() < 1e-12, "{evaluation:#}");
    let same = texts.iter().find(|entry| entry["id"] == "same").unwrap();
    let units =
        ["What a vivid image to open with!", "Where does this number come from? Please cite it."];
    assert_eq!(same["generated"], serde_json::json!(units), "the segmenter cut it");
    assert!(0.5 < f1("same") && f1("other") < 0.3, "{evaluation:#}");
}

/// The card that the program gives, and the one that is kept beside the models.
fn cards(measure: &str, instrument: &str, annotations: &Utf8Path) -> [Value; 2] {
    let dir = tempfile::tempdir().unwrap();
    let output = succeed(
        unimatch()
            .args(["validate", measure, annotations.as_str(), instrument, "distilled"])
            .args(["-f", "json", "--draws", "100", "--cache"])
            .arg(dir.path()),
    );
    let kept = format!("models/distilled/{measure}_card.json");
    let kept = fs_err::read_to_string(material::root().join(kept)).unwrap();
    [serde_json::from_slice(&output.stdout).unwrap(), serde_json::from_str(&kept).unwrap()]
}

fn are_close([found, kept]: &[Value; 2], names: &[&str]) {
    assert_eq!(found["annotations"]["digest"], kept["annotations"]["digest"]);
    for name in names {
        let figure = |card: &Value| card.pointer(name).and_then(Value::as_f64).unwrap();
        let (found, kept) = (figure(found), figure(kept));
        assert!((found - kept).abs() < 0.005, "{name}: {found}, and the card says {kept}");
    }
}

#[test]
fn what_is_carried_rates_dev_as_its_card_says() {
    let Some(dev) = material::shared("annotations/similarity_dev.jsonl") else { return };
    let cards = cards("similarity", "--scorer", &dev);
    assert_eq!(cards[0]["scorer_key"], cards[1]["scorer_key"], "the card is of other weights");
    are_close(&cards, &["/pearson", "/spearman", "/mae"]);
}

#[test]
fn what_is_carried_cuts_dev_as_its_card_says() {
    let Some(dev) = material::shared("annotations/segmentation_dev.jsonl") else { return };
    let cards = cards("segmentation", "--segmenter", &dev);
    assert_eq!(cards[0]["segmenter"], cards[1]["segmenter"], "the card is of other weights");
    are_close(&cards, &["/boundary_f1", "/window_diff"]);
}
