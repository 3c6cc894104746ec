//! A BERT model that turns a text into one vector.

use std::collections::BTreeMap;

use camino::Utf8Path;
use candle_core::{DType, Device, Tensor};
use rayon::prelude::*;
use tokenizers::Tokenizer;

use super::{
    Embedding, EncoderError, EncoderPrecision,
    bert::{Bert, TokenRow},
    folder::{self, unreadable},
    frame::{Frame, windows},
};
use crate::nn::kernels::Cpu;

/// The most tokens of a batch: enough that reading the weights is not what takes
/// the time, and few enough that states stay in the caches.
const MAX_BATCH_TOKENS: usize = 512;

/// A sentence encoder: BERT, the mean over all tokens, and length one where the
/// model says so. `all-MiniLM-L6-v2` is one.
pub struct SentenceEncoder {
    name: String,
    digest: String,
    tokenizer: Tokenizer,
    frame: Frame,
    model: Bert,
    precision: EncoderPrecision,
    /// The most tokens of a text that are read at once.
    window: usize,
    normalizes: bool,
}

impl SentenceEncoder {
    /// Loads a folder as sentence-transformers lays it out: `modules.json`,
    /// `config.json`, `tokenizer.json`, `model.safetensors`, the pooling's
    /// `config.json`, and `sentence_bert_config.json` where there is one. The
    /// precision changes vectors, the processor's level only the time they take.
    pub fn load(
        folder: &Utf8Path,
        precision: EncoderPrecision,
        cpu: Cpu,
    ) -> Result<Self, EncoderError> {
        let folder::Folder { model: model_folder, config, max_tokens, normalizes } =
            folder::load(folder)?;
        let path = model_folder.join("tokenizer.json");
        let (tokenizer, frame) = load_tokenizer(&path)?;
        if max_tokens <= frame.n_tokens() {
            let what = format!("{max_tokens} tokens at once");
            return Err(EncoderError::Unsupported { path, what });
        }
        let path = model_folder.join("model.safetensors");
        let bytes = fs_err::read(&path).map_err(|error| unreadable(&path, &error))?;
        let digest = blake3::hash(&bytes).to_hex().to_string();
        let weights = tensors(&bytes).map_err(|error| unreadable(&path, &error))?;
        drop(bytes);
        let model = Bert::load(&weights, config, precision, cpu)
            .map_err(|error| unreadable(&path, &error))?;
        Ok(Self {
            name: folder.file_name().unwrap_or(folder.as_str()).to_owned(),
            digest,
            window: max_tokens - frame.n_tokens(),
            tokenizer,
            frame,
            model,
            precision,
            normalizes,
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

    /// The length of the vectors.
    pub fn n_dimensions(&self) -> usize {
        self.model.hidden_size()
    }

    /// The most tokens of a text that are read at once.
    pub fn window(&self) -> usize {
        self.window
    }

    /// The vector of each text, in order.
    ///
    /// A text's vector depends on the text alone, to the last bit: the tokens of all
    /// texts are packed without padding, and nothing that happens to one of them
    /// depends on those of other texts. Text that spells a special token stays text. A text longer than [`window`](Self::window) is read in the
    /// fewest windows of equal length, its vector is the mean over the tokens of
    /// all of them, and [`Embedding::was_long`] says so.
    pub fn encode(&self, texts: &[&str]) -> Vec<Result<Embedding, EncoderError>> {
        let tokens: Vec<_> =
            texts.par_iter().map(|text| self.tokenizer.encode_fast(*text, false)).collect();
        let mut rows = Vec::new();
        let mut rows_of = Vec::with_capacity(texts.len());
        for encoding in &tokens {
            let first = rows.len();
            if let Ok(encoding) = encoding {
                let windows = windows(encoding.len(), self.window).into_iter();
                rows.extend(windows.map(|window| self.frame.around(&encoding.get_ids()[window])));
            }
            rows_of.push(first..rows.len());
        }
        let sums = self.sums(&rows);
        let parts = texts.iter().zip(tokens).zip(rows_of);
        parts
            .map(|((text, encoding), rows)| {
                let fail = |reason| EncoderError::Text { n_bytes: text.len(), reason };
                let n_tokens = encoding.map_err(|error| fail(error.to_string()))?.len();
                let n_windows = rows.len();
                let vector = self.mean(&sums[rows]).map_err(fail)?;
                Ok(Embedding { vector, n_tokens, n_windows })
            })
            .collect()
    }

    /// For each row of tokens, the sum of their last hidden states and their number.
    fn sums(&self, rows: &[Vec<u32>]) -> Vec<RowSum> {
        let refusal = |row: &Vec<u32>| self.model.refusal(&TokenRow::single(row));
        let mut sums: Vec<RowSum> =
            rows.iter().map(|row| refusal(row).map_or(Ok(StateSum::default()), Err)).collect();
        let mut places = sums.iter_mut().zip(rows).filter(|(sum, _)| sum.is_ok()).peekable();
        // One batch after another: the work within a batch is what the threads share.
        while places.peek().is_some() {
            let (mut batch, mut n_tokens) = (Vec::new(), 0);
            while let Some(place) =
                places.next_if(|(_, row)| n_tokens == 0 || n_tokens + row.len() <= MAX_BATCH_TOKENS)
            {
                n_tokens += place.1.len();
                batch.push(place);
            }
            let tokens: Vec<_> = batch.iter().map(|(_, row)| TokenRow::single(row)).collect();
            let mut states = &self.model.states(&tokens)[..];
            for (sum, row) in batch {
                let (own, others) = states.split_at(row.len() * self.n_dimensions());
                *sum = Ok(StateSum::of(own, row.len()));
                states = others;
            }
        }
        sums
    }

    /// The mean state over all rows of a text.
    fn mean(&self, rows: &[RowSum]) -> Result<Vec<f32>, String> {
        let mut total = vec![0.0_f64; self.n_dimensions()];
        let mut n_states = 0;
        for row in rows {
            let row = row.as_ref().map_err(String::clone)?;
            n_states += row.n_states;
            for (total, value) in total.iter_mut().zip(&row.sum) {
                *total += value;
            }
        }
        let mean = total.iter().map(|value| value / n_states as f64);
        Ok(if self.normalizes { to_length_one(mean) } else { to_f32(mean) })
    }
}

/// The sum over a row, or why the model failed on its batch.
type RowSum = Result<StateSum, String>;

/// The sum of hidden states.
#[derive(Default)]
struct StateSum {
    sum: Vec<f64>,
    n_states: usize,
}

impl StateSum {
    fn of(states: &[f32], n_states: usize) -> Self {
        let width = states.len() / n_states;
        let mut sum = vec![0.0; width];
        for state in states.chunks(width) {
            for (sum, &value) in sum.iter_mut().zip(state) {
                *sum += f64::from(value);
            }
        }
        Self { sum, n_states }
    }
}

/// The tensors of a safetensors file, in single precision; those of whole numbers,
/// which say where things lie, are left out.
fn tensors(bytes: &[u8]) -> candle_core::Result<BTreeMap<String, Tensor>> {
    let tensors = candle_core::safetensors::load_buffer(bytes, &Device::Cpu)?;
    tensors
        .into_iter()
        .filter(|(_, tensor)| tensor.dtype().is_float())
        .map(|(name, tensor)| Ok((name, tensor.to_dtype(DType::F32)?)))
        .collect()
}

fn load_tokenizer(path: &Utf8Path) -> Result<(Tokenizer, Frame), EncoderError> {
    let bytes = fs_err::read(path).map_err(|error| unreadable(path, &error))?;
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| unreadable(path, &error))?;
    // The file cuts and pads to its own length, and both would be silent.
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|error| unreadable(path, &error))?;
    tokenizer.set_encode_special_tokens(true);
    let frame = Frame::of(&tokenizer).map_err(|error| unreadable(path, &error))?;
    Ok((tokenizer, frame))
}

fn to_length_one(values: impl Iterator<Item = f64> + Clone) -> Vec<f32> {
    let norm = values.clone().map(|value| value * value).sum::<f64>().sqrt();
    to_f32(values.map(|value| value / norm))
}

#[expect(clippy::cast_possible_truncation, reason = "the states were f32 to begin with")]
fn to_f32(values: impl Iterator<Item = f64>) -> Vec<f32> {
    values.map(|value| value as f32).collect()
}
