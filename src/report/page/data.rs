//! The paragraphs as the data that a page's script draws cards from.
//!
//! Names are short, since there are thousands of them. A redacted report gives no text and
//! not where anything was marked, whatever else it holds.

use serde::Serialize;

use super::{AlignmentView, ParagraphView, Report, text::in_script};

#[derive(Serialize)]
struct Data<'a> {
    /// Where the first of these paragraphs stands in the corpus, from zero.
    first: usize,
    redacted: bool,
    runs: Vec<&'a str>,
    paragraphs: Vec<Paragraph<'a>>,
}

#[derive(Serialize)]
struct Paragraph<'a> {
    id: &'a str,
    class: &'a str,
    stage: &'a str,
    student: &'a str,
    text: Option<&'a str>,
    /// Start, end, colour, annotation.
    marks: Vec<(usize, usize, &'a str, usize)>,
    /// Words, annotation.
    gold: Vec<(Option<&'a str>, usize)>,
    runs: Vec<Option<Alignment<'a>>>,
}

#[derive(Serialize)]
struct Alignment<'a> {
    units: Vec<Option<&'a str>>,
    pairs: Vec<(usize, usize, Option<f64>)>,
    f1: Option<f64>,
    outcome: &'a str,
}

/// The data of some paragraphs, the first of which stands at `first` in the corpus, as JSON
/// that may stand in a page.
pub(super) fn data(report: &Report, first: usize, paragraphs: &[ParagraphView]) -> String {
    let data = Data {
        first,
        redacted: report.is_redacted,
        runs: report.runs.iter().map(|run| run.name.as_str()).collect(),
        paragraphs: paragraphs.iter().map(|one| paragraph(one, report.is_redacted)).collect(),
    };
    // Nothing above can fail to be JSON: strings for keys, and numbers that are finite.
    in_script(&serde_json::to_string(&data).unwrap_or_default())
}

fn paragraph(view: &ParagraphView, is_redacted: bool) -> Paragraph<'_> {
    let shown = |text: &'_ Option<String>| !is_redacted && text.is_some();
    let marks = view.marks.iter().map(|m| (m.start, m.end, m.color.as_str(), m.annotation));
    Paragraph {
        id: &view.id,
        class: &view.class,
        stage: &view.stage,
        student: &view.student,
        text: view.text.as_deref().filter(|_| !is_redacted),
        marks: if shown(&view.text) { marks.collect() } else { Vec::new() },
        gold: view
            .gold
            .iter()
            .map(|gold| (gold.text.as_deref().filter(|_| !is_redacted), gold.annotation))
            .collect(),
        runs: view
            .runs
            .iter()
            .map(|run| run.as_ref().map(|run| alignment(run, is_redacted)))
            .collect(),
    }
}

fn alignment(view: &AlignmentView, is_redacted: bool) -> Alignment<'_> {
    let rounded = |value: f64| value.is_finite().then(|| (value * 1e4).round() / 1e4);
    Alignment {
        units: view.generated.iter().map(|unit| unit.as_deref().filter(|_| !is_redacted)).collect(),
        pairs: view.pairs.iter().map(|&(unit, gold, r)| (unit, gold, rounded(r))).collect(),
        f1: view.f1.and_then(rounded),
        outcome: &view.outcome,
    }
}
