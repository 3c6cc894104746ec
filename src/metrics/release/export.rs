//! Writing a run in the layout of the release.

use std::collections::BTreeSet;

use anyhow::Context;
use camino::Utf8Path;
use serde::Serialize;

use super::{Answer, CLEANED, ReleaseDraft, ReleaseParagraph, UNITS_FOLLOW, is_unit};
use crate::{similarity::Rating, text::trim};

/// Writes drafts, units and scores so that the release's own code reads them, and
/// so that [`load`](super::load) gives them back.
///
/// `setting` names the condition in `seg_model`. Each gold unit becomes an
/// annotation of its own; so where comments were cut into several units, the
/// subsets by number of references count units. An unscored pair has no line. A
/// rating that is not an integer is written as it is, and the release's code
/// would cut its fraction off.
///
/// # Errors
///
/// If `dir` holds something already, if a unit or comment would not count when
/// read (too short, or a comment that is not trimmed), or if a draft's name is
/// no file name or comes twice.
pub fn write(dir: &Utf8Path, setting: &str, drafts: &[ReleaseDraft]) -> anyhow::Result<()> {
    let mut names = BTreeSet::new();
    for draft in drafts {
        let name = draft.id.to_string();
        anyhow::ensure!(
            !name.is_empty() && !name.contains(['/', '\\']),
            "draft {name} cannot be the name of a file"
        );
        check(draft).with_context(|| format!("draft {name}"))?;
        anyhow::ensure!(names.insert(name), "draft {} comes twice", draft.id);
    }
    let (model, annot) = (dir.join("seg_model"), dir.join("seg_annot"));
    for folder in [&model, &annot] {
        fs_err::create_dir_all(folder)?;
        let is_empty = folder.read_dir_utf8()?.next().is_none();
        anyhow::ensure!(is_empty, "{folder} holds files already: export to a new folder");
    }
    let scores = dir.join("stage1_scores.jsonl");
    anyhow::ensure!(!scores.exists(), "{scores} is there already: export to a new folder");

    let mut lines = String::new();
    for draft in drafts {
        let file = format!("{}.json", draft.id);
        let paragraphs = draft.paragraphs.iter().map(|paragraph| wire_model(paragraph, setting));
        let text = serde_json::to_string_pretty(&WireDraft { paragraphs: paragraphs.collect() })?;
        fs_err::write(model.join(&file), text)?;
        let paragraphs = draft.paragraphs.iter().map(wire_annot);
        let text = serde_json::to_string_pretty(&WireDraft { paragraphs: paragraphs.collect() })?;
        fs_err::write(annot.join(&file), text)?;
        write_scores(&file, draft, &mut lines)?;
    }
    fs_err::write(scores, lines)?;
    Ok(())
}

/// Checks that what is written will be read as it is.
fn check(draft: &ReleaseDraft) -> anyhow::Result<()> {
    for (index, paragraph) in draft.paragraphs.iter().enumerate() {
        let place = || format!("paragraph {index}, counted from zero");
        for comment in &paragraph.comments {
            anyhow::ensure!(
                is_unit(comment) && trim(comment) == comment,
                "{}: a comment is too short or not trimmed",
                place()
            );
        }
        let (Answer::Uncut { raw, .. } | Answer::Cut { raw, .. }) = &paragraph.answer else {
            continue;
        };
        anyhow::ensure!(raw != UNITS_FOLLOW, "{}: the feedback is the units' marker", place());
        if let Answer::Cut { units, scores, .. } = &paragraph.answer {
            anyhow::ensure!(
                units.iter().all(|unit| is_unit(unit)),
                "{}: a generated unit is too short",
                place()
            );
            let (n_units, n_comments) = (units.len(), paragraph.comments.len());
            let shape = (scores.n_generated(), scores.n_gold());
            anyhow::ensure!(
                shape == (n_units, n_comments),
                "{}: {n_units} units and {n_comments} comments have {} rows and {} columns of \
                 ratings",
                place(),
                shape.0,
                shape.1
            );
        }
    }
    Ok(())
}

fn write_scores(file: &str, draft: &ReleaseDraft, lines: &mut String) -> anyhow::Result<()> {
    for (index, ReleaseParagraph { comments, answer, .. }) in draft.paragraphs.iter().enumerate() {
        let Answer::Cut { units, scores, .. } = answer else { continue };
        for (generated, unit) in units.iter().enumerate() {
            for (gold, comment) in comments.iter().enumerate() {
                let Some(rating) = scores.get(generated, gold) else { continue };
                lines.push_str(&serde_json::to_string(&WireScore {
                    file,
                    paragraph_index: index,
                    model_seg_index: generated,
                    annot_index: gold,
                    feedback: unit,
                    comment,
                    score: number(rating),
                })?);
                lines.push('\n');
            }
        }
    }
    Ok(())
}

/// A rating as the release writes it: an integer where it is one.
fn number(rating: Rating) -> serde_json::Value {
    let integer = (0..=4_u8).find(|&integer| Rating::from_int(integer) == Some(rating));
    integer.map_or_else(|| rating.get().into(), Into::into)
}

fn wire_model<'a>(paragraph: &'a ReleaseParagraph, setting: &'a str) -> WireParagraph<'a> {
    let (raw, cleaned, units) = match &paragraph.answer {
        Answer::Absent => {
            return WireParagraph { body: &paragraph.body, annotations: vec![], model: None };
        }
        Answer::Uncut { raw, cleaned } => (raw, cleaned, None),
        Answer::Cut { raw, cleaned, units, .. } => (raw, cleaned, Some(units)),
    };
    let mut feedback = vec![raw.clone()];
    feedback.extend(cleaned.as_ref().map(|cleaned| format!("{CLEANED}{cleaned}")));
    if let Some(units) = units {
        feedback.push(UNITS_FOLLOW.to_owned());
        feedback.extend(units.iter().cloned());
    }
    let model = Some(vec![WireModel { setting, feedback }]);
    WireParagraph { body: &paragraph.body, annotations: vec![], model }
}

fn wire_annot(paragraph: &ReleaseParagraph) -> WireParagraph<'_> {
    let annotation =
        |comment| WireAnnotation { r#type: "note", comment, context_left: "", context_right: "" };
    WireParagraph {
        body: &paragraph.body,
        annotations: paragraph.comments.iter().map(|comment| annotation(comment)).collect(),
        model: None,
    }
}

#[derive(Serialize)]
struct WireDraft<'a> {
    paragraphs: Vec<WireParagraph<'a>>,
}

#[derive(Serialize)]
struct WireParagraph<'a> {
    body: &'a str,
    annotations: Vec<WireAnnotation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Vec<WireModel<'a>>>,
}

#[derive(Serialize)]
struct WireAnnotation<'a> {
    r#type: &'a str,
    comment: &'a str,
    context_left: &'a str,
    context_right: &'a str,
}

#[derive(Serialize)]
struct WireModel<'a> {
    setting: &'a str,
    feedback: Vec<String>,
}

#[derive(Serialize)]
struct WireScore<'a> {
    file: &'a str,
    paragraph_index: usize,
    model_seg_index: usize,
    annot_index: usize,
    feedback: &'a str,
    comment: &'a str,
    score: serde_json::Value,
}
