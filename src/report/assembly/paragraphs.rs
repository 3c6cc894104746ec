//! The paragraphs of a report, with their units and how they were aligned.

use std::collections::{BTreeMap, BTreeSet};

use super::{Material, differences::class_of, slices::with_parts};
use crate::{
    corpus::{Anchor, Paragraph, natural_order},
    experiment::{GoldUnit, ParagraphResult},
    report::page::{AlignmentView, GoldView, MarkView, ParagraphView},
};

/// All paragraphs that any run has, in the order of the corpus.
pub(super) fn views(material: &Material<'_>) -> Vec<ParagraphView> {
    let by_run: Vec<BTreeMap<&str, &ParagraphResult>> = material
        .runs
        .iter()
        .map(|run| {
            run.paragraphs
                .iter()
                .map(|paragraph| (paragraph.paragraph.as_str(), paragraph))
                .collect()
        })
        .collect();
    let texts: BTreeMap<String, &Paragraph> = material
        .corpus
        .iter()
        .flat_map(|corpus| corpus.scorable_targets())
        .map(|target| (target.id().to_string(), target.paragraph))
        .collect();
    let keys: BTreeSet<&str> = by_run.iter().flat_map(|own| own.keys().copied()).collect();
    let mut keys: Vec<&str> = keys.into_iter().collect();
    keys.sort_by(|a, b| natural_order(a, b));
    keys.into_iter().map(|key| view(material, key, &by_run, texts.get(key).copied())).collect()
}

fn view(
    material: &Material<'_>,
    key: &str,
    by_run: &[BTreeMap<&str, &ParagraphResult>],
    paragraph: Option<&Paragraph>,
) -> ParagraphView {
    let is_redacted = material.is_redacted;
    let shown = |text: &str| (!is_redacted).then(|| text.to_owned());
    let gold = by_run.iter().find_map(|own| own.get(key).map(|found| &found.gold));
    let gold_view =
        |unit: &GoldUnit| GoldView { text: shown(&unit.text), annotation: unit.annotation };
    let class = class_of(key);
    ParagraphView {
        id: key.to_owned(),
        class: if class == "unknown" { String::new() } else { class },
        stage: with_parts(key, |parts| parts.stage.replace('_', " ")).unwrap_or_default(),
        student: with_parts(key, |parts| parts.student.to_owned()).unwrap_or_default(),
        text: paragraph.and_then(|paragraph| shown(&paragraph.text)),
        marks: if is_redacted { Vec::new() } else { paragraph.map(marks).unwrap_or_default() },
        gold: gold.map(|gold| gold.iter().map(gold_view).collect()).unwrap_or_default(),
        runs: by_run
            .iter()
            .map(|own| own.get(key).map(|found| alignment(found, is_redacted)))
            .collect(),
    }
}

/// What the instructor marked, in characters.
fn marks(paragraph: &Paragraph) -> Vec<MarkView> {
    let body = paragraph.text.as_str();
    let chars = |bytes: usize| body.get(..bytes).map_or(0, |text| text.chars().count());
    let mut all: Vec<MarkView> = paragraph
        .annotations
        .iter()
        .enumerate()
        .filter_map(|(index, annotation)| {
            let span = annotation.locate(body)?.span;
            Some(MarkView {
                start: chars(span.start),
                end: chars(span.end),
                color: match annotation.anchor {
                    Anchor::Highlight { color, .. } => color.name(),
                    Anchor::Strikeout { .. } => "strikeout",
                    Anchor::Note => "note",
                }
                .to_owned(),
                annotation: index,
            })
        })
        .collect();
    all.sort_by_key(|mark| (mark.start, mark.end, mark.annotation));
    all
}

fn alignment(found: &ParagraphResult, is_redacted: bool) -> AlignmentView {
    let metrics = found.metrics.as_ref();
    let outcome = match (&found.failure, metrics) {
        (Some(failure), _) => format!("failed: {}", failure.stage),
        (None, _) if found.gold.is_empty() => "no gold unit".to_owned(),
        (None, None) => "unscored pairs".to_owned(),
        (None, Some(_)) if found.generated.is_empty() => "empty answer".to_owned(),
        (None, Some(_)) => "evaluated".to_owned(),
    };
    let pairs = metrics.into_iter().flat_map(|metrics| &metrics.pairs);
    AlignmentView {
        generated: found
            .generated
            .iter()
            .map(|unit| (!is_redacted).then(|| unit.clone()))
            .collect(),
        pairs: pairs.map(|pair| (pair.generated, pair.gold, pair.rating.get())).collect(),
        f1: metrics.and_then(|metrics| metrics.soft.f1),
        outcome,
    }
}
