//! The report of runs: its files, what it withholds, and the page in a real browser.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use crate::{
    material,
    program::{fail, succeed, text, unimatch},
};

fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
    (dir, path)
}

/// Words that stand in every kind of text of the hostile corpus, and nowhere else.
const SECRET: &str = "Zanzibarquux";

/// A corpus that a careless page would trip over.
fn hostile_corpus(dir: &Utf8Path) -> Utf8PathBuf {
    let corpus = dir.join("corpus");
    fs_err::create_dir_all(&corpus).unwrap();
    let bodies = [
        format!(
            "<script>document.title = 'owned';</script> {SECRET} </script><img src=x onerror=alert(1)>"
        ),
        format!("كتبت {SECRET} مقالتي عن مدينتي، وأحببت أن أصف شوارعها القديمة."),
        format!(
            "{SECRET} \u{1f9d1}\u{200d}\u{1f373} cooks \u{1f35c} and \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} eat; \u{2028} a separator, a \u{0} nothing."
        ),
        format!("{SECRET} {}", "A sentence that goes on and on. ".repeat(320)),
        format!("{SECRET} & &amp; \"quoted\" 'words' \\u003c ${{7*7}} {{{{x}}}} `ticks`"),
    ];
    for student in 1..=3 {
        let paragraphs: Vec<_> = bodies
            .iter()
            .map(|body| {
                let marked: String = body.chars().take(9).collect();
                let rest: String = body.chars().skip(9).take(40).collect();
                json!({
                    "body": body,
                    "annotations": [
                        {"type": "highlight", "color": "yellow", "text": marked,
                         "comment": format!("<b>{SECRET}</b> Give one reason for this. And say more."),
                         "context_left": "", "context_right": rest},
                        {"type": "note", "comment": format!("{SECRET}: lovely."), "context_left": marked,
                         "context_right": rest},
                    ],
                })
            })
            .collect();
        let name =
            format!("Batch_1_Course_1_Class_{}_Essay_1_Final_ID000{student}", student % 2 + 1);
        let draft = json!({"paragraphs": paragraphs, "annotations": []});
        fs_err::write(corpus.join(format!("{name}.json")), draft.to_string()).unwrap();
    }
    corpus
}

/// Two runs on the hostile corpus, whose model answers as badly.
fn hostile_runs(dir: &Utf8Path) -> [Utf8PathBuf; 2] {
    let corpus = hostile_corpus(dir);
    let replies = dir.join("replies.jsonl");
    let reply = format!(
        "<svg onload=alert(2)> {SECRET} tells what it means. Give one more reason for this. </script>"
    );
    fs_err::write(&replies, json!({"contains": "", "reply": reply}).to_string()).unwrap();
    ["v1", "v2"].map(|condition| {
        let out = dir.join(condition);
        let mut command = unimatch();
        command
            .args(["run", corpus.as_str(), "--generator", &format!("scripted:{replies}")])
            .args(["--segmenter", "sentence", "--scorer", "lexical:chrf"])
            .args(["--condition", condition, "--out", out.as_str()]);
        succeed(&mut command);
        out
    })
}

fn report(runs: &[Utf8PathBuf], out: &Utf8Path) -> Command {
    let mut command = unimatch();
    command.arg("report").args(runs).args(["--out", out.as_str()]);
    command
}

fn files_below(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    for entry in dir.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn a_report_is_one_page_with_its_figures_and_tables() {
    let (_guard, dir) = scratch();
    let runs = hostile_runs(&dir);
    let out = dir.join("report");
    let printed = text(&succeed(&mut report(&runs, &out)).stdout);
    assert!(printed.contains("15 paragraphs of 2 runs"), "{printed}");
    let page = fs_err::read_to_string(out.join("index.html")).unwrap();
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert!(!page.contains("<script>document.title") && !page.contains("<img src=x"));
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let names: Vec<String> =
        files_below(&out).iter().map(|path| path.strip_prefix(&out).unwrap().to_string()).collect();
    for wanted in ["tables/conditions.csv", "tables/conditions.md", "tables/conditions.tex"] {
        assert!(names.iter().any(|name| name == wanted), "{wanted}: {names:?}");
    }
    assert!(names.iter().any(|name| name == "figures/precision-recall.svg"), "{names:?}");

    // The same again is the same to the byte, and takes the place of what is there.
    let before: Vec<Vec<u8>> =
        files_below(&out).iter().map(|path| fs_err::read(path).unwrap()).collect();
    succeed(&mut report(&runs, &out));
    let after: Vec<Vec<u8>> =
        files_below(&out).iter().map(|path| fs_err::read(path).unwrap()).collect();
    assert_eq!(before, after);

    // Many paragraphs go to pages of their own; a shorter report leaves none of them behind.
    succeed(report(&runs, &out).args(["--per-page", "5"]));
    assert!(out.join("paragraphs-003.html").exists());
    succeed(&mut report(&runs, &out));
    assert!(!out.join("paragraphs-001.html").exists());
}

#[test]
fn a_redacted_report_holds_no_word_of_anybody() {
    let (_guard, dir) = scratch();
    let runs = hostile_runs(&dir);
    let (whole, redacted) = (dir.join("whole"), dir.join("redacted"));
    succeed(&mut report(&runs, &whole));
    // It needs no corpus either.
    fs_err::rename(dir.join("corpus"), dir.join("moved")).unwrap();
    succeed(report(&runs, &redacted).arg("--redact"));
    let holds = |out: &Utf8Path| {
        files_below(out).iter().any(|path| fs_err::read_to_string(path).unwrap().contains(SECRET))
    };
    assert!(holds(&whole) && !holds(&redacted));

    let message = fail(&mut report(&runs, &dir.join("other")));
    assert!(message.contains("--corpus DIR") && message.contains("--redact"), "{message}");
    let moved = dir.join("moved");
    succeed(report(&runs, &dir.join("other")).args(["--corpus", moved.as_str()]));
    let message =
        fail(report(&runs, &dir.join("third")).args(["--corpus", "tests/fixtures/corpus"]));
    assert!(message.contains("is not the corpus"), "{message}");
    let message = fail(report(&runs, &dir).arg("--redact"));
    assert!(message.contains("and no report"), "{message}");
}

#[test]
fn the_page_works_in_a_browser_without_a_network_and_runs_nothing_of_an_essay() {
    let Some(browser) = material::browser() else { return };
    let (_guard, dir) = scratch();
    let runs = hostile_runs(&dir);
    let out = dir.join("report");
    succeed(&mut report(&runs, &out));
    let page = out.join("index.html");
    let open = |hash: &str| {
        let output = Command::new(&browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"])
            .args(["--enable-logging=stderr", "--virtual-time-budget=8000", "--dump-dom"])
            .arg(format!("--user-data-dir={}", dir.join("profile")))
            .arg(format!("file://{page}{hash}"))
            .output()
            .unwrap();
        let log = text(&output.stderr);
        let said: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(said.is_empty(), "{said:?}");
        text(&output.stdout)
    };
    let cards = |dom: &str| dom.matches("aria-labelledby=\"card-").count();
    let all = open("");
    assert!(all.contains("<title>") && !all.contains("<title>owned"), "an essay ran as script");
    assert_eq!(cards(&all), 15);
    assert!(all.contains("&lt;script&gt;d<"), "the text is not shown");
    assert!(!all.contains("<img src=\"x\"") && !all.contains("<svg onload"));
    assert_eq!(cards(&open("#class=1.1.1")), 5);
    assert_eq!(cards(&open("#q=cooks")), 3);
    assert_eq!(cards(&open("#q=nothinglikethis")), 0);
}
