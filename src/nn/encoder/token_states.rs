//! The states of a text's tokens after some layer of an encoder.

use camino::Utf8Path;

use super::{
    EncoderError, EncoderPrecision,
    bert::TokenRow,
    body::{Body, BodyConfig},
    checkpoint::Checkpoint,
    folder::{tokenizer_limit, unsupported},
    reader::{Extent, TextReader},
};
use crate::nn::{
    adapter::{adapted_name, base_and_adapter},
    kernels::Cpu,
};

/// An encoder that gives a vector for each token, from the layer of one's choice.
pub struct LayerEncoder {
    name: String,
    digest: String,
    layer: usize,
    precision: EncoderPrecision,
    reader: TextReader,
    model: Body,
}

/// The vectors of a text's tokens, those around the text with them.
#[derive(Clone, Debug)]
pub struct TokenStates {
    states: Vec<f32>,
    width: usize,
    /// Whether a token is of the text itself.
    is_own: Vec<bool>,
}

impl TokenStates {
    /// The vectors, each with whether its token is of the text itself.
    pub fn iter(&self) -> impl Iterator<Item = (&[f32], bool)> {
        self.states.chunks(self.width).zip(self.is_own.iter().copied())
    }

    /// How many tokens are of the text itself.
    pub fn n_own(&self) -> usize {
        self.is_own.iter().filter(|is_own| **is_own).count()
    }
}

impl LayerEncoder {
    /// Loads a folder as transformers saves it. `layer` counts from one; without it the
    /// last is taken.
    pub fn load(
        path: &Utf8Path,
        layer: Option<usize>,
        (precision, cpu): (EncoderPrecision, Cpu),
    ) -> Result<Self, EncoderError> {
        let name = adapted_name(path);
        let (folder, adapter) = base_and_adapter(path);
        let config = BodyConfig::read(&folder)?;
        let n_layers = config.n_layers();
        let layer = layer.unwrap_or(n_layers);
        if layer == 0 || n_layers < layer {
            let what = format!("layer {layer} of {n_layers}");
            return Err(unsupported(folder.join("config.json"), what));
        }
        if layer < n_layers && config.model_type() == "modernbert" {
            let what = "a layer of a ModernBERT before the last, since its norm comes at the end";
            return Err(unsupported(folder.join("config.json"), what.to_owned()));
        }
        let limit = tokenizer_limit(&folder)?.unwrap_or(usize::MAX).min(config.n_positions());
        let reader = TextReader::load(&folder, limit)?;
        let checkpoint = Checkpoint::load(&folder, adapter.as_deref())?;
        let model = config.load_layers(&checkpoint, (precision, cpu), layer)?;
        let digest = checkpoint.digest;
        Ok(Self { name, digest, layer, precision, reader, model })
    }

    /// The name of the model's folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The BLAKE3 digest of the weights, in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The layer whose states are given, from one.
    pub fn layer(&self) -> usize {
        self.layer
    }

    /// What the model rounds to.
    pub fn precision(&self) -> EncoderPrecision {
        self.precision
    }

    /// The states of each text, in order. They depend on the text alone; one that is
    /// longer than what the model reads at once is read in the fewest windows of equal
    /// length.
    pub fn states(&self, texts: &[&str]) -> Vec<Result<TokenStates, EncoderError>> {
        let (rows, extents) = self.reader.row_set(texts);
        let refs: Vec<TokenRow<'_>> = rows.iter().map(|row| TokenRow::single(row)).collect();
        let states = self.model.map_states(&refs, <[f32]>::to_vec);
        let parts = texts.iter().zip(extents);
        parts
            .map(|(text, extent)| {
                let fail = |reason| EncoderError::Text { n_bytes: text.len(), reason };
                let Extent { rows, .. } = extent.map_err(fail)?;
                let width = self.model.hidden_size();
                let mut all = TokenStates { states: Vec::new(), width, is_own: Vec::new() };
                for states in &states[rows] {
                    let states = states.as_ref().map_err(|reason| fail(reason.clone()))?;
                    all.states.extend_from_slice(states);
                    all.is_own.extend(self.reader.is_own(states.len() / width));
                }
                Ok(all)
            })
            .collect()
    }
}
