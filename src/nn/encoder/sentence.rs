//! A model that turns a text into one vector.

use camino::{Utf8Path, Utf8PathBuf};

use super::{
    Embedding, EncoderError, EncoderPrecision,
    bert::TokenRow,
    body::{Body, BodyConfig},
    checkpoint::{Checkpoint, weight_files},
    folder::{self, Folder, unsupported},
    pooling::{Mode, Pooled, Projection},
    reader::{Extent, TextReader},
};
use crate::nn::{
    adapter::{adapted_name, adapter_files, base_and_adapter},
    kernels::Cpu,
};

/// A sentence encoder in the layout of sentence-transformers: a model, a pooling,
/// maybe further layers, and length one where the model says so. `all-MiniLM-L6-v2`
/// is one.
pub struct SentenceEncoder {
    name: String,
    digest: String,
    reader: TextReader,
    model: Body,
    precision: EncoderPrecision,
    lowers_case: bool,
    pooling: Vec<Mode>,
    projections: Vec<Projection>,
    normalizes: bool,
}

/// Every file that is read from the folder of an encoder or classifier, and from that
/// of an adapter given after a `+`, and changes what it says.
pub fn encoder_files(path: &Utf8Path) -> Result<Vec<Utf8PathBuf>, EncoderError> {
    let (folder, adapter) = base_and_adapter(path);
    let mut files = Vec::new();
    let mut model = folder.clone();
    if folder.join("modules.json").exists() {
        let layout = folder::load(&folder)?;
        files.extend(layout.files);
        model = layout.model;
    }
    files.extend(["config.json", "tokenizer.json"].map(|name| model.join(name)));
    files.extend(weight_files(&model)?);
    let others = ["tokenizer_config.json", "classifier.toml"].map(|name| model.join(name));
    files.extend(others.into_iter().filter(|file| file.exists()));
    files.extend(adapter.iter().flat_map(|adapter| adapter_files(adapter)));
    Ok(files)
}

impl SentenceEncoder {
    /// Loads a folder as sentence-transformers lays it out: `modules.json`,
    /// `config.json`, `tokenizer.json`, `model.safetensors`, the configurations of the
    /// modules, and `sentence_bert_config.json` where there is one. `FOLDER+ADAPTER` is
    /// one with an adapter merged into its model. The precision changes vectors, the
    /// processor's level only the time they take.
    pub fn load(
        path: &Utf8Path,
        precision: EncoderPrecision,
        cpu: Cpu,
    ) -> Result<Self, EncoderError> {
        let name = adapted_name(path);
        let (folder, adapter) = base_and_adapter(path);
        let layout = folder::load(&folder)?;
        let Folder { model: model_folder, pooling, projections, .. } = layout;
        let config = BodyConfig::read(&model_folder)?;
        let max_tokens = match layout.max_tokens {
            Some(max_tokens) if config.n_positions() < max_tokens => {
                let what = format!("{max_tokens} tokens and positions for fewer");
                return Err(unsupported(model_folder.join("sentence_bert_config.json"), what));
            }
            limit => limit.unwrap_or(config.n_positions()),
        };
        let mut width = config.hidden_size() * pooling.len();
        for projection in &projections {
            if projection.n_inputs() != width {
                let what = format!("a module for {} numbers after {width}", projection.n_inputs());
                return Err(unsupported(folder.join("modules.json"), what));
            }
            width = projection.n_outputs();
        }
        let reader = TextReader::load(&model_folder, max_tokens)?;
        let checkpoint = Checkpoint::load(&model_folder, adapter.as_deref())?;
        let model = config.load(&checkpoint, precision, cpu)?;
        Ok(Self {
            name,
            digest: checkpoint.digest,
            reader,
            model,
            precision,
            lowers_case: layout.lowers_case,
            pooling,
            projections,
            normalizes: layout.normalizes,
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
        let pooled = self.model.hidden_size() * self.pooling.len();
        self.projections.last().map_or(pooled, Projection::n_outputs)
    }

    /// The most tokens of a text that are read at once.
    pub fn window(&self) -> usize {
        self.reader.window()
    }

    /// The vector of each text, in order.
    ///
    /// A text's vector depends on the text alone, to the last bit: the tokens of all
    /// texts are packed without padding, and nothing that happens to one of them
    /// depends on those of other texts. Text that spells a special token stays text. A
    /// text longer than [`window`](Self::window) is read in the fewest windows of equal
    /// length, its vector is made of the tokens of all of them, and
    /// [`Embedding::was_long`] says so.
    pub fn encode(&self, texts: &[&str]) -> Vec<Result<Embedding, EncoderError>> {
        let (rows, extents) = if self.lowers_case {
            let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
            self.reader.row_set(&texts)
        } else {
            self.reader.row_set(texts)
        };
        let pooled = self.pooled(&rows);
        let parts = texts.iter().zip(extents);
        parts
            .map(|(text, extent)| {
                let fail = |reason| EncoderError::Text { n_bytes: text.len(), reason };
                let Extent { n_tokens, rows } = extent.map_err(fail)?;
                let n_windows = rows.len();
                let vector = self.vector(&pooled[rows]).map_err(fail)?;
                Ok(Embedding { vector, n_tokens, n_windows })
            })
            .collect()
    }

    /// For each row of tokens what its states become, of every mode.
    fn pooled(&self, rows: &[Vec<u32>]) -> Vec<RowPooled> {
        let tokens: Vec<TokenRow<'_>> = rows.iter().map(|row| TokenRow::single(row)).collect();
        let width = self.model.hidden_size();
        let of = |states: &[f32]| {
            self.pooling.iter().map(|mode| Pooled::of(*mode, states, width)).collect()
        };
        self.model.map_states(&tokens, of)
    }

    /// The vector of a text from all its rows.
    fn vector(&self, rows: &[RowPooled]) -> Result<Vec<f32>, String> {
        let rows: Vec<&Vec<Pooled>> =
            rows.iter().map(|row| row.as_ref().map_err(String::clone)).collect::<Result<_, _>>()?;
        let mut vector = Vec::new();
        for mode in 0..self.pooling.len() {
            let together = Pooled::together(rows.iter().map(|row| &row[mode]));
            vector.extend(together.ok_or("it has no tokens")?);
        }
        for projection in &self.projections {
            vector = projection.apply(&vector);
        }
        let vector = vector.into_iter();
        Ok(if self.normalizes { to_length_one(vector) } else { to_f32(vector) })
    }
}

/// What a row's states become, or why the model failed on it.
type RowPooled = Result<Vec<Pooled>, String>;

fn to_length_one(values: impl Iterator<Item = f64> + Clone) -> Vec<f32> {
    let norm = values.clone().map(|value| value * value).sum::<f64>().sqrt();
    to_f32(values.map(|value| value / norm))
}

#[expect(clippy::cast_possible_truncation, reason = "the states were f32 to begin with")]
fn to_f32(values: impl Iterator<Item = f64>) -> Vec<f32> {
    values.map(|value| value as f32).collect()
}
