//! The decoder against `candle-transformers`, and against itself in other company.

use std::sync::Arc;

use candle_core::{DType, Device, Tensor};
use candle_transformers::models::{llama, qwen2, qwen3};
use unimatch::nn::{
    Cpu, CpuLevel, Decoder, DecoderConfig, DecoderError, KvMemory, RotationStyle, Step, Wanted,
};

use crate::tiny::{self, Weights, logits, memory, step, tokens};

/// The lengths of the steps in which the oracle reads a sequence; it only gives the
/// logits after the last token of each.
const LENGTHS: [usize; 6] = [1, 7, 30, 1, 64, 2];

/// The decoder gives the oracle's logits after each of the steps.
fn check(decoder: &Decoder, mut oracle: impl FnMut(&Tensor, usize) -> Tensor) {
    let all = tokens(LENGTHS.iter().sum(), 1);
    let ours = logits(decoder, &all);
    let mut position = 0;
    for length in LENGTHS {
        let part = &all[position..position + length];
        let input = Tensor::new(part, &Device::Cpu).unwrap().unsqueeze(0).unwrap();
        let theirs = oracle(&input, position).flatten_all().unwrap().to_vec1::<f32>().unwrap();
        position += length;
        assert_close(&ours[position - 1], &theirs);
    }
}

#[track_caller]
fn assert_close(ours: &[f32], theirs: &[f32]) {
    assert_eq!(ours.len(), theirs.len());
    let spread = theirs.iter().fold(0.0_f32, |greatest, x| greatest.max(x.abs()));
    assert!(spread > 0.5, "logits that are all alike show nothing");
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!((ours - theirs).abs() < 1e-4, "{ours} and {theirs}");
    }
}

fn llama_config(config: &DecoderConfig) -> llama::Config {
    llama::Config {
        hidden_size: config.hidden_size,
        intermediate_size: config.intermediate_size,
        vocab_size: config.vocabulary_size,
        num_hidden_layers: config.n_layers(),
        num_attention_heads: config.n_heads,
        num_key_value_heads: config.n_kv_heads,
        use_flash_attn: false,
        rms_norm_eps: f64::from(config.norm_epsilon),
        rope_theta: config.layers[0].rotation.base,
        bos_token_id: None,
        eos_token_id: None,
        rope_scaling: None,
        max_position_embeddings: config.context_length,
        tie_word_embeddings: false,
    }
}

fn check_llama(decoder: &Decoder, weights: &Weights, config: &llama::Config) {
    let model = llama::Llama::load(weights.builder(), config).unwrap();
    let mut cache = llama::Cache::new(true, DType::F32, config, &Device::Cpu).unwrap();
    check(decoder, |input, position| model.forward(input, position, &mut cache).unwrap());
}

#[test]
fn a_llama_predicts_as_candle_says_in_either_order_of_its_heads() {
    for style in [RotationStyle::Halves, RotationStyle::Pairs] {
        let mut config = tiny::config();
        config.layers = tiny::layers(2, style, 500.0);
        let weights = Weights::new(&config);
        check_llama(&weights.decoder(Cpu::detect()), &weights, &llama_config(&config));
    }
}

#[test]
fn rotations_slowed_down_pair_by_pair_are_those_of_llama_3_1() {
    let mut config = tiny::config();
    let scaling = llama::Llama3RopeConfig {
        factor: 8.0,
        low_freq_factor: 1.0,
        high_freq_factor: 4.0,
        original_max_position_embeddings: 64,
        rope_type: llama::Llama3RopeType::Llama3,
    };
    // Wave lengths of 6, 63, 628 and 6,283 positions, and those up to 16 stay, those
    // above 64 are slowed down by eight, and between the two there is a slope.
    let slope = |length: f32| (64.0 / length - 1.0) / 3.0;
    let between = slope(2.0 * std::f32::consts::PI * 10.0);
    let divisors = [1.0, 1.0 / ((1.0 - between) / 8.0 + between), 8.0, 8.0];
    for layer in &mut config.layers {
        layer.rotation.divisors = Some(Arc::from(divisors));
    }
    let weights = Weights::new(&config);
    let decoder = weights.decoder(Cpu::detect());
    let config = llama::Config { rope_scaling: Some(scaling), ..llama_config(&config) };
    check_llama(&decoder, &weights, &config);
}

#[test]
fn biases_are_those_of_qwen2() {
    let config = tiny::config();
    let weights = Weights::new(&config).with_biases();
    let theirs = qwen2::Config {
        vocab_size: config.vocabulary_size,
        hidden_size: config.hidden_size,
        intermediate_size: config.intermediate_size,
        num_hidden_layers: config.n_layers(),
        num_attention_heads: config.n_heads,
        num_key_value_heads: config.n_kv_heads,
        max_position_embeddings: config.context_length,
        sliding_window: config.context_length,
        max_window_layers: config.n_layers(),
        tie_word_embeddings: false,
        rope_theta: f64::from(config.layers[0].rotation.base),
        rms_norm_eps: f64::from(config.norm_epsilon),
        use_sliding_window: false,
        hidden_act: candle_nn::Activation::Silu,
    };
    let mut model = qwen2::ModelForCausalLM::new(&theirs, weights.builder()).unwrap();
    check(&weights.decoder(Cpu::detect()), |input, position| {
        model.forward(input, position).unwrap()
    });
}

#[test]
fn norms_of_heads_are_those_of_qwen3() {
    let config = tiny::config();
    let weights = Weights::new(&config).with_head_norms();
    let theirs = qwen3::Config {
        vocab_size: config.vocabulary_size,
        hidden_size: config.hidden_size,
        intermediate_size: config.intermediate_size,
        num_hidden_layers: config.n_layers(),
        num_attention_heads: config.n_heads,
        head_dim: config.head_size,
        attention_bias: false,
        num_key_value_heads: config.n_kv_heads,
        max_position_embeddings: config.context_length,
        sliding_window: None,
        max_window_layers: config.n_layers(),
        tie_word_embeddings: false,
        rope_theta: f64::from(config.layers[0].rotation.base),
        rms_norm_eps: f64::from(config.norm_epsilon),
        use_sliding_window: false,
        hidden_act: candle_nn::Activation::Silu,
    };
    let mut model = qwen3::ModelForCausalLM::new(&theirs, weights.builder()).unwrap();
    check(&weights.decoder(Cpu::detect()), |input, position| {
        model.forward(input, position).unwrap()
    });
}

#[test]
fn a_sequence_may_be_longer_than_4096_tokens() {
    let config = DecoderConfig {
        layers: tiny::layers(1, RotationStyle::Halves, 10_000.0),
        ..tiny::config()
    };
    let weights = Weights::new(&config);
    let decoder = weights.decoder(Cpu::detect());
    let all = tokens(4500, 3);
    let mut sequence = decoder.sequence(None, all.len(), &memory()).unwrap();
    let ours = step(&decoder, &mut sequence, &all, Wanted::Last);
    let theirs = llama_config(&config);
    let model = llama::Llama::load(weights.builder(), &theirs).unwrap();
    let mut cache = llama::Cache::new(true, DType::F32, &theirs, &Device::Cpu).unwrap();
    let mut last = None;
    for (index, part) in all.chunks(300).enumerate() {
        let input = Tensor::new(part, &Device::Cpu).unwrap().unsqueeze(0).unwrap();
        last = Some(model.forward(&input, index * 300, &mut cache).unwrap());
    }
    let theirs = last.unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
    assert_close(ours.rows().next().unwrap(), &theirs);
}

#[test]
fn how_a_sequence_is_cut_into_steps_changes_no_bit() {
    let decoder = Weights::new(&tiny::config()).decoder(Cpu::detect());
    let all = tokens(90, 4);
    let at_once = logits(&decoder, &all);
    for length in [1, 5, 16, 37] {
        let mut sequence = decoder.sequence(None, all.len(), &memory()).unwrap();
        let mut parts = Vec::new();
        for part in all.chunks(length) {
            let logits = step(&decoder, &mut sequence, part, Wanted::Every);
            parts.extend(logits.rows().map(<[f32]>::to_vec));
        }
        assert_eq!(parts, at_once, "in steps of {length}");
    }
}

#[test]
fn a_shared_beginning_changes_no_bit() {
    let decoder = Weights::new(&tiny::config()).decoder(Cpu::detect());
    let memory = memory();
    let all = tokens(70, 5);
    let alone = logits(&decoder, &all);
    for (first, second) in [(1, 2), (15, 16), (16, 33), (23, 55)] {
        let mut sequence = decoder.sequence(None, first, &memory).unwrap();
        step(&decoder, &mut sequence, &all[..first], Wanted::Nothing);
        let mut prefix = sequence.freeze();
        let mut sequence = decoder.sequence(Some(prefix), second - first, &memory).unwrap();
        step(&decoder, &mut sequence, &all[first..second], Wanted::Nothing);
        prefix = sequence.freeze();
        // Two continue it at the same time.
        let mut others = decoder.sequence(Some(Arc::clone(&prefix)), 20, &memory).unwrap();
        let mut sequence = decoder.sequence(Some(prefix), 70 - second, &memory).unwrap();
        let steps = &mut [
            Step { sequence: &mut others, tokens: &tokens(20, 6), wanted: Wanted::Every },
            Step { sequence: &mut sequence, tokens: &all[second..], wanted: Wanted::Every },
        ];
        let logits = decoder.forward(steps).unwrap();
        let ours: Vec<Vec<f32>> = logits.rows().skip(20).map(<[f32]>::to_vec).collect();
        assert_eq!(ours, alone[second..], "shared up to {first} and {second}");
    }
}

#[test]
fn neighbours_threads_and_processors_change_no_bit() {
    let weights = Weights::new(&tiny::config());
    let sequences: Vec<Vec<u32>> =
        [3, 40, 1, 17, 64].iter().map(|&length| tokens(length, 100 + length as u64)).collect();
    let together = |cpu, n_threads| {
        let decoder = weights.decoder(cpu);
        let memory = memory();
        let mut open: Vec<_> = sequences
            .iter()
            .map(|tokens| decoder.sequence(None, tokens.len() + 3, &memory).unwrap())
            .collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let mut all = Vec::new();
            for tokens in [&sequences[..], &vec![vec![5]; 5], &vec![vec![9, 2]; 5]] {
                let mut steps: Vec<Step<'_>> = open
                    .iter_mut()
                    .zip(tokens)
                    .map(|(sequence, tokens)| Step { sequence, tokens, wanted: Wanted::Last })
                    .collect();
                let logits = decoder.forward(&mut steps).unwrap();
                all.push(logits.rows().map(<[f32]>::to_vec).collect::<Vec<_>>());
            }
            all
        })
    };
    let reference = together(Cpu::detect(), 1);
    assert_eq!(together(Cpu::detect(), 3), reference);
    for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
        assert_eq!(together(Cpu::with_level(level).unwrap(), 1), reference, "{level}");
    }
    let decoder = weights.decoder(Cpu::detect());
    for (index, tokens) in sequences.iter().enumerate() {
        let alone = logits(&decoder, &[&tokens[..], &[5, 9, 2]].concat());
        assert_eq!(reference[0][index], alone[tokens.len() - 1]);
        assert_eq!(reference[1][index], alone[tokens.len()]);
        assert_eq!(reference[2][index], alone[tokens.len() + 2]);
    }
}

#[test]
fn a_step_that_cannot_be_taken_says_why_and_changes_nothing() {
    let config = DecoderConfig { context_length: 12, ..tiny::config() };
    let decoder = Weights::new(&config).decoder(Cpu::detect());
    let mut sequence = decoder.sequence(None, 20, &memory()).unwrap();
    let mut attempt = |tokens: &[u32]| {
        let step = Step { sequence: &mut sequence, tokens, wanted: Wanted::Last };
        let error = decoder.forward(&mut [step]).err();
        assert!(error.is_none() || sequence.n_tokens() == 10);
        error
    };
    assert_eq!(attempt(&[1; 10]), None);
    assert_eq!(
        attempt(&[76, 77]),
        Some(DecoderError::UnknownToken { token: 77, vocabulary_size: 77 })
    );
    assert_eq!(attempt(&[1; 3]), Some(DecoderError::Context { n_tokens: 13, context_length: 12 }));
    let mut short = decoder.sequence(None, 4, &memory()).unwrap();
    let step = Step { sequence: &mut short, tokens: &[1; 5], wanted: Wanted::Last };
    assert_eq!(
        decoder.forward(&mut [step]).unwrap_err(),
        DecoderError::Room { n_tokens: 5, n_free: 4 }
    );
    let error = decoder.sequence(None, 4, &KvMemory::new(100)).unwrap_err();
    assert_eq!((error.needed_bytes, error.limit_bytes), (decoder.sequence_bytes(4), 100));
}
