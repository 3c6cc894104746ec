//! The path of GPUs with matrices of other types, and with a real model.

use std::{collections::BTreeMap, sync::Arc};

use camino::Utf8Path;
use candle_core::{
    Device, Tensor,
    quantized::{GgmlDType, QTensor},
};
use unimatch::nn::{
    Bytes, Cpu, Decoder, DecoderConfig, ModelError, ModelFile, RawTensor, SpecialTokens, Tokenizer,
    WeightType,
};

use crate::{
    device::{devices, difference, report},
    material,
    tiny::{self, Weights, logits, tokens},
};

const SMOLLM2: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

/// Weights whose matrices were rounded to another type.
struct Rounded {
    tensors: BTreeMap<String, Tensor>,
    dtype: GgmlDType,
}

impl unimatch::nn::Weights for Rounded {
    fn origin(&self) -> &Utf8Path {
        self.tensors.origin()
    }

    fn find(&self, name: &str) -> Result<Option<RawTensor>, ModelError> {
        match self.tensors.get(name) {
            Some(tensor) if tensor.rank() == 2 => {
                let rounded = QTensor::quantize(tensor, self.dtype).unwrap();
                Ok(Some(RawTensor {
                    dtype: self.dtype,
                    shape: tensor.dims().to_vec(),
                    bytes: Bytes::Owned(Arc::new(rounded.data().unwrap().into_owned())),
                }))
            }
            _ => self.tensors.find(name),
        }
    }
}

#[test]
fn matrices_of_other_types_differ_by_less_than_their_rounding() {
    let config = DecoderConfig { hidden_size: 256, intermediate_size: 512, ..tiny::config() };
    let config = DecoderConfig { n_heads: 32, n_kv_heads: 8, ..config };
    let tensors = Weights::new(&config).renamed();
    let all = tokens(40, 2);
    let plain = Decoder::load(config.clone(), &tensors, Cpu::detect()).unwrap();
    let plain = logits(&plain, &all);
    // How much more than the rounding of the weights, to which in f16 that of all that
    // is multiplied by them comes.
    for (dtype, factor) in [
        (GgmlDType::F16, 3.0),
        (GgmlDType::BF16, 3.0),
        (GgmlDType::Q8_0, 1.0),
        (GgmlDType::Q5_0, 1.0),
        (GgmlDType::Q5_1, 1.0),
        (GgmlDType::Q4_0, 1.0),
        (GgmlDType::Q4_1, 1.0),
        (GgmlDType::Q4K, 1.0),
        (GgmlDType::Q5K, 1.0),
        (GgmlDType::Q6K, 1.0),
    ] {
        let weights = Rounded { tensors: tensors.clone(), dtype };
        let theirs = Decoder::load(config.clone(), &weights, Cpu::detect()).unwrap();
        let theirs = logits(&theirs, &all);
        let by_rounding = difference(&theirs, &plain);
        for device in devices() {
            let ours = Decoder::on_devices(config.clone(), &weights, std::slice::from_ref(&device))
                .unwrap();
            let difference = difference(&logits(&ours, &all), &theirs);
            report(&format!(
                "{dtype:?} on {device:?}: {difference:.1e}, rounding {by_rounding:.1e}"
            ));
            assert!(difference < factor * by_rounding, "{dtype:?}: {difference}, {by_rounding}");
        }
    }
}

/// What a text costs a token, as the exponential of the mean of the negated logarithms.
fn perplexity(logits: &[Vec<f32>], tokens: &[u32]) -> f64 {
    let costs = logits.iter().zip(&tokens[1..]).map(|(row, &next)| {
        let greatest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = row.iter().map(|number| f64::from(number - greatest).exp()).sum();
        sum.ln() - f64::from(row[next as usize] - greatest)
    });
    (costs.sum::<f64>() / (tokens.len() - 1) as f64).exp()
}

/// The root of the mean square of the differences.
fn distance(ours: &[Vec<f32>], theirs: &[Vec<f32>]) -> f64 {
    let pairs = ours.iter().flatten().zip(theirs.iter().flatten());
    let squares: Vec<f64> = pairs.map(|(a, b)| f64::from(a - b).powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

/// The likeliest token, and by how much it leads.
fn lead(row: &[f32]) -> (usize, f32) {
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
    (order[0], row[order[0]] - row[order[1]])
}

#[test]
fn smollm2_reads_a_text_as_well_as_on_the_processor() {
    let file = ModelFile::open(&material::model(SMOLLM2)).unwrap();
    let ModelFile::Gguf(gguf) = &file else { unreachable!("the name ends with gguf") };
    let tokenizer = Tokenizer::from_gguf(gguf.content()).unwrap();
    let text = "The old bridge was closed in March. Since then the market has lost its people, the \
                ferry runs twice a day, and my uncle sells his bread from a van. In my opinion the \
                town should open a new bridge before the winter comes.";
    let tokens = tokenizer.encode(text, SpecialTokens::Plain).unwrap();
    // The same weights, and nothing else rounded.
    let exact = Decoder::open_on_devices(&file, WeightType::F32, &[Device::Cpu]).unwrap();
    let exact = logits(&exact, &tokens);
    let theirs = Decoder::open(&file, WeightType::Auto, Cpu::detect()).unwrap();
    let theirs = logits(&theirs, &tokens);
    let cost = perplexity(&exact, &tokens);
    report(&format!(
        "SmolLM2 exactly: perplexity {cost:.3}; on the processor {:.3}, {:.3} away",
        perplexity(&theirs, &tokens),
        distance(&theirs, &exact)
    ));
    for device in devices() {
        let ours = Decoder::open_on_devices(&file, WeightType::Auto, std::slice::from_ref(&device));
        let ours = logits(&ours.unwrap(), &tokens);
        let (our_cost, away) = (perplexity(&ours, &tokens), distance(&ours, &exact));
        report(&format!("SmolLM2 on {device:?}: perplexity {our_cost:.3}, {away:.3} away"));
        assert!((our_cost / cost - 1.0).abs() < 0.03, "{our_cost} and {cost}");
        assert!(away < 1.5 * distance(&theirs, &exact), "{away}");
        for (position, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let ((ours, _), (theirs, lead)) = (lead(ours), lead(theirs));
            assert!(ours == theirs || lead < 0.5, "position {position} differs by {lead}");
        }
    }
}
