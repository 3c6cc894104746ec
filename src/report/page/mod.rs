//! A report of several runs as plain data, and the page, figures and tables made of it.
//!
//! Nothing below computes a statistic: whoever makes a [`Report`] did. A renderer is a
//! function of it, so that one report gives the same bytes each time.

mod data;
mod digest;
mod figure_effects;
mod figure_forest;
mod figure_planes;
mod figure_ratings;
mod figures;
mod grid;
mod html;
mod labels;
mod scale;
mod sections;
mod svg;
mod tables;
#[cfg(test)]
mod tests;
mod text;

use serde::{Deserialize, Serialize};

pub use figures::figures;
pub use html::{html, html_pages};
pub use tables::tables;

/// All that a report shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What stands above it.
    pub title: String,
    /// The program and its version, as `unimatch 0.1.0`.
    pub program: String,
    /// The clusters that intervals are made over, as `student`.
    pub level: String,
    /// The share that intervals hold, as 0.95.
    pub confidence: f64,
    /// The runs, the baseline first, in the order they were named.
    pub runs: Vec<RunSummary>,
    /// Differences to the baseline.
    pub comparisons: Vec<Comparison>,
    /// Effects of the design's factors over the runs, where there are matched pairs.
    pub effects: Vec<Effect>,
    /// F1 of parts of the corpus.
    pub slices: Vec<Slice>,
    /// The paragraphs with their units; empty of text where the report is redacted.
    pub paragraphs: Vec<ParagraphView>,
    /// What a reader must know: what differs between the runs, what was left out.
    pub notes: Vec<String>,
    /// Whether students' and instructors' words were left out.
    pub is_redacted: bool,
}

/// A figure and what it lies between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure; `None` where it has no value.
    pub value: Option<f64>,
    /// The ends of its interval, where there is one.
    pub interval: Option<(f64, f64)>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// A short name, unlike those of the other runs.
    pub name: String,
    /// One line that says what was run, to stand under a table.
    pub signature: String,
    /// The generator's name.
    pub model: String,
    /// The condition's short name, as `v2+guided+rubric`.
    pub condition: String,
    /// Figures by subset and measure, the first of them the headline (full, soft).
    pub figures: Vec<Figures>,
    /// Of the corpus' paragraphs, how many are evaluated and why others are not.
    pub coverage: Vec<(String, usize)>,
    /// What became of replies and prompts: cut by length, empty, trimmed essays and so on.
    pub replies: Vec<(String, usize)>,
    /// Failures: stage, error, and on how many paragraphs.
    pub failures: Vec<(String, String, usize)>,
    /// Between which soft F1 the whole corpus lies, where something failed.
    pub bounds: Option<(f64, f64)>,
    /// Pairs by rating, 0 to 4 (rounded half up): of all pairs.
    pub all_ratings: [usize; 5],
    /// The same of aligned pairs alone.
    pub aligned_ratings: [usize; 5],
    /// Generated units on a paragraph, on the average.
    pub units_per_paragraph: Option<f64>,
    /// What is known of the scorer.
    pub scorer: ScorerStanding,
}

/// Figures of one subset by one measure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// `full`, `single reference` or `multi reference`.
    pub subset: String,
    /// `soft`, or `threshold 1` to `threshold 4`.
    pub measure: String,
    /// Micro precision.
    pub precision: Estimate,
    /// Micro recall.
    pub recall: Estimate,
    /// Micro F1.
    pub f1: Estimate,
    /// Paragraphs.
    pub n_paragraphs: usize,
    /// Generated units.
    pub n_generated: usize,
    /// Gold units.
    pub n_gold: usize,
}

/// What is known of a scorer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScorerStanding {
    /// Its name.
    pub scorer: String,
    /// `unvalidated`, or what its card says in a few words.
    pub words: String,
    /// Whether there is a card.
    pub is_validated: bool,
    /// The tables of its card: title, head, rows.
    pub tables: Vec<CardTable>,
    /// Its figures as SVG with their titles, made by this program.
    pub figures: Vec<(String, String)>,
}

/// A table of a card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CardTable {
    /// What it shows.
    pub title: String,
    /// The head of each column.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

/// How far a run lies above the baseline, on the same paragraphs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The baseline.
    pub baseline: String,
    /// The other run.
    pub run: String,
    /// What part of the corpus: `all`, or a class.
    pub part: String,
    /// `soft` or a threshold.
    pub measure: String,
    /// `precision`, `recall` or `F1`.
    pub figure: String,
    /// The run less the baseline.
    pub difference: Estimate,
    /// By randomisation of whole clusters; `None` where there is none.
    pub p_value: Option<f64>,
    /// The same after Holm over the family.
    pub p_adjusted: Option<f64>,
    /// The paragraphs that both have.
    pub n_paragraphs: usize,
    /// The clusters.
    pub n_clusters: usize,
}

/// The mean gain by a factor of the design over matched pairs of runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// As `guided - unguided`.
    pub factor: String,
    /// The pairs: name with the factor, name without, their F1.
    pub pairs: Vec<(String, String, f64, f64)>,
    /// The mean gain of F1.
    pub mean_gain: f64,
    /// Pairs in which F1 rose.
    pub wins: usize,
}

/// A part of the corpus in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// By what: `class`, `stage`, `assignment`, `colour`, `gold units`.
    pub by: String,
    /// Which: as `Batch 1, Course 2, Class 1`.
    pub part: String,
    /// The run.
    pub run: String,
    /// Micro soft F1.
    pub f1: Estimate,
    /// Paragraphs.
    pub n_paragraphs: usize,
}

/// One paragraph in all the runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ParagraphView {
    /// Its name, as `DRAFT#3`.
    pub id: String,
    /// Its class, as `1.2.1`; empty where the name says nothing.
    pub class: String,
    /// The stage, as `Final`; empty where the name says nothing.
    pub stage: String,
    /// The student; empty where the name says nothing.
    pub student: String,
    /// Its text; `None` in a redacted report.
    pub text: Option<String>,
    /// What the instructor marked, by start: they may overlap.
    pub marks: Vec<MarkView>,
    /// The instructor's units.
    pub gold: Vec<GoldView>,
    /// What each run made of it, in the order of the runs; `None` where a run has not got
    /// the paragraph.
    pub runs: Vec<Option<AlignmentView>>,
}

/// Marked words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MarkView {
    /// Where they begin in the text, in characters.
    pub start: usize,
    /// Where they end, in characters; the same as `start` for a note.
    pub end: usize,
    /// `green`, `pink`, `yellow`, `generic`, `strikeout` or `note`.
    pub color: String,
    /// The annotation, counted from zero, as gold units name it.
    pub annotation: usize,
}

/// An instructor's unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GoldView {
    /// Its words; `None` in a redacted report.
    pub text: Option<String>,
    /// The annotation it comes from.
    pub annotation: usize,
}

/// A model's units on one paragraph, and how they were aligned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlignmentView {
    /// The model's units; `None` each in a redacted report.
    pub generated: Vec<Option<String>>,
    /// Aligned pairs: generated, gold, rating.
    pub pairs: Vec<(usize, usize, f64)>,
    /// Soft F1; `None` where it has no value.
    pub f1: Option<f64>,
    /// `evaluated`, `empty answer`, `unscored pairs`, `failed` with its stage.
    pub outcome: String,
}
