//! What the outputs of a classifier mean as ratings.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use super::Rating;
use crate::nn::{Problem, SequenceClassifier, base_and_adapter};

/// The file in a classifier's folder that says what its outputs mean.
const FILE_NAME: &str = "classifier.toml";

/// The only form of the file so far.
const FORMAT_VERSION: u32 = 1;

/// How far beyond its range a number may lie, as a share of the range: regression
/// oversteps a little. Beyond that the range is taken to be wrong.
const OVERSTEP: f64 = 0.1;

/// From outputs to ratings.
///
/// - One number: `range` in `classifier.toml` says which numbers are 0 and 4, and
///   those between lie between. Without it a number that is read through a logistic
///   curve (sentence-transformers' cross-encoders say so in `config.json`) has the
///   range 0 to 1, any other 0 to 4. A number that oversteps by at most a tenth of the
///   range counts as its end; one beyond that is an error.
/// - Labels: `ratings` in `classifier.toml` says what each counts. Without it, five
///   labels that are called 0 to 4 (`LABEL_0` and so on too) are those ratings, five
///   that are called 1 to 5 are those less one, and of two that are called 0 and 1 the
///   second counts 4. The rating is the mean by their probabilities; where all ratings
///   are whole and different, their probabilities are known too.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputRule {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Number { is_logistic: bool, low: f64, high: f64 },
    Labels { ratings: Vec<f64>, are_ratings: bool },
}

/// The form of the file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    format_version: u32,
    range: Option<[f64; 2]>,
    ratings: Option<Vec<f64>>,
}

/// Why outputs cannot be read as ratings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputRuleError {
    /// The file cannot be read.
    #[error("cannot read {path}: {reason}")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The labels are no ratings by their names.
    #[error(
        "the labels of {model} ({labels}) name no ratings from 0 to 4: write a file {path} with \
         format_version = 1 and ratings = [...], a number from 0 to 4 for each label in this order"
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

impl OutputRule {
    /// The rule for a classifier: that in its folder where there is one.
    pub fn of(classifier: &SequenceClassifier, path: &Utf8Path) -> Result<Self, OutputRuleError> {
        let path = base_and_adapter(path).0.join(FILE_NAME);
        let text = if path.exists() {
            let text = fs_err::read_to_string(&path);
            Some(text.map_err(|error| OutputRuleError::File {
                path: path.clone(),
                reason: error.to_string(),
            })?)
        } else {
            None
        };
        let (problem, labels) = (classifier.problem(), classifier.labels());
        Self::parse(text.as_deref(), problem, labels, &path).map_err(|error| match error {
            OutputRuleError::Labels { labels, path, .. } => {
                OutputRuleError::Labels { model: classifier.name().to_owned(), labels, path }
            }
            other => other,
        })
    }

    fn parse(
        text: Option<&str>,
        problem: Problem,
        labels: &[String],
        path: &Utf8Path,
    ) -> Result<Self, OutputRuleError> {
        let failed = |reason: String| OutputRuleError::File { path: path.to_owned(), reason };
        let file: RuleFile = match text {
            Some(text) => toml::from_str(text).map_err(|error| failed(error.to_string()))?,
            None => RuleFile { format_version: FORMAT_VERSION, ..RuleFile::default() },
        };
        if file.format_version != FORMAT_VERSION {
            let found = file.format_version;
            return Err(failed(format!("`format_version` is {found}, not {FORMAT_VERSION}")));
        }
        let kind = if problem == Problem::Labels {
            if file.range.is_some() {
                return Err(failed("`range` is for a model with one output".to_owned()));
            }
            let ratings = match file.ratings {
                Some(ratings) if ratings.len() != labels.len() => {
                    let reason = format!("{} `ratings` for {} labels", ratings.len(), labels.len());
                    return Err(failed(reason));
                }
                Some(ratings) if ratings.iter().any(|&rating| Rating::new(rating).is_none()) => {
                    return Err(failed("`ratings` leave 0 to 4".to_owned()));
                }
                Some(ratings) => ratings,
                None => by_name(labels).ok_or_else(|| OutputRuleError::Labels {
                    model: String::new(),
                    labels: labels.join(", "),
                    path: path.to_owned(),
                })?,
            };
            let mut sorted = ratings.clone();
            sorted.sort_by(f64::total_cmp);
            let are_different = sorted.is_sorted_by(|a, b| a < b);
            let are_ratings = are_different && ratings.iter().all(|x| whole(*x).is_some());
            Kind::Labels { ratings, are_ratings }
        } else {
            if file.ratings.is_some() {
                return Err(failed("`ratings` are for a model with labels".to_owned()));
            }
            let is_logistic = problem == Problem::Logistic;
            let [low, high] = file.range.unwrap_or([0.0, if is_logistic { 1.0 } else { 4.0 }]);
            if !(low.is_finite() && high.is_finite()) || (high - low).abs() < 1e-12 {
                return Err(failed("`range` is not two different numbers".to_owned()));
            }
            Kind::Number { is_logistic, low, high }
        };
        Ok(Self { kind })
    }

    /// The rating from 0 to 4 that some outputs stand for, and how likely each is where
    /// the model says so. On failure, why.
    pub fn read(&self, outputs: &[f64]) -> Result<(f64, Option<[f64; 5]>), String> {
        match (&self.kind, outputs) {
            (Kind::Number { is_logistic, low, high }, &[output]) => {
                let value = if *is_logistic { 1.0 / (1.0 + (-output).exp()) } else { output };
                let share = (value - low) / (high - low);
                if !(-OVERSTEP..=1.0 + OVERSTEP).contains(&share) {
                    return Err(format!(
                        "the classifier said {value:.4}, far from the range {low} to {high}: say \
                         in {FILE_NAME} in its folder which numbers stand for 0 and 4 (range = \
                         [low, high])"
                    ));
                }
                Ok((share.clamp(0.0, 1.0) * Rating::MAX, None))
            }
            (Kind::Labels { ratings, are_ratings }, outputs) if outputs.len() == ratings.len() => {
                let greatest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let weights: Vec<f64> = outputs.iter().map(|x| (x - greatest).exp()).collect();
                let sum: f64 = weights.iter().sum();
                if !sum.is_finite() || sum <= 0.0 {
                    return Err("the classifier said what is no number".to_owned());
                }
                let (mut rating, mut shares) = (0.0, [0.0; 5]);
                for (&value, weight) in ratings.iter().zip(weights) {
                    rating += value * weight / sum;
                    if let Some(place) = whole(value) {
                        shares[place] = weight / sum;
                    }
                }
                Ok((rating, are_ratings.then_some(shares)))
            }
            _ => Err(format!("the classifier has {} outputs", outputs.len())),
        }
    }
}

/// The whole rating that a number is, if it is one.
fn whole(rating: f64) -> Option<usize> {
    (0_u8..5).position(|whole| (f64::from(whole) - rating).abs() < 1e-12)
}

/// What labels count by their names, where these are numbers that say so.
fn by_name(labels: &[String]) -> Option<Vec<f64>> {
    let numbers: Vec<u8> = labels.iter().map(|label| number(label)).collect::<Option<_>>()?;
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    let (less, scale) = match sorted[..] {
        [0, 1, 2, 3, 4] => (0, 1.0),
        [1, 2, 3, 4, 5] => (1, 1.0),
        [0, 1] => (0, Rating::MAX),
        _ => return None,
    };
    Some(numbers.into_iter().map(|number| f64::from(number - less) * scale).collect())
}

/// The number that a label is or ends with, or begins with as in `3 stars`.
fn number(label: &str) -> Option<u8> {
    let label = label.trim();
    let ends = label.rsplit(['_', ' ', '-']).next()?;
    ends.parse().or_else(|_| label.split(' ').next().unwrap_or_default().parse()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str, problem: Problem, labels: &[&str]) -> Result<OutputRule, String> {
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        let text = Some(text).filter(|text| !text.is_empty());
        OutputRule::parse(text, problem, &labels, Utf8Path::new("m/classifier.toml"))
            .map_err(|error| error.to_string())
    }

    fn check(rule: &OutputRule, outputs: &[f64], rating: f64, shares: Option<[f64; 5]>) {
        let (found, found_shares) = rule.read(outputs).unwrap();
        assert!((found - rating).abs() < 1e-9, "{found}");
        assert_eq!(found_shares.is_some(), shares.is_some());
        for (found, share) in found_shares.iter().flatten().zip(shares.iter().flatten()) {
            assert!((found - share).abs() < 1e-9, "{found_shares:?}");
        }
    }

    #[test]
    fn a_number_is_read_within_its_range_and_refused_far_beyond() {
        let plain = rule("", Problem::Regression, &["LABEL_0"]).unwrap();
        check(&plain, &[2.5], 2.5, None);
        check(&plain, &[4.3], 4.0, None);
        assert!(plain.read(&[4.5]).unwrap_err().contains("classifier.toml"));
        assert!(plain.read(&[f64::NAN]).is_err());
        let logistic = rule("", Problem::Logistic, &["LABEL_0"]).unwrap();
        check(&logistic, &[0.0], 2.0, None);
        let text = "format_version = 1\nrange = [1.0, 5.0]";
        check(&rule(text, Problem::Regression, &["LABEL_0"]).unwrap(), &[2.0], 1.0, None);
        let text = "format_version = 1\nrange = [1.0, 1.0]";
        assert!(rule(text, Problem::Regression, &["LABEL_0"]).unwrap_err().contains("`range`"));
    }

    #[test]
    fn five_labels_are_ratings_in_the_order_of_their_names() {
        let likely = |at: usize| {
            let mut outputs = [0.0; 5];
            outputs[at] = 4_f64.ln();
            outputs
        };
        let plain = ["LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3", "LABEL_4"];
        let rated = rule("", Problem::Labels, &plain).unwrap();
        check(&rated, &likely(4), 22.0 / 8.0, Some([0.125, 0.125, 0.125, 0.125, 0.5]));
        let stars = ["5 stars", "4 stars", "3 stars", "2 stars", "1 star"];
        let rated = rule("", Problem::Labels, &stars).unwrap();
        check(&rated, &likely(0), 22.0 / 8.0, Some([0.125, 0.125, 0.125, 0.125, 0.5]));
    }

    #[test]
    fn other_labels_count_what_the_file_says() {
        let two = rule("", Problem::Labels, &["LABEL_0", "LABEL_1"]).unwrap();
        check(&two, &[0.0, 3_f64.ln()], 3.0, Some([0.25, 0.0, 0.0, 0.0, 0.75]));
        let names = ["contradiction", "neutral", "entailment"];
        let error = rule("", Problem::Labels, &names).unwrap_err();
        assert!(error.contains("neutral") && error.contains("m/classifier.toml"), "{error}");
        let text = "format_version = 1\nratings = [0, 1.5, 4]";
        let three = rule(text, Problem::Labels, &names).unwrap();
        check(&three, &[0.0, 0.0, 0.0], 5.5 / 3.0, None);
        let short = rule("format_version = 1\nratings = [0, 4]", Problem::Labels, &names);
        assert!(short.unwrap_err().contains("2 `ratings` for 3 labels"));
        let beyond = rule("format_version = 1\nratings = [0, 4, 5]", Problem::Labels, &names);
        assert!(beyond.unwrap_err().contains("leave 0 to 4"));
        let odd = rule("format_version = 1\nstars = 3", Problem::Labels, &names).unwrap_err();
        assert!(odd.contains("stars"), "{odd}");
    }
}
