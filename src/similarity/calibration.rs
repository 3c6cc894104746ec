//! From the cosine of two vectors to a rating: a curve fitted to annotations.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use super::Rating;
use crate::nn::{LayerEncoder, SentenceEncoder, base_and_adapter};

/// The calibrations that come with the program.
const SHIPPED: [(&str, &str); 1] = [(
    "models/calibration/all-MiniLM-L6-v2.toml",
    include_str!("../../models/calibration/all-MiniLM-L6-v2.toml"),
)];

/// The file of a calibration that belongs to an encoder's folder.
const FILE_NAME: &str = "calibration.toml";

/// The same for BERTScore; the layer stands for the braces.
const BERT_SCORE_FILE_NAME: &str = "calibration-bertscore-{}.toml";

/// What a calibration is fitted to where its file does not say.
const COSINE: &str = "cosine";

/// A rising curve from cosines to ratings, straight between its knots and level
/// beyond them.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    encoder: String,
    weights_blake3: String,
    measure: String,
    cosines: Vec<f64>,
    ratings: Vec<f64>,
}

/// The form of the file. `provenance` says what the curve was fitted to, for
/// people to read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CalibrationFile {
    format_version: u32,
    encoder: String,
    weights_blake3: String,
    /// `cosine`, or `bertscore@` and a layer, whose F-scores stand under `cosines`.
    measure: Option<String>,
    cosines: Vec<f64>,
    ratings: Vec<f64>,
    #[serde(rename = "provenance")]
    _provenance: toml::Table,
}

/// The only form of the file so far.
const FORMAT_VERSION: u32 = 1;

/// Why there is no calibration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The file cannot be read.
    #[error("cannot read the calibration {path}: {reason}")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No calibration was fitted to the encoder.
    #[error(
        "no calibration was fitted to the {measure} of the encoder {encoder} (weights {digest}): \
         fit one with scripts/calibrate_similarity.py, and put it into its folder as {file_name}"
    )]
    Missing {
        /// What would be read as ratings.
        measure: String,
        /// The name that its file would have.
        file_name: String,
        /// The encoder's name.
        encoder: String,
        /// The digest of its weights.
        digest: String,
    },
    /// The calibration in an encoder's folder was fitted to other weights.
    #[error(
        "{path} was fitted to the encoder {encoder} with other weights than these, or to another \
         measure: fit it again"
    )]
    OtherWeights {
        /// The file.
        path: Utf8PathBuf,
        /// The encoder that it was fitted to.
        encoder: String,
    },
}

impl Calibration {
    /// The calibration of an encoder: that in its folder, where there is one,
    /// else one that comes with the program. It must have been fitted to the same
    /// weights: the cosines of another model mean something else.
    pub fn of(encoder: &SentenceEncoder, folder: &Utf8Path) -> Result<Self, CalibrationError> {
        Self::fitted_to(COSINE, (encoder.name(), encoder.digest()), &file(folder, None))
    }

    /// The same for BERTScore at the layer of this encoder.
    pub fn of_bert_score(
        encoder: &LayerEncoder,
        folder: &Utf8Path,
    ) -> Result<Self, CalibrationError> {
        let layer = encoder.layer();
        let measure = format!("bertscore@{layer}");
        let model = (encoder.name(), encoder.digest());
        Self::fitted_to(&measure, model, &file(folder, Some(layer)))
    }

    fn fitted_to(
        measure: &str,
        (encoder, digest): (&str, &str),
        path: &Utf8Path,
    ) -> Result<Self, CalibrationError> {
        let fits = |found: &Self| found.weights_blake3 == digest && found.measure == measure;
        if path.exists() {
            let text = fs_err::read_to_string(path)
                .map_err(|error| unreadable(path, error.to_string()))?;
            let calibration = Self::parse(&text, path)?;
            if !fits(&calibration) {
                let path = path.to_owned();
                return Err(CalibrationError::OtherWeights { path, encoder: calibration.encoder });
            }
            return Ok(calibration);
        }
        for (path, text) in SHIPPED {
            let calibration = Self::parse(text, Utf8Path::new(path))?;
            if fits(&calibration) {
                return Ok(calibration);
            }
        }
        Err(CalibrationError::Missing {
            measure: measure.to_owned(),
            file_name: path.file_name().unwrap_or(FILE_NAME).to_owned(),
            encoder: encoder.to_owned(),
            digest: digest.to_owned(),
        })
    }

    /// A digest of what [`of`](Self::of) would read for an encoder's folder, or with a
    /// layer [`of_bert_score`](Self::of_bert_score): the calibration in it, or else those
    /// that come with the program.
    pub fn source_digest(folder: &Utf8Path, layer: Option<usize>) -> std::io::Result<blake3::Hash> {
        let path = file(folder, layer);
        if path.exists() {
            return Ok(blake3::hash(&fs_err::read(path)?));
        }
        let mut hasher = blake3::Hasher::new();
        for (_, text) in SHIPPED {
            hasher.update(text.as_bytes());
        }
        Ok(hasher.finalize())
    }

    /// Parses the TOML of a calibration; `path` is for messages.
    pub fn parse(text: &str, path: &Utf8Path) -> Result<Self, CalibrationError> {
        let file: CalibrationFile =
            toml::from_str(text).map_err(|error| unreadable(path, error.to_string()))?;
        let problem = if file.format_version != FORMAT_VERSION {
            format!("`format_version` is {}, not {FORMAT_VERSION}", file.format_version)
        } else if file.cosines.len() != file.ratings.len() || file.cosines.len() < 2 {
            "`cosines` and `ratings` are not equally long lists of two numbers or more".to_owned()
        } else if !file.cosines.is_sorted_by(|a, b| a < b) || !within(&file.cosines, -1.0, 1.0) {
            "`cosines` do not rise within -1 and 1".to_owned()
        } else if !file.ratings.is_sorted() || !within(&file.ratings, 0.0, Rating::MAX) {
            "`ratings` fall, or leave 0 to 4".to_owned()
        } else {
            return Ok(Self {
                encoder: file.encoder,
                weights_blake3: file.weights_blake3,
                measure: file.measure.unwrap_or_else(|| COSINE.to_owned()),
                cosines: file.cosines,
                ratings: file.ratings,
            });
        };
        Err(unreadable(path, problem))
    }

    /// The rating that a cosine stands for; `None` where it is not a number.
    pub fn rating(&self, cosine: f64) -> Option<Rating> {
        if cosine.is_nan() {
            return None;
        }
        let last = self.cosines.len() - 1;
        // The segment that the cosine falls into; the outer ones where it falls beyond.
        let above = self.cosines.partition_point(|&knot| knot < cosine).clamp(1, last);
        let (from, to) = (self.cosines[above - 1], self.cosines[above]);
        let share = ((cosine - from) / (to - from)).clamp(0.0, 1.0);
        let (low, high) = (self.ratings[above - 1], self.ratings[above]);
        // Rounding must not lead out of the segment.
        Rating::new((high - low).mul_add(share, low).clamp(low, high))
    }
}

/// Where the calibration of an encoder, or of its BERTScore at a layer, would lie.
fn file(folder: &Utf8Path, layer: Option<usize>) -> Utf8PathBuf {
    let folder = base_and_adapter(folder).0;
    match layer {
        Some(layer) => folder.join(BERT_SCORE_FILE_NAME.replace("{}", &layer.to_string())),
        None => folder.join(FILE_NAME),
    }
}

fn within(values: &[f64], least: f64, most: f64) -> bool {
    values.iter().all(|value| (least..=most).contains(value))
}

fn unreadable(path: &Utf8Path, reason: String) -> CalibrationError {
    CalibrationError::File { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "format_version = 1\nencoder = \"e\"\nweights_blake3 = \"d\"\n\
        cosines = [0.2, 0.5, 1.0]\nratings = [0.5, 1.0, 4.0]\n[provenance]\nby = \"hand\"\n";

    fn parse(text: &str) -> Result<Calibration, CalibrationError> {
        Calibration::parse(text, Utf8Path::new("e/calibration.toml"))
    }

    fn check_refused(from: &str, to: &str, expected: &str) {
        assert!(FILE.contains(from), "{from}");
        let error = parse(&FILE.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("e/calibration.toml"), "{error}");
    }

    #[test]
    fn ratings_are_straight_between_knots_and_level_beyond() {
        let calibration = parse(FILE).unwrap();
        let rating = |cosine: f64| calibration.rating(cosine).unwrap().get();
        for (cosine, expected) in
            [(-1.0, 0.5), (0.2, 0.5), (0.35, 0.75), (0.5, 1.0), (0.75, 2.5), (1.0, 4.0)]
        {
            assert!((rating(cosine) - expected).abs() < 1e-12, "{cosine}: {}", rating(cosine));
        }
        assert_eq!(calibration.rating(f64::NAN), None);
    }

    #[test]
    fn a_curve_that_falls_or_leaves_the_scale_is_refused() {
        check_refused("[0.5, 1.0, 4.0]", "[0.5, 0.4, 4.0]", "`ratings`");
        check_refused("[0.5, 1.0, 4.0]", "[0.5, 1.0, 4.1]", "`ratings`");
        check_refused("[0.5, 1.0, 4.0]", "[0.5, 1.0]", "equally long");
        check_refused("[0.2, 0.5, 1.0]", "[0.2, 0.2, 1.0]", "`cosines`");
        check_refused("format_version = 1", "format_version = 2", "`format_version`");
        check_refused("encoder = \"e\"", "encoder = \"e\"\nknots = 3", "knots");
    }

    #[test]
    fn the_calibrations_that_come_with_the_program_are_sound() {
        for (path, text) in SHIPPED {
            let calibration = Calibration::parse(text, Utf8Path::new(path)).unwrap();
            assert_eq!(calibration.rating(1.0), Some(Rating::HIGHEST));
        }
    }

    proptest! {
        #[test]
        fn a_greater_cosine_never_has_a_lower_rating(a in -1.0_f64..=1.0, b in -1.0_f64..=1.0) {
            let calibration = parse(FILE).unwrap();
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(calibration.rating(low).unwrap() <= calibration.rating(high).unwrap());
        }
    }
}
