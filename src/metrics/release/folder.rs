//! The two folders of drafts: `seg_model` and `seg_annot`.

use anyhow::Context;
use camino::Utf8Path;
use serde::Deserialize;

use super::{CLEANED, UNITS_FOLLOW, is_unit};
use crate::text::{trim, unquoted_reason, words};

/// A draft with its units, not yet rated.
pub(super) struct UnitDraft {
    /// The name of its files, as score lines give it.
    pub(super) file: String,
    /// All its paragraphs.
    pub(super) paragraphs: Vec<UnitParagraph>,
}

/// A paragraph with its units, not yet rated.
pub(super) struct UnitParagraph {
    pub(super) body: String,
    pub(super) comments: Vec<String>,
    pub(super) feedback: Option<Feedback>,
}

/// A feedback as `seg_model` lists it.
pub(super) struct Feedback {
    pub(super) raw: String,
    pub(super) cleaned: Option<String>,
    pub(super) units: Option<Vec<String>>,
}

/// Reads every draft of `seg_model` with its annotations in `seg_annot`, by name,
/// and adds what should be known to the notes.
pub(super) fn drafts(dir: &Utf8Path, notes: &mut Vec<String>) -> anyhow::Result<Vec<UnitDraft>> {
    let (model, annot) = (dir.join("seg_model"), dir.join("seg_annot"));
    let files = json_files(&model)?;
    let annotated = json_files(&annot)?;
    anyhow::ensure!(!files.is_empty(), "{model} holds no .json file");
    let n_idle = annotated.iter().filter(|file| !files.contains(file)).count();
    if 0 < n_idle {
        notes.push(format!("{n_idle} drafts of {annot} are not in {model} and are left out"));
    }
    files
        .into_iter()
        .map(|file| {
            anyhow::ensure!(
                annotated.contains(&file),
                "{} has no counterpart in {annot}: add its annotations, or take it away",
                model.join(&file)
            );
            draft(&model.join(&file), &annot.join(&file), file)
        })
        .collect()
}

/// The names of the JSON files of a folder, sorted.
fn json_files(dir: &Utf8Path) -> anyhow::Result<Vec<String>> {
    anyhow::ensure!(
        dir.is_dir(),
        "there is no folder {dir}: the layout of the release has seg_model, seg_annot and \
         stage1_scores*.jsonl side by side"
    );
    let mut files = Vec::new();
    for entry in dir.read_dir_utf8().with_context(|| format!("cannot list {dir}"))? {
        let path = entry.with_context(|| format!("cannot list {dir}"))?.into_path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            files.extend(path.file_name().map(str::to_owned));
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn draft(model: &Utf8Path, annot: &Utf8Path, file: String) -> anyhow::Result<UnitDraft> {
    let generated: WireDraft = read(model)?;
    let annotated: WireDraft = read(annot)?;
    let (n_generated, n_annotated) = (generated.paragraphs.len(), annotated.paragraphs.len());
    anyhow::ensure!(
        n_generated == n_annotated,
        "{model} has {n_generated} paragraphs and {annot} has {n_annotated}: they are not the \
         same draft"
    );
    let pairs = generated.paragraphs.into_iter().zip(annotated.paragraphs);
    let paragraphs = pairs
        .enumerate()
        .map(|(index, (generated, annotated))| {
            paragraph(generated, annotated)
                .with_context(|| format!("{model}, paragraphs[{index}], counted from zero"))
        })
        .collect::<anyhow::Result<_>>()?;
    Ok(UnitDraft { file, paragraphs })
}

fn paragraph(generated: WireParagraph, annotated: WireParagraph) -> anyhow::Result<UnitParagraph> {
    if let (Some(ours), Some(theirs)) = (&generated.body, &annotated.body) {
        anyhow::ensure!(
            words(ours).eq(words(theirs)),
            "field body is not that of the same paragraph in seg_annot"
        );
    }
    let mut models = generated.model.unwrap_or_default();
    let model = models.pop();
    anyhow::ensure!(
        models.is_empty(),
        "field model has {} entries, and only one can be evaluated",
        models.len() + 1
    );
    let comments = annotated
        .annotations
        .into_iter()
        .map(|annotation| trim(&annotation.comment).to_owned())
        .filter(|comment| is_unit(comment))
        .collect();
    Ok(UnitParagraph {
        body: annotated.body.or(generated.body).unwrap_or_default(),
        comments,
        feedback: model.and_then(|model| model.feedback).and_then(feedback),
    })
}

/// Reads the list: the reply, the cleaned reply, the marker, the units. Anything
/// but text in it is passed over, as the release does.
fn feedback(items: Vec<serde_json::Value>) -> Option<Feedback> {
    let mut before = Vec::new();
    let mut units = None;
    for item in items {
        let serde_json::Value::String(text) = item else { continue };
        match &mut units {
            None if text == UNITS_FOLLOW => units = Some(Vec::new()),
            None => before.push(text),
            Some(units) if is_unit(&text) => units.push(text),
            Some(_) => (),
        }
    }
    let mut before = before.into_iter();
    let raw = before.next();
    let cleaned = before.find_map(|text| text.strip_prefix(CLEANED).map(str::to_owned));
    if raw.is_none() && units.is_none() {
        return None;
    }
    Some(Feedback { raw: raw.unwrap_or_default(), cleaned, units })
}

fn read(path: &Utf8Path) -> anyhow::Result<WireDraft> {
    let bytes = fs_err::read(path)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        anyhow::anyhow!("{path}, line {line}, column {column}: {}", unquoted_reason(&error))
    })
}

#[derive(Deserialize)]
struct WireDraft {
    paragraphs: Vec<WireParagraph>,
}

#[derive(Deserialize)]
struct WireParagraph {
    body: Option<String>,
    #[serde(default)]
    annotations: Vec<WireAnnotation>,
    model: Option<Vec<WireModel>>,
}

#[derive(Deserialize)]
struct WireAnnotation {
    #[serde(default)]
    comment: String,
}

#[derive(Deserialize)]
struct WireModel {
    feedback: Option<Vec<serde_json::Value>>,
}
