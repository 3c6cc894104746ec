//! Models that others fine-tuned, against transformers, sentence-transformers and peft.

use std::collections::{BTreeMap, HashMap};

use assert_cmd::Command;
use camino::{Utf8Path, Utf8PathBuf};
use candle_core::{Device, Tensor};
use serde::Deserialize;
use serde_json::Value;
use unimatch::{
    nn::{
        Cpu, Decoder, EncoderPrecision, KvMemory, ModelFile, SentenceEncoder, SequenceClassifier,
        Step, TokenClassifier, Wanted, WeightType,
    },
    similarity::{BertScore, UnitPair},
};

use crate::material;

/// What `scripts/golden/foreign.py` writes.
#[derive(Deserialize)]
struct Golden {
    texts: Vec<String>,
    sequence: BTreeMap<String, Vec<SequenceRow>>,
    tokens: BTreeMap<String, Vec<TokenRow>>,
    embeddings: BTreeMap<String, Vec<Vec<f32>>>,
    bert_score: BTreeMap<String, BTreeMap<String, Vec<ScoreRow>>>,
    decoder: DecoderRow,
    minilm: MiniLm,
}

#[derive(Deserialize)]
struct SequenceRow {
    pair: [usize; 2],
    logits: Vec<f64>,
}

#[derive(Deserialize)]
struct TokenRow {
    text: usize,
    /// Of all tokens, those around the text with them.
    logits: Vec<f64>,
}

#[derive(Deserialize)]
struct ScoreRow {
    pair: [usize; 2],
    scores: [f64; 3],
}

#[derive(Deserialize)]
struct DecoderRow {
    tokens: Vec<u32>,
    plain: Vec<f32>,
    adapted: Vec<f32>,
}

#[derive(Deserialize)]
struct MiniLm {
    weight: Vec<f32>,
    bias: Vec<f32>,
    sequence: Vec<SequenceRow>,
    bert_score_5: Vec<ScoreRow>,
}

fn folder(name: &str) -> Utf8PathBuf {
    material::fixture("golden/foreign").join(name)
}

fn golden() -> Golden {
    let text = fs_err::read_to_string(folder("golden.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn path(folder: &tempfile::TempDir) -> &Utf8Path {
    Utf8Path::from_path(folder.path()).unwrap()
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in from.read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(entry.path(), &target);
        } else {
            fs_err::copy(entry.path(), target).unwrap();
        }
    }
}

fn check_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < tolerance, "{what}: {found} and {expected}");
    }
}

fn check_sequence(
    model: &Utf8Path,
    rows: &[SequenceRow],
    (precision, tolerance): (EncoderPrecision, f64),
) {
    let texts = golden().texts;
    let classifier = SequenceClassifier::load(model, precision, Cpu::detect()).unwrap();
    let pairs: Vec<(&str, &str)> =
        rows.iter().map(|row| (&*texts[row.pair[0]], &*texts[row.pair[1]])).collect();
    let together = classifier.classify(&pairs);
    for ((row, found), pair) in rows.iter().zip(together).zip(&pairs) {
        let windows = found.unwrap();
        assert_eq!(windows.len(), 1);
        check_near(&windows[0], &row.logits, tolerance, &format!("{model} {pair:?}"));
        assert_eq!(classifier.classify(&[*pair])[0].as_ref().unwrap(), &windows, "{model}");
    }
}

#[test]
fn pairs_are_classified_as_by_transformers() {
    let golden = golden();
    assert_eq!(golden.sequence.len(), 10);
    for (name, rows) in &golden.sequence {
        let model = match name.split_once('+') {
            Some((base, _)) => format!("{}+{}", folder(base), folder(&format!("{base}-adapter"))),
            None => folder(name).to_string(),
        };
        check_sequence(model.as_ref(), rows, (EncoderPrecision::F32, 2e-4));
        check_sequence(model.as_ref(), rows, (EncoderPrecision::Int16, 2e-2));
    }
}

#[test]
fn tokens_are_labelled_as_by_transformers() {
    let golden = golden();
    assert_eq!(golden.tokens.len(), 7);
    for (kind, rows) in &golden.tokens {
        let model = folder(&format!("{kind}-tokens"));
        let classifier =
            TokenClassifier::load(&model, EncoderPrecision::F32, Cpu::detect()).unwrap();
        assert_eq!(classifier.labels(), ["O", "CUT"]);
        let texts: Vec<&str> = rows.iter().map(|row| &*golden.texts[row.text]).collect();
        for ((row, tokens), text) in rows.iter().zip(classifier.label(&texts)).zip(&texts) {
            let tokens = tokens.unwrap();
            let outputs: Vec<f64> =
                tokens.iter().flat_map(|token| token.outputs.iter().copied()).collect();
            // One token stands before the text and one after it.
            let expected = &row.logits[2..row.logits.len() - 2];
            check_near(&outputs, expected, 2e-4, &format!("{kind} {text:?}"));
            assert!(tokens.iter().all(|token| text.get(token.range.clone()).is_some()));
        }
    }
}

#[test]
fn vectors_are_those_of_sentence_transformers_for_every_kind_and_pooling() {
    let golden = golden();
    assert_eq!(golden.embeddings.len(), 14);
    let texts: Vec<&str> = golden.texts.iter().map(String::as_str).collect();
    let scratch = tempfile::tempdir().unwrap();
    for (name, expected) in &golden.embeddings {
        let model = path(&scratch).join(name);
        if name.starts_with("bert-") {
            for file in ["config.json", "model.safetensors", "tokenizer.json"] {
                fs_err::create_dir_all(&model).unwrap();
                fs_err::copy(folder("bert").join(file), model.join(file)).unwrap();
            }
        }
        copy(&folder(name), &model);
        let encoder = SentenceEncoder::load(&model, EncoderPrecision::F32, Cpu::detect()).unwrap();
        for ((embedding, expected), text) in
            encoder.encode(&texts).into_iter().zip(expected).zip(&texts)
        {
            let wide =
                |vector: &[f32]| -> Vec<f64> { vector.iter().copied().map(f64::from).collect() };
            let vector = wide(&embedding.unwrap().vector);
            assert_eq!(vector.len(), encoder.n_dimensions());
            check_near(&vector, &wide(expected), 2e-4, &format!("{name} {text:?}"));
        }
    }
}

fn check_bert_score(model: &Utf8Path, layer: usize, rows: &[ScoreRow], texts: &[String]) {
    let how = (EncoderPrecision::F32, Cpu::detect());
    let score = BertScore::open(model, Some(layer), how).unwrap();
    let pair = |row: &ScoreRow| [&*texts[row.pair[0]], &*texts[row.pair[1]]];
    let pairs: Vec<UnitPair<'_>> =
        rows.iter().map(pair).map(|[generated, gold]| UnitPair { generated, gold }).collect();
    for (row, found) in rows.iter().zip(score.matches(&pairs)) {
        let found = found.unwrap();
        let found = [found.precision, found.recall, found.f];
        check_near(&found, &row.scores, 1e-5, &format!("{model} layer {layer}"));
    }
    let empty = score.matches(&[UnitPair { generated: " ", gold: "Who?" }]).remove(0);
    assert!(empty.unwrap_err().to_string().contains("no word"));
}

#[test]
fn bert_score_is_that_of_the_formula_over_the_states_of_transformers() {
    let golden = golden();
    for (kind, layers) in &golden.bert_score {
        for (layer, rows) in layers {
            // ModernBERT's last norm is no part of what its other layers give.
            if kind != "modernbert" || layer == "2" {
                let layer = layer.parse().unwrap();
                check_bert_score(&folder(kind), layer, rows, &golden.texts);
            }
        }
    }
    let minilm = material::model("all-MiniLM-L6-v2");
    check_bert_score(&minilm, 5, &golden.minilm.bert_score_5, &golden.texts);
}

#[test]
fn a_real_model_under_a_head_classifies_as_by_transformers() {
    let MiniLm { weight, bias, sequence, .. } = golden().minilm;
    let scratch = tempfile::tempdir().unwrap();
    let (model, base) = (path(&scratch), material::model("all-MiniLM-L6-v2"));
    for file in ["config.json", "tokenizer.json", "tokenizer_config.json"] {
        fs_err::copy(base.join(file), model.join(file)).unwrap();
    }
    let tensors = candle_core::safetensors::load(base.join("model.safetensors"), &Device::Cpu);
    let mut tensors: HashMap<String, Tensor> = tensors.unwrap();
    let weight = Tensor::from_vec(weight, (5, 384), &Device::Cpu).unwrap();
    tensors.insert("classifier.weight".to_owned(), weight);
    let bias = Tensor::from_vec(bias, 5, &Device::Cpu).unwrap();
    tensors.insert("classifier.bias".to_owned(), bias);
    candle_core::safetensors::save(&tensors, model.join("model.safetensors")).unwrap();
    check_sequence(model, &sequence, (EncoderPrecision::F32, 1e-4));
    check_sequence(model, &sequence, (EncoderPrecision::Int16, 2e-3));
}

fn last_logits(path: &str, tokens: &[u32]) -> Vec<f64> {
    let file = ModelFile::open(path.as_ref()).unwrap();
    let decoder = Decoder::open(&file, WeightType::Auto, Cpu::detect()).unwrap();
    let mut sequence = decoder.sequence(None, tokens.len(), &KvMemory::new(1 << 30)).unwrap();
    let step = Step { sequence: &mut sequence, tokens, wanted: Wanted::Last };
    let logits = decoder.forward(&mut [step]).unwrap();
    logits.rows().next().unwrap().iter().copied().map(f64::from).collect()
}

#[test]
fn an_adapter_changes_a_decoder_as_peft_does() {
    let DecoderRow { tokens, plain, adapted } = golden().decoder;
    let wide = |vector: Vec<f32>| -> Vec<f64> { vector.into_iter().map(f64::from).collect() };
    let base = folder("llama");
    check_near(&last_logits(base.as_str(), &tokens), &wide(plain), 2e-3, "plain");
    let with_adapter = format!("{base}+{}", folder("llama-adapter"));
    check_near(&last_logits(&with_adapter, &tokens), &wide(adapted), 2e-3, "adapted");
    let other = format!("{base}+{}", folder("bert-adapter"));
    let error = ModelFile::open(other.as_ref()).unwrap_err().to_string();
    assert!(error.contains("modules_to_save"), "{error}");
    let gguf = material::model("SmolLM2-135M-Instruct.Q4_1.gguf");
    let file = format!("{gguf}+{}", folder("llama-adapter"));
    let error = ModelFile::open(file.as_ref()).unwrap_err().to_string();
    assert!(error.contains("folder of Hugging Face"), "{error}");
}

fn refusal(change: impl FnOnce(&Utf8Path)) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let model = path(&scratch).join("model");
    copy(&folder("bert"), &model);
    change(&model);
    SequenceClassifier::load(&model, EncoderPrecision::F32, Cpu::detect())
        .err()
        .unwrap()
        .to_string()
}

#[test]
fn what_does_not_run_here_is_refused_with_the_way_out() {
    let error = refusal(|model| {
        fs_err::rename(model.join("model.safetensors"), model.join("pytorch_model.bin")).unwrap();
    });
    assert!(error.contains("pickle") && error.contains("save_pretrained"), "{error}");
    let change = |from: &'static str, to: &'static str| {
        move |model: &Utf8Path| {
            let path = model.join("config.json");
            let text = fs_err::read_to_string(&path).unwrap();
            assert!(text.contains(from));
            fs_err::write(path, text.replace(from, to)).unwrap();
        }
    };
    assert!(refusal(change("\"bert\"", "\"electra\"")).contains("electra"));
    let error = refusal(change("BertForSequence", "BertForToken"));
    assert!(error.contains("BertForTokenClassification"), "{error}");
    let error = refusal(change("\"4\": \"LABEL_4\"", "\"9\": \"LABEL_4\""));
    assert!(error.contains("id2label"), "{error}");
    let minilm = material::model("all-MiniLM-L6-v2");
    let error = SequenceClassifier::load(&minilm, EncoderPrecision::F32, Cpu::detect()).err();
    assert!(error.unwrap().to_string().contains("fine-tuned"));
}

#[test]
fn a_pair_that_is_too_long_is_read_in_windows() {
    let classifier =
        SequenceClassifier::load(&folder("bert"), EncoderPrecision::F32, Cpu::detect()).unwrap();
    let long = "Your thesis is clear, but the second reason has no example. ".repeat(12);
    let windows = classifier.classify(&[(&long, "Who is Alex?"), ("Great.", "Who is Alex?")]);
    let n_windows: Vec<usize> = windows.iter().map(|w| w.as_ref().unwrap().len()).collect();
    assert!(1 < n_windows[0] && n_windows[1] == 1, "{n_windows:?}");
}

fn program(arguments: &[&str], input: &str) -> String {
    let output = Command::cargo_bin("unimatch")
        .unwrap()
        .args(arguments)
        .write_stdin(input)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_classifier_rates_with_its_five_probabilities() {
    let golden = golden();
    let row = &golden.sequence["bert+adapter"][0];
    let [generated, gold] = row.pair.map(|text| golden.texts[text].clone());
    let pair = serde_json::json!({"id": 1, "generated": generated, "gold": gold}).to_string();
    let scorer = format!("classifier:{}+{}", folder("bert"), folder("bert-adapter"));
    let line: Value =
        serde_json::from_str(&program(&["rate", "-", "--scorer", &scorer], &pair)).unwrap();
    let sum: f64 = row.logits.iter().map(|x| x.exp()).sum();
    let shares: Vec<f64> = row.logits.iter().map(|x| x.exp() / sum).collect();
    let found: Vec<f64> =
        line["probabilities"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    check_near(&found, &shares, 2e-3, "probabilities");
    let mean: f64 = shares.iter().zip([0.0, 1.0, 2.0, 3.0, 4.0]).map(|(p, x)| p * x).sum();
    check_near(&[line["rating"].as_f64().unwrap()], &[mean], 5e-3, "rating");
}

#[test]
fn a_run_is_cut_and_rated_by_classifiers_and_names_their_files() {
    let scratch = tempfile::tempdir().unwrap();
    let out = path(&scratch).join("run");
    let corpus = material::fixture("corpus").to_string();
    let generator = format!("scripted:{}", material::fixture("replies.jsonl"));
    let segmenter = format!("classifier:{}", folder("mpnet-tokens"));
    let scorer = format!("classifier:{}", folder("deberta-v2"));
    program(
        &[
            "run",
            &corpus,
            "--generator",
            &generator,
            "--segmenter",
            &segmenter,
            "--scorer",
            &scorer,
            "--out",
            out.as_str(),
        ],
        "",
    );
    let manifest: Value =
        serde_json::from_str(&fs_err::read_to_string(out.join("run.json")).unwrap()).unwrap();
    let manifest = manifest.to_string();
    for part in ["mpnet-tokens", "deberta-v2", "model.safetensors", "tokenizer_config.json"] {
        assert!(manifest.contains(part), "{part} is not in {manifest}");
    }
    let mut n_pairs = 0;
    for entry in out.join("score").read_dir_utf8().unwrap() {
        let text = fs_err::read_to_string(entry.unwrap().path()).unwrap();
        n_pairs += text.matches("\"probabilities\":[").count();
    }
    assert!(0 < n_pairs);
}
