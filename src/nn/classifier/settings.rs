//! What the `config.json` of a classifier says of its outputs.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Deserialize;
use serde_json::Value;

use crate::nn::encoder::{EncoderError, unreadable, unsupported};

/// What the outputs of a classifier are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A number.
    Regression,
    /// A number that was trained, and is meant to be read, through a logistic curve.
    Logistic,
    /// Logarithms of how likely each label is, up to a constant.
    Labels,
}

/// The part of `config.json` that is about the head.
#[derive(Deserialize)]
pub(super) struct Settings {
    architectures: Option<Vec<String>>,
    id2label: Option<BTreeMap<String, String>>,
    problem_type: Option<String>,
    sentence_transformers: Option<BTreeMap<String, Value>>,
    sbert_ce_default_activation_function: Option<String>,
    pub(super) classifier_pooling: Option<String>,
    pub(super) classifier_bias: Option<bool>,
    pub(super) classifier_activation: Option<String>,
    pub(super) norm_eps: Option<f64>,
    pub(super) pooler_hidden_act: Option<String>,
}

impl Settings {
    /// Parses the text of the file at `path`.
    pub(super) fn parse(text: &str, path: &Utf8Path) -> Result<Self, EncoderError> {
        serde_json::from_str(text).map_err(|error| unreadable(path, &error))
    }

    /// Refuses a model with the other kind of head.
    pub(super) fn check_head(&self, other: &str, path: &Utf8Path) -> Result<(), EncoderError> {
        let mut names = self.architectures.iter().flatten();
        match names.find(|name| name.ends_with(other)) {
            Some(name) => Err(unsupported(path.to_owned(), format!("a {name} in this place"))),
            None => Ok(()),
        }
    }

    /// The labels of so many outputs. Without names they are `LABEL_0` and so on.
    pub(super) fn labels(
        &self,
        n_outputs: usize,
        path: &Utf8Path,
    ) -> Result<Vec<String>, EncoderError> {
        let Some(named) = &self.id2label else {
            return Ok((0..n_outputs).map(|index| format!("LABEL_{index}")).collect());
        };
        let labels: Option<Vec<String>> =
            (0..n_outputs).map(|index| named.get(&index.to_string()).cloned()).collect();
        labels.filter(|labels| labels.len() == named.len()).ok_or_else(|| {
            let what = format!("{} labels in id2label for {n_outputs} outputs", named.len());
            unsupported(path.to_owned(), what)
        })
    }

    /// What the outputs are, of which there are so many.
    pub(super) fn problem(
        &self,
        n_outputs: usize,
        path: &Utf8Path,
    ) -> Result<Problem, EncoderError> {
        if self.problem_type.as_deref() == Some("multi_label_classification") {
            let what = "labels that do not exclude each other (multi_label_classification)";
            return Err(unsupported(path.to_owned(), what.to_owned()));
        }
        if n_outputs != 1 {
            return Ok(Problem::Labels);
        }
        let new = self.sentence_transformers.as_ref().and_then(|own| own.get("activation_fn"));
        let old = self.sbert_ce_default_activation_function.as_deref();
        let activation = new.and_then(Value::as_str).or(old).unwrap_or("Identity");
        match activation.rsplit('.').next().unwrap_or_default() {
            "Identity" => Ok(Problem::Regression),
            "Sigmoid" => Ok(Problem::Logistic),
            _ => Err(unsupported(path.to_owned(), format!("an output through {activation:?}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        Settings::parse(text, Utf8Path::new("config.json")).unwrap()
    }

    #[test]
    fn one_output_is_a_number_and_more_are_labels() {
        let problem =
            |text: &str, n_outputs| settings(text).problem(n_outputs, Utf8Path::new("config.json"));
        let old = r#"{"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}"#;
        let new = r#"{"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}}"#;
        assert_eq!(problem("{}", 1).unwrap(), Problem::Regression);
        assert_eq!(problem(old, 1).unwrap(), Problem::Regression);
        assert_eq!(problem(new, 1).unwrap(), Problem::Logistic);
        assert_eq!(problem(new, 2).unwrap(), Problem::Labels);
        let odd = old.replace("Identity", "Softplus");
        assert!(problem(&odd, 1).unwrap_err().to_string().contains("Softplus"));
        let several = r#"{"problem_type": "multi_label_classification"}"#;
        assert!(problem(several, 3).is_err());
    }

    #[test]
    fn labels_are_named_by_their_numbers() {
        let labels = |text: &str, n| settings(text).labels(n, Utf8Path::new("config.json"));
        let named = r#"{"id2label": {"1": "yes", "0": "no"}}"#;
        assert_eq!(labels(named, 2).unwrap(), ["no", "yes"]);
        assert_eq!(labels("{}", 2).unwrap(), ["LABEL_0", "LABEL_1"]);
        assert!(labels(named, 3).unwrap_err().to_string().contains("2 labels"));
        let error = settings(r#"{"architectures": ["BertForTokenClassification"]}"#)
            .check_head("ForTokenClassification", Utf8Path::new("config.json"));
        assert!(error.is_err());
    }
}
