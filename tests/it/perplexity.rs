//! How likely models take a text to be: the fast path against llama.cpp, and against
//! the same weights in single precision.

use std::collections::BTreeMap;

use camino::Utf8Path;
use candle_core::{Device, Tensor, quantized::gguf_file::Content};
use fs_err::File;
use serde::Deserialize;
use unimatch::nn::{Cpu, Decoder, DecoderConfig, GgufFile, SpecialTokens, Tokenizer};

use crate::{
    likelihood::surprisals,
    material,
    requantised::{Recipe, requantise},
};

const SMOLLM2: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
const GEMMA3: &str = "gemma-3-270m-q4_k_m.gguf";

/// By how much two perplexities may differ, as a part of one.
const TOLERANCE: f64 = 0.005;

/// What `scripts/golden/llama_cpp_perplexity.py` writes.
#[derive(Deserialize)]
struct Golden {
    run: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    file: String,
    blake3: String,
    mean: f64,
    runs: Vec<f64>,
    tokens: Vec<u32>,
}

fn golden() -> Golden {
    let path = material::fixture("golden/llama_cpp_perplexity.json");
    serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
}

fn case(file: &str) -> Case {
    golden().cases.into_iter().find(|case| case.file == file).unwrap()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Two means of surprisals stand for nearly the same perplexity.
#[track_caller]
fn assert_alike(ours: f64, theirs: f64) {
    let ratio = (ours - theirs).exp();
    assert!((ratio - 1.0).abs() <= TOLERANCE, "{} and {}: {ratio}", ours.exp(), theirs.exp());
}

/// The text is as likely as llama.cpp says of the same file, in tokens that are the same.
fn check(path: &Utf8Path, name: &str) {
    let case = case(name);
    let digest = blake3::hash(&fs_err::read(path).unwrap()).to_hex().to_string();
    assert_eq!(digest, case.blake3, "{name} is not the file that llama.cpp read");
    let file = GgufFile::open(path).unwrap();
    let tokenizer = Tokenizer::from_gguf(file.content()).unwrap();
    let text = fs_err::read_to_string(material::fixture("prose.txt")).unwrap();
    let mut tokens = Vec::from_iter(tokenizer.bos().filter(|_| tokenizer.adds_bos()));
    tokens.extend(tokenizer.encode(&text, SpecialTokens::Plain).unwrap());
    assert!(tokens.len() > 4_000 && tokens == case.tokens, "{name}: other tokens");
    let decoder = Decoder::from_gguf(&file, Cpu::detect()).unwrap();
    assert_alike(mean(&surprisals(&decoder, &tokens).unwrap()), case.mean);
}

fn check_requantised(recipe: Recipe, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join(name);
    requantise(&material::model(SMOLLM2), recipe, &path).unwrap();
    check(&path, name);
}

#[test]
fn smollm2_as_shipped_in_q4_1_is_as_good_as_llama_cpp_has_it() {
    check(&material::model(SMOLLM2), SMOLLM2);
}

#[test]
fn smollm2_in_q4_0_is_as_good_as_llama_cpp_has_it() {
    check_requantised(Recipe::Q4_0, "smollm2-q4_0.gguf");
}

#[test]
fn smollm2_in_q8_0_is_as_good_as_llama_cpp_has_it() {
    check_requantised(Recipe::Q8_0, "smollm2-q8_0.gguf");
}

#[test]
fn smollm2_in_k_quants_is_as_good_as_llama_cpp_has_it() {
    check_requantised(Recipe::Q4KM, "smollm2-q4_k_m.gguf");
}

#[test]
fn gemma_3_is_as_good_as_llama_cpp_has_it() {
    check(&material::model(GEMMA3), GEMMA3);
}

#[test]
fn the_fast_path_is_as_good_as_the_same_weights_in_single_precision() {
    let (case, run) = (case(SMOLLM2), golden().run);
    let tokens = &case.tokens[..=2 * run];
    let path = material::model(SMOLLM2);
    let file = GgufFile::open(&path).unwrap();
    let fast = Decoder::from_gguf(&file, Cpu::detect()).unwrap();
    let config = DecoderConfig::from_gguf(&file).unwrap();
    let plain = Decoder::load(config, &in_single_precision(&path), Cpu::detect()).unwrap();
    let plain = mean(&surprisals(&plain, tokens).unwrap());
    assert_alike(mean(&surprisals(&fast, tokens).unwrap()), plain);
    assert_alike(plain, mean(&case.runs[..2]));
}

fn in_single_precision(path: &Utf8Path) -> BTreeMap<String, Tensor> {
    let mut file = File::open(path).unwrap();
    let content = Content::read(&mut file).unwrap();
    let mut tensors = BTreeMap::new();
    let mut names: Vec<&String> = content.tensor_infos.keys().collect();
    names.sort();
    for name in names {
        let tensor = content.tensor(&mut file, name, &Device::Cpu).unwrap();
        tensors.insert(name.clone(), tensor.dequantize(&Device::Cpu).unwrap());
    }
    tensors
}
