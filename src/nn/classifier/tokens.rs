//! A classifier of the tokens of a text.

use std::ops::Range;

use camino::Utf8Path;
use rayon::prelude::*;

use super::{
    head::{Head, HeadSource},
    settings::Settings,
};
use crate::nn::{
    adapter::{adapted_name, base_and_adapter},
    encoder::{
        Body, BodyConfig, Checkpoint, EncoderError, EncoderPrecision, Reading, TextReader,
        TokenRow, tokenizer_limit,
    },
    kernels::Cpu,
};

/// An encoder with the head of transformers' `...ForTokenClassification`.
pub struct TokenClassifier {
    name: String,
    digest: String,
    precision: EncoderPrecision,
    reader: TextReader,
    model: Body,
    head: Head,
    labels: Vec<String>,
}

/// A token of a text, and its outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledToken {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// A number for each label, the greatest for the likeliest.
    pub outputs: Vec<f64>,
}

impl TokenClassifier {
    /// Loads a folder as transformers saves it; see
    /// [`SequenceClassifier::load`](super::SequenceClassifier::load).
    pub fn load(
        path: &Utf8Path,
        precision: EncoderPrecision,
        cpu: Cpu,
    ) -> Result<Self, EncoderError> {
        let name = adapted_name(path);
        let (folder, adapter) = base_and_adapter(path);
        let config = BodyConfig::read(&folder)?;
        let path = folder.join("config.json");
        let settings = Settings::parse(config.settings(), &path)?;
        settings.check_head("ForSequenceClassification", &path)?;
        let limit = tokenizer_limit(&folder)?.unwrap_or(usize::MAX).min(config.n_positions());
        let reader = TextReader::load(&folder, limit)?;
        let checkpoint = Checkpoint::load(&folder, adapter.as_deref())?;
        let head = Head::of_tokens(&HeadSource {
            checkpoint: &checkpoint,
            settings: &settings,
            path: &path,
            model_type: config.model_type(),
            hidden_size: config.hidden_size(),
        })?;
        Ok(Self {
            labels: settings.labels(head.n_outputs(), &path)?,
            model: config.load(&checkpoint, precision, cpu)?,
            digest: checkpoint.digest,
            name,
            precision,
            reader,
            head,
        })
    }

    /// The name of the model's folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The BLAKE3 digest of the weights, in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What the model rounds to.
    pub fn precision(&self) -> EncoderPrecision {
        self.precision
    }

    /// The names of the outputs, in order.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The tokens of each text, in order, with their outputs, which depend on the text
    /// alone. A text that is longer than what the model reads at once is read in
    /// windows that overlap by half, and each token counts where it is farthest from
    /// the ends of its window.
    pub fn label(&self, texts: &[&str]) -> Vec<Result<Vec<LabelledToken>, EncoderError>> {
        let read: Vec<Result<Reading, String>> =
            texts.par_iter().map(|text| self.reader.read(text)).collect();
        let (mut rows, mut parts_of) = (Vec::new(), Vec::with_capacity(texts.len()));
        for reading in &read {
            let parts = reading.as_ref().map_or(Vec::new(), |Reading { ids, .. }| {
                let parts = parts(ids.len(), self.reader.window());
                rows.extend(parts.iter().map(|part| self.reader.around(&ids[part.read.clone()])));
                parts
            });
            parts_of.push(parts);
        }
        let refs: Vec<TokenRow<'_>> = rows.iter().map(|row| TokenRow::single(row)).collect();
        let width = self.model.hidden_size();
        let of = |states: &[f32]| -> Vec<Vec<f64>> {
            let is_own = self.reader.is_own(states.len() / width);
            let own = states.chunks(width).zip(is_own).filter(|(_, is_own)| *is_own);
            own.map(|(state, _)| self.head.of_state(state)).collect()
        };
        let mut outputs = self.model.map_states(&refs, of).into_iter();
        let all = texts.iter().zip(read).zip(parts_of);
        all.map(|((text, reading), parts)| {
            let fail = |reason| EncoderError::Text { n_bytes: text.len(), reason };
            let offsets = reading.map_err(fail)?.offsets;
            let own: Vec<_> = outputs.by_ref().take(parts.len()).collect();
            let mut labelled = Vec::with_capacity(offsets.len());
            for (part, outputs) in parts.into_iter().zip(own) {
                let outputs = outputs.map_err(fail)?;
                let skipped = part.counted.start - part.read.start;
                let outputs = outputs.into_iter().skip(skipped);
                let places = offsets[part.counted].iter();
                labelled.extend(
                    places.zip(outputs).map(|((start, end), outputs)| LabelledToken {
                        range: *start..*end,
                        outputs,
                    }),
                );
            }
            Ok(labelled)
        })
        .collect()
    }
}

/// A window, and those of its tokens that count.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    read: Range<usize>,
    counted: Range<usize>,
}

/// The windows of a text of so many tokens; an empty text has none.
fn parts(n_tokens: usize, window: usize) -> Vec<Part> {
    if n_tokens == 0 {
        return Vec::new();
    }
    let step = (window / 2).max(1);
    let mut parts: Vec<Part> = Vec::new();
    let mut start = 0;
    loop {
        let end = n_tokens.min(start + window);
        let is_last = end == n_tokens;
        let from = parts.last().map_or(0, |part| part.counted.end);
        // Up to the middle of what the next window shares with this one.
        let to = if is_last { n_tokens } else { usize::midpoint(start + step, end) };
        parts.push(Part { read: start..end, counted: from..to });
        if is_last {
            return parts;
        }
        start += step;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_that_fits_is_one_window_and_a_longer_one_is_read_twice() {
        let part = |read: Range<usize>, counted: Range<usize>| Part { read, counted };
        assert_eq!(parts(8, 8), [part(0..8, 0..8)]);
        assert_eq!(parts(10, 8), [part(0..8, 0..6), part(4..10, 6..10)]);
        assert!(parts(0, 8).is_empty());
    }

    proptest! {
        #[test]
        fn every_token_counts_once_within_its_window(n_tokens in 1_usize..300, window in 1_usize..40) {
            let parts = parts(n_tokens, window);
            let mut next = 0;
            for part in parts {
                prop_assert_eq!(part.counted.start, next);
                prop_assert!(part.read.start <= part.counted.start);
                prop_assert!(part.counted.end <= part.read.end && part.read.len() <= window);
                next = part.counted.end;
            }
            prop_assert_eq!(next, n_tokens);
        }
    }
}
