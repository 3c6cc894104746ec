//! Texts put in order by experts: the sheet, its import and the card.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::program::{fail, rehearsal, succeed, text, unimatch};

struct Sheet {
    _dir: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Sheet {
    /// A sheet of some sets of a rehearsal, rated by chrF.
    fn drawn(n: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().to_owned();
        let sheet = Self { _dir: dir, root };
        succeed(&mut rehearsal(&sheet.path("run")));
        let printed = text(&succeed(&mut sheet.draw("sheet.html", n)).stdout);
        assert!(printed.contains("keep it from the raters"), "{printed}");
        sheet
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        self.root.join(name)
    }

    fn draw(&self, out: &str, n: usize) -> std::process::Command {
        let mut command = unimatch();
        command
            .args(["annotate", "ranking", "--from", self.path("run").as_str()])
            .args(["--scorer", "lexical:chrf", "--tolerance", "0.25", "-n", &n.to_string()])
            .args(["--cache", self.path("cache").as_str()])
            .args(["--out", self.path(out).as_str()]);
        command
    }

    fn key(&self) -> Vec<Value> {
        let key = fs_err::read_to_string(self.path("sheet.key.jsonl")).unwrap();
        key.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What a rater who sees the key exports, the best text first or last.
    fn ranked(&self, name: &str, rater: &str, best_first: bool) -> Utf8PathBuf {
        let key = unimatch::agreement::load_key(&self.path("sheet.key.jsonl")).unwrap();
        let sheet = unimatch::agreement::ranking_sheet_name(&key);
        let page = fs_err::read_to_string(self.path("sheet.html")).unwrap();
        assert!(page.contains(&sheet), "the page names itself so");
        let mut lines = String::new();
        for set in self.key() {
            let texts = set["texts"].as_array().unwrap();
            let f1 = |text: &Value| text["f1"].as_f64().unwrap();
            for text in texts {
                let better = texts.iter().filter(|other| f1(text) < f1(other)).count();
                let rank = if best_first { better + 1 } else { texts.len() - better };
                lines += &serde_json::json!({
                    "sheet": sheet, "rater": rater, "id": set["id"], "text": text["id"], "rank": rank,
                })
                .to_string();
                lines.push('\n');
            }
        }
        let path = self.path(name);
        fs_err::write(&path, lines).unwrap();
        path
    }

    fn import(&self, sheets: &[&Utf8Path], out: &str) -> std::process::Command {
        let mut command = unimatch();
        command.args(["annotate", "import-ranking"]).args(sheets);
        command.args(["--key", self.path("sheet.key.jsonl").as_str()]);
        command.args(["--out", self.path(out).as_str()]);
        command
    }

    fn validate(&self, rankings: &str) -> std::process::Command {
        let mut command = unimatch();
        command
            .args(["validate", "end-to-end", self.path(rankings).as_str()])
            .args(["--segmenter", "sentence", "--scorer", "lexical:chrf", "--draws", "200"])
            .args(["--cache", self.path("cache").as_str()]);
        command
    }
}

#[test]
fn a_chain_agrees_with_an_expert_who_ranks_as_it_does_and_not_with_the_opposite() {
    let sheet = Sheet::drawn(6);
    let key = sheet.key();
    assert_eq!(key.len(), 6);
    for set in &key {
        let mut f1: Vec<f64> = set["texts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text["f1"].as_f64().unwrap())
            .collect();
        f1.sort_by(f64::total_cmp);
        assert!(f1[0] <= 0.25 && (0.25..=0.75).contains(&f1[1]) && 0.75 <= f1[2], "{f1:?}");
    }
    let anna = sheet.ranked("anna.jsonl", "anna", true);
    succeed(&mut sheet.import(&[&anna], "one.jsonl"));
    let output = succeed(sheet.validate("one.jsonl").args(["-f", "json"]));
    let card: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&card["n"], &card["n_sets"], &card["n_unscored"]),
        (&18.into(), &6.into(), &0.into())
    );
    assert!(0.8 < card["spearman"].as_f64().unwrap(), "{card:#}");
    assert!(card["intervals"]["pearson"]["low"].is_f64(), "{card:#}");

    let ben = sheet.ranked("ben.jsonl", "ben", false);
    succeed(&mut sheet.import(&[&anna, &ben], "two.jsonl"));
    let output = succeed(sheet.validate("two.jsonl").args(["-f", "json"]));
    let card: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(0.8 < card["raters"]["anna"]["spearman"].as_f64().unwrap(), "{card:#}");
    assert!(card["raters"]["ben"]["spearman"].as_f64().unwrap() < -0.8, "{card:#}");
    assert!(card["agreement_of_raters"]["spearman"].as_f64().unwrap() < -0.8, "{card:#}");

    succeed(&mut sheet.import(&[&ben], "opposed.jsonl"));
    let missed = sheet.validate("opposed.jsonl").args(["--min-pearson", "0.5"]).output().unwrap();
    assert_eq!(missed.status.code(), Some(4), "{}", text(&missed.stderr));
    assert!(text(&missed.stderr).contains("missed: pearson is -0."));
}

#[test]
fn a_sheet_hides_what_its_key_says_and_is_the_same_for_the_same_seed() {
    let sheet = Sheet::drawn(3);
    let page = fs_err::read_to_string(sheet.path("sheet.html")).unwrap();
    let csv = fs_err::read_to_string(sheet.path("sheet.csv")).unwrap();
    for set in sheet.key() {
        assert!(page.contains(set["id"].as_str().unwrap()));
        for text in set["texts"].as_array().unwrap() {
            assert!(page.contains(text["id"].as_str().unwrap()));
            assert!(csv.contains(text["id"].as_str().unwrap()));
        }
    }
    for hidden in ["f1", "n_own", "\"units\""] {
        assert!(!page.contains(hidden) && !csv.contains(hidden), "{hidden}");
    }
    succeed(&mut sheet.draw("again.html", 3));
    assert_eq!(fs_err::read_to_string(sheet.path("again.html")).unwrap(), page);
    assert!(fail(&mut sheet.draw("again.html", 3)).contains("is there already"));
    for wrong in [["-n", "0"], ["--tolerance", "NaN"]] {
        let mut command = unimatch();
        command.args(["annotate", "ranking", "--from", sheet.path("run").as_str()]);
        let output = command.args(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(text(&output.stderr).contains("invalid value"), "{wrong:?}");
    }
}

#[test]
fn a_sheet_filled_in_as_csv_is_taken_and_a_half_filled_set_is_named() {
    let sheet = Sheet::drawn(2);
    let filled = |name: &str, n_rows: usize| {
        let mut reader = csv::Reader::from_path(sheet.path("sheet.csv")).unwrap();
        let mut writer = csv::Writer::from_path(sheet.path(name)).unwrap();
        writer.write_record(reader.headers().unwrap()).unwrap();
        for (at, row) in reader.records().enumerate() {
            let mut row: Vec<String> = row.unwrap().iter().map(str::to_owned).collect();
            if at < n_rows {
                row[0] = "anna".to_owned();
                row[7] = (at % 3 + 1).to_string();
            }
            writer.write_record(&row).unwrap();
        }
        writer.flush().unwrap();
        sheet.path(name)
    };
    let whole = filled("whole.csv", 3);
    let printed = text(&succeed(&mut sheet.import(&[&whole], "out.jsonl")).stdout);
    assert!(printed.contains("1 of 2 sets") && printed.contains("anna: 1 ranked"), "{printed}");
    let half = filled("half.csv", 4);
    let message = fail(&mut sheet.import(&[&half], "half.jsonl"));
    assert!(
        message.contains("half.csv, line ") && message.contains("rank all of them"),
        "{message}"
    );
}
