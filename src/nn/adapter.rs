//! Adapters of low rank (LoRA, Hu et al. 2021) as PEFT stores them, merged into the
//! weights that they were trained on.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::{DType, Device, Tensor, quantized::GgmlDType};
use half::{bf16, f16};
use serde::Deserialize;
use serde_json::Value;

use super::weights::{Bytes, ModelError, RawTensor};

const SETTINGS: &str = "adapter_config.json";
const WEIGHTS: &str = "adapter_model.safetensors";

/// What PEFT puts before the names of the model that it wraps.
const WRAPPER: &str = "base_model.model.";

/// The path of a model, and that of an adapter where one is given with it, as
/// `MODEL+ADAPTER`. What exists as it stands has no adapter; otherwise the first `+`
/// from the right counts before which something exists.
pub fn base_and_adapter(path: &Utf8Path) -> (Utf8PathBuf, Option<Utf8PathBuf>) {
    if path.exists() {
        return (path.to_owned(), None);
    }
    for (at, _) in path.as_str().rmatch_indices('+') {
        let (base, adapter) = (&path.as_str()[..at], &path.as_str()[at + 1..]);
        if !adapter.is_empty() && Utf8Path::new(base).exists() {
            return (base.into(), Some(adapter.into()));
        }
    }
    (path.to_owned(), None)
}

/// The files that are read from the folder of an adapter.
pub fn adapter_files(folder: &Utf8Path) -> [Utf8PathBuf; 2] {
    [folder.join(SETTINGS), folder.join(WEIGHTS)]
}

/// The name of a model, with that of its adapter after a `+`.
pub fn adapted_name(path: &Utf8Path) -> String {
    let (base, adapter) = base_and_adapter(path);
    let name = |path: &Utf8Path| path.file_name().unwrap_or(path.as_str()).to_owned();
    match adapter {
        Some(adapter) => format!("{}+{}", name(&base), name(&adapter)),
        None => name(&base),
    }
}

/// An adapter.
#[derive(Debug)]
pub(in crate::nn) struct Adapter {
    file: Utf8PathBuf,
    /// By the names of the modules, as the adapter has them.
    changes: BTreeMap<String, Change>,
    /// Tensors that take the place of those of the model.
    whole: BTreeMap<String, Tensor>,
}

/// `scale * outer * inner` is added to a matrix.
#[derive(Debug)]
struct Change {
    inner: Tensor,
    outer: Tensor,
    scale: f64,
}

/// `adapter_config.json`, as far as it says what is done.
#[derive(Deserialize)]
struct AdapterFile {
    peft_type: String,
    lora_alpha: f64,
    #[serde(default)]
    use_rslora: bool,
    bias: Option<String>,
    modules_to_save: Option<Vec<String>>,
    /// All settings.
    #[serde(skip)]
    all: BTreeMap<String, Value>,
}

/// Settings that change what an adapter does, and are not read here.
const REFUSED: [&str; 11] = [
    "use_dora",
    "use_qalora",
    "use_bdlora",
    "fan_in_fan_out",
    "lora_bias",
    "alpha_pattern",
    "layer_replication",
    "trainable_token_indices",
    "target_parameters",
    "alora_invocation_tokens",
    "arrow_config",
];

impl Adapter {
    /// Reads `adapter_config.json` and `adapter_model.safetensors`.
    pub(in crate::nn) fn load(folder: &Utf8Path) -> Result<Self, ModelError> {
        let [settings, file] = adapter_files(folder);
        if !file.is_file() && folder.join("adapter_model.bin").is_file() {
            let reason = "its weights are a pickle (adapter_model.bin), which is not read here: \
                          load it with peft and call save_pretrained again";
            return Err(refused(&folder.join("adapter_model.bin"), reason));
        }
        let text = fs_err::read_to_string(&settings)?;
        let config = AdapterFile::parse(&text).map_err(|error| ModelError::Json {
            file: settings.clone(),
            reason: error.to_string(),
        })?;
        config.check(&settings)?;
        let tensors = candle_core::safetensors::load(file.as_std_path(), &Device::Cpu)
            .map_err(|error| refused(&file, &error.to_string()))?;
        let tensors: BTreeMap<String, Tensor> = tensors.into_iter().collect();
        Self::of(&config, file, tensors)
    }

    fn of(
        config: &AdapterFile,
        file: Utf8PathBuf,
        mut tensors: BTreeMap<String, Tensor>,
    ) -> Result<Self, ModelError> {
        let mut changes = BTreeMap::new();
        let mut whole = BTreeMap::new();
        let single = |tensor: &Tensor| {
            tensor.to_dtype(DType::F32).map_err(|error| refused(&file, &error.to_string()))
        };
        for name in tensors.keys().cloned().collect::<Vec<_>>() {
            let Some(tensor) = tensors.get(&name) else { continue };
            let plain = name.strip_prefix(WRAPPER).unwrap_or(&name);
            if let Some(module) = plain.strip_suffix(".lora_A.weight") {
                let other = format!("{}.lora_B.weight", &name[..name.len() - 14]);
                let Some(outer) = tensors.get(&other) else {
                    return Err(refused(&file, &format!("it has {name:?} and not {other:?}")));
                };
                let (rank, scale) = match (tensor.dims(), outer.dims()) {
                    ([rank, _], [_, same]) if rank == same && 0 < *rank => {
                        (*rank as f64, config.lora_alpha)
                    }
                    (inner, outer) => {
                        let reason = format!("{name:?} is {inner:?} and {other:?} is {outer:?}");
                        return Err(refused(&file, &reason));
                    }
                };
                let scale = scale / if config.use_rslora { rank.sqrt() } else { rank };
                let change = Change { inner: single(tensor)?, outer: single(outer)?, scale };
                changes.insert(module.to_owned(), change);
                tensors.remove(&name);
                tensors.remove(&other);
            }
        }
        let saved = config.modules_to_save.as_deref().unwrap_or_default();
        for (name, tensor) in &tensors {
            let plain = name.strip_prefix(WRAPPER).unwrap_or(name).replace(".modules_to_save", "");
            if !plain.split('.').any(|part| saved.iter().any(|saved| saved == part)) {
                let reason = format!("{name:?} is no part of an adapter that is read here");
                return Err(refused(&file, &reason));
            }
            whole.insert(plain, single(tensor)?);
        }
        if changes.is_empty() && whole.is_empty() {
            return Err(refused(&file, "it changes nothing"));
        }
        Ok(Self { file, changes, whole })
    }

    /// Changes the tensors of an encoder, and adds those that were trained whole, such
    /// as a head.
    pub(in crate::nn) fn merge(
        &self,
        tensors: &mut BTreeMap<String, Tensor>,
    ) -> Result<(), ModelError> {
        for (module, change) in &self.changes {
            let name = self.target(
                module,
                |name| tensors.contains_key(name),
                || {
                    let end = format!(".{module}.weight");
                    let mut matches = tensors.keys().filter(|name| name.ends_with(&end));
                    matches.next().filter(|_| matches.next().is_none()).cloned()
                },
            )?;
            let Some(tensor) = tensors.get(&name) else { continue };
            let merged = change.apply(tensor).map_err(|error| {
                refused(&self.file, &format!("{name:?} does not fit ({error})"))
            })?;
            tensors.insert(name, merged);
        }
        for (name, tensor) in &self.whole {
            if tensors.get(name).is_some_and(|known| known.dims() != tensor.dims()) {
                let reason = format!("{name:?} has another shape than the model's own");
                return Err(refused(&self.file, &reason));
            }
            tensors.insert(name.clone(), tensor.clone());
        }
        Ok(())
    }

    /// The name of the tensor that belongs to a module: with its first part, without
    /// it, or what else is found.
    fn target(
        &self,
        module: &str,
        exists: impl Fn(&str) -> bool,
        find: impl FnOnce() -> Option<String>,
    ) -> Result<String, ModelError> {
        let name = format!("{module}.weight");
        if exists(&name) {
            return Ok(name);
        }
        let shorter = name.split_once('.').map(|(_, rest)| rest).filter(|rest| exists(rest));
        shorter.map(str::to_owned).or_else(find).ok_or_else(|| {
            let reason = format!("the model has no {name:?}: it was trained on another model");
            refused(&self.file, &reason)
        })
    }

    /// Checks that a decoder with these tensors has all that is changed, and that
    /// nothing is replaced whole.
    pub(in crate::nn) fn check(&self, exists: impl Fn(&str) -> bool) -> Result<(), ModelError> {
        if let Some(name) = self.whole.keys().next() {
            let reason = format!(
                "it replaces {name:?} whole (modules_to_save), which is not done for decoders: \
                 merge it with peft's merge_and_unload"
            );
            return Err(refused(&self.file, &reason));
        }
        for module in self.changes.keys() {
            if !exists(&format!("{module}.weight")) {
                self.target(module, |_| false, || None)?;
            }
        }
        Ok(())
    }

    /// A decoder's tensor of this name with what the adapter adds to it, in the type
    /// that it has.
    pub(in crate::nn) fn merged(
        &self,
        name: &str,
        tensor: RawTensor,
    ) -> Result<RawTensor, ModelError> {
        let change = name.strip_suffix(".weight").and_then(|name| self.changes.get(name));
        let Some(change) = change else { return Ok(tensor) };
        let merged = || {
            let [n_rows, width] = tensor.shape[..] else {
                return Err(candle_core::Error::Msg("it is no matrix".to_owned()));
            };
            let own = Tensor::from_vec(tensor.rows(0..n_rows)?, (n_rows, width), &Device::Cpu)?;
            change.apply(&own)?.flatten_all()?.to_vec1::<f32>()
        };
        let numbers = merged()
            .map_err(|error| refused(&self.file, &format!("{name:?} does not fit ({error})")))?;
        let bytes = match tensor.dtype {
            GgmlDType::F32 => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
            GgmlDType::F16 => {
                numbers.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect()
            }
            GgmlDType::BF16 => {
                numbers.iter().flat_map(|x| bf16::from_f32(*x).to_le_bytes()).collect()
            }
            _ => return Err(refused(&self.file, "the model is quantised: use it unquantised")),
        };
        let bytes: Vec<u8> = bytes;
        Ok(RawTensor { bytes: Bytes::Owned(std::sync::Arc::new(bytes)), ..tensor })
    }
}

impl AdapterFile {
    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        Ok(Self { all: serde_json::from_str(text)?, ..serde_json::from_str(text)? })
    }

    fn check(&self, file: &Utf8Path) -> Result<(), ModelError> {
        if self.peft_type != "LORA" {
            let reason = format!("it is of the kind {:?}, and only LORA is read", self.peft_type);
            return Err(refused(file, &reason));
        }
        if let Some(bias) = self.bias.as_deref().filter(|bias| *bias != "none") {
            let reason = format!("it trains biases too ({bias:?}), which is not read here");
            return Err(refused(file, &reason));
        }
        for name in REFUSED {
            let is_set = match self.all.get(name) {
                None | Some(Value::Null | Value::Bool(false)) => false,
                Some(Value::Object(map)) => !map.is_empty(),
                Some(Value::Array(list)) => !list.is_empty(),
                Some(_) => true,
            };
            if is_set {
                let reason = format!(
                    "it sets {name:?}, which is not read here: merge it with peft's \
                     merge_and_unload, and give the folder of what comes out"
                );
                return Err(refused(file, &reason));
            }
        }
        Ok(())
    }
}

impl Change {
    fn apply(&self, tensor: &Tensor) -> Result<Tensor, candle_core::Error> {
        let change = (self.outer.matmul(&self.inner)? * self.scale)?;
        tensor + change
    }
}

fn refused(file: &Utf8Path, reason: &str) -> ModelError {
    ModelError::Adapter { file: file.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        r#"{"peft_type": "LORA", "lora_alpha": 8, "bias": "none", "use_dora": false}"#;

    fn config(from: &str, to: &str) -> AdapterFile {
        assert!(FILE.contains(from), "{from}");
        AdapterFile::parse(&FILE.replace(from, to)).unwrap()
    }

    fn adapter(config: &AdapterFile, names: &[&str]) -> Result<Adapter, ModelError> {
        let shape = |name: &str| if name.contains("lora_A") { (2, 3) } else { (4, 2) };
        let tensor = |name: &str| Tensor::ones(shape(name), DType::F32, &Device::Cpu).unwrap();
        let tensors = names.iter().map(|name| ((*name).to_owned(), tensor(name))).collect();
        Adapter::of(config, "a.safetensors".into(), tensors)
    }

    const NAMES: [&str; 2] =
        ["base_model.model.bert.q.lora_A.weight", "base_model.model.bert.q.lora_B.weight"];

    #[test]
    fn a_change_is_scaled_by_alpha_and_rank_whatever_the_model_calls_itself() {
        for (use_rslora, expected) in [("false", 9.0), ("true", 1.0 + 2.0 * 8.0 / 2_f32.sqrt())] {
            let config = config("\"use_dora\": false", &format!("\"use_rslora\": {use_rslora}"));
            let adapter = adapter(&config, &NAMES).unwrap();
            for name in ["bert.q.weight", "q.weight", "deep.bert.q.weight"] {
                let own = Tensor::ones((4, 3), DType::F32, &Device::Cpu).unwrap();
                let mut tensors = BTreeMap::from([(name.to_owned(), own)]);
                adapter.merge(&mut tensors).unwrap();
                let numbers: Vec<f32> = tensors[name].flatten_all().unwrap().to_vec1().unwrap();
                assert!(numbers.iter().all(|x| (x - expected).abs() < 1e-5), "{numbers:?}");
            }
        }
    }

    #[test]
    fn what_would_be_left_undone_is_refused() {
        let refusal = |from, to| config(from, to).check("c.json".into()).unwrap_err().to_string();
        assert!(refusal("\"LORA\"", "\"IA3\"").contains("IA3"));
        assert!(refusal("\"none\"", "\"all\"").contains("biases"));
        assert!(refusal("\"use_dora\": false", "\"use_dora\": true").contains("merge_and_unload"));
        let pattern = "\"alpha_pattern\": {\"q\": 4}";
        assert!(refusal("\"use_dora\": false", pattern).contains("alpha_pattern"));
        let plain = config("8", "8");
        plain.check("c.json".into()).unwrap();
        let error = adapter(&plain, &NAMES[..1]).unwrap_err().to_string();
        assert!(error.contains("lora_B"), "{error}");
        let vector = "base_model.model.bert.q.lora_magnitude_vector";
        let error = adapter(&plain, &[NAMES[0], NAMES[1], vector]).unwrap_err().to_string();
        assert!(error.contains("magnitude"), "{error}");
        let error = adapter(&plain, &NAMES).unwrap().merge(&mut BTreeMap::new()).unwrap_err();
        assert!(error.to_string().contains("bert.q.weight"), "{error}");
    }

    #[test]
    fn a_plus_in_a_name_that_exists_stands_for_no_adapter() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        fs_err::create_dir(root.join("a+b")).unwrap();
        let split = |name: &str| base_and_adapter(&root.join(name));
        assert_eq!(split("a+b"), (root.join("a+b"), None));
        assert_eq!(split("a+b+c/d"), (root.join("a+b"), Some("c/d".into())));
        assert_eq!(split("x+y"), (root.join("x+y"), None));
        assert_eq!(adapted_name(&root.join("a+b+c/d")), "a+b+d");
    }
}
