//! A BERT model that turns a text into one vector.

use camino::Utf8Path;
use candle_core::{DType, Device, IndexOp, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use rayon::prelude::*;
use tokenizers::Tokenizer;

use super::{
    Embedding, EncoderError,
    folder::{self, unreadable},
    frame::{Frame, windows},
};

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
    /// A text's vector depends on the text alone, to the last bit: each is read
    /// by itself, without padding, and the texts are spread over the threads. Text
    /// that spells a special token stays text. A text longer than
    /// [`window`](Self::window) is read in the fewest windows of equal length, its
    /// vector is the mean over the tokens of all of them, and
    /// [`Embedding::was_long`] says so.
    pub fn encode(&self, texts: &[&str]) -> Vec<Result<Embedding, EncoderError>> {
        texts
            .par_iter()
            .map(|text| {
                self.encode_one(text).map_err(|error| EncoderError::Text {
                    n_bytes: text.len(),
                    reason: error.to_string(),
                })
            })
            .collect()
    }

    fn encode_one(&self, text: &str) -> tokenizers::Result<Embedding> {
        let encoding = self.tokenizer.encode_fast(text, false)?;
        let ids = encoding.get_ids();
        let windows = windows(ids.len(), self.window);
        let n_windows = windows.len();
        let mut sums = vec![0.0_f64; self.n_dimensions];
        let mut n_states = 0_usize;
        for window in windows {
            let states = self.states(&self.frame.around(&ids[window]))?;
            n_states += states.len();
            for state in states {
                for (sum, value) in sums.iter_mut().zip(state) {
                    *sum += f64::from(value);
                }
            }
        }
        let mean = sums.iter().map(|sum| sum / n_states as f64);
        let vector = if self.normalizes { to_length_one(mean) } else { to_f32(mean) };
        Ok(Embedding { vector, n_tokens: ids.len(), n_windows })
    }

    /// The last hidden state of each token.
    fn states(&self, ids: &[u32]) -> candle_core::Result<Vec<Vec<f32>>> {
        let ids = Tensor::new(ids, &Device::Cpu)?.unsqueeze(0)?;
        self.model.forward(&ids, &ids.zeros_like()?, None)?.i(0)?.to_vec2()
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
