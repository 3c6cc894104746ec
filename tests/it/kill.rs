//! A run that is killed, for real and at any moment, comes to the same end.

use std::process::{Child, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    material,
    program::{succeed, text, unimatch},
};

const RESULTS: [&str; 3] = ["results.json", "results.csv", "paragraphs.jsonl"];
const STAGES: [&str; 4] = ["generate", "clean", "segment", "score"];

/// A short run of real models.
fn command(out: &Utf8Path) -> std::process::Command {
    let mut command = unimatch();
    command
        .args(["run", "tests/fixtures/corpus", "--limit", "3", "--max-new-tokens", "24"])
        .args(["--condition", "v1", "--temperature", "0.7", "--generator"])
        .arg(format!("local:{}", material::model("SmolLM2-135M-Instruct.Q4_1.gguf")))
        .arg("--scorer")
        .arg(format!("embedding:{}", material::model("all-MiniLM-L6-v2")))
        .args(["--out", out.as_str()]);
    command
}

#[test]
fn a_run_killed_at_random_moments_ends_with_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let undisturbed = dir.join("undisturbed");
    succeed(&mut command(&undisturbed));
    let n_records = n_lines(&undisturbed);

    let killed = dir.join("killed");
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let mut n_kills = 0;
    let mut kept = 0;
    for _ in 0..8 {
        let mut child =
            command(&killed).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let moment = rng.random_range(kept..n_records);
        n_kills += usize::from(kill_after(&mut child, &killed, moment));
        let now = n_lines(&killed);
        assert!(kept <= now, "{kept} records were there and {now} are left");
        kept = now;
    }
    assert!(0 < n_kills, "no kill came before the end of a run");
    tear_last_line(&killed);
    succeed(&mut command(&killed));

    for name in RESULTS {
        let (left, right) = (undisturbed.join(name), killed.join(name));
        assert_eq!(fs_err::read(left).unwrap(), fs_err::read(right).unwrap(), "{name}");
    }
}

#[test]
fn threads_and_batches_change_no_byte_of_the_results() {
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let (one, two) = (dir.join("one"), dir.join("two"));
    succeed(command(&one).args(["-j", "1", "--batch-size", "1"]));
    succeed(command(&two).args(["-j", "2", "--batch-size", "64"]));
    for name in RESULTS {
        let (left, right) = (one.join(name), two.join(name));
        assert_eq!(fs_err::read(left).unwrap(), fs_err::read(right).unwrap(), "{name}");
    }
}

#[test]
fn another_setting_is_refused_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let out = Utf8Path::from_path(dir.path()).unwrap().join("run");
    succeed(&mut crate::program::rehearsal(&out));
    let before = fs_err::read(out.join("results.json")).unwrap();
    let message = crate::program::fail(crate::program::rehearsal(&out).args(["--seed", "7"]));
    assert!(message.contains("sampling.seed: 42 in the run, 7 now"), "{message}");
    assert_eq!(fs_err::read(out.join("results.json")).unwrap(), before);

    let again = succeed(unimatch().args(["run", "--config"]).arg(out.join("config.toml")));
    assert!(text(&again.stdout).contains("0 worked on"), "{}", text(&again.stdout));
    assert_eq!(fs_err::read(out.join("results.json")).unwrap(), before);
}

/// Kills a process with SIGKILL once so many records are there; false where it
/// ended by itself before.
fn kill_after(child: &mut Child, run: &Utf8Path, n_records: usize) -> bool {
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        if n_records <= n_lines(run) && run.join("run.json").exists() {
            child.kill().unwrap();
            child.wait().unwrap();
            return true;
        }
        std::thread::yield_now();
    }
}

fn record_files(run: &Utf8Path) -> Vec<Utf8PathBuf> {
    STAGES
        .iter()
        .map(|stage| run.join(stage).join("0000-of-0001.jsonl"))
        .filter(|path| path.exists())
        .collect()
}

/// The whole records of all stages.
fn n_lines(run: &Utf8Path) -> usize {
    record_files(run)
        .iter()
        .map(|path| fs_err::read(path).unwrap().iter().filter(|&&byte| byte == b'\n').count())
        .sum()
}

/// Leaves half a record at the end of each file, cut inside a character, as a
/// kill inside a write can.
fn tear_last_line(run: &Utf8Path) {
    for path in record_files(run) {
        let mut bytes = fs_err::read(&path).unwrap();
        bytes.extend_from_slice("{\"key\":\"caf\u{e9}".as_bytes());
        bytes.pop();
        fs_err::write(&path, bytes).unwrap();
    }
}
