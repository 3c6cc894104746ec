//! `unimatch validate` and `unimatch annotate`, as a person uses them.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::{
    material,
    program::{fail, rehearsal, succeed, text, unimatch},
};

const PAIRS: &str = r#"{"id":"1","draft":"D","paragraph":0,"kind":"natural","a":"Who is Alex?","b":"Who is Alex?","ratings":[4,4]}
{"id":"2","draft":"D","paragraph":0,"kind":"natural","a":"Say who Alex is.","b":"Who is Alex?","ratings":[4,3]}
{"id":"3","draft":"D","paragraph":1,"kind":"natural","a":"Fix the comma.","b":"Who is Alex?","ratings":[0,0]}
{"id":"4","draft":"E","paragraph":0,"kind":"natural","a":"A vivid opening.","b":"Cite the book.","ratings":[0,1]}
{"id":"5","draft":"E","paragraph":1,"kind":"variant_near","a":"Cite the book here.","b":"Cite the book.","ratings":[4,4]}
{"id":"6","draft":"E","paragraph":2,"kind":"variant","a":"Cut it.","b":"Cut the last sentence.","ratings":[3,null]}
"#;

struct Bench {
    _dir: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Bench {
    fn new(pairs: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().to_owned();
        fs_err::write(root.join("pairs.jsonl"), pairs).unwrap();
        Self { _dir: dir, root }
    }

    fn validate(&self, arguments: &[&str]) -> std::process::Output {
        unimatch()
            .args(["validate", "similarity"])
            .arg(self.root.join("pairs.jsonl"))
            .args(["--draws", "200", "--cache", self.root.join("cache").as_str()])
            .args(["--cards", self.root.join("cards").as_str()])
            .args(arguments)
            .output()
            .unwrap()
    }

    fn card(&self, arguments: &[&str]) -> Value {
        let output = self.validate(arguments);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
    }
}

#[test]
fn a_card_has_its_figures_by_documented_keys_and_leaves_kinds_out() {
    let bench = Bench::new(PAIRS);
    let card = bench.card(&["--scorer", "lexical:chrf", "-f", "json"]);
    assert!(0.5 < card["pearson"].as_f64().unwrap(), "{card:#}");
    assert_eq!((&card["n"], &card["raters"]["n_raters"]), (&6.into(), &2.into()));
    assert_eq!(card["bootstrap"]["n_groups"], 5);
    assert!(card["subsets"]["without variant*"]["figures"]["n"] == 4, "{card:#}");
    let counts: u64 = card["confusion"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert_eq!(counts, 6);
    let without = ["--scorer", "lexical:chrf", "-f", "json", "--exclude-kind", "variant"];
    assert_eq!(bench.card(&without)["n"], 4);
}

#[test]
fn a_bound_that_is_missed_ends_with_code_four_after_the_card() {
    let bench = Bench::new(PAIRS);
    let missed = bench.validate(&["--scorer", "lexical:chrf", "--min-pearson", "0.9999"]);
    assert_eq!(missed.status.code(), Some(4));
    assert!(text(&missed.stdout).contains("Pearson"), "{}", text(&missed.stdout));
    assert!(text(&missed.stderr).contains("missed: pearson"), "{}", text(&missed.stderr));
    let kept = bench.validate(&["--scorer", "lexical:chrf", "--min-pearson", "0.1"]);
    assert_eq!(kept.status.code(), Some(0));
}

#[test]
fn what_no_figure_can_reach_is_wrong_usage() {
    let bench = Bench::new(PAIRS);
    for wrong in [
        ["--min-pearson", "NaN"],
        ["--min-kappa", "1.5"],
        ["--min-accuracy", "80"],
        ["--max-mae", "inf"],
        ["--max-bias", "4.5"],
        ["--draws", "1"],
    ] {
        let output = bench.validate(&[&["--scorer", "lexical:chrf"][..], &wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(text(&output.stderr).contains("invalid value"), "{}", text(&output.stderr));
    }
}

#[test]
fn the_card_of_another_scorer_is_not_written_over() {
    let bench = Bench::new(PAIRS);
    let out = bench.root.join("card");
    let write = |scorer: &str, more: &[&str]| {
        let arguments = ["--scorer", scorer, "--out", out.as_str()];
        bench.validate(&[&arguments[..], more].concat())
    };
    let card = || fs_err::read_to_string(out.join("card.json")).unwrap();
    assert_eq!(write("lexical:chrf", &[]).status.code(), Some(0));
    assert_eq!(write("lexical:chrf", &["--exclude-kind", "variant"]).status.code(), Some(0));
    let kept = card();
    let refused = write("lexical:bleu", &[]);
    assert_eq!((refused.status.code(), card()), (Some(1), kept));
    let message = text(&refused.stderr);
    assert!(message.contains("the card of another") && message.contains("--force"), "{message}");
    assert_eq!(write("lexical:bleu", &["--force"]).status.code(), Some(0));
    assert!(card().contains("lexical:bleu"));
    fs_err::write(out.join("card.json"), "[1").unwrap();
    assert!(text(&write("lexical:bleu", &[]).stderr).contains("is no card"));
}

#[test]
fn what_a_scorer_said_is_not_asked_again() {
    let bench = Bench::new(PAIRS);
    let rules = bench.root.join("judge.jsonl");
    fs_err::write(&rules, "{\"contains\": \"Alex\", \"reply\": \"A) 4\"}\n").unwrap();
    let scorer = format!("judge:scripted:{rules}");
    let one =
        ["--scorer", &scorer, "--judge-batch-size", "1", "--judge-retries", "0", "-f", "json"];
    let first = bench.card(&one);
    // The rule answers the pairs that speak of Alex; the others have no reply, and no rating.
    assert_eq!((&first["n"], &first["n_unscored"]), (&3.into(), &3.into()), "{first:#}");
    assert_eq!(first["pearson"], Value::Null, "ratings that do not vary have no correlation");
    let again = bench.validate(&one);
    assert_eq!(again.status.code(), Some(3), "{}", text(&again.stderr));
    let records: Vec<Utf8PathBuf> = bench
        .root
        .join("cache")
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().path().join("rate/0000-of-0001.jsonl"))
        .collect();
    let lines = fs_err::read_to_string(&records[0]).unwrap();
    assert_eq!(lines.matches("\"done\"").count(), 3, "{lines}");
    assert_eq!(lines.matches("\"failed\"").count(), 6, "what failed was tried again: {lines}");
}

#[test]
fn a_run_says_whether_its_scorer_was_validated() {
    let bench = Bench::new(PAIRS);
    let cards = bench.root.join("cards");
    let run = |name: &str| {
        let mut command = rehearsal(&bench.root.join(name));
        text(&succeed(command.args(["--cards", cards.as_str()])).stdout)
    };
    assert!(run("before").contains("scorer lexical:chrf (unvalidated)"));
    assert_eq!(bench.validate(&["--scorer", "lexical:chrf", "--card"]).status.code(), Some(0));
    assert!(run("after").contains("scorer lexical:chrf (validated: Pearson 0."));
    let results = fs_err::read_to_string(bench.root.join("after/results.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
    assert_eq!(results["validation"]["validated"]["n"], 6);
}

#[test]
fn a_segmenter_is_held_against_its_annotators_and_a_run() {
    let bench = Bench::new("");
    let texts = bench.root.join("texts.jsonl");
    let lines = "{\"id\":\"1\",\"source\":\"model\",\"text\":\"Vivid. Who is it?\",\"segmented\":\"Vivid.$$ Who is it?$$\"}\n\
                 {\"id\":\"2\",\"source\":\"model\",\"text\":\"Good. Very good.\",\"segmented\":\"Good. Very good.$$\"}\n";
    fs_err::write(&texts, lines).unwrap();
    let run = bench.root.join("run");
    succeed(&mut rehearsal(&run));
    let output = unimatch()
        .args(["validate", "segmentation", texts.as_str(), "--segmenter", "sentence"])
        .args(["-f", "json", "--run", run.as_str()])
        .args(["--cache", bench.root.join("cache").as_str(), "--max-window-diff", "0.4"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let card: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!((card["boundary_f1"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12, "{card:#}");
    assert!((card["window_diff"].as_f64().unwrap() - 0.5).abs() < 1e-12, "{card:#}");
    assert_eq!(card["effect"]["before"], card["effect"]["after"], "the same segmenter");
}

#[test]
fn a_sheet_is_drawn_from_a_run_and_its_export_comes_back() {
    let bench = Bench::new("");
    let (run, sheet) = (bench.root.join("run"), bench.root.join("sheet.html"));
    succeed(&mut rehearsal(&run));
    let mut draw = unimatch();
    draw.args(["annotate", "--from", run.as_str(), "-n", "12", "--out", sheet.as_str()]);
    assert!(text(&succeed(&mut draw).stdout).starts_with("12 pairs"));
    let page = fs_err::read_to_string(&sheet).unwrap();
    assert!(!page.contains("http:") && !page.contains("https:"), "no link to anywhere");
    assert!(fail(&mut draw).contains("is there already"));
    let none = draw.args(["-n", "0"]).output().unwrap();
    assert_eq!(none.status.code(), Some(2), "{}", text(&none.stderr));
    let id = unimatch::agreement::pair_id(["D", "0", "Who?", "Who is it?"]);
    let line = |rater: &str, rating: u8| {
        format!(
            "{{\"sheet\":\"s\",\"rater\":\"{rater}\",\"id\":\"{id}\",\"draft\":\"D\",\"paragraph\":\"0\",\
             \"kind\":\"natural\",\"a\":\"Who?\",\"b\":\"Who is it?\",\"rating\":{rating}}}\n"
        )
    };
    let (anna, ben) = (bench.root.join("anna.jsonl"), bench.root.join("ben.jsonl"));
    fs_err::write(&anna, line("anna", 3)).unwrap();
    fs_err::write(&ben, line("ben", 4)).unwrap();
    let pairs = bench.root.join("together.jsonl");
    succeed(
        unimatch().args(["annotate", "import"]).args([&anna, &ben]).args(["--out", pairs.as_str()]),
    );
    let found = unimatch::agreement::load_pairs(&pairs).unwrap();
    assert_eq!(found[0].ratings, [Some(3.0), Some(4.0)]);
}

#[test]
fn the_dev_split_gives_the_figures_of_scipy_on_the_same_ratings() {
    let Some(annotations) = material::shared("annotations/similarity_dev.jsonl") else { return };
    let dir = tempfile::tempdir().unwrap();
    let scorer = format!("embedding:{}", material::model("all-MiniLM-L6-v2"));
    let output = unimatch()
        .args(["validate", "similarity", annotations.as_str(), "--scorer", &scorer, "-f", "json"])
        .args(["--draws", "100", "--cache"])
        .arg(dir.path())
        .output()
        .unwrap();
    let card: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (key, expected) in [("pearson", 0.5097), ("spearman", 0.4766), ("kendall_tau_b", 0.3687)] {
        assert!((card[key].as_f64().unwrap() - expected).abs() < 2e-3, "{key} {}", card[key]);
    }
}
