//! Tiny decoders of every family as they come: folders of Hugging Face and GGUF
//! files, with weights that `scripts/golden/decoder_logits.py` makes too.

use std::collections::{BTreeMap, HashMap};

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::{
    Device, Tensor,
    quantized::{
        GgmlDType, QTensor,
        gguf_file::{self, Value as Metadata},
    },
};
use serde::Deserialize;
use serde_json::Value;

use crate::{material, tiny};

/// A decoder, and what it predicts by transformers.
#[derive(Clone, Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Its `config.json` as on the hub.
    pub(crate) settings: Value,
    /// The same as transformers saves it.
    pub(crate) saved: Value,
    /// Predictions after some of the tokens.
    pub(crate) logits: BTreeMap<usize, Vec<f32>>,
}

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let path = material::fixture("golden/decoder_logits.json");
    let golden: Golden = serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap();
    golden.cases
}

/// The case of this name.
pub(crate) fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).unwrap()
}

/// The tokens after which the logits are.
pub(crate) fn tokens(count: usize) -> Vec<u32> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 77")]
    numbers(5, count).iter().map(|x| ((x + 1.0) / 2.0 * 77.0) as u32).collect()
}

/// Numbers from -1 to 1.
fn numbers(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// FNV-1a.
fn seed(name: &str) -> u32 {
    let step = |state: u32, byte| (state ^ u32::from(byte)).wrapping_mul(16_777_619);
    name.bytes().fold(2_166_136_261, step)
}

/// How a GGUF file differs from a folder.
struct Convention {
    architecture: &'static str,
    /// Whether the rows of queries and keys are reordered.
    has_pairs: bool,
}

impl Case {
    fn kind(&self) -> &str {
        self.settings["model_type"].as_str().unwrap()
    }

    pub(crate) fn is_gemma(&self) -> bool {
        self.kind() == "gemma3_text"
    }

    fn convention(&self) -> Convention {
        match self.kind() {
            "llama" | "mistral" => Convention { architecture: "llama", has_pairs: true },
            "qwen2" => Convention { architecture: "qwen2", has_pairs: false },
            "qwen3" => Convention { architecture: "qwen3", has_pairs: false },
            _ => Convention { architecture: "gemma3", has_pairs: false },
        }
    }

    /// A setting of theirs.
    pub(crate) fn size(&self, key: &str) -> usize {
        usize::try_from(self.settings[key].as_u64().unwrap()).unwrap()
    }

    fn head_size(&self) -> usize {
        match self.settings.get("head_dim") {
            Some(size) => usize::try_from(size.as_u64().unwrap()).unwrap(),
            None => self.size("hidden_size") / self.size("num_attention_heads"),
        }
    }

    fn is_tied(&self) -> bool {
        self.is_gemma() || self.settings.get("tie_word_embeddings") == Some(&Value::Bool(true))
    }

    /// The weights by the names of Hugging Face.
    pub(crate) fn weights(&self) -> BTreeMap<String, Tensor> {
        let hidden = self.size("hidden_size");
        let inner = self.size("intermediate_size");
        let vocabulary = self.size("vocab_size");
        let head_size = self.head_size();
        let queries = self.size("num_attention_heads") * head_size;
        let keys = self.size("num_key_value_heads") * head_size;
        let mut shapes = vec![
            ("model.embed_tokens.weight".to_owned(), vec![vocabulary, hidden]),
            ("model.norm.weight".to_owned(), vec![hidden]),
        ];
        if !self.is_tied() {
            shapes.push(("lm_head.weight".to_owned(), vec![vocabulary, hidden]));
        }
        for layer in 0..self.size("num_hidden_layers") {
            let mut add = |part: &str, shape: &[usize]| {
                shapes.push((format!("model.layers.{layer}.{part}"), shape.to_vec()));
            };
            add("input_layernorm.weight", &[hidden]);
            add("post_attention_layernorm.weight", &[hidden]);
            add("self_attn.q_proj.weight", &[queries, hidden]);
            add("self_attn.k_proj.weight", &[keys, hidden]);
            add("self_attn.v_proj.weight", &[keys, hidden]);
            add("self_attn.o_proj.weight", &[hidden, queries]);
            add("mlp.gate_proj.weight", &[inner, hidden]);
            add("mlp.up_proj.weight", &[inner, hidden]);
            add("mlp.down_proj.weight", &[hidden, inner]);
            if self.kind() == "qwen2" {
                add("self_attn.q_proj.bias", &[queries]);
                add("self_attn.k_proj.bias", &[keys]);
                add("self_attn.v_proj.bias", &[keys]);
            }
            if self.kind() == "qwen3" || self.is_gemma() {
                add("self_attn.q_norm.weight", &[head_size]);
                add("self_attn.k_norm.weight", &[head_size]);
            }
            if self.is_gemma() {
                add("pre_feedforward_layernorm.weight", &[hidden]);
                add("post_feedforward_layernorm.weight", &[hidden]);
            }
        }
        shapes.into_iter().map(|(name, shape)| self.weight(name, shape)).collect()
    }

    fn weight(&self, name: String, shape: Vec<usize>) -> (String, Tensor) {
        let mut values = numbers(seed(&name), shape.iter().product());
        let base = if self.is_gemma() { 0.0 } else { 1.0 };
        for value in &mut values {
            *value = if name.ends_with("norm.weight") { *value / 2.0 + base } else { *value / 4.0 };
        }
        (name, Tensor::from_vec(values, shape, &Device::Cpu).unwrap())
    }

    /// Writes a folder with `settings` as its configuration and the weights in one
    /// file.
    pub(crate) fn write_folder(&self, folder: &Utf8Path, settings: &Value) {
        fs_err::create_dir_all(folder).unwrap();
        fs_err::write(folder.join("config.json"), settings.to_string()).unwrap();
        save(&self.weights(), &folder.join("model.safetensors"));
    }

    /// The weights by the names of GGUF files, as llama.cpp's converter has them.
    fn converted(&self) -> BTreeMap<String, Tensor> {
        let Convention { has_pairs, .. } = self.convention();
        let is_gemma = self.is_gemma();
        let convert = |(name, tensor): (String, Tensor)| {
            let heads = if name.contains("q_proj") {
                self.size("num_attention_heads")
            } else {
                self.size("num_key_value_heads")
            };
            let turns = name.contains("q_proj") || name.contains("k_proj");
            let tensor = if has_pairs && turns {
                tiny::pairs_of_halves(&tensor, heads)
            } else if is_gemma && name.ends_with("norm.weight") {
                (tensor + 1.0).unwrap()
            } else {
                tensor
            };
            let name = if is_gemma {
                name.replace(".post_attention_layernorm", ".post_attention_norm")
                    .replace("pre_feedforward_layernorm", "ffn_norm")
                    .replace("post_feedforward_layernorm", "post_ffw_norm")
            } else {
                name
            };
            (tiny::gguf_name(&name), tensor)
        };
        let mut all: BTreeMap<String, Tensor> = self.weights().into_iter().map(convert).collect();
        if self.scaling() == Some("llama3") {
            let divisors = self.llama3_divisors();
            all.insert("rope_freqs.weight".into(), Tensor::new(divisors, &Device::Cpu).unwrap());
        }
        all
    }

    fn scaling(&self) -> Option<&str> {
        let scaling = self.settings.get("rope_scaling")?;
        scaling.get("rope_type").or(scaling.get("type"))?.as_str()
    }

    /// As llama.cpp's converter computes them.
    fn llama3_divisors(&self) -> Vec<f32> {
        let scaling = |key: &str| self.settings["rope_scaling"][key].as_f64().unwrap();
        let base = self.settings["rope_theta"].as_f64().unwrap();
        let (low, high) = (scaling("low_freq_factor"), scaling("high_freq_factor"));
        let original = scaling("original_max_position_embeddings");
        let factor = |pair: usize| {
            let exponent = 2.0 * pair as f64 / self.head_size() as f64;
            let length = 2.0 * std::f64::consts::PI * base.powf(exponent);
            if length < original / high {
                1.0
            } else if length > original / low {
                scaling("factor")
            } else {
                let smooth = (original / length - low) / (high - low);
                1.0 / ((1.0 - smooth) / scaling("factor") + smooth)
            }
        };
        #[expect(clippy::cast_possible_truncation, reason = "the file has single precision")]
        (0..self.head_size() / 2).map(|pair| factor(pair) as f32).collect()
    }

    /// The metadata that llama.cpp's converter would write.
    pub(crate) fn metadata(&self) -> BTreeMap<String, Metadata> {
        let Convention { architecture, .. } = self.convention();
        let mut all = BTreeMap::new();
        let text = |text: &str| Metadata::String(text.to_owned());
        let size = |key: &str| Metadata::U32(u32::try_from(self.size(key)).unwrap());
        #[expect(clippy::cast_possible_truncation, reason = "the file has single precision")]
        let fraction = |value: &Value| Metadata::F32(value.as_f64().unwrap() as f32);
        all.insert("general.architecture".to_owned(), text(architecture));
        let mut add = |key: &str, value| {
            all.insert(format!("{architecture}.{key}"), value);
        };
        add("block_count", size("num_hidden_layers"));
        add("context_length", size("max_position_embeddings"));
        add("embedding_length", size("hidden_size"));
        add("feed_forward_length", size("intermediate_size"));
        add("attention.head_count", size("num_attention_heads"));
        add("attention.head_count_kv", size("num_key_value_heads"));
        add("attention.layer_norm_rms_epsilon", fraction(&self.settings["rms_norm_eps"]));
        if self.settings.get("head_dim").is_some() {
            add("attention.key_length", size("head_dim"));
            add("attention.value_length", size("head_dim"));
        }
        let default = if self.is_gemma() { 1e6.into() } else { 10_000.0.into() };
        let base = self.settings.get("rope_theta").unwrap_or(&default);
        add("rope.freq_base", fraction(base));
        if self.is_gemma() {
            add("attention.sliding_window", size("sliding_window"));
        }
        if let Some(base) = self.settings.get("rope_local_base_freq") {
            add("rope.freq_base_swa", fraction(base));
        }
        if let Some(kind @ ("linear" | "yarn")) = self.scaling() {
            let scaling = &self.settings["rope_scaling"];
            add("rope.scaling.type", text(kind));
            add("rope.scaling.factor", fraction(&scaling["factor"]));
            if let Some(original) = scaling.get("original_max_position_embeddings") {
                let original = u32::try_from(original.as_u64().unwrap()).unwrap();
                add("rope.scaling.original_context_length", Metadata::U32(original));
            }
        }
        all
    }

    /// Writes a GGUF file, matrices as `dtype`; embedding and head have eight bits at
    /// least.
    pub(crate) fn write_gguf(&self, folder: &Utf8Path, dtype: GgmlDType) -> Utf8PathBuf {
        let path = folder.join("model.gguf");
        write_gguf(&path, &self.metadata(), &self.quantized(dtype));
        path
    }

    /// The weights of a GGUF file.
    pub(crate) fn quantized(&self, dtype: GgmlDType) -> BTreeMap<String, QTensor> {
        let quantized = |(name, tensor): (String, Tensor)| {
            let serves_all = name == "token_embd.weight" || name == "output.weight";
            let dtype = match dtype {
                _ if tensor.rank() < 2 => GgmlDType::F32,
                GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16 => dtype,
                _ if serves_all => GgmlDType::Q8_0,
                _ => dtype,
            };
            (name, QTensor::quantize(&tensor, dtype).unwrap())
        };
        self.converted().into_iter().map(quantized).collect()
    }
}

/// Writes a GGUF file.
pub(crate) fn write_gguf(
    path: &Utf8Path,
    metadata: &BTreeMap<String, Metadata>,
    tensors: &BTreeMap<String, QTensor>,
) {
    let metadata: Vec<(&str, &Metadata)> =
        metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let tensors: Vec<(&str, &QTensor)> =
        tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    let mut file = fs_err::File::create(path).unwrap();
    gguf_file::write(&mut file, &metadata, &tensors).unwrap();
}

/// Writes a file of tensors.
pub(crate) fn save(tensors: &BTreeMap<String, Tensor>, path: &Utf8Path) {
    let tensors: HashMap<String, Tensor> =
        tensors.iter().map(|(name, tensor)| (name.clone(), tensor.clone())).collect();
    candle_core::safetensors::save(&tensors, path).unwrap();
}
