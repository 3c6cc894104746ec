//! Any encoder that runs here: token ids to hidden states.

use camino::Utf8Path;
use serde::Deserialize;

use super::{
    EncoderError, EncoderPrecision,
    bert::{Bert, TokenRow},
    candle_body::{CandleBody, CandleConfig},
    checkpoint::Checkpoint,
    config::{ConfigProblem, EncoderConfig},
    folder::unreadable,
};
use crate::nn::kernels::Cpu;

/// What a `config.json` says of an encoder.
pub(in crate::nn) struct BodyConfig {
    settings: String,
    model_type: String,
    kind: ConfigKind,
}

enum ConfigKind {
    Own(Box<EncoderConfig>),
    Candle(CandleConfig),
}

/// An encoder, ready to run.
pub(in crate::nn) struct Body {
    kind: Kind,
}

enum Kind {
    /// BERT and what differs from it in little, on the kernels of this program.
    Own(Box<Bert>),
    /// Others, through candle-transformers, in single precision.
    Candle(CandleBody),
}

impl BodyConfig {
    /// Reads the `config.json` of a folder.
    pub(in crate::nn) fn read(folder: &Utf8Path) -> Result<Self, EncoderError> {
        let path = folder.join("config.json");
        let text = fs_err::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        Self::parse(text).map_err(|problem| match problem {
            ConfigProblem::Unreadable(error) => unreadable(&path, &error),
            ConfigProblem::Unsupported(what) => EncoderError::Unsupported { path, what },
        })
    }

    fn parse(settings: String) -> Result<Self, ConfigProblem> {
        #[derive(Deserialize)]
        struct Named {
            model_type: Option<String>,
        }
        let text = &settings;
        let named: Named = serde_json::from_str(text).map_err(ConfigProblem::Unreadable)?;
        let model_type = named.model_type.unwrap_or_default();
        let kind = match CandleConfig::parse(&model_type, text) {
            Some(config) => ConfigKind::Candle(config?),
            None => ConfigKind::Own(Box::new(EncoderConfig::parse(text)?)),
        };
        Ok(Self { settings, model_type, kind })
    }

    /// The text of `config.json`.
    pub(in crate::nn) fn settings(&self) -> &str {
        &self.settings
    }

    /// What transformers calls models of this kind.
    pub(in crate::nn) fn model_type(&self) -> &str {
        &self.model_type
    }

    /// The most tokens of a row.
    pub(in crate::nn) fn n_positions(&self) -> usize {
        match &self.kind {
            ConfigKind::Own(config) => config.n_positions,
            ConfigKind::Candle(config) => config.n_positions(),
        }
    }

    /// The size of a hidden state.
    pub(in crate::nn) fn hidden_size(&self) -> usize {
        match &self.kind {
            ConfigKind::Own(config) => config.hidden_size,
            ConfigKind::Candle(config) => config.hidden_size(),
        }
    }

    /// How many layers there are.
    pub(in crate::nn) fn n_layers(&self) -> usize {
        match &self.kind {
            ConfigKind::Own(config) => config.n_layers,
            ConfigKind::Candle(config) => config.n_layers(),
        }
    }

    /// Whether the second text of a pair has a type of its own.
    pub(in crate::nn) fn has_types(&self) -> bool {
        match &self.kind {
            ConfigKind::Own(config) => 1 < config.n_types,
            ConfigKind::Candle(config) => 1 < config.n_types(),
        }
    }

    /// Reads and packs the tensors of all layers.
    pub(in crate::nn) fn load(
        self,
        checkpoint: &Checkpoint,
        precision: EncoderPrecision,
        cpu: Cpu,
    ) -> Result<Body, EncoderError> {
        let n_layers = self.n_layers();
        self.load_layers(checkpoint, (precision, cpu), n_layers)
    }

    /// Reads and packs the tensors of the first layers.
    pub(in crate::nn) fn load_layers(
        self,
        checkpoint: &Checkpoint,
        (precision, cpu): (EncoderPrecision, Cpu),
        n_layers: usize,
    ) -> Result<Body, EncoderError> {
        let failed = |error: &dyn ToString| EncoderError::File {
            path: checkpoint.path.clone(),
            reason: error.to_string(),
        };
        let kind = match self.kind {
            ConfigKind::Own(config) => {
                let config = EncoderConfig { n_layers, ..*config };
                let bert = Bert::load(&checkpoint.tensors, config, precision, cpu);
                Kind::Own(Box::new(bert.map_err(|error| failed(&error))?))
            }
            ConfigKind::Candle(config) => {
                let body = CandleBody::load(config, &checkpoint.tensors, n_layers);
                Kind::Candle(body.map_err(|error| failed(&error))?)
            }
        };
        Ok(Body { kind })
    }
}

impl Body {
    /// One on the kernels of this program.
    pub(super) fn of(bert: Bert) -> Self {
        Self { kind: Kind::Own(Box::new(bert)) }
    }

    /// The size of a hidden state.
    pub(in crate::nn) fn hidden_size(&self) -> usize {
        match &self.kind {
            Kind::Own(bert) => bert.hidden_size(),
            Kind::Candle(body) => body.config().hidden_size(),
        }
    }

    /// Why the model cannot read a row, if it cannot.
    pub(in crate::nn) fn refusal(&self, row: &TokenRow<'_>) -> Option<String> {
        match &self.kind {
            Kind::Own(bert) => bert.refusal(row),
            Kind::Candle(body) => body.refusal(row),
        }
    }

    /// What `of` makes of the last hidden states of each row, or why there are none.
    /// Rows are batched in the order given, and the states of one batch are kept at a
    /// time; what a row's states are depends on that row alone.
    pub(in crate::nn) fn map_states<T>(
        &self,
        rows: &[TokenRow<'_>],
        of: impl Fn(&[f32]) -> T,
    ) -> Vec<Result<T, String>> {
        let mut all = Vec::with_capacity(rows.len());
        let mut rest = rows;
        while !rest.is_empty() {
            let mut n_tokens = 0;
            let fits = |row: &&TokenRow<'_>| {
                n_tokens += row.ids.len();
                n_tokens <= MAX_BATCH_TOKENS
            };
            let n_rows = rest.iter().take_while(fits).count().max(1);
            let (batch, others) = rest.split_at(n_rows);
            all.extend(self.map_batch(batch, &of));
            rest = others;
        }
        all
    }

    fn map_batch<T>(
        &self,
        rows: &[TokenRow<'_>],
        of: impl Fn(&[f32]) -> T,
    ) -> Vec<Result<T, String>> {
        let refusals: Vec<Option<String>> = rows.iter().map(|row| self.refusal(row)).collect();
        let read = rows.iter().zip(&refusals).filter(|(_, refusal)| refusal.is_none());
        let read: Vec<TokenRow<'_>> = read.map(|(row, _)| *row).collect();
        let states = if read.is_empty() { Ok(Vec::new()) } else { self.states(&read) };
        let mut from = 0;
        let of_row = |(row, refusal): (&TokenRow<'_>, Option<String>)| {
            if let Some(reason) = refusal {
                return Err(reason);
            }
            let states = states.as_ref().map_err(String::clone)?;
            let n_numbers = row.ids.len() * self.hidden_size();
            from += n_numbers;
            Ok(of(&states[from - n_numbers..from]))
        };
        rows.iter().zip(refusals).map(of_row).collect()
    }

    /// As [`Bert::states`].
    fn states(&self, rows: &[TokenRow<'_>]) -> Result<Vec<f32>, String> {
        match &self.kind {
            Kind::Own(bert) => Ok(bert.states(rows)),
            Kind::Candle(body) => body.states(rows),
        }
    }
}

/// The most tokens of a batch: enough that reading the weights is not what takes
/// the time, and few enough that states stay in the caches.
const MAX_BATCH_TOKENS: usize = 512;
