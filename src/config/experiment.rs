//! Files that name the runs of an experiment: matrices of conditions and models.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, bail};
use camino::Utf8Path;
use serde::Deserialize;
use toml::Spanned;

use super::RunOptions;
use crate::{
    prompt::{Condition, FeedbackTemplate, Shots},
    text::line_at,
};

/// The experiment of the paper: 74 configurations.
pub const PAPER_EXPERIMENT: &str = include_str!("paper.toml");

/// An experiment as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperimentFile {
    format_version: u32,
    name: String,
    #[serde(default)]
    about: String,
    /// Settings of every run, as in a run's `config.toml`.
    #[serde(default)]
    settings: RunOptions,
    /// For each model what its runs have besides; a `generator` at the least.
    models: BTreeMap<String, RunOptions>,
    #[serde(default)]
    matrix: Vec<Spanned<Matrix>>,
    #[serde(default)]
    runs: Vec<Spanned<Single>>,
}

/// Every combination of what it lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Matrix {
    models: Vec<String>,
    templates: Vec<String>,
    #[serde(default = "zero_shots")]
    shots: Vec<String>,
    #[serde(default = "switched_off")]
    guided: Vec<bool>,
    #[serde(default = "switched_off")]
    rubric: Vec<bool>,
}

fn zero_shots() -> Vec<String> {
    vec!["zero".to_owned()]
}

fn switched_off() -> Vec<bool> {
    vec![false]
}

/// One run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Single {
    model: String,
    condition: String,
}

/// An experiment, its runs told one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// What it is for, in the words of whoever wrote it.
    pub about: String,
    /// The runs, those of one model together, in the order of the file.
    pub runs: Vec<PlannedRun>,
}

/// A run of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// The model's name in the file.
    pub model: String,
    /// What the model is shown.
    pub condition: Condition,
    /// All its settings but the directory.
    pub options: RunOptions,
}

impl PlannedRun {
    /// The name of its directory, as `Llama-v2+guided`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.model, self.condition)
    }
}

impl Experiment {
    /// Reads an experiment from a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or says what cannot be; the message names file, line
    /// and field.
    pub fn load(path: &Utf8Path) -> anyhow::Result<Self> {
        let bytes = fs_err::read(path)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = line_at(error.as_bytes(), error.utf8_error().valid_up_to());
            anyhow::anyhow!("{path}, line {line}: not UTF-8 text")
        })?;
        Self::parse(&text, path.as_str())
    }

    /// The same from text that messages call `name`.
    pub fn parse(text: &str, name: &str) -> anyhow::Result<Self> {
        let at = |start: usize| line_at(text.as_bytes(), start);
        let file: ExperimentFile = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(0, |span| at(span.start));
            anyhow::anyhow!("{name}, line {line}: {}", error.message().trim_end())
        })?;
        if file.format_version != 1 {
            bail!("{name}: format_version is {}, and this program reads 1", file.format_version);
        }
        for (owner, options) in std::iter::once(("settings", &file.settings))
            .chain(file.models.iter().map(|(model, options)| (model.as_str(), options)))
        {
            if options.out.is_some() || options.condition.is_some() {
                bail!(
                    "{name}: `out` and `condition` in `{owner}` are set by the experiment: take \
                     them out"
                );
            }
        }
        let mut wanted: Vec<(usize, String, Condition)> = Vec::new();
        for matrix in &file.matrix {
            let line = at(matrix.span().start);
            let cells = matrix.get_ref().cells().with_context(|| format!("{name}, line {line}"))?;
            wanted.extend(cells.into_iter().map(|(model, condition)| (line, model, condition)));
        }
        for single in &file.runs {
            let line = at(single.span().start);
            let Single { model, condition } = single.get_ref();
            let condition =
                condition.parse().with_context(|| format!("{name}, line {line}: condition"))?;
            wanted.push((line, model.clone(), condition));
        }
        Ok(Self { runs: file.planned(wanted, name)?, name: file.name, about: file.about })
    }
}

impl ExperimentFile {
    /// The runs with their settings, those of one model together.
    fn planned(
        &self,
        wanted: Vec<(usize, String, Condition)>,
        name: &str,
    ) -> anyhow::Result<Vec<PlannedRun>> {
        if wanted.is_empty() {
            bail!("{name} names no run: it needs a [[matrix]] or [[runs]]");
        }
        let mut seen = BTreeSet::new();
        let mut order: Vec<String> = Vec::new();
        let mut runs = Vec::new();
        for (line, model, condition) in wanted {
            let Some(own) = self.models.get(&model) else {
                let known: Vec<&str> = self.models.keys().map(String::as_str).collect();
                bail!(
                    "{name}, line {line}: no [models.{model}]; there are {}",
                    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
                );
            };
            if !is_file_name(&model) {
                bail!(
                    "{name}, line {line}: `{model}` names directories, so it may hold letters, \
                     digits, `.`, `_` and `-` alone"
                );
            }
            if !seen.insert((model.clone(), condition)) {
                bail!("{name}, line {line}: {model} with {condition} is there twice");
            }
            let mut options = own.over(&self.settings)?;
            if options.generator.is_none() {
                bail!("{name}: [models.{model}] names no generator");
            }
            options.condition = Some(condition.to_string());
            if !order.contains(&model) {
                order.push(model.clone());
            }
            runs.push(PlannedRun { model, condition, options });
        }
        runs.sort_by_key(|run| order.iter().position(|model| *model == run.model));
        Ok(runs)
    }
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['.', '-'])
        && name.chars().all(|ch| ch.is_ascii_alphanumeric() || "._-".contains(ch))
}

impl Matrix {
    fn cells(&self) -> anyhow::Result<Vec<(String, Condition)>> {
        let templates = self.templates.iter().map(|name| template(name));
        let templates = templates.collect::<anyhow::Result<Vec<_>>>()?;
        let shots =
            self.shots.iter().map(|name| shots(name)).collect::<anyhow::Result<Vec<_>>>()?;
        let mut cells = Vec::new();
        for model in &self.models {
            for &template in &templates {
                for &shots in &shots {
                    for &guided in &self.guided {
                        for &rubric in &self.rubric {
                            let condition = Condition { template, guided, rubric, shots };
                            cells.push((model.clone(), condition));
                        }
                    }
                }
            }
        }
        if cells.is_empty() {
            bail!("a list of this matrix is empty, so it names no run");
        }
        Ok(cells)
    }
}

fn template(name: &str) -> anyhow::Result<FeedbackTemplate> {
    let known = FeedbackTemplate::ALL;
    known
        .into_iter()
        .find(|template| template.name() == name)
        .with_context(|| format!("templates: `{name}` is none of v1, v2 and cot"))
}

fn shots(name: &str) -> anyhow::Result<Shots> {
    match name {
        "zero" => Ok(Shots::Zero),
        "few" => Ok(Shots::Few),
        other => bail!("shots: `{other}` is neither zero nor few"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::published::published;

    const HEAD: &str = "format_version = 1\nname = \"x\"\n[settings]\nseed = 7\n\
         [models.a]\ngenerator = \"local:a.gguf\"\nseed = 8\n[models.b]\ngenerator = \"local:b.gguf\"\n";

    fn parse(rest: &str) -> anyhow::Result<Experiment> {
        Experiment::parse(&format!("{HEAD}{rest}"), "x.toml")
    }

    #[test]
    fn a_matrix_gives_every_combination_and_models_stay_together() {
        let found = parse(
            "[[matrix]]\nmodels = [\"a\", \"b\"]\ntemplates = [\"v1\", \"v2\"]\nguided = [false, true]\n\
             [[runs]]\nmodel = \"a\"\ncondition = \"cot\"\n",
        )
        .unwrap();
        let names: Vec<String> = found.runs.iter().map(PlannedRun::name).collect();
        assert_eq!(
            names,
            [
                "a-v1",
                "a-v1+guided",
                "a-v2",
                "a-v2+guided",
                "a-cot",
                "b-v1",
                "b-v1+guided",
                "b-v2",
                "b-v2+guided"
            ]
        );
        assert_eq!(found.runs[0].options.seed, Some(8));
        assert_eq!(found.runs[5].options.seed, Some(7));
        assert_eq!(found.runs[1].options.condition.as_deref(), Some("v1+guided"));
    }

    #[test]
    fn what_cannot_be_is_named_with_its_line() {
        let run = "[[runs]]\nmodel = \"a\"\ncondition = \"v1\"\n";
        for (rest, wanted) in [
            ("", "names no run"),
            ("[[matrix]]\nmodels = [\"c\"]\ntemplates = [\"v1\"]\n", "line 10: no [models.c]"),
            ("[[matrix]]\nmodels = [\"a\"]\ntemplates = [\"v9\"]\n", "line 10: templates: `v9`"),
            ("[[matrix]]\nmodels = []\ntemplates = [\"v1\"]\n", "is empty"),
            (&format!("{run}{run}"), "line 13: a with v1 is there twice"),
            ("[[runs]]\nmodel = \"a\"\ncondition = \"v7\"\n", "line 10: condition"),
            ("[[runs]]\nmodel = \"a\"\nwhat = 1\n", "line 12: unknown field"),
        ] {
            let error = format!("{:#}", parse(rest).unwrap_err());
            assert!(error.contains(wanted), "{error}");
        }
        let twice = "format_version = 1\nname = \"x\"\n[settings]\nout = \"y\"\n[models]\n";
        let error = Experiment::parse(twice, "x.toml").unwrap_err().to_string();
        assert!(error.contains("`out`"), "{error}");
    }

    #[test]
    fn the_papers_experiment_has_its_74_configurations() {
        let found = Experiment::parse(PAPER_EXPERIMENT, "paper.toml").unwrap();
        let planned: BTreeSet<_> =
            found.runs.iter().map(|run| (run.model.clone(), run.condition)).collect();
        let wanted: BTreeSet<_> =
            published().unwrap().into_iter().map(|row| (row.model, row.condition)).collect();
        assert_eq!(planned, wanted);
        assert_eq!(found.runs.len(), 74);
    }
}
