//! Who writes, cleans, cuts and rates, as people name them.

use std::{fmt, str::FromStr};

use camino::Utf8PathBuf;

use crate::distilled::DistilledSource;

/// A text model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelName {
    /// A GGUF file on this machine, or a folder of Hugging Face.
    Local(Utf8PathBuf),
    /// A file of rules that stands in for a model.
    Scripted(Utf8PathBuf),
}

/// Who cleans feedback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CleanerName {
    /// Nobody.
    None,
    /// Rules.
    Rules,
    /// Rules, then a model.
    Judge(ModelName),
}

/// Who cuts feedback into units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmenterName {
    /// A unit a sentence.
    Sentence,
    /// A fine-tuned classifier of tokens.
    Classifier(Utf8PathBuf),
    /// A model that `unimatch distill` made.
    Distilled(DistilledSource),
    /// A model.
    Judge(ModelName),
}

/// Who rates pairs of units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScorerName {
    /// The cosine of sentence vectors, mapped to 0-4.
    Embedding(Utf8PathBuf),
    /// A fine-tuned classifier of pairs.
    Classifier(Utf8PathBuf),
    /// A model that `unimatch distill` made.
    Distilled(DistilledSource),
    /// BERTScore, mapped to 0-4.
    BertScore {
        /// The folder of the encoder.
        folder: Utf8PathBuf,
        /// The layer, from one; the last without it.
        layer: Option<usize>,
    },
    /// chrF, mapped to 0-4.
    Chrf,
    /// BLEU, mapped to 0-4.
    Bleu,
    /// A model.
    Judge(ModelName),
}

/// A name that nobody goes by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` names no {role}; there are {known}")]
pub struct RoleError {
    role: &'static str,
    found: String,
    known: &'static str,
}

impl FromStr for ModelName {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        match text.split_once(':') {
            Some(("local", path)) if !path.is_empty() => Ok(Self::Local(path.into())),
            Some(("scripted", path)) if !path.is_empty() => Ok(Self::Scripted(path.into())),
            None if is_gguf(text) => Ok(Self::Local(text.into())),
            _ => Err(RoleError {
                role: "model",
                found: text.to_owned(),
                known: "local:FILE.gguf, local:FOLDER, local:FOLDER+ADAPTER and scripted:FILE.jsonl",
            }),
        }
    }
}

fn is_gguf(text: &str) -> bool {
    Utf8PathBuf::from(text).extension().is_some_and(|ext| ext.eq_ignore_ascii_case("gguf"))
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => write!(f, "local:{path}"),
            Self::Scripted(path) => write!(f, "scripted:{path}"),
        }
    }
}

impl FromStr for CleanerName {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            None if text == "rules" => Ok(Self::Rules),
            Some(("judge", model)) => model.parse().map(Self::Judge),
            _ => Err(RoleError {
                role: "cleaner",
                found: text.to_owned(),
                known: "none, rules and judge:MODEL",
            }),
        }
    }
}

impl fmt::Display for CleanerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Rules => f.write_str("rules"),
            Self::Judge(model) => write!(f, "judge:{model}"),
        }
    }
}

impl FromStr for SegmenterName {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        match text.split_once(':') {
            None if text == "sentence" => Ok(Self::Sentence),
            Some(("classifier", path)) if !path.is_empty() => Ok(Self::Classifier(path.into())),
            None if text == "distilled" => Ok(Self::Distilled(DistilledSource::Embedded)),
            Some(("distilled", path)) if !path.is_empty() => {
                Ok(Self::Distilled(DistilledSource::Folder(path.into())))
            }
            Some(("judge", model)) => model.parse().map(Self::Judge),
            _ => Err(RoleError {
                role: "segmenter",
                found: text.to_owned(),
                known: "distilled, sentence, classifier:FOLDER, distilled:FOLDER and judge:MODEL",
            }),
        }
    }
}

impl fmt::Display for SegmenterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentence => f.write_str("sentence"),
            Self::Classifier(path) => write!(f, "classifier:{path}"),
            Self::Distilled(DistilledSource::Embedded) => f.write_str("distilled"),
            Self::Distilled(DistilledSource::Folder(path)) => write!(f, "distilled:{path}"),
            Self::Judge(model) => write!(f, "judge:{model}"),
        }
    }
}

impl FromStr for ScorerName {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        match text.split_once(':') {
            Some(("embedding", path)) if !path.is_empty() => Ok(Self::Embedding(path.into())),
            Some(("classifier", path)) if !path.is_empty() => Ok(Self::Classifier(path.into())),
            None if text == "distilled" => Ok(Self::Distilled(DistilledSource::Embedded)),
            Some(("distilled", path)) if !path.is_empty() => {
                Ok(Self::Distilled(DistilledSource::Folder(path.into())))
            }
            Some(("bertscore", path)) if !path.is_empty() => Ok(Self::bert_score(path)),
            Some(("lexical", "chrf")) => Ok(Self::Chrf),
            Some(("lexical", "bleu")) => Ok(Self::Bleu),
            Some(("judge", model)) => model.parse().map(Self::Judge),
            _ => Err(RoleError {
                role: "scorer",
                found: text.to_owned(),
                known: "distilled, embedding:FOLDER, classifier:FOLDER, distilled:FOLDER, \
                        bertscore:FOLDER[@LAYER], lexical:chrf, lexical:bleu and judge:MODEL",
            }),
        }
    }
}

/// The distilled segmenter that the program carries, or else a unit a sentence.
impl Default for SegmenterName {
    fn default() -> Self {
        if cfg!(feature = "distilled") {
            Self::Distilled(DistilledSource::Embedded)
        } else {
            Self::Sentence
        }
    }
}

/// The distilled scorer that the program carries, or else chrF.
impl Default for ScorerName {
    fn default() -> Self {
        if cfg!(feature = "distilled") {
            Self::Distilled(DistilledSource::Embedded)
        } else {
            Self::Chrf
        }
    }
}

impl ScorerName {
    /// A folder, and a layer where a number stands after the last `@`.
    fn bert_score(text: &str) -> Self {
        if let Some((folder, layer)) = text.rsplit_once('@')
            && let Ok(layer) = layer.parse()
            && !folder.is_empty()
        {
            return Self::BertScore { folder: folder.into(), layer: Some(layer) };
        }
        Self::BertScore { folder: text.into(), layer: None }
    }
}

impl fmt::Display for ScorerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedding(path) => write!(f, "embedding:{path}"),
            Self::Classifier(path) => write!(f, "classifier:{path}"),
            Self::Distilled(DistilledSource::Embedded) => f.write_str("distilled"),
            Self::Distilled(DistilledSource::Folder(path)) => write!(f, "distilled:{path}"),
            Self::BertScore { folder, layer: Some(layer) } => {
                write!(f, "bertscore:{folder}@{layer}")
            }
            Self::BertScore { folder, layer: None } => write!(f, "bertscore:{folder}"),
            Self::Chrf => f.write_str("lexical:chrf"),
            Self::Bleu => f.write_str("lexical:bleu"),
            Self::Judge(model) => write!(f, "judge:{model}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_it_is_read() {
        for name in [
            "embedding:models/x",
            "lexical:chrf",
            "lexical:bleu",
            "judge:local:a.gguf",
            "classifier:models/x+adapter",
            "distilled:models/mine",
            "distilled",
            "bertscore:models/x@5",
            "bertscore:models/x@home",
            "bertscore:models/x",
        ] {
            assert_eq!(name.parse::<ScorerName>().unwrap().to_string(), name);
        }
        for name in ["sentence", "distilled", "judge:scripted:a.jsonl", "classifier:models/x"] {
            assert_eq!(name.parse::<SegmenterName>().unwrap().to_string(), name);
        }
        for name in ["none", "rules", "judge:local:a.gguf"] {
            assert_eq!(name.parse::<CleanerName>().unwrap().to_string(), name);
        }
        assert_eq!("a/b.GGUF".parse(), Ok(ModelName::Local("a/b.GGUF".into())));
    }

    #[test]
    fn a_name_that_nobody_goes_by_is_an_error_that_lists_the_names() {
        let error = "gpt".parse::<ModelName>().unwrap_err().to_string();
        assert!(error.contains("`gpt`") && error.contains("local:FILE.gguf"), "{error}");
        "local:".parse::<ModelName>().unwrap_err();
        "embedding".parse::<ScorerName>().unwrap_err();
        "judge:sentence".parse::<SegmenterName>().unwrap_err();
    }
}
