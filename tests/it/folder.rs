//! Folders of Hugging Face that are whole, in parts, and not as they should be.

use std::collections::BTreeMap;

use camino::Utf8Path;
use candle_core::{DType, Tensor};
use serde_json::{Value, json};
use unimatch::{
    backend::{
        Backend, FinishReason, Request, Sampling,
        local::{LocalBackend, LocalOptions},
    },
    nn::{Cpu, Decoder, DecoderConfig, ModelError, ModelFile, ModelFolder, WeightType},
    prompt::{Prompt, PromptFormat},
};

use crate::{
    family::{self, Case, case, tokens},
    tiny::logits,
};

fn in_folder<T>(work: impl FnOnce(&Utf8Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    work(Utf8Path::from_path(folder.path()).unwrap())
}

fn open(folder: &Utf8Path) -> Result<Decoder, ModelError> {
    Decoder::open(&ModelFile::open(folder)?, WeightType::Auto, Cpu::detect())
}

/// What is said of a folder after some change.
fn complaint(name: &str, change: impl FnOnce(&Utf8Path)) -> String {
    in_folder(|folder| {
        let case = case(name);
        case.write_folder(folder, &case.settings);
        change(folder);
        open(folder).unwrap_err().to_string().replace(folder.as_str(), "FOLDER")
    })
}

/// What is said of a folder with a setting changed; null takes it away.
fn complaint_of(name: &str, key: &str, value: Value) -> String {
    complaint(name, |folder| {
        let mut settings = case(name).settings;
        if value.is_null() {
            settings.as_object_mut().unwrap().remove(key);
        } else {
            settings[key] = value;
        }
        fs_err::write(folder.join("config.json"), settings.to_string()).unwrap();
    })
}

/// Writes the weights in two files and an index.
fn write_parts(folder: &Utf8Path, weights: &BTreeMap<String, Tensor>) {
    let names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    let mut parts = [BTreeMap::new(), BTreeMap::new()];
    let mut map = BTreeMap::new();
    for (index, (name, tensor)) in weights.iter().enumerate() {
        parts[index % 2].insert(name.clone(), tensor.clone());
        map.insert(name, names[index % 2]);
    }
    for (name, part) in names.iter().zip(&parts) {
        family::save(part, &folder.join(name));
    }
    fs_err::remove_file(folder.join("model.safetensors")).unwrap();
    let index = json!({ "metadata": {}, "weight_map": map });
    fs_err::write(folder.join("model.safetensors.index.json"), index.to_string()).unwrap();
}

fn rewrite(folder: &Utf8Path, change: impl FnOnce(&mut Vec<u8>)) {
    let path = folder.join("model.safetensors");
    let mut bytes = fs_err::read(&path).unwrap();
    change(&mut bytes);
    fs_err::write(&path, bytes).unwrap();
}

#[test]
fn weights_in_parts_are_those_in_one_file() {
    let case = case("llama");
    in_folder(|folder| {
        case.write_folder(folder, &case.settings);
        let whole = logits(&open(folder).unwrap(), &tokens(20));
        write_parts(folder, &case.weights());
        assert_eq!(logits(&open(folder).unwrap(), &tokens(20)), whole);
        let files = ModelFolder::files(folder).unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.file_name().unwrap()).collect();
        assert_eq!(
            names,
            [
                "config.json",
                "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors",
                "model.safetensors.index.json"
            ]
        );
    });
}

#[test]
fn a_model_that_also_sees_is_read_as_one_that_reads() {
    let case = case("gemma3");
    let plain = in_folder(|folder| {
        case.write_folder(folder, &case.settings);
        logits(&open(folder).unwrap(), &tokens(20))
    });
    let mut text = case.settings.clone();
    // What is as in the smallest model is left out.
    text.as_object_mut().unwrap().remove("rope_theta");
    let settings = json!({ "model_type": "gemma3", "text_config": text, "vision_config": {} });
    for prefix in ["language_model.model.", "model.language_model."] {
        in_folder(|folder| {
            case.write_folder(folder, &settings);
            let renamed = case
                .weights()
                .into_iter()
                .map(|(name, tensor)| (name.replace("model.", prefix), tensor))
                .collect();
            family::save(&renamed, &folder.join("model.safetensors"));
            assert_eq!(logits(&open(folder).unwrap(), &tokens(20)), plain, "{prefix}");
        });
    }
}

#[test]
fn settings_left_out_are_those_of_the_smallest_gemma() {
    in_folder(|folder| {
        let file = folder.join("config.json");
        let text = json!({
            "model_type": "gemma3",
            "text_config": {
                "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
                "num_hidden_layers": 34, "sliding_window": 1024,
                "rope_scaling": { "factor": 8.0, "rope_type": "linear" },
            },
        });
        fs_err::write(&file, text.to_string()).unwrap();
        let config = DecoderConfig::from_config_json(&file).unwrap();
        assert_eq!((config.n_heads, config.n_kv_heads, config.head_size), (8, 4, 256));
        assert_eq!((config.vocabulary_size, config.context_length), (262_208, 131_072));
        assert_eq!(config.layers.iter().filter(|layer| layer.window.is_none()).count(), 5);
        let factors: Vec<(f32, f32)> = config.layers[4..6]
            .iter()
            .map(|layer| (layer.rotation.base, layer.rotation.factor))
            .collect();
        assert_eq!(factors, [(10_000.0, 1.0), (1e6, 8.0)]);
    });
}

#[test]
fn what_is_wrong_with_a_folder_is_named() {
    let complaints = [
        complaint("llama", |folder| fs_err::remove_file(folder.join("config.json")).unwrap()),
        complaint("llama", |folder| fs_err::remove_file(folder.join("model.safetensors")).unwrap()),
        complaint("llama", |folder| {
            write_parts(folder, &case("llama").weights());
            fs_err::remove_file(folder.join("model-00002-of-00002.safetensors")).unwrap();
        }),
        complaint("llama", |folder| {
            let mut weights = case("llama").weights();
            weights.remove("lm_head.weight");
            family::save(&weights, &folder.join("model.safetensors"));
        }),
        complaint("llama", |folder| {
            let mut weights = case("llama").weights();
            let name = "model.layers.1.self_attn.k_proj.weight";
            let turned = weights[name].t().unwrap().contiguous().unwrap();
            weights.insert(name.to_owned(), turned);
            family::save(&weights, &folder.join("model.safetensors"));
        }),
        complaint("llama", |folder| {
            let mut weights = case("llama").weights();
            let name = "model.layers.0.mlp.up_proj.weight";
            let wide = weights[name].to_dtype(DType::F64).unwrap();
            weights.insert(name.to_owned(), wide);
            family::save(&weights, &folder.join("model.safetensors"));
        }),
        complaint("llama", |folder| {
            let mut weights = case("llama").weights();
            let bias = Tensor::zeros(64, DType::F32, &candle_core::Device::Cpu).unwrap();
            weights.insert("model.layers.1.self_attn.o_proj.bias".to_owned(), bias);
            family::save(&weights, &folder.join("model.safetensors"));
        }),
        complaint("qwen3", |folder| {
            let mut weights = case("qwen3").weights();
            weights.remove("model.layers.1.self_attn.k_norm.weight");
            family::save(&weights, &folder.join("model.safetensors"));
        }),
        complaint("llama", |folder| {
            fs_err::write(folder.join("config.json"), "{\"model_type\": ").unwrap();
        }),
        complaint_of("llama", "hidden_size", Value::Null),
        complaint_of("llama", "model_type", json!("gpt_neox")),
        complaint_of("llama", "num_key_value_heads", json!(3)),
        complaint_of("llama", "vocab_size", json!("many")),
        complaint_of("llama3", "rope_scaling", json!({ "rope_type": "llama3", "factor": 8.0 })),
        complaint_of("llama3", "rope_scaling", json!({ "type": "dynamic", "factor": 8.0 })),
        complaint_of("llama", "quantization_config", json!({ "quant_method": "gptq" })),
        complaint_of("llama", "hidden_act", json!("relu")),
        complaint_of("gemma3", "layer_types", json!(["full_attention"])),
    ];
    let way_out = "give a GGUF file, or a folder of Hugging Face with config.json, tokenizer.json and weights in model.safetensors";
    let kinds = "and those that run here are: llama, mistral, qwen2, qwen3, gemma3_text";
    let expected = [
        format!("FOLDER has no config.json: {way_out}"),
        format!("FOLDER has no model.safetensors: {way_out}"),
        "FOLDER/model.safetensors.index.json names \"model-00002-of-00002.safetensors\", which is not in its folder: fetch that file too".to_owned(),
        "FOLDER has no tensor \"lm_head.weight\": the file is incomplete, fetch or convert it again".to_owned(),
        "\"model.layers.1.self_attn.k_proj.weight\" in FOLDER has the shape [64, 32], and its metadata asks for [32, 64]".to_owned(),
        "FOLDER/model.safetensors holds tensors of a type that is not supported (\"model.layers.0.mlp.up_proj.weight\" is F64): use a file in F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 or K-quants".to_owned(),
        "FOLDER has a tensor \"model.layers.1.self_attn.o_proj.bias\", which this program does not read: use another model".to_owned(),
        "FOLDER has no tensor \"model.layers.1.self_attn.k_norm.weight\": the file is incomplete, fetch or convert it again".to_owned(),
        "FOLDER/config.json is not the JSON that it should be (EOF while parsing a value at line 1 column 15): fetch it again".to_owned(),
        "FOLDER/config.json has no \"hidden_size\": fetch the folder of the model again".to_owned(),
        format!("FOLDER/config.json is a model of the kind \"gpt_neox\", {kinds}"),
        "\"num_key_value_heads\" in FOLDER/config.json is 3, expected a part of the heads".to_owned(),
        "\"vocab_size\" in FOLDER/config.json is \"many\", expected a whole number from 0 on".to_owned(),
        "FOLDER/config.json has no \"rope_scaling.low_freq_factor\": fetch the folder of the model again".to_owned(),
        "\"rope_scaling.type\" in FOLDER/config.json is dynamic, expected `default`, `linear`, `llama3` or `yarn`".to_owned(),
        format!("FOLDER/config.json is a model of the kind \"llama with \\\"quantization_config\\\"\", {kinds}"),
        "\"hidden_act\" in FOLDER/config.json is relu, expected `silu` or `gelu_pytorch_tanh`".to_owned(),
        "\"layer_types\" in FOLDER/config.json is a list of 1, expected `full_attention` or `sliding_attention` for each of 7 layers".to_owned(),
    ];
    for (found, expected) in complaints.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_file_of_tensors_that_was_cut_or_damaged_is_refused() {
    in_folder(|folder| {
        let case = case("llama");
        case.write_folder(folder, &case.settings);
        let path = folder.join("model.safetensors");
        let whole = fs_err::read(&path).unwrap();
        for length in (0..whole.len()).step_by(9973).chain(0..20).chain([whole.len() - 1]) {
            fs_err::write(&path, &whole[..length]).unwrap();
            match open(folder).unwrap_err() {
                ModelError::Header { file, .. } => assert_eq!(file, path),
                ModelError::Truncated { size_bytes, .. } => assert_eq!(size_bytes, length as u64),
                ModelError::Io(_) => assert_eq!(length, 0),
                other => panic!("cut at {length}: {other}"),
            }
        }
        fs_err::write(&path, &whole).unwrap();
        rewrite(folder, |bytes| bytes[7] = 0xff);
        assert!(open(folder).unwrap_err().to_string().contains("longer than the file"));
        for at in (0..2000).step_by(7) {
            fs_err::write(&path, &whole).unwrap();
            rewrite(folder, |bytes| bytes[at] ^= 0x15);
            // A byte of a name may be any other, so not all are errors.
            let _ = open(folder);
        }
    });
}

/// A tokenizer of letters, whose special tokens are a beginning, an end of a text and
/// an end of a turn.
fn tokenizer() -> Value {
    let mut vocabulary: BTreeMap<String, usize> = BTreeMap::new();
    for letter in ('a'..='z').chain('A'..='Z').chain(['.', '!', '?', 'Ġ', 'Ċ', ',']) {
        let id = vocabulary.len();
        vocabulary.insert(letter.to_string(), id + 3);
    }
    let special = ["<s>", "</s>", "<|eot_id|>"];
    let added: Vec<Value> = special
        .iter()
        .enumerate()
        .map(|(id, text)| {
            json!({
                "id": id, "content": text, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true,
            })
        })
        .collect();
    for (id, text) in special.iter().enumerate() {
        vocabulary.insert((*text).to_owned(), id);
    }
    let byte_level = json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true });
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
        "normalizer": null, "pre_tokenizer": byte_level, "decoder": byte_level,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                { "SpecialToken": { "id": "<s>", "type_id": 0 } },
                { "Sequence": { "id": "A", "type_id": 0 } },
            ],
            "pair": [{ "Sequence": { "id": "A", "type_id": 0 } }, { "Sequence": { "id": "B", "type_id": 1 } }],
            "special_tokens": { "<s>": { "id": "<s>", "ids": [0], "tokens": ["<s>"] } },
        },
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "vocab": vocabulary, "merges": [],
        },
    })
}

const TEMPLATE: &str = "{{ bos_token }}{% for message in messages %}\
    {{ message.role }}: {{ message.content }}<|eot_id|>{% endfor %}";

fn write_model(folder: &Utf8Path, case: &Case) {
    case.write_folder(folder, &case.settings);
    let write = |name: &str, text: &str| fs_err::write(folder.join(name), text).unwrap();
    write("tokenizer.json", &tokenizer().to_string());
    let config = json!({ "bos_token": { "content": "<s>" }, "eos_token": "</s>" });
    write("tokenizer_config.json", &config.to_string());
    write("chat_template.jinja", TEMPLATE);
}

fn backend(folder: &Utf8Path) -> LocalBackend {
    LocalBackend::open(folder, WeightType::Q8_0, &LocalOptions::default()).unwrap()
}

fn prompt(format: PromptFormat) -> Prompt {
    Prompt { system: None, user: "Hello <s> there.".to_owned(), format }
}

#[test]
fn a_prompt_to_a_folder_begins_once_whatever_its_format() {
    in_folder(|folder| {
        write_model(folder, &case("llama"));
        let backend = backend(folder);
        assert!(backend.id().starts_with("local:"));
        for (format, n_beginnings) in
            [(PromptFormat::Chat, 1), (PromptFormat::Raw, 1), (PromptFormat::ChatTwice, 2)]
        {
            let tokens = backend.prompt_tokens(&prompt(format)).unwrap();
            assert_eq!(tokens[0], 0);
            // The beginning that the user spells is text.
            let found = tokens.iter().filter(|&&token| token == 0).count();
            assert_eq!(found, n_beginnings, "{format:?}");
            let ends = usize::from(format != PromptFormat::Raw);
            assert_eq!(tokens.iter().filter(|&&token| token == 2).count(), ends);
        }
        // The template may also stand in the configuration, or not be there.
        fs_err::remove_file(folder.join("chat_template.jinja")).unwrap();
        let chat = prompt(PromptFormat::Chat);
        let shown = self::backend(folder).show_prompt(&chat).unwrap_err();
        assert!(shown.contains("no chat template"), "{shown}");
        let config = json!({
            "bos_token": "<s>",
            "chat_template": [
                { "name": "tool_use", "template": "no" },
                { "name": "default", "template": TEMPLATE },
            ],
        });
        fs_err::write(folder.join("tokenizer_config.json"), config.to_string()).unwrap();
        let shown = self::backend(folder).show_prompt(&chat).unwrap();
        assert_eq!(shown, "<s>user: Hello <s> there.<|eot_id|>");
    });
}

#[test]
fn a_reply_ends_at_every_token_that_a_folder_names() {
    in_folder(|folder| {
        write_model(folder, &case("llama"));
        let sampling = Sampling {
            temperature: 0.0,
            top_p: 1.0,
            top_k: None,
            repetition_penalty: 1.0,
            max_new_tokens: 12,
            seed: 0,
            stop: Vec::new(),
        };
        let request = Request { prompt: prompt(PromptFormat::Chat), sampling };
        let reply = |folder: &Utf8Path| {
            backend(folder).complete(std::slice::from_ref(&request)).remove(0).unwrap()
        };
        let free = reply(folder);
        assert!(free.usage.n_completion_tokens > 0);
        let all: Vec<u32> = (0..77).collect();
        let config = json!({ "eos_token_id": all });
        fs_err::write(folder.join("generation_config.json"), config.to_string()).unwrap();
        let ended = reply(folder);
        assert_eq!((ended.finish_reason, ended.usage.n_completion_tokens), (FinishReason::Stop, 0));
        fs_err::write(folder.join("generation_config.json"), "{\"eos_token_id\": \"x\"}").unwrap();
        let error = LocalBackend::open(folder, WeightType::Auto, &LocalOptions::default());
        let error = error.err().unwrap().to_string();
        assert!(
            error.contains("generation_config.json") && error.contains("eos_token_id"),
            "{error}"
        );
        fs_err::remove_file(folder.join("tokenizer.json")).unwrap();
        let error = LocalBackend::open(folder, WeightType::Auto, &LocalOptions::default());
        assert!(error.err().unwrap().to_string().contains("has no tokenizer.json"));
    });
}
