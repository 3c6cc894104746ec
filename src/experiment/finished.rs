//! Runs that are done, read back for comparisons and reports.

use std::io;

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::{ParagraphResult, Results, spec::who};
use crate::{
    prompt::Condition,
    run::{Manifest, RunStore},
};

/// A run with its results.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// Where it lies.
    pub dir: Utf8PathBuf,
    /// A short name, unlike that of the runs it was loaded with.
    pub name: String,
    /// What was asked for.
    pub manifest: Manifest,
    /// The figures.
    pub results: Results,
    /// The paragraphs, in the order of the corpus.
    pub paragraphs: Vec<ParagraphResult>,
}

/// Loads some runs, in order. Each is named by the end of its path that tells it from the
/// others.
///
/// # Errors
///
/// If a directory holds no run, a run has no results yet, its results are older than its
/// specification, or one is given twice; the message names it and the command that mends it.
pub fn load_runs(dirs: &[Utf8PathBuf]) -> anyhow::Result<Vec<FinishedRun>> {
    let mut paths = Vec::new();
    for dir in dirs {
        let path = dir.canonicalize_utf8().with_context(|| format!("{dir} holds no run"))?;
        if path.is_file() {
            bail!("{dir} is a file and no run: name directories, as with runs/mine/*/");
        }
        if paths.contains(&path) {
            bail!("{dir} is given twice: a run cannot be set against itself");
        }
        paths.push(path);
    }
    let names = short_names(&paths);
    dirs.iter().zip(names).map(|(dir, name)| load(dir, name)).collect()
}

fn load(dir: &Utf8Path, name: String) -> anyhow::Result<FinishedRun> {
    let store = RunStore::open(dir)?;
    let unready = || format!("{dir} has no results yet: `unimatch match {dir}` computes them");
    let path = dir.join("results.json");
    let text = read(&path).with_context(unready)?;
    let results: Results = serde_json::from_str(&text)
        .with_context(|| format!("{path} cannot be read: `unimatch match {dir}` writes it anew"))?;
    if results.fingerprint != store.manifest().fingerprint {
        bail!("{path} is of another specification than the run: `unimatch match {dir}` mends it");
    }
    let path = dir.join("paragraphs.jsonl");
    let text = read(&path).with_context(unready)?;
    let paragraph = |(index, line): (usize, &str)| {
        serde_json::from_str::<ParagraphResult>(line).with_context(|| {
            let line = index + 1;
            format!("line {line} of {path} cannot be read: `unimatch match {dir}` writes it anew")
        })
    };
    let paragraphs = text.lines().enumerate().map(paragraph).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(FinishedRun {
        dir: dir.to_owned(),
        name,
        manifest: store.manifest().clone(),
        results,
        paragraphs,
    })
}

fn read(path: &Utf8Path) -> io::Result<String> {
    fs_err::read_to_string(path)
}

impl FinishedRun {
    /// The setting at a pointer of the specification, as text; empty where there is none.
    pub fn setting(&self, pointer: &str) -> String {
        match self.manifest.spec.pointer(pointer) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        }
    }

    /// A role of the specification, as `/scorer`, in a few words.
    pub fn role(&self, pointer: &str) -> String {
        who(self.manifest.spec.pointer(pointer))
    }

    /// What the model was shown.
    pub fn condition(&self) -> anyhow::Result<Condition> {
        let text = self.setting("/condition");
        text.parse().with_context(|| format!("{}: the condition `{text}` is none", self.dir))
    }

    /// The generator's name, without the folder it lies in.
    pub fn model(&self) -> String {
        let Some(Value::Object(role)) = self.manifest.spec.pointer("/generator") else {
            return self.setting("/generator");
        };
        let name = role.values().find_map(|value| value.get("name").and_then(Value::as_str));
        let name = name.map(|name| name.trim_end_matches(".gguf").trim_end_matches(".jsonl"));
        name.map_or_else(|| self.setting("/generator"), str::to_owned)
    }
}

/// For each path as few of its last parts as tell it from the others.
fn short_names(paths: &[Utf8PathBuf]) -> Vec<String> {
    let end = |path: &Utf8Path, n_parts: usize| {
        let parts: Vec<&str> = path.components().map(|part| part.as_str()).collect();
        parts[parts.len().saturating_sub(n_parts)..].join("/")
    };
    let is_told = |path: &Utf8PathBuf, n_parts: usize| {
        let same = |other: &&Utf8PathBuf| end(other, n_parts) == end(path, n_parts);
        paths.iter().filter(same).count() == 1
    };
    let name = |path: &Utf8PathBuf| {
        let n_all = path.components().count();
        let n_parts = (1..=n_all).find(|&n_parts| is_told(path, n_parts)).unwrap_or(n_all);
        end(path, n_parts)
    };
    paths.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_by_what_tells_them_apart() {
        let paths = ["/a/x/v1", "/a/y/v1", "/a/y/v2"].map(Utf8PathBuf::from);
        assert_eq!(short_names(&paths), ["x/v1", "y/v1", "v2"]);
    }
}
