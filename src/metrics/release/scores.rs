//! The files of scores: a line for each pair of units.

use std::collections::BTreeMap;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use crate::{similarity::Rating, text::unquoted_reason};

/// Which pair a line scores.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PairKey {
    /// The name of the draft's file.
    pub(super) file: String,
    /// The place of the paragraph.
    pub(super) paragraph: usize,
    /// The place of the generated unit.
    pub(super) generated: usize,
    /// The place of the gold unit.
    pub(super) gold: usize,
}

/// What a line says of its pair.
#[derive(Debug)]
pub(super) struct ScoreLine {
    /// The line, counted from one.
    pub(super) line: usize,
    pub(super) rating: Rating,
    /// The words of the units, where the line repeats them.
    pub(super) feedback: Option<String>,
    pub(super) comment: Option<String>,
}

/// One file of scores.
#[derive(Debug)]
pub(super) struct ScoreFile {
    pub(super) path: Utf8PathBuf,
    pub(super) lines: BTreeMap<PairKey, ScoreLine>,
}

const COMPANION: &str = "_g1GT";

/// Finds the file of scores in a folder: the one `*stage1_scores*.jsonl` that is
/// no companion.
pub(super) fn find(dir: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    let mut found = Vec::new();
    for entry in dir.read_dir_utf8().with_context(|| format!("cannot list {dir}"))? {
        let path = entry.with_context(|| format!("cannot list {dir}"))?.into_path();
        let stem = path.file_stem().unwrap_or_default();
        let is_jsonl = path.extension() == Some("jsonl");
        if is_jsonl && stem.contains("stage1_scores") && !stem.ends_with(COMPANION) {
            found.push(path);
        }
    }
    found.sort_unstable();
    let names: Vec<&str> = found.iter().filter_map(|path| path.file_name()).collect();
    anyhow::ensure!(
        found.len() < 2,
        "{dir} holds {} files of scores ({}): say which with --scores",
        names.len(),
        names.join(", ")
    );
    found.pop().with_context(|| {
        format!("{dir} holds no stage1_scores*.jsonl: say where the scores are with --scores")
    })
}

/// The name of a score file's companion: `_g1GT` before its ending.
pub(super) fn companion(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let stem = path.as_str().strip_suffix(".jsonl")?;
    Some(format!("{stem}{COMPANION}.jsonl").into()).filter(|path: &Utf8PathBuf| path.exists())
}

/// Reads a file of scores. Blank lines are passed over; a pair scored twice is an
/// error.
pub(super) fn read(path: &Utf8Path) -> anyhow::Result<ScoreFile> {
    let text = fs_err::read_to_string(path)?;
    let mut lines = BTreeMap::new();
    for (index, text) in text.lines().enumerate() {
        if text.trim().is_empty() {
            continue;
        }
        let line = index + 1;
        let wire: WireScore = serde_json::from_str(text).map_err(|error| {
            let column = error.column();
            anyhow::anyhow!("{path}, line {line}, column {column}: {}", unquoted_reason(&error))
        })?;
        let (key, score) = wire.parse(line).with_context(|| format!("{path}, line {line}"))?;
        if let Some(ScoreLine { line: first, .. }) = lines.insert(key, score) {
            anyhow::bail!("{path}, line {line}: the pair is scored on line {first} already");
        }
    }
    Ok(ScoreFile { path: path.to_owned(), lines })
}

#[derive(Deserialize)]
struct WireScore {
    file: String,
    paragraph_index: usize,
    model_seg_index: usize,
    annot_index: usize,
    feedback: Option<String>,
    comment: Option<String>,
    score: f64,
}

impl WireScore {
    fn parse(self, line: usize) -> anyhow::Result<(PairKey, ScoreLine)> {
        let rating = Rating::new(self.score)
            .with_context(|| format!("field score is {}, not from 0 to 4", self.score))?;
        let key = PairKey {
            file: self.file,
            paragraph: self.paragraph_index,
            generated: self.model_seg_index,
            gold: self.annot_index,
        };
        Ok((key, ScoreLine { line, rating, feedback: self.feedback, comment: self.comment }))
    }
}
