//! Small random encoders, against candle-transformers.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert;

use super::*;
use crate::nn::{encoder::config::EncoderConfig, kernels::CpuLevel};

/// A `config.json` that both can read.
fn config_file(activation: &str, hidden: usize, n_heads: usize) -> String {
    format!(
        r#"{{"model_type": "bert", "hidden_size": {hidden}, "intermediate_size": {},
        "num_hidden_layers": 3, "num_attention_heads": {n_heads}, "vocab_size": 90,
        "max_position_embeddings": 80, "type_vocab_size": 2, "hidden_act": "{activation}",
        "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.1, "initializer_range": 0.02,
        "pad_token_id": 0}}"#,
        hidden * 3
    )
}

struct Tiny {
    config_file: String,
    tensors: BTreeMap<String, Tensor>,
}

impl Tiny {
    /// Random weights of the size that trained ones have.
    fn new(activation: &str, hidden: usize, n_heads: usize) -> Self {
        let config_file = config_file(activation, hidden, n_heads);
        let mut state = 7_u32;
        let mut random = |shape: &[usize], scale: f32, shift: f32| {
            let numbers: Vec<f32> = (0..shape.iter().product())
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    ((state >> 8) as f32 / 8_388_608.0 - 1.0) * scale + shift
                })
                .collect();
            Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap()
        };
        let mut tensors = BTreeMap::new();
        let mut norm_or_dense = |name: String, shape: &[usize]| {
            let is_norm = shape.len() == 1;
            let (scale, shift) = if is_norm { (0.5, 1.0) } else { (0.15, 0.0) };
            let weight = random(shape, scale, shift);
            let bias = random(&shape[..1], 0.2, 0.0);
            [(format!("{name}.weight"), weight), (format!("{name}.bias"), bias)]
        };
        for (name, n) in [("word", 90), ("position", 80), ("token_type", 2)] {
            let name = format!("embeddings.{name}_embeddings");
            let [weight, _] = norm_or_dense(name, &[n, hidden]);
            tensors.extend([weight]);
        }
        tensors.extend(norm_or_dense("embeddings.LayerNorm".to_owned(), &[hidden]));
        for layer in 0..3 {
            for (part, shape) in [
                ("attention.self.query", &[hidden, hidden][..]),
                ("attention.self.key", &[hidden, hidden]),
                ("attention.self.value", &[hidden, hidden]),
                ("attention.output.dense", &[hidden, hidden]),
                ("attention.output.LayerNorm", &[hidden]),
                ("intermediate.dense", &[hidden * 3, hidden]),
                ("output.dense", &[hidden, hidden * 3]),
                ("output.LayerNorm", &[hidden]),
            ] {
                let name = format!("encoder.layer.{layer}.{part}");
                tensors.extend(norm_or_dense(name, shape));
            }
        }
        Self { config_file, tensors }
    }

    fn config(&self) -> EncoderConfig {
        EncoderConfig::parse(&self.config_file).ok().unwrap()
    }

    fn load(&self, precision: EncoderPrecision, cpu: Cpu) -> Bert {
        Bert::load(&self.tensors, self.config(), precision, cpu).unwrap()
    }

    /// What candle-transformers makes of one row.
    fn oracle(&self, row: &TokenRow<'_>) -> Vec<f32> {
        let config: bert::Config = serde_json::from_str(&self.config_file).unwrap();
        let tensors = self.tensors.clone().into_iter().collect();
        let weights = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let model = bert::BertModel::load(weights, &config).unwrap();
        let ids = Tensor::new(row.ids, &Device::Cpu).unwrap().unsqueeze(0).unwrap();
        let types: Vec<u32> =
            (0..row.ids.len()).map(|at| u32::from(row.n_of_first_type <= at)).collect();
        let types = Tensor::new(types, &Device::Cpu).unwrap().unsqueeze(0).unwrap();
        let states = model.forward(&ids, &types, None).unwrap();
        states.flatten_all().unwrap().to_vec1().unwrap()
    }
}

/// Rows of 1 to 64 tokens, one of them of two texts.
fn rows() -> Vec<Vec<u32>> {
    [1, 7, 64, 16, 33]
        .into_iter()
        .map(|length: u32| (0..length).map(|at| (at * 37 + length * 11) % 90).collect())
        .collect()
}

fn token_rows(rows: &[Vec<u32>]) -> Vec<TokenRow<'_>> {
    let mut rows: Vec<TokenRow<'_>> = rows.iter().map(|row| TokenRow::single(row)).collect();
    rows[4].n_of_first_type = 20;
    rows
}

fn check(tiny: &Tiny, precision: EncoderPrecision, tolerance: f32) {
    let rows = rows();
    let rows = token_rows(&rows);
    let states = tiny.load(precision, Cpu::detect()).states(&rows);
    let expected: Vec<f32> = rows.iter().flat_map(|row| tiny.oracle(row)).collect();
    assert_eq!(states.len(), expected.len());
    for (ours, expected) in states.iter().zip(&expected) {
        assert!((ours - expected).abs() < tolerance, "{precision}: {ours} and {expected}");
    }
}

#[test]
fn states_are_those_of_candle() {
    for (activation, hidden, n_heads) in [("gelu", 64, 4), ("relu", 96, 2), ("gelu", 40, 5)] {
        let tiny = Tiny::new(activation, hidden, n_heads);
        check(&tiny, EncoderPrecision::F32, 1e-4);
        check(&tiny, EncoderPrecision::Int16, 5e-3);
        check(&tiny, EncoderPrecision::Int8, 0.2);
    }
}

#[test]
fn a_row_has_the_same_bits_in_any_company_on_any_threads_and_on_every_processor() {
    let tiny = Tiny::new("gelu", 64, 4);
    let rows = rows();
    let rows = token_rows(&rows);
    for precision in EncoderPrecision::ALL {
        let together = tiny.load(precision, Cpu::detect()).states(&rows);
        for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
            let model = tiny.load(precision, Cpu::with_level(level).unwrap());
            assert_eq!(model.states(&rows), together, "{precision} on {level}");
            let alone: Vec<f32> = rows.iter().flat_map(|row| model.states(&[*row])).collect();
            assert_eq!(alone, together, "{precision} on {level}");
        }
        for n_threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let model = tiny.load(precision, Cpu::detect());
            assert_eq!(pool.install(|| model.states(&rows)), together);
        }
    }
}

#[test]
fn an_encoder_under_a_name_of_its_own_is_found_and_a_missing_tensor_is_named() {
    let mut tiny = Tiny::new("gelu", 64, 4);
    let plain = tiny.load(EncoderPrecision::Int16, Cpu::detect());
    let tensors = std::mem::take(&mut tiny.tensors);
    tiny.tensors =
        tensors.into_iter().map(|(name, tensor)| (format!("bert.{name}"), tensor)).collect();
    let named = tiny.load(EncoderPrecision::Int16, Cpu::detect());
    let ids = [1, 2, 3];
    let row = [TokenRow::single(&ids)];
    assert_eq!(named.states(&row), plain.states(&row));
    tiny.tensors.remove("bert.encoder.layer.2.output.dense.bias");
    let error = Bert::load(&tiny.tensors, tiny.config(), EncoderPrecision::Int16, Cpu::detect());
    assert!(error.unwrap_err().to_string().contains("layer.2.output.dense.bias"));
}

#[test]
fn a_weight_that_is_no_number_is_refused() {
    let mut tiny = Tiny::new("gelu", 64, 4);
    let flawed = Tensor::full(f32::NAN, (64, 64), &Device::Cpu).unwrap();
    tiny.tensors.insert("encoder.layer.1.attention.self.key.weight".to_owned(), flawed);
    let error = Bert::load(&tiny.tensors, tiny.config(), EncoderPrecision::Int16, Cpu::detect());
    assert!(error.unwrap_err().to_string().contains("layer.1.attention.self.key"));
}

#[test]
fn a_row_that_the_model_has_no_place_for_is_refused() {
    let model = Tiny::new("gelu", 64, 4).load(EncoderPrecision::Int16, Cpu::detect());
    let refusal = |ids: &[u32]| model.refusal(&TokenRow::single(ids));
    assert_eq!(refusal(&[0, 89]), None);
    assert!(refusal(&[0, 90]).unwrap().contains("token 90"));
    assert!(refusal(&[1; 81]).unwrap().contains("1 to 80"));
    assert!(refusal(&[]).is_some());
}
