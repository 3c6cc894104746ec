//! A classifier of tokens that others fine-tuned, and that says where units begin.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use super::{SegmentError, Segmentation, Segmenter};
use crate::nn::{
    Cpu, EncoderError, EncoderPrecision, LabelledToken, TokenClassifier, base_and_adapter,
};

/// The file in a classifier's folder that says what its labels mean.
const FILE_NAME: &str = "classifier.toml";

/// The only form of the file so far.
const FORMAT_VERSION: u32 = 1;

/// Cuts where a fine-tuned model says that a unit begins.
///
/// A unit begins at a word, between white space, whose first token has as its
/// likeliest label (of several the first) one that means a cut: the labels listed as
/// `cut_labels` in `classifier.toml` in the folder, or without it those called `B`,
/// `CUT`, `BEGIN`, `START` or `1`, in any case, or that begin with `B-`, or end with
/// `_1` where there are two labels. What the model says of other tokens, and of the
/// first word, changes nothing. White space between two units belongs to the second.
pub struct ClassifierSegmenter {
    id: String,
    classifier: TokenClassifier,
    /// By label, whether it means a cut.
    is_cut: Vec<bool>,
}

/// The form of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CutFile {
    format_version: u32,
    cut_labels: Vec<String>,
}

/// Why a folder makes no segmenter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClassifierSegmenterError {
    /// The model cannot be loaded.
    #[error(transparent)]
    Model(#[from] EncoderError),
    /// The file about its labels cannot be read.
    #[error("cannot read {path}: {reason}")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No label, or every label, means a cut.
    #[error(
        "it is not clear which of the labels of {model} ({labels}) mean that a unit begins: write \
         a file {path} with format_version = 1 and cut_labels = [\"...\"]"
    )]
    Labels {
        /// The model.
        model: String,
        /// Its labels.
        labels: String,
        /// The file that could say what they mean.
        path: Utf8PathBuf,
    },
}

impl ClassifierSegmenter {
    /// Loads a folder, and `classifier.toml` in it where there is one.
    pub fn open(path: &Utf8Path, cpu: Cpu) -> Result<Self, ClassifierSegmenterError> {
        let precision = EncoderPrecision::default();
        let classifier = TokenClassifier::load(path, precision, cpu)?;
        let path = base_and_adapter(path).0.join(FILE_NAME);
        let failed = |reason: String| ClassifierSegmenterError::File { path: path.clone(), reason };
        let listed = if path.exists() {
            let text = fs_err::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
            Some(parse(&text).map_err(failed)?)
        } else {
            None
        };
        let labels = classifier.labels();
        let is_cut =
            cuts(labels, listed.as_deref()).ok_or_else(|| ClassifierSegmenterError::Labels {
                model: classifier.name().to_owned(),
                labels: labels.join(", "),
                path: path.clone(),
            })?;
        let digest: String = classifier.digest().chars().take(8).collect();
        let id = format!("classifier:{}#{digest}/{precision}", classifier.name());
        Ok(Self { id, classifier, is_cut })
    }

    fn cut(&self, text: &str, tokens: &[LabelledToken]) -> Segmentation {
        let begins = |token: &LabelledToken| {
            let mut likeliest = (0, f64::NEG_INFINITY);
            for (label, &output) in token.outputs.iter().enumerate() {
                if likeliest.1 < output {
                    likeliest = (label, output);
                }
            }
            self.is_cut.get(likeliest.0) == Some(&true)
        };
        ends(text, tokens, begins)
    }
}

/// The labels of the file.
fn parse(text: &str) -> Result<Vec<String>, String> {
    let file: CutFile = toml::from_str(text).map_err(|error| error.to_string())?;
    if file.format_version != FORMAT_VERSION {
        let found = file.format_version;
        return Err(format!("`format_version` is {found}, not {FORMAT_VERSION}"));
    }
    Ok(file.cut_labels)
}

/// Which labels mean a cut; `None` where none or all would, or one that is listed is
/// no label.
fn cuts(labels: &[String], listed: Option<&[String]>) -> Option<Vec<bool>> {
    if listed.is_some_and(|listed| listed.iter().any(|label| !labels.contains(label))) {
        return None;
    }
    let is_named = |label: &String| {
        let label = label.to_uppercase();
        ["B", "CUT", "BEGIN", "START", "1"].contains(&label.as_str())
            || label.starts_with("B-")
            || (labels.len() == 2 && label.ends_with("_1"))
    };
    let means_cut =
        |label: &String| listed.map_or_else(|| is_named(label), |listed| listed.contains(label));
    let is_cut: Vec<bool> = labels.iter().map(means_cut).collect();
    (is_cut.contains(&true) && is_cut.contains(&false)).then_some(is_cut)
}

/// A text cut before the words whose first tokens begin a unit. `tokens` are those of
/// the text, in order.
fn ends(
    text: &str,
    tokens: &[LabelledToken],
    begins: impl Fn(&LabelledToken) -> bool,
) -> Segmentation {
    let mut ends = Vec::new();
    let mut tokens = tokens.iter().peekable();
    let mut before = None;
    for (at, ch) in text.char_indices() {
        let starts_word = !ch.is_whitespace() && before.is_some_and(char::is_whitespace);
        before = Some(ch);
        if !starts_word {
            continue;
        }
        // A token may begin with the white space before its word.
        while tokens.next_if(|token| token.range.end <= at).is_some() {}
        let end = text[..at].trim_end().len();
        if 0 < end && tokens.peek().is_some_and(|token| begins(token)) {
            ends.push(end);
        }
    }
    if !text.is_empty() {
        ends.push(text.len());
    }
    Segmentation { ends }
}

impl Segmenter for ClassifierSegmenter {
    fn id(&self) -> &str {
        &self.id
    }

    fn segment(&self, texts: &[&str]) -> Vec<Result<Segmentation, SegmentError>> {
        let labelled = self.classifier.label(texts).into_iter();
        let parts = texts.iter().zip(labelled);
        parts
            .map(|(text, tokens)| {
                let tokens = tokens.map_err(|error| SegmentError::Model(error.to_string()))?;
                Ok(self.cut(text, &tokens))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::units, *};

    fn tokens(text: &str, size: usize, cut_at: &[usize]) -> Vec<LabelledToken> {
        let starts: Vec<usize> =
            text.char_indices().map(|(at, _)| at).step_by(size).chain([text.len()]).collect();
        let token = |range: std::ops::Range<usize>| {
            let is_cut = cut_at.iter().any(|at| range.contains(at));
            LabelledToken { range, outputs: vec![0.0, f64::from(u8::from(is_cut)) * 2.0 - 1.0] }
        };
        starts.windows(2).map(|pair| token(pair[0]..pair[1])).collect()
    }

    fn begins(token: &LabelledToken) -> bool {
        token.outputs[0] < token.outputs[1]
    }

    #[test]
    fn a_unit_begins_at_a_word_and_nowhere_else() {
        let text = " Vivid opening, but who\n is Alex? ";
        let at = |word: &str| text.find(word).unwrap();
        let cut = |places: &[usize]| {
            let cut = ends(text, &tokens(text, 1, places), begins);
            units(text, &cut).texts
        };
        assert_eq!(cut(&[at("but")]), ["Vivid opening,", "but who\n is Alex?"]);
        assert_eq!(cut(&[at("Vivid"), at("pening"), at(" who")]).len(), 1);
        assert_eq!(cut(&[at("is")]), ["Vivid opening, but who", "is Alex?"]);
    }

    #[test]
    fn labels_that_mean_a_cut_are_known_by_their_names_or_listed() {
        let labels = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        assert_eq!(cuts(&labels(&["O", "cut"]), None), Some(vec![false, true]));
        assert_eq!(cuts(&labels(&["B-A", "I-A", "B-C"]), None), Some(vec![true, false, true]));
        assert_eq!(cuts(&labels(&["LABEL_0", "LABEL_1"]), None), Some(vec![false, true]));
        assert_eq!(cuts(&labels(&["LABEL_0", "LABEL_1", "LABEL_2"]), None), None);
        let listed = labels(&["X"]);
        assert_eq!(cuts(&labels(&["X", "B"]), Some(&listed)), Some(vec![true, false]));
        assert_eq!(cuts(&labels(&["Y", "B"]), Some(&listed)), None);
        assert!(parse("format_version = 2\ncut_labels = []").unwrap_err().contains("not 1"));
    }

    proptest! {
        #[test]
        fn units_join_to_the_text(
            text in "([a-zA-Z.!? \n]|\\PC){0,40}", size in 1_usize..4,
            places in proptest::collection::vec(0_usize..60, 0..6)
        ) {
            let cut = ends(&text, &tokens(&text, size, &places), begins);
            prop_assert_eq!(Segmentation::new(&text, cut.ends.clone()), Some(cut));
        }
    }
}
