//! Experiments: many runs from one file, interrupted or not.

use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    material,
    program::{succeed, text, unimatch},
};

const FILE: &str = "tests/fixtures/experiment.toml";
const RUNS: [&str; 4] = ["Script-v1", "Script-v1+guided", "Script-v2", "Script-v2+guided"];
const RESULTS: [&str; 3] = ["results.json", "results.csv", "paragraphs.jsonl"];

fn experiment(args: &[&str]) -> Command {
    let mut command = unimatch();
    command.arg("experiment").args(args);
    command
}

fn code_and_text(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn a_sound_experiment_is_told_run_by_run_and_an_unsound_one_by_what_it_lacks() {
    let found = text(&succeed(&mut experiment(&["check", FILE])).stdout);
    assert!(found.contains("rehearsal: 4 runs of 1 model\n"), "{found}");
    for run in RUNS {
        assert!(found.contains(run), "{found}");
    }
    let (code, found) = code_and_text(&mut experiment(&["check", FILE, "--set", "corpus=nowhere"]));
    assert_eq!(code, Some(3), "{found}");
    assert!(found.contains("4 runs: ") && found.contains("nowhere"), "{found}");
    for (set, wanted) in [
        ("top-p=0", "--top-p"),
        ("limit", "is not NAME=VALUE"),
        ("wishes=3", "unknown field"),
        ("out=here", "set by the experiment"),
    ] {
        let (code, found) = code_and_text(&mut experiment(&["check", FILE, "--set", set]));
        assert_eq!(code, Some(2), "{found}");
        assert!(found.contains(wanted), "{found}");
    }
    let (code, found) = code_and_text(&mut experiment(&["check", FILE, "--only", "Nobody"]));
    assert_eq!(code, Some(2), "{found}");
    assert!(found.contains("`Nobody` is no run and no model"), "{found}");
}

#[test]
fn the_papers_experiment_is_printed_and_sound_but_for_what_nobody_has() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("paper.toml");
    fs_err::write(&path, succeed(&mut experiment(&["paper"])).stdout).unwrap();
    let path = path.to_str().unwrap();
    let (code, found) = code_and_text(&mut experiment(&["check", path]));
    assert_eq!(code, Some(3), "{found}");
    assert!(found.contains("sefora-paper: 74 runs of 5 models"), "{found}");
    assert!(found.contains("no model lies at models/Mistral-7B-Instruct-v0.2"), "{found}");
}

#[test]
fn runs_share_what_they_can_and_are_not_done_twice() {
    let dir = tempfile::tempdir().unwrap();
    let out = Utf8Path::from_path(dir.path()).unwrap().join("out");
    let run = ["run", FILE, "--out", out.as_str()];
    let (code, found) = code_and_text(&mut experiment(&["status", out.as_str()]));
    assert_eq!(code, Some(1), "{found}");
    assert!(found.contains("holds no experiment"), "{found}");

    succeed(experiment(&run).args(["--only", "Script-v2"]));
    let (code, found) = code_and_text(&mut experiment(&["status", out.as_str()]));
    assert_eq!(code, Some(3), "{found}");
    assert!(found.contains("rehearsal: 1 done, 3 left"), "{found}");
    assert!(found.contains("left, by the pace of the run so far"), "{found}");

    let found = text(&succeed(&mut experiment(&run)).stdout);
    assert!(found.contains("4 of 4 runs are done"), "{found}");
    let (code, found) = code_and_text(&mut experiment(&["status", out.as_str()]));
    assert_eq!(code, Some(0), "{found}");
    assert!(found.contains("nothing is left"), "{found}");

    // A run of an experiment is a run like any other, and the same as alone.
    let alone = out.with_file_name("alone");
    succeed(crate::program::rehearsal(&alone).args(["--condition", "v1+guided"]));
    for name in RESULTS {
        let of = |dir: &Utf8Path| fs_err::read(dir.join(name)).unwrap();
        assert_eq!(of(&alone), of(&out.join("Script-v1+guided")), "{name}");
    }

    let before = all_results(&out);
    succeed(&mut experiment(&run));
    assert_eq!(all_results(&out), before);
}

#[test]
fn a_run_that_cannot_be_done_is_told_and_costs_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let (file, out) = (dir.join("file.toml"), dir.join("out"));
    let with_another = fs_err::read_to_string(material::root().join(FILE)).unwrap()
        + "\n[models.Absent]\ngenerator = \"scripted:absent.jsonl\"\n\
           [[runs]]\nmodel = \"Absent\"\ncondition = \"v1\"\n";
    fs_err::write(&file, with_another).unwrap();
    let run = ["run", file.as_str(), "--out", out.as_str()];
    let (code, found) = code_and_text(experiment(&run).args(["--only", "Absent,Script-v1"]));
    assert_eq!(code, Some(3), "{found}");
    assert!(found.contains("1 of 2 runs are done"), "{found}");
    assert!(found.contains("Absent-v1 FAILED") && found.contains("absent.jsonl"), "{found}");
    let (_, found) = code_and_text(&mut experiment(&["status", out.as_str()]));
    assert!(found.contains("1 stopped with an error"), "{found}");
}

/// An experiment of four conditions of a real model, one that takes its time.
fn slow_experiment(dir: &Utf8Path) -> Utf8PathBuf {
    let file = dir.join("slow.toml");
    let model = material::model("SmolLM2-135M-Instruct.Q4_1.gguf");
    let text = format!(
        "format_version = 1\nname = \"slow\"\n[settings]\ncorpus = \"tests/fixtures/corpus\"\n\
         limit = 2\nmax-new-tokens = 16\ntemperature = 0.7\n\
         [models.SmolLM2]\ngenerator = \"local:{model}\"\n\
         [[matrix]]\nmodels = [\"SmolLM2\"]\ntemplates = [\"v1\", \"v2\"]\nguided = [false, true]\n"
    );
    fs_err::write(&file, text).unwrap();
    file
}

#[test]
fn an_experiment_killed_at_random_moments_ends_with_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let file = slow_experiment(dir);
    let (undisturbed, killed) = (dir.join("undisturbed"), dir.join("killed"));
    let run = |out: &Utf8Path| experiment(&["run", file.as_str(), "--out", out.as_str()]);
    succeed(&mut run(&undisturbed));
    let n_records = n_records(&undisturbed);

    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut n_kills, mut kept) = (0, 0);
    for _ in 0..6 {
        let mut child = run(&killed).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let moment = rng.random_range(kept..n_records);
        loop {
            if child.try_wait().unwrap().is_some() {
                break;
            }
            if moment < self::n_records(&killed) {
                child.kill().unwrap();
                child.wait().unwrap();
                n_kills += 1;
                break;
            }
            std::thread::yield_now();
        }
        let now = self::n_records(&killed);
        assert!(kept <= now, "{kept} records were there and {now} are left");
        kept = now;
    }
    assert!(0 < n_kills, "no kill came before the end");
    succeed(&mut run(&killed));
    assert_eq!(all_results(&undisturbed), all_results(&killed));
    assert_eq!(all_results(&killed).len(), 4 * RESULTS.len());
}

/// The directories of an experiment's runs, in order.
fn run_dirs(out: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = out.read_dir_utf8() else { return Vec::new() };
    let mut dirs: Vec<Utf8PathBuf> =
        entries.map(|entry| entry.unwrap().into_path()).filter(|path| path.is_dir()).collect();
    dirs.sort();
    dirs
}

/// The bytes of all results, by run and name.
fn all_results(out: &Utf8Path) -> Vec<(Utf8PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for dir in run_dirs(out) {
        for name in RESULTS.iter().filter(|name| dir.join(name).exists()) {
            let path = dir.strip_prefix(out).unwrap().join(name);
            found.push((path, fs_err::read(dir.join(name)).unwrap()));
        }
    }
    found
}

/// The whole records of all stages of all runs.
fn n_records(out: &Utf8Path) -> usize {
    let n_lines =
        |path: &Utf8Path| fs_err::read(path).unwrap().iter().filter(|&&byte| byte == b'\n').count();
    run_dirs(out)
        .iter()
        .flat_map(|dir| {
            ["generate", "clean", "segment", "score"]
                .map(|stage| dir.join(stage).join("0000-of-0001.jsonl"))
        })
        .filter(|path| path.exists())
        .map(|path| n_lines(&path))
        .sum()
}
