//! A small scorer and a small segmenter, trained by the program and then used.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::{
    material,
    program::{fail, succeed, text, unimatch},
};

const TOPICS: [&str; 8] = [
    "the thesis",
    "your evidence",
    "the opening",
    "the ending",
    "the quotation",
    "the order",
    "the tone",
    "the commas",
];

/// Rated pairs of our own: the same topic is alike, another is not.
fn write_pairs(path: &Utf8Path, students: std::ops::Range<usize>) {
    let mut lines = String::new();
    for student in students {
        for (index, topic) in TOPICS.iter().enumerate() {
            let other = TOPICS[(index + student + 1) % TOPICS.len()];
            for (kind, b, rating) in [
                ("variant", format!("Look at {topic} again, please."), 4),
                ("natural", format!("I wonder about {other}, reader {student}."), 0),
            ] {
                let line = json!({
                    "id": format!("{student}-{index}-{rating}"), "student": student.to_string(),
                    "paragraph": index, "kind": kind, "a": format!("Work on {topic}."), "b": b,
                    "ratings": [rating],
                });
                lines.push_str(&line.to_string());
                lines.push('\n');
            }
        }
    }
    fs_err::write(path, lines).unwrap();
}

fn write_texts(path: &Utf8Path, students: std::ops::Range<usize>) {
    let mut lines = String::new();
    for student in students {
        for topic in TOPICS {
            let segmented = format!("Reader {student} likes {topic}.$$ But say more about it.$$");
            let line = json!({
                "id": format!("{student}-{topic}"), "student": student.to_string(),
                "source": "instructor", "text": segmented.replace("$$", ""),
                "segmented": segmented,
            });
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
    }
    fs_err::write(path, lines).unwrap();
}

const SETTINGS: &str =
    "[encoder]\nfrozen = 5\n[steps]\nepochs = 3\nbatch = 4\ncheckpoint-every = 1\n";

struct Lesson {
    _guard: tempfile::TempDir,
    dir: Utf8PathBuf,
}

impl Lesson {
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(guard.path()).unwrap().to_owned();
        write_pairs(&dir.join("train-scorer.jsonl"), 0..4);
        write_pairs(&dir.join("dev-scorer.jsonl"), 4..6);
        write_texts(&dir.join("train-segmenter.jsonl"), 0..4);
        write_texts(&dir.join("dev-segmenter.jsonl"), 4..6);
        fs_err::write(dir.join("settings.toml"), SETTINGS).unwrap();
        Self { _guard: guard, dir }
    }

    fn command(&self, kind: &str, out: &Utf8Path) -> std::process::Command {
        let mut command = unimatch();
        let file = |part: &str| self.dir.join(format!("{part}-{kind}.jsonl"));
        command
            .args(["distill", kind, "--config", self.dir.join("settings.toml").as_str()])
            .args(["--base", material::model("all-MiniLM-L6-v2").as_str()])
            .args(["--train", file("train").as_str(), "--dev", file("dev").as_str()])
            .args(["--out", out.as_str()]);
        command
    }
}

fn rate(scorer: &Utf8Path, pairs: &Utf8Path, fields: [&str; 2]) -> Vec<Value> {
    let output = succeed(
        unimatch()
            .args(["rate", pairs.as_str(), "--scorer", &format!("distilled:{scorer}")])
            .args(["--generated-field", fields[0], "--gold-field", fields[1]]),
    );
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_trained_scorer_rates_symmetrically_and_a_training_that_was_killed_ends_with_the_same_bytes() {
    let lesson = Lesson::new();
    let (whole, killed) = (lesson.dir.join("whole"), lesson.dir.join("killed"));
    let output = succeed(&mut lesson.command("scorer", &whole));
    assert!(text(&output.stdout).contains("dev, as written: "), "{}", text(&output.stdout));

    let mut child = lesson
        .command("scorer", &killed)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let checkpoint = killed.join("scorer.checkpoint");
    while !checkpoint.exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(checkpoint.exists(), "it was killed before its first checkpoint, or after its end");
    succeed(&mut lesson.command("scorer", &killed));
    for name in ["scorer.safetensors", "base.safetensors", "scorer.csv"] {
        let read = |folder: &Utf8Path| fs_err::read(folder.join(name)).unwrap();
        assert!(read(&whole) == read(&killed), "{name} differs");
    }
    assert!(!checkpoint.exists());

    let dev = lesson.dir.join("dev-scorer.jsonl");
    let (ab, ba) = (rate(&whole, &dev, ["a", "b"]), rate(&whole, &dev, ["b", "a"]));
    assert_eq!(ab, ba);
    let mean = |alike: bool| {
        let chosen = ab.iter().filter(|line| line["id"].as_str().unwrap().ends_with("-4") == alike);
        let ratings: Vec<f64> = chosen.map(|line| line["rating"].as_f64().unwrap()).collect();
        ratings.iter().sum::<f64>() / ratings.len() as f64
    };
    assert!(mean(false) + 1.0 < mean(true), "{} and {}", mean(false), mean(true));
    for line in &ab {
        let probabilities = line["probabilities"].as_array().unwrap();
        let sum: f64 = probabilities.iter().map(|p| p.as_f64().unwrap()).sum();
        assert_eq!(probabilities.len(), 5);
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    }
    let again = fail(&mut lesson.command("scorer", &whole));
    assert!(again.contains("there is a scorer already"), "{again}");
}

#[test]
fn a_trained_segmenter_cuts_and_joins_back() {
    let lesson = Lesson::new();
    let out = lesson.dir.join("cutter");
    succeed(&mut lesson.command("segmenter", &out));
    let long = "But say more about it. ".repeat(400);
    let texts = lesson.dir.join("texts.jsonl");
    let short = json!({"id": "0", "text": "Reader 9 likes the tone. But say more about it."});
    let lines = format!("{short}\n{}\n", json!({"id": "1", "text": long.trim_end()}));
    fs_err::write(&texts, lines).unwrap();
    let output = succeed(
        unimatch()
            .args(["eval", "--references", texts.as_str(), "--candidates", texts.as_str()])
            .args(["--segmenter", &format!("distilled:{out}"), "--scorer", "lexical:chrf"])
            .args(["-f", "json"]),
    );
    let evaluation: Value = serde_json::from_slice(&output.stdout).unwrap();
    let units = |index: usize| -> Vec<String> {
        let units = evaluation["texts"][index]["generated"].as_array().unwrap();
        units.iter().map(|unit| unit.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(units(0), ["Reader 9 likes the tone.", "But say more about it."]);
    assert_eq!(units(1).join(" ").split_whitespace().count(), 400 * 5);
    assert!(100 < units(1).len(), "{}", units(1).len());
}

#[test]
fn data_that_cannot_be_learnt_from_is_named_with_its_line() {
    let lesson = Lesson::new();
    let path = lesson.dir.join("train-scorer.jsonl");
    let good = fs_err::read_to_string(&path).unwrap();
    for (line, reason) in [
        (r#"{"id": "x", "student": "x", "a": "A", "b": "B", "ratings": [5]}"#, "0 to 4"),
        (r#"{"id": "x", "student": "x", "a": "A", "b": "B", "ratings": []}"#, "no rating"),
        (r#"{"id": "x""#, "EOF"),
    ] {
        fs_err::write(&path, format!("{good}{line}\n")).unwrap();
        let message = fail(&mut lesson.command("scorer", &lesson.dir.join("none")));
        let place = format!("train-scorer.jsonl, line {}", good.lines().count() + 1);
        assert!(message.contains(&place) && message.contains(reason), "{message}");
    }
    write_pairs(&path, 3..5);
    let message = fail(&mut lesson.command("scorer", &lesson.dir.join("none")));
    assert!(message.contains("student") && message.contains('4'), "{message}");
}

#[test]
fn epochs_are_not_compared_on_nothing() {
    let lesson = Lesson::new();
    let settings = lesson.dir.join("best.toml");
    fs_err::write(&settings, "[steps]\nkeep = \"best\"\n").unwrap();
    let message = fail(
        unimatch()
            .args(["distill", "scorer", "--config", settings.as_str()])
            .args(["--base", material::model("all-MiniLM-L6-v2").as_str()])
            .args(["--train", lesson.dir.join("train-scorer.jsonl").as_str()])
            .args(["--out", lesson.dir.join("none").as_str()]),
    );
    assert!(message.contains("--dev"), "{message}");
    assert!(!lesson.dir.join("none").exists());
}
