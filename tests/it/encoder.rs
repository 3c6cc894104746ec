//! Sentence vectors, against sentence-transformers.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use unimatch::nn::{Cpu, CpuLevel, Embedding, EncoderError, EncoderPrecision, SentenceEncoder};

use crate::material;

/// What `scripts/golden/minilm.py` writes.
#[derive(Deserialize)]
struct Golden {
    sentences: Vec<Sentence>,
}

#[derive(Deserialize)]
struct Sentence {
    text: String,
    vector: Vec<f32>,
}

fn sentences() -> Vec<Sentence> {
    let text = fs_err::read_to_string(material::fixture("golden/minilm.json")).unwrap();
    serde_json::from_str::<Golden>(&text).unwrap().sentences
}

fn encoder_of(precision: EncoderPrecision, cpu: Cpu) -> SentenceEncoder {
    SentenceEncoder::load(&material::model("all-MiniLM-L6-v2"), precision, cpu).unwrap()
}

fn encoder() -> SentenceEncoder {
    encoder_of(EncoderPrecision::default(), Cpu::detect())
}

fn encode(encoder: &SentenceEncoder, texts: &[&str]) -> Vec<Embedding> {
    encoder.encode(texts).into_iter().collect::<Result<_, _>>().unwrap()
}

/// A copy of the encoder's folder, the weights left out.
fn copy_without_weights(folder: &Utf8Path) -> Utf8PathBuf {
    let copy = folder.join("all-MiniLM-L6-v2");
    fs_err::create_dir_all(copy.join("1_Pooling")).unwrap();
    for file in [
        "modules.json",
        "config.json",
        "tokenizer.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
    ] {
        let original = material::model("all-MiniLM-L6-v2").join(file);
        fs_err::copy(original, copy.join(file)).unwrap();
    }
    copy
}

/// What is said of a folder that was changed by `change`.
fn check_refused(change: impl FnOnce(&Utf8Path), expected: &[&str]) -> EncoderError {
    let folder = tempfile::tempdir().unwrap();
    let copy = copy_without_weights(Utf8Path::from_path(folder.path()).unwrap());
    change(&copy);
    let error = SentenceEncoder::load(&copy, EncoderPrecision::Int16, Cpu::detect()).err().unwrap();
    for part in expected {
        assert!(error.to_string().contains(part), "{error}");
    }
    error
}

/// The vectors of a precision are near those of sentence-transformers.
fn check_golden(precision: EncoderPrecision, least_cosine: f64) {
    let sentences = sentences();
    assert_eq!(sentences.len(), 30);
    let encoder = encoder_of(precision, Cpu::detect());
    let texts: Vec<&str> = sentences.iter().map(|sentence| sentence.text.as_str()).collect();
    for (embedding, sentence) in encode(&encoder, &texts).iter().zip(&sentences) {
        let vector = sentence.vector.clone();
        let golden = Embedding { vector, n_tokens: embedding.n_tokens, n_windows: 1 };
        let cosine = embedding.cosine(&golden).unwrap();
        assert!(least_cosine < cosine, "{cosine} for {:?}", sentence.text);
        let length: f32 = embedding.vector.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-5, "{length}");
        assert!(!embedding.was_long());
    }
}

#[test]
fn vectors_in_single_precision_are_those_of_sentence_transformers() {
    check_golden(EncoderPrecision::F32, 0.999_999);
}

#[test]
fn vectors_from_sixteen_bits_are_those_of_sentence_transformers_too() {
    check_golden(EncoderPrecision::Int16, 0.999_999);
}

#[test]
fn vectors_from_eight_bits_are_near_those_of_sentence_transformers() {
    // Real sentences reach 0.9985 and more; of these texts a lone question mark is worst.
    check_golden(EncoderPrecision::Int8, 0.997);
}

#[test]
fn a_vector_depends_on_its_text_alone_to_the_last_bit() {
    let encoder = encoder();
    let sentences = sentences();
    let texts: Vec<&str> = sentences.iter().map(|sentence| sentence.text.as_str()).collect();
    let together = encode(&encoder, &texts);
    let alone: Vec<Embedding> =
        texts.iter().map(|text| encode(&encoder, &[text]).remove(0)).collect();
    assert_eq!(together, alone);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(together, one_thread.install(|| encode(&encoder, &texts)));
    let portable = Cpu::with_level(CpuLevel::Portable).unwrap();
    let portable = encoder_of(EncoderPrecision::default(), portable);
    let (some, on_portable) = (&texts[..6], encode(&portable, &texts[..6]));
    assert_eq!(on_portable, together[..some.len()]);
}

#[test]
fn a_long_text_is_read_in_windows_and_says_so() {
    let encoder = encoder();
    assert_eq!(encoder.window(), 254);
    let sentence = "The rain fell on the tin roof and nobody spoke. ";
    let end = "In the last line you thank your mother.";
    let long = sentence.repeat(60);
    let long_with_end = format!("{long}{end}");
    let embeddings = encode(&encoder, &[&sentence.repeat(20), end, &long, &long_with_end]);
    let n_windows: Vec<usize> = embeddings.iter().map(|embedding| embedding.n_windows).collect();
    assert_eq!(n_windows, [1, 1, 3, 3]);
    assert_eq!(embeddings[2].n_tokens, 660);
    assert!(embeddings[2].was_long() && !embeddings[0].was_long());
    let cosine = |a: usize, b: usize| embeddings[a].cosine(&embeddings[b]).unwrap();
    // Three equal windows have the vector of one.
    assert!(0.999_999 < cosine(0, 2), "{}", cosine(0, 2));
    // What stands at the end is not cut off.
    assert!(cosine(1, 2) + 0.01 < cosine(1, 3), "{} {}", cosine(1, 2), cosine(1, 3));
}

#[test]
fn text_that_spells_a_special_token_stays_text() {
    let encoder = encoder();
    let embeddings = encode(&encoder, &["[SEP]", "SEP"]);
    assert_eq!(embeddings[0].n_tokens, embeddings[1].n_tokens + 2);
}

#[test]
fn a_folder_that_lacks_a_file_or_holds_another_model_is_refused_by_name() {
    check_refused(|_| (), &["all-MiniLM-L6-v2/model.safetensors"]);
    let remove = |file: &'static str| {
        move |folder: &Utf8Path| fs_err::remove_file(folder.join(file)).unwrap()
    };
    check_refused(remove("modules.json"), &["modules.json"]);
    check_refused(remove("tokenizer.json"), &["tokenizer.json"]);
    check_refused(remove("1_Pooling/config.json"), &["1_Pooling/config.json"]);
    let write = |file: &'static str, text: &'static str| {
        move |folder: &Utf8Path| fs_err::write(folder.join(file), text).unwrap()
    };
    check_refused(write("model.safetensors", "torn"), &["model.safetensors"]);
    check_refused(write("config.json", "{\"vocab_size\": "), &["/config.json", "line 1"]);
    let odd = "{\"pooling_mode\": \"median\"}";
    let error = check_refused(write("1_Pooling/config.json", odd), &["pooling by \"median\""]);
    assert!(matches!(error, EncoderError::Unsupported { .. }));
    let modules =
        "[{\"path\": \"\", \"type\": \"a.Transformer\"}, {\"path\": \"2\", \"type\": \"a.Dense\"}]";
    check_refused(write("modules.json", modules), &["Transformer, Dense"]);
}
