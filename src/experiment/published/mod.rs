//! The figures that the paper publishes for its 74 configurations, and what it says of them.

mod claims;
mod reproduction;

use std::collections::BTreeMap;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::factors::Cell;
use crate::prompt::{Condition, FeedbackTemplate, Shots};

pub use claims::{Claim, claims};
pub use reproduction::{
    FigureReproduction, InstrumentPart, ReproducedEffect, ReproducedFindings, Reproduction,
    SubsetReproduction, findings, reproduce,
};

/// Table 4 of *SEFORA: Student Essays with Feedback Corpus and LLM Feedback Evaluation
/// Framework* (arXiv 2607.00274), a row for each configuration: micro soft precision,
/// recall and F1, and generated units, on paragraphs with one comment and on all.
const RESULTS: &str = include_str!("results.csv");

/// One of the paper's configurations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedConfiguration {
    /// The paper's name of the model.
    pub model: String,
    /// What it was shown.
    pub condition: Condition,
    /// On paragraphs with one usable comment.
    pub single: PublishedFigures,
    /// On all.
    pub full: PublishedFigures,
}

/// What is published of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedFigures {
    /// Micro soft precision.
    pub precision: f64,
    /// Micro soft recall.
    pub recall: f64,
    /// Micro soft F1.
    pub f1: f64,
    /// Generated units.
    pub n_units: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    shot: String,
    cot: String,
    guided: String,
    rubric: String,
    prompt: String,
    model: String,
    single_p: f64,
    single_r: f64,
    single_f1: f64,
    single_units: usize,
    full_p: f64,
    full_r: f64,
    full_f1: f64,
    full_units: usize,
}

impl TryFrom<Row> for PublishedConfiguration {
    type Error = anyhow::Error;

    fn try_from(row: Row) -> anyhow::Result<Self> {
        let is_on = |text: &str| match text {
            "yes" => Ok(true),
            "no" => Ok(false),
            other => anyhow::bail!("`{other}` is neither yes nor no"),
        };
        let template = match (is_on(&row.cot)?, row.prompt.as_str()) {
            (true, "V1") => FeedbackTemplate::Cot,
            (false, "V1") => FeedbackTemplate::V1,
            (false, "V2") => FeedbackTemplate::V2,
            (_, other) => anyhow::bail!("no template is called `{other}`"),
        };
        let shots = match row.shot.as_str() {
            "zero" => Shots::Zero,
            "few" => Shots::Few,
            other => anyhow::bail!("`{other}` is neither zero nor few"),
        };
        Ok(Self {
            model: row.model,
            condition: Condition {
                template,
                guided: is_on(&row.guided)?,
                rubric: is_on(&row.rubric)?,
                shots,
            },
            single: PublishedFigures {
                precision: row.single_p,
                recall: row.single_r,
                f1: row.single_f1,
                n_units: row.single_units,
            },
            full: PublishedFigures {
                precision: row.full_p,
                recall: row.full_r,
                f1: row.full_f1,
                n_units: row.full_units,
            },
        })
    }
}

impl PublishedConfiguration {
    /// Its figures on all paragraphs, as a cell of the design.
    pub fn cell(&self) -> Cell {
        let PublishedFigures { precision, recall, f1, n_units } = self.full;
        let (model, condition) = (self.model.clone(), self.condition);
        Cell { model, condition, precision, recall, f1, n_units: n_units as f64 }
    }
}

/// The paper's configurations, in the order of its table.
pub fn published() -> anyhow::Result<Vec<PublishedConfiguration>> {
    let mut reader = csv::Reader::from_reader(RESULTS.as_bytes());
    reader
        .deserialize::<Row>()
        .map(|row| PublishedConfiguration::try_from(row?))
        .collect::<anyhow::Result<_>>()
        .context("the published figures in the program cannot be read")
}

/// The paper's name of the model that a generator's name tells of, where it tells of one:
/// the first in which all of a model's words stand, small or large.
pub fn published_model(generator: &str) -> Option<&'static str> {
    const WORDS: [(&str, &[&str]); 5] = [
        ("DeepSeek", &["deepseek"]),
        ("Llama", &["llama-3.1-8b"]),
        ("Mistral", &["mistral-7b"]),
        ("Qwen", &["qwen2.5-72b"]),
        ("GPT", &["gpt-5.1"]),
    ];
    let name = generator.to_lowercase();
    let is_told = |words: &[&str]| words.iter().all(|word| name.contains(word));
    WORDS.iter().find(|(_, words)| is_told(words)).map(|(model, _)| *model)
}

/// The published configurations by model and condition.
pub fn by_cell(
    configurations: &[PublishedConfiguration],
) -> BTreeMap<(&str, Condition), &PublishedConfiguration> {
    configurations.iter().map(|found| ((found.model.as_str(), found.condition), found)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_has_74_configurations_none_twice() {
        let all = published().unwrap();
        assert_eq!(all.len(), 74);
        assert_eq!(by_cell(&all).len(), 74);
    }

    #[test]
    fn a_generator_is_known_by_its_name() {
        assert_eq!(published_model("local:Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf"), Some("Llama"));
        assert_eq!(published_model("local:DeepSeek-R1-Distill-Llama-8B.gguf"), Some("DeepSeek"));
        assert_eq!(published_model("local:SmolLM2-135M-Instruct.gguf"), None);
    }
}
