//! How a model is trained, as people write it in a file.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::DistillError;
use crate::{
    nn::{Coding, trainable::AdamWSettings},
    similarity::Feature,
    text::line_at,
};

/// All settings of a training; `H` are those of the head and of what it learns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings<H> {
    /// The folder of the sentence encoder that training begins from.
    pub base: Option<Utf8PathBuf>,
    /// The data to learn from.
    pub train: Option<Utf8PathBuf>,
    /// The data to try out on, of other students.
    pub dev: Option<Utf8PathBuf>,
    /// A file of rated pairs whose ids say whose the paragraphs of cut texts are.
    pub students: Option<Utf8PathBuf>,
    /// The folder to write to.
    pub out: Option<Utf8PathBuf>,
    /// The seed of all draws.
    pub seed: u64,
    /// The encoder.
    pub encoder: EncoderSettings,
    /// The head.
    pub head: H,
    /// The steps.
    pub steps: StepSettings,
    /// The optimiser.
    pub optimizer: AdamWSettings,
}

/// The settings of a scorer's training.
pub type ScorerSettings = Settings<ScorerHead>;

/// The settings of a segmenter's training.
pub type SegmenterSettings = Settings<SegmenterHead>;

/// What is taken of the encoder, and what of it is trained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct EncoderSettings {
    /// How many layers are taken.
    pub layers: usize,
    /// How many of them, from the first, stay as they are, as the embeddings do.
    pub frozen: usize,
    /// What embeddings are coded as, before training.
    pub embeddings: Coding,
    /// What the matrices of layers are coded as: of frozen ones before, of others after
    /// training.
    pub matrices: Coding,
    /// How much of a state is left out where training begins, and of what the parts of a
    /// layer change.
    pub dropout: f64,
    /// How much of the weights of the attention is left out.
    pub attention_dropout: f64,
}

impl Default for EncoderSettings {
    fn default() -> Self {
        Self {
            layers: 6,
            frozen: 0,
            embeddings: Coding { bits: 5, group: 32 },
            matrices: Coding { bits: 8, group: 128 },
            dropout: 0.1,
            attention_dropout: 0.1,
        }
    }
}

/// The head of a scorer, and what it learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ScorerHead {
    /// What it is told of two vectors.
    pub features: Vec<Feature>,
    /// The size of the hidden layer.
    pub hidden: usize,
    /// How much is left out before each of its layers.
    pub dropout: f64,
    /// How far around the rating a pair's probability is spread: the standard deviation
    /// of a normal distribution over the five ratings.
    pub spread: f64,
    /// The weight of the squared error of the mean rating beside the cross-entropy.
    pub squared_error: f64,
    /// How far pairs of rare ratings weigh more: 0 not at all, 1 so that all ratings
    /// weigh the same.
    pub class_balance: f64,
}

impl Default for ScorerHead {
    fn default() -> Self {
        Self {
            features: vec![Feature::Difference, Feature::Product, Feature::Cosine],
            hidden: 256,
            dropout: 0.2,
            spread: 0.6,
            squared_error: 0.5,
            class_balance: 0.0,
        }
    }
}

/// The head of a segmenter, and what it learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SegmenterHead {
    /// The size of the hidden layer.
    pub hidden: usize,
    /// How much is left out before each of its layers.
    pub dropout: f64,
    /// How far cuts weigh more than places that are none: 0 not at all, 1 so that both
    /// weigh the same.
    pub class_balance: f64,
    /// Above which probability a place is a cut.
    pub threshold: f64,
}

impl Default for SegmenterHead {
    fn default() -> Self {
        Self { hidden: 128, dropout: 0.1, class_balance: 0.0, threshold: 0.5 }
    }
}

/// How many steps are taken, and how far they go.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct StepSettings {
    /// How often the data is gone through.
    pub epochs: usize,
    /// The paragraphs (of a scorer) or texts (of a segmenter) of a step.
    pub batch: usize,
    /// How far a step goes for the last layer.
    pub rate: f64,
    /// The same for the head.
    pub head_rate: f64,
    /// What the rate is multiplied with from each layer to the one below it.
    pub layer_decay: f64,
    /// The part of all steps over which the rates rise from nothing.
    pub warm_up: f64,
    /// How they fall afterwards, to nothing at the last step.
    pub decay: Decay,
    /// Training ends after so many epochs without a better figure on dev; 0 for never.
    pub patience: usize,
    /// Which weights become the model.
    pub keep: Keep,
    /// A checkpoint is written every so many steps, and after each epoch.
    pub checkpoint_every: usize,
}

impl Default for StepSettings {
    fn default() -> Self {
        Self {
            epochs: 3,
            batch: 3,
            rate: 2e-4,
            head_rate: 1e-3,
            layer_decay: 0.9,
            warm_up: 0.1,
            decay: Decay::Linear,
            patience: 0,
            keep: Keep::Last,
            checkpoint_every: 50,
        }
    }
}

/// How rates fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decay {
    /// Along a line.
    Linear,
    /// Along half a cosine.
    Cosine,
}

/// Which weights become the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Those after the last step.
    Last,
    /// Those of the epoch with the best figure on dev.
    Best,
}

impl StepSettings {
    /// What the rates of a step, counted from zero, are multiplied with.
    pub fn factor(&self, step: usize, n_steps: usize) -> f64 {
        let (step, n_steps) = (step as f64, n_steps as f64);
        let rise = (n_steps * self.warm_up).floor();
        if step < rise {
            return (step + 1.0) / rise;
        }
        let gone = (step - rise) / (n_steps - rise).max(1.0);
        match self.decay {
            Decay::Linear => 1.0 - gone,
            Decay::Cosine => f64::midpoint(1.0, (gone * std::f64::consts::PI).cos()),
        }
    }
}

impl<H: DeserializeOwned + Serialize + Default> Settings<H> {
    /// Reads a file of settings.
    pub fn load(path: &Utf8Path) -> Result<Self, DistillError> {
        let text = fs_err::read_to_string(path)?;
        toml::from_str(&text).map_err(|error| DistillError::Line {
            path: path.to_owned(),
            line: error.span().map_or(0, |span| line_at(text.as_bytes(), span.start)),
            reason: error.message().trim_end().to_owned(),
        })
    }

    /// The settings as the text of such a file.
    pub fn render(&self) -> Result<String, DistillError> {
        toml::to_string(self).map_err(|error| DistillError::Settings(error.to_string()))
    }

    /// A path that is needed.
    pub(super) fn needed<'a>(
        path: Option<&'a Utf8PathBuf>,
        name: &str,
    ) -> Result<&'a Utf8Path, DistillError> {
        path.map(Utf8PathBuf::as_path).ok_or_else(|| {
            DistillError::Settings(format!("no {name} is given: say it with --{name}"))
        })
    }

    /// Complains of numbers that make no sense.
    pub(super) fn check(&self) -> Result<(), DistillError> {
        let EncoderSettings { layers, frozen, dropout, attention_dropout, .. } = self.encoder;
        let StepSettings { epochs, batch, rate, warm_up, checkpoint_every, .. } = self.steps;
        let wrong = |what: &dyn fmt::Display| Err(DistillError::Settings(what.to_string()));
        if layers < frozen {
            return wrong(&format!("encoder.frozen: {frozen} of {layers} layers"));
        }
        for coding in [self.encoder.embeddings, self.encoder.matrices] {
            if !(2..=8).contains(&coding.bits) || coding.group == 0 {
                return wrong(&"encoder: codes have 2 to 8 bits, and groups at least one number");
            }
        }
        if [dropout, attention_dropout].iter().any(|rate| !(0.0..1.0).contains(rate)) {
            return wrong(&"encoder: a dropout lies from 0 to below 1");
        }
        if epochs == 0 || batch == 0 || checkpoint_every == 0 {
            return wrong(&"steps: epochs, batch and checkpoint-every are at least 1");
        }
        let rises = rate.is_finite() && 0.0 < rate;
        if !rises || !(0.0..1.0).contains(&warm_up) {
            return wrong(&"steps: rate is above 0, and warm-up lies from 0 to below 1");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_rise_and_fall_as_asked() {
        let steps = StepSettings { warm_up: 0.2, ..StepSettings::default() };
        let factors: Vec<f64> = (0..10).map(|step| steps.factor(step, 10)).collect();
        assert_eq!(factors[..3], [0.5, 1.0, 1.0]);
        assert!(factors[2..].is_sorted_by(|a, b| a > b) && 0.0 < factors[9], "{factors:?}");
        let cosine = StepSettings { decay: Decay::Cosine, ..steps };
        assert!((cosine.factor(6, 10) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn settings_are_read_back_and_an_unknown_one_is_named_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("scorer.toml")).unwrap();
        let settings = ScorerSettings { seed: 7, out: Some("x".into()), ..Default::default() };
        fs_err::write(&path, settings.render().unwrap()).unwrap();
        assert_eq!(ScorerSettings::load(&path).unwrap(), settings);
        fs_err::write(&path, "seed = 1\n[steps]\nepoch = 3\n").unwrap();
        let error = ScorerSettings::load(&path).unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("epoch"), "{error}");
    }
}
