//! Decoders of every family against Hugging Face's, and against themselves.

use std::sync::Arc;

use camino::Utf8Path;
use candle_core::{
    DType, Device, Tensor,
    quantized::{GgmlDType, gguf_file::Value},
};
use candle_nn::VarBuilder;
use candle_transformers::models::{gemma3, mistral};
use unimatch::{
    backend::{
        Backend, Request, Sampling,
        local::{LocalBackend, LocalOptions},
    },
    nn::{Cpu, CpuLevel, Decoder, DecoderConfig, GgufFile, ModelFile, Step, Wanted, WeightType},
    prompt::{Prompt, PromptFormat},
};

use crate::{
    family::{self, Case, case, cases, tokens},
    material,
    tiny::{logits, memory, step},
};

fn in_folder<T>(work: impl FnOnce(&Utf8Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    work(Utf8Path::from_path(folder.path()).unwrap())
}

fn open(path: &Utf8Path, dtype: WeightType) -> Decoder {
    Decoder::open(&ModelFile::open(path).unwrap(), dtype, Cpu::detect()).unwrap()
}

/// The decoder of a case from its folder.
fn decoder(case: &Case) -> Decoder {
    in_folder(|folder| {
        case.write_folder(folder, &case.settings);
        open(folder, WeightType::Auto)
    })
}

/// The predictions are those of transformers.
#[track_caller]
fn check(case: &Case, decoder: &Decoder, form: &str) {
    let ours = logits(decoder, &tokens(70));
    for (&position, theirs) in &case.logits {
        for (ours, theirs) in ours[position].iter().zip(theirs) {
            let error = (ours - theirs).abs();
            assert!(error < 1e-4, "{} {form} {position}: {ours} and {theirs}", case.name);
        }
    }
}

#[test]
fn every_family_predicts_from_its_folder_as_transformers_does() {
    for case in cases() {
        for (form, settings) in [("hub", &case.settings), ("saved", &case.saved)] {
            in_folder(|folder| {
                case.write_folder(folder, settings);
                check(&case, &open(folder, WeightType::Auto), form);
            });
        }
    }
}

#[test]
fn every_family_predicts_from_a_gguf_file_as_transformers_does() {
    // llama.cpp knows windows of Gemma only, and of its scales only the usual one.
    let silent = ["mistral", "qwen2 with a window", "gemma3 with a scale of its queries"];
    for case in cases().iter().filter(|case| !silent.contains(&case.name.as_str())) {
        in_folder(|folder| {
            let path = case.write_gguf(folder, GgmlDType::F32);
            check(case, &open(&path, WeightType::Auto), "gguf");
        });
    }
}

/// For `candle-transformers`.
fn builder(case: &Case) -> VarBuilder<'static> {
    let tensors = case.weights().into_iter().collect();
    VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu)
}

#[track_caller]
fn assert_close(ours: &[f32], theirs: &Tensor) {
    let theirs = theirs.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!((ours - theirs).abs() < 1e-4, "{ours} and {theirs}");
    }
}

#[test]
fn a_gemma3_predicts_as_candle_does_token_by_token() {
    // Read at once, candle's layers would see one token more than their window.
    let case = case("gemma3");
    let ours = logits(&decoder(&case), &tokens(70));
    let config = gemma3::Config {
        attention_bias: false,
        head_dim: 24,
        hidden_activation: candle_nn::Activation::GeluPytorchTanh,
        hidden_size: case.size("hidden_size"),
        intermediate_size: case.size("intermediate_size"),
        num_attention_heads: case.size("num_attention_heads"),
        num_hidden_layers: 7,
        num_key_value_heads: case.size("num_key_value_heads"),
        rms_norm_eps: 1e-5,
        rope_theta: 1e6,
        rope_local_base_freq: 10_000.0,
        vocab_size: 77,
        final_logit_softcapping: None,
        attn_logit_softcapping: None,
        query_pre_attn_scalar: 24,
        sliding_window: 9,
        sliding_window_pattern: 6,
        max_position_embeddings: 512,
    };
    let mut model = gemma3::Model::new(false, &config, builder(&case)).unwrap();
    for (position, &token) in tokens(70).iter().enumerate() {
        let input = Tensor::new(&[[token]], &Device::Cpu).unwrap();
        assert_close(&ours[position], &model.forward(&input, position).unwrap());
    }
}

#[test]
fn a_mistral_predicts_as_candle_does_with_a_window_one_shorter() {
    // A token there sees as many before it as the window has, and itself.
    let case = case("mistral");
    let ours = logits(&decoder(&case), &tokens(70));
    let config = mistral::Config {
        vocab_size: 77,
        hidden_size: case.size("hidden_size"),
        intermediate_size: case.size("intermediate_size"),
        num_hidden_layers: 2,
        num_attention_heads: case.size("num_attention_heads"),
        head_dim: None,
        num_key_value_heads: case.size("num_key_value_heads"),
        hidden_act: candle_nn::Activation::Silu,
        max_position_embeddings: 512,
        rms_norm_eps: 1e-5,
        rope_theta: 1000.0,
        sliding_window: Some(15),
        use_flash_attn: false,
    };
    for length in [16, 17, 40, 70] {
        let mut model = mistral::Model::new(&config, builder(&case)).unwrap();
        let input = Tensor::new(&tokens(70)[..length], &Device::Cpu).unwrap();
        let theirs = model.forward(&input.unsqueeze(0).unwrap(), 0).unwrap();
        assert_close(&ours[length - 1], &theirs);
    }
}

#[test]
fn in_every_family_steps_shared_beginnings_neighbours_and_processors_change_no_bit() {
    for case in cases() {
        let decoder = decoder(&case);
        let memory = memory();
        let all = tokens(70);
        let alone = logits(&decoder, &all);
        for length in [1, 5, 16, 33] {
            let mut sequence = decoder.sequence(None, all.len(), &memory).unwrap();
            let mut parts = Vec::new();
            for part in all.chunks(length) {
                let logits = step(&decoder, &mut sequence, part, Wanted::Every);
                parts.extend(logits.rows().map(<[f32]>::to_vec));
            }
            assert_eq!(parts, alone, "{} in steps of {length}", case.name);
        }
        for (first, second) in [(1, 3), (16, 40), (23, 55)] {
            let mut sequence = decoder.sequence(None, first, &memory).unwrap();
            step(&decoder, &mut sequence, &all[..first], Wanted::Nothing);
            let prefix = sequence.freeze();
            let mut sequence = decoder.sequence(Some(prefix), second - first, &memory).unwrap();
            step(&decoder, &mut sequence, &all[first..second], Wanted::Nothing);
            let prefix = sequence.freeze();
            let mut other = decoder.sequence(Some(Arc::clone(&prefix)), 25, &memory).unwrap();
            let mut own = decoder.sequence(Some(prefix), 70 - second, &memory).unwrap();
            let steps = &mut [
                Step { sequence: &mut other, tokens: &all[10..35], wanted: Wanted::Every },
                Step { sequence: &mut own, tokens: &all[second..], wanted: Wanted::Every },
            ];
            let logits = decoder.forward(steps).unwrap();
            let ours: Vec<Vec<f32>> = logits.rows().skip(25).map(<[f32]>::to_vec).collect();
            assert_eq!(ours, alone[second..], "{} shared to {first}, {second}", case.name);
        }
        for level in CpuLevel::ALL.into_iter().filter(|level| level.is_available()) {
            let other = in_folder(|folder| {
                case.write_folder(folder, &case.settings);
                let cpu = Cpu::with_level(level).unwrap();
                Decoder::open(&ModelFile::open(folder).unwrap(), WeightType::Auto, cpu).unwrap()
            });
            assert_eq!(logits(&other, &all), alone, "{} on {level}", case.name);
        }
    }
}

#[test]
fn windows_move_on_over_more_than_4096_positions() {
    for name in ["gemma3", "mistral"] {
        let mut case = case(name);
        case.settings["max_position_embeddings"] = 5000.into();
        let decoder = decoder(&case);
        let memory = memory();
        let all = tokens(4500);
        let mut sequence = decoder.sequence(None, all.len(), &memory).unwrap();
        let whole = step(&decoder, &mut sequence, &all, Wanted::Last);
        let mut sequence = decoder.sequence(None, 4111, &memory).unwrap();
        for part in all[..4111].chunks(700) {
            step(&decoder, &mut sequence, part, Wanted::Nothing);
        }
        let prefix = sequence.freeze();
        let mut sequence = decoder.sequence(Some(prefix), 389, &memory).unwrap();
        step(&decoder, &mut sequence, &all[4111..4499], Wanted::Nothing);
        let shared = step(&decoder, &mut sequence, &all[4499..], Wanted::Last);
        assert_eq!(shared, whole, "{name}");
        if name == "mistral" {
            // Two layers, each of which sees fifteen tokens back.
            let mut sequence = decoder.sequence(None, 4500, &memory).unwrap();
            let other: Vec<u32> = all[..4469].iter().map(|token| 76 - token).collect();
            step(&decoder, &mut sequence, &other, Wanted::Nothing);
            let far = step(&decoder, &mut sequence, &all[4469..], Wanted::Last);
            assert_eq!(far, whole);
            let mut sequence = decoder.sequence(None, 4500, &memory).unwrap();
            step(&decoder, &mut sequence, &other, Wanted::Nothing);
            step(&decoder, &mut sequence, &[76 - all[4469]], Wanted::Nothing);
            let near = step(&decoder, &mut sequence, &all[4470..], Wanted::Last);
            assert_ne!(near, whole, "the last token that it sees");
        }
    }
}

#[test]
fn weights_of_half_precision_are_read_as_they_are() {
    let case = case("gemma3");
    for dtype in [DType::F16, DType::BF16] {
        let rounded = case
            .weights()
            .into_iter()
            .map(|(name, tensor)| (name, tensor.to_dtype(dtype).unwrap()));
        let rounded = rounded.collect();
        let [half, single] = [dtype, DType::F32].map(|dtype| {
            in_folder(|folder| {
                case.write_folder(folder, &case.settings);
                let tensors = std::collections::BTreeMap::clone(&rounded)
                    .into_iter()
                    .map(|(name, tensor)| (name, tensor.to_dtype(dtype).unwrap()))
                    .collect();
                family::save(&tensors, &folder.join("model.safetensors"));
                logits(&open(folder, WeightType::Auto), &tokens(30))
            })
        });
        assert_eq!(half, single, "{dtype:?}");
    }
}

#[test]
fn a_folder_quantised_as_it_is_read_is_the_file_quantised_before() {
    let case = case("qwen3");
    let types = [
        (WeightType::F16, GgmlDType::F16),
        (WeightType::Bf16, GgmlDType::BF16),
        (WeightType::Q8_0, GgmlDType::Q8_0),
        (WeightType::Q4_0, GgmlDType::Q4_0),
        (WeightType::Q4_1, GgmlDType::Q4_1),
        (WeightType::Q5_0, GgmlDType::Q5_0),
        (WeightType::Q5_1, GgmlDType::Q5_1),
    ];
    let plain = logits(&decoder(&case), &tokens(70));
    for (wanted, dtype) in types {
        in_folder(|folder| {
            case.write_folder(folder, &case.settings);
            let at_load = logits(&open(folder, wanted), &tokens(70));
            let path = case.write_gguf(folder, dtype);
            let before = logits(&open(&path, WeightType::Auto), &tokens(70));
            assert_eq!(at_load, before, "{wanted}");
            assert_ne!(at_load, plain, "{wanted}");
            // A file of plain numbers is quantised as well as a folder.
            let path = case.write_gguf(folder, GgmlDType::F32);
            assert_eq!(logits(&open(&path, wanted), &tokens(70)), before, "{wanted}");
        });
    }
}

#[test]
fn what_was_quantised_before_becomes_plain_but_is_not_quantised_again() {
    in_folder(|folder| {
        let path = case("qwen3").write_gguf(folder, GgmlDType::Q4_0);
        let file = ModelFile::open(&path).unwrap();
        let error = Decoder::open(&file, WeightType::Q8_0, Cpu::detect()).unwrap_err().to_string();
        assert!(
            error.contains("\"blk.0.attn_q.weight\" in") && error.contains("quantised already"),
            "{error}"
        );
        assert!(error.ends_with("choose another --dtype"), "{error}");
        let plain = open(&path, WeightType::F32);
        let spread = logits(&plain, &tokens(20)).concat().iter().fold(0.0_f32, |a, b| a.max(*b));
        assert!(spread > 0.5);
    });
    let mut narrow = case("llama");
    narrow.settings["intermediate_size"] = 100.into();
    in_folder(|folder| {
        narrow.write_folder(folder, &narrow.settings);
        let file = ModelFile::open(folder).unwrap();
        let error = Decoder::open(&file, WeightType::Q4_0, Cpu::detect()).unwrap_err().to_string();
        assert!(error.contains("\"model.layers.0.mlp.down_proj.weight\" in"), "{error}");
        assert!(error.contains("rows of 100 are not whole blocks of 32"), "{error}");
    });
}

#[test]
fn the_largest_gemma_scales_its_queries_by_the_width_a_head_has_of_the_state() {
    let mut case = case("gemma3");
    let scale = |case: &Case| {
        in_folder(|folder| {
            let path = case.write_gguf(folder, GgmlDType::F32);
            let file = GgufFile::open(&path).unwrap();
            DecoderConfig::from_gguf(&file).unwrap().query_scale
        })
    };
    assert!((scale(&case) - 1.0 / 24.0_f32.sqrt()).abs() < 1e-6);
    case.settings["num_hidden_layers"] = 62.into();
    assert!((scale(&case) - 1.0 / 16.0_f32.sqrt()).abs() < 1e-6);
}

#[test]
fn layers_of_gemma_take_turns() {
    let all_windows =
        |config: &DecoderConfig| config.layers.iter().map(|layer| layer.window).collect::<Vec<_>>();
    let case = case("gemma3");
    let windows = all_windows(decoder(&case).config());
    let mut expected = vec![Some(9); 7];
    expected[5] = None;
    assert_eq!(windows, expected);
    let with_key = |key: &str, value| {
        in_folder(|folder| {
            let path = folder.join("model.gguf");
            let mut metadata = case.metadata();
            metadata.insert(format!("gemma3.attention.{key}"), value);
            family::write_gguf(&path, &metadata, &case.quantized(GgmlDType::F32));
            DecoderConfig::from_gguf(&GgufFile::open(&path).unwrap()).map(|c| all_windows(&c))
        })
    };
    let every_second = with_key("sliding_window_pattern", Value::U32(2)).unwrap();
    assert_eq!(every_second[..3], [Some(9), None, Some(9)]);
    let mut flags = vec![Value::Bool(false); 7];
    flags[3] = Value::Bool(true);
    let one = with_key("sliding_window_pattern", Value::Array(flags)).unwrap();
    assert_eq!(one, [None, None, None, Some(9), None, None, None]);
    let none = with_key("sliding_window", Value::U32(0)).unwrap();
    assert_eq!(none, [None; 7]);
    let short = Value::Array(vec![Value::Bool(true)]);
    let error = with_key("sliding_window_pattern", short).unwrap_err().to_string();
    assert!(error.contains("is 1, expected a flag for each of 7 layers"), "{error}");
}

#[test]
fn the_real_gemma_goes_on_with_a_text_sensibly() {
    let Some(path) = material::optional_model("gemma-3-270m-q4_k_m.gguf") else { return };
    let backend = LocalBackend::open(&path, WeightType::Auto, &LocalOptions::default()).unwrap();
    let goes_on = |text: &str| {
        let prompt = Prompt { system: None, user: text.to_owned(), format: PromptFormat::Raw };
        let tokens = backend.prompt_tokens(&prompt).unwrap();
        assert_eq!(tokens.iter().filter(|&&token| token == 2).count(), 1, "one beginning");
        let sampling = Sampling {
            temperature: 0.0,
            top_p: 1.0,
            top_k: None,
            repetition_penalty: 1.0,
            max_new_tokens: 6,
            seed: 0,
            stop: Vec::new(),
        };
        backend.complete(&[Request { prompt, sampling }]).remove(0).unwrap().text
    };
    let text = goes_on("The capital of France is Paris. The capital of Italy is");
    assert!(text.contains("Rome"), "{text}");
    // Longer than the window of most layers.
    let long = "One, two, three, four, five, six, seven, eight, nine, ten. ".repeat(40);
    let text = goes_on(&format!("{long}One, two, three, four,"));
    assert!(text.starts_with(" five, six"), "{text}");
}
