//! A BERT model that turns a text into one vector.

use std::collections::BTreeMap;

use camino::Utf8Path;
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use rayon::prelude::*;
use tokenizers::Tokenizer;

use super::{
    Embedding, EncoderError,
    folder::{self, unreadable},
    frame::{Frame, windows},
};

/// The most tokens of a batch: enough that reading the weights is not what takes
/// the time.
const MAX_BATCH_TOKENS: usize = 1024;

/// A sentence encoder: BERT, the mean over all tokens, and length one where the
/// model says so. `all-MiniLM-L6-v2` is one.
pub struct SentenceEncoder {
    name: String,
    digest: String,
    tokenizer: Tokenizer,
    frame: Frame,
    model: BertModel,
    n_dimensions: usize,
    /// The most tokens of a text that are read at once.
    window: usize,
    normalizes: bool,
}

impl SentenceEncoder {
    /// Loads a folder as sentence-transformers lays it out: `modules.json`,
    /// `config.json`, `tokenizer.json`, `model.safetensors`, the pooling's
    /// `config.json`, and `sentence_bert_config.json` where there is one.
    pub fn load(folder: &Utf8Path) -> Result<Self, EncoderError> {
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
        let weights = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu)
            .map_err(|error| unreadable(&path, &error))?;
        let model = BertModel::load(weights, &config).map_err(|error| unreadable(&path, &error))?;
        Ok(Self {
            name: folder.file_name().unwrap_or(folder.as_str()).to_owned(),
            digest,
            window: max_tokens - frame.n_tokens(),
            tokenizer,
            frame,
            model,
            n_dimensions: config.hidden_size,
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

    /// The length of the vectors.
    pub fn n_dimensions(&self) -> usize {
        self.n_dimensions
    }

    /// The most tokens of a text that are read at once.
    pub fn window(&self) -> usize {
        self.window
    }

    /// The vector of each text, in order.
    ///
    /// A text's vector depends on the text alone, to the last bit: only windows of
    /// equal length share a batch, so that nothing is padded, and a row of a matrix
    /// product does not depend on the other rows. Text that spells a special token
    /// stays text. A text longer than [`window`](Self::window) is read in the
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
        let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            by_length.entry(row.len()).or_default().push(index);
        }
        let mut sums: Vec<(usize, RowSum)> = Vec::with_capacity(rows.len());
        // One batch after another: the work within a batch is what the threads share.
        for (length, indices) in by_length {
            for batch in indices.chunks((MAX_BATCH_TOKENS / length).max(1)) {
                match self.batch_sums(rows, batch) {
                    Ok(found) => sums.extend(batch.iter().copied().zip(found.into_iter().map(Ok))),
                    Err(error) => {
                        sums.extend(batch.iter().map(|&index| (index, Err(error.to_string()))));
                    }
                }
            }
        }
        sums.sort_by_key(|(index, _)| *index);
        sums.into_iter().map(|(_, sum)| sum).collect()
    }

    /// The sums of some rows of equal length.
    fn batch_sums(&self, rows: &[Vec<u32>], batch: &[usize]) -> candle_core::Result<Vec<StateSum>> {
        let length = rows[batch[0]].len();
        let ids: Vec<u32> = batch.iter().flat_map(|&index| rows[index].iter().copied()).collect();
        let ids = Tensor::from_vec(ids, (batch.len(), length), &Device::Cpu)?;
        let states = self.model.forward(&ids, &ids.zeros_like()?, None)?.to_vec3::<f32>()?;
        Ok(states.iter().map(|states| StateSum::of(states)).collect())
    }

    /// The mean state over all rows of a text.
    fn mean(&self, rows: &[RowSum]) -> Result<Vec<f32>, String> {
        let mut total = vec![0.0_f64; self.n_dimensions];
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
struct StateSum {
    sum: Vec<f64>,
    n_states: usize,
}

impl StateSum {
    fn of(states: &[Vec<f32>]) -> Self {
        let mut sum = vec![0.0; states.first().map_or(0, Vec::len)];
        for state in states {
            for (sum, &value) in sum.iter_mut().zip(state) {
                *sum += f64::from(value);
            }
        }
        Self { sum, n_states: states.len() }
    }
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
