//! A classifier of pairs of texts.

use camino::Utf8Path;
use rayon::prelude::*;
use tokenizers::Tokenizer;

use super::{
    Problem,
    head::{Head, HeadSource},
    pair::{PairFrame, PairRow},
    settings::Settings,
};
use crate::nn::{
    adapter::{adapted_name, base_and_adapter},
    encoder::{
        Body, BodyConfig, Checkpoint, EncoderError, EncoderPrecision, TokenRow, gets_types,
        load_tokenizer, tokenizer_limit, unreadable, unsupported,
    },
    kernels::Cpu,
};

/// An encoder with the head of transformers' `...ForSequenceClassification`.
pub struct SequenceClassifier {
    name: String,
    digest: String,
    precision: EncoderPrecision,
    tokenizer: Tokenizer,
    frame: PairFrame,
    max_tokens: usize,
    model: Body,
    head: Head,
    labels: Vec<String>,
    problem: Problem,
}

impl SequenceClassifier {
    /// Loads a folder as transformers saves it: `config.json`, `model.safetensors`,
    /// `tokenizer.json`, and `tokenizer_config.json` where there is one.
    /// `FOLDER+ADAPTER` is one with an adapter of PEFT merged into it. The precision
    /// changes outputs a little, the processor's level only the time they take.
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
        settings.check_head("ForTokenClassification", &path)?;
        let has_types = config.has_types() && gets_types(&folder)?;
        let max_tokens = tokenizer_limit(&folder)?.unwrap_or(usize::MAX).min(config.n_positions());
        let tokenizer_path = folder.join("tokenizer.json");
        let tokenizer = load_tokenizer(&tokenizer_path)?;
        let frame = PairFrame::of(&tokenizer, has_types)
            .map_err(|reason| unreadable(&tokenizer_path, &reason))?;
        if max_tokens < frame.n_tokens() + 2 {
            return Err(unsupported(tokenizer_path, format!("{max_tokens} tokens at once")));
        }
        let checkpoint = Checkpoint::load(&folder, adapter.as_deref())?;
        let head = Head::of_sequence(&HeadSource {
            checkpoint: &checkpoint,
            settings: &settings,
            path: &path,
            model_type: config.model_type(),
            hidden_size: config.hidden_size(),
        })?;
        Ok(Self {
            labels: match &adapter {
                // The head is the adapter's, and the labels of the base are not about it.
                Some(_) if settings.labels(head.n_outputs(), &path).is_err() => {
                    (0..head.n_outputs()).map(|index| format!("LABEL_{index}")).collect()
                }
                _ => settings.labels(head.n_outputs(), &path)?,
            },
            problem: settings.problem(head.n_outputs(), &path)?,
            model: config.load(&checkpoint, precision, cpu)?,
            digest: checkpoint.digest,
            name,
            precision,
            tokenizer,
            frame,
            max_tokens,
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

    /// What the outputs are.
    pub fn problem(&self) -> Problem {
        self.problem
    }

    /// The outputs for each pair, in order, for each of the rows that it is read in: one,
    /// unless it is longer than what the model reads at once. They depend on the pair
    /// alone.
    pub fn classify(&self, pairs: &[(&str, &str)]) -> Vec<Result<Vec<Vec<f64>>, EncoderError>> {
        let read = |text: &str| {
            let encoding = self.tokenizer.encode_fast(text, false);
            encoding.map(|encoding| encoding.get_ids().to_vec()).map_err(|error| error.to_string())
        };
        let rows_of: Vec<Result<Vec<PairRow>, String>> = pairs
            .par_iter()
            .map(|(first, second)| {
                Ok(self.frame.rows(&read(first)?, &read(second)?, self.max_tokens))
            })
            .collect();
        let rows: Vec<TokenRow<'_>> = rows_of
            .iter()
            .flatten()
            .flatten()
            .map(|PairRow { ids, n_of_first_type }| TokenRow {
                ids,
                n_of_first_type: *n_of_first_type,
            })
            .collect();
        let width = self.model.hidden_size();
        let outputs = self.model.map_states(&rows, |states| self.head.of_row(states, width));
        let mut outputs = outputs.into_iter();
        let of_pair = |((first, second), rows): (&(&str, &str), &Result<Vec<PairRow>, String>)| {
            let fail =
                |reason: String| EncoderError::Text { n_bytes: first.len() + second.len(), reason };
            let rows = rows.as_ref().map_err(|reason| fail(reason.clone()))?;
            let own: Vec<Result<Vec<f64>, String>> = outputs.by_ref().take(rows.len()).collect();
            own.into_iter().collect::<Result<_, _>>().map_err(fail)
        };
        pairs.iter().zip(&rows_of).map(of_pair).collect()
    }
}
