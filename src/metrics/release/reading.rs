//! Reading a folder in the layout of the release.

use std::collections::BTreeMap;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};

use super::{
    Answer, Release, ReleaseDraft, ReleaseParagraph,
    folder::{self, Feedback, UnitDraft, UnitParagraph},
    scores::{self, PairKey, ScoreFile, ScoreLine},
};
use crate::{
    corpus::DraftId,
    similarity::{Rating, ScoreMatrix},
};

/// How to read a folder.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The file of scores; `None` looks for the only one in the folder.
    pub scores: Option<Utf8PathBuf>,
    /// What to do about a pair without a score.
    pub missing_pairs: MissingPairs,
}

/// What to do about a pair without a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingPairs {
    /// It is an error, as the release has it by default.
    #[default]
    Refuse,
    /// It is unscored: its paragraph is left out and bounded.
    Unscored,
}

/// Reads drafts, units and scores, and checks that they belong together.
///
/// # Errors
///
/// Each names the file and the line or field: a folder or file that is missing or
/// not what it should be, a draft in `seg_model` only, sides that do not have the
/// same paragraphs, a score of a pair that there is not or whose words are others,
/// a pair scored twice in a file or, unless it may be, not at all.
pub fn load(dir: &Utf8Path, options: &ReadOptions) -> anyhow::Result<Release> {
    let mut notes = Vec::new();
    let drafts = folder::drafts(dir, &mut notes)?;
    let path = match &options.scores {
        Some(path) => path.clone(),
        None => scores::find(dir)?,
    };
    let companion = scores::companion(&path);
    let first = scores::read(&path)?;
    let second = companion.as_deref().map(scores::read).transpose()?;
    let by_file: BTreeMap<&str, &UnitDraft> =
        drafts.iter().map(|draft| (draft.file.as_str(), draft)).collect();
    for file in std::iter::once(&first).chain(&second) {
        check_lines(file, &by_file)?;
    }
    let ratings = merge(first, second, &mut notes);
    if options.missing_pairs == MissingPairs::Refuse {
        check_complete(&drafts, &ratings, &path)?;
    }
    let drafts = drafts.into_iter().map(|draft| rated(draft, &ratings)).collect();
    Ok(Release { drafts, notes })
}

/// Checks that every line scores a pair that there is, and its words.
fn check_lines(file: &ScoreFile, drafts: &BTreeMap<&str, &UnitDraft>) -> anyhow::Result<()> {
    for (key, line) in &file.lines {
        let draft = drafts.get(key.file.as_str()).copied();
        check_line(key, line, draft)
            .with_context(|| format!("{}, line {}", file.path, line.line))?;
    }
    Ok(())
}

fn check_line(key: &PairKey, line: &ScoreLine, draft: Option<&UnitDraft>) -> anyhow::Result<()> {
    let draft = draft.context("field file names no file of seg_model")?;
    let n_paragraphs = draft.paragraphs.len();
    let paragraph = draft.paragraphs.get(key.paragraph).with_context(|| {
        format!("field paragraph_index is {}, and there are {n_paragraphs}", key.paragraph)
    })?;
    let units = units(paragraph);
    let unit = units.get(key.generated).with_context(|| {
        format!("field model_seg_index is {}, and there are {} units", key.generated, units.len())
    })?;
    let n_comments = paragraph.comments.len();
    let comment = paragraph.comments.get(key.gold).with_context(|| {
        format!("field annot_index is {}, and there are {n_comments} comments", key.gold)
    })?;
    anyhow::ensure!(
        line.feedback.as_ref().is_none_or(|text| text == unit),
        "field feedback is not the unit in seg_model: the scores are of other units"
    );
    anyhow::ensure!(
        line.comment.as_ref().is_none_or(|text| text == comment),
        "field comment is not the comment in seg_annot: the scores are of other comments"
    );
    Ok(())
}

fn units(paragraph: &UnitParagraph) -> &[String] {
    let feedback = paragraph.feedback.as_ref();
    feedback.and_then(|feedback| feedback.units.as_deref()).unwrap_or_default()
}

/// The ratings of both files; a pair that stands in both has that of the first.
fn merge(
    first: ScoreFile,
    second: Option<ScoreFile>,
    notes: &mut Vec<String>,
) -> BTreeMap<PairKey, Rating> {
    let ratings = |file: ScoreFile| file.lines.into_iter().map(|(key, line)| (key, line.rating));
    let path = first.path.clone();
    let mut merged: BTreeMap<PairKey, Rating> = ratings(first).collect();
    let mut n_contested = 0;
    for (key, rating) in second.into_iter().flat_map(ratings) {
        n_contested += usize::from(*merged.entry(key).or_insert(rating) != rating);
    }
    if 0 < n_contested {
        notes.push(format!(
            "{n_contested} pairs have another score in the companion of {path}, which gives way"
        ));
    }
    merged
}

/// Checks that no pair lacks a rating.
fn check_complete(
    drafts: &[UnitDraft],
    ratings: &BTreeMap<PairKey, Rating>,
    scores: &Utf8Path,
) -> anyhow::Result<()> {
    let missing: Vec<PairKey> =
        drafts.iter().flat_map(pairs).filter(|key| !ratings.contains_key(key)).collect();
    if let Some(PairKey { file, paragraph, generated, gold }) = missing.first() {
        anyhow::bail!(
            "{scores} scores {} pairs too few; the first is model_seg_index {generated} and \
             annot_index {gold} at paragraph_index {paragraph} of {file}: score them, or pass \
             --missing-pairs unscored to bound the figures",
            missing.len()
        );
    }
    Ok(())
}

/// The pairs of a draft, in order.
fn pairs(draft: &UnitDraft) -> Vec<PairKey> {
    let mut keys = Vec::new();
    for (index, paragraph) in draft.paragraphs.iter().enumerate() {
        for generated in 0..units(paragraph).len() {
            keys.extend((0..paragraph.comments.len()).map(|gold| PairKey {
                file: draft.file.clone(),
                paragraph: index,
                generated,
                gold,
            }));
        }
    }
    keys
}

fn rated(draft: UnitDraft, ratings: &BTreeMap<PairKey, Rating>) -> ReleaseDraft {
    let UnitDraft { file, paragraphs } = draft;
    let stem = Utf8Path::new(&file).file_stem().unwrap_or(&file);
    let id = DraftId::new(stem);
    let paragraphs = paragraphs
        .into_iter()
        .enumerate()
        .map(|(index, UnitParagraph { body, comments, feedback })| {
            let rating = |generated, gold| {
                let key = PairKey { file: file.clone(), paragraph: index, generated, gold };
                ratings.get(&key).copied()
            };
            let answer = match feedback {
                None => Answer::Absent,
                Some(Feedback { raw, cleaned, units: None }) => Answer::Uncut { raw, cleaned },
                Some(Feedback { raw, cleaned, units: Some(units) }) => {
                    let scores = ScoreMatrix::from_fn(units.len(), comments.len(), rating);
                    Answer::Cut { raw, cleaned, units, scores }
                }
            };
            ReleaseParagraph { body, comments, answer }
        })
        .collect();
    ReleaseDraft { id, paragraphs }
}
