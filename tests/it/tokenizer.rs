//! Token ids, against llama.cpp's.

use camino::Utf8Path;
use candle_core::quantized::gguf_file::Content;
use fs_err::File;
use serde::Deserialize;
use unimatch::nn::{AddGenerationPrompt, ChatTemplate, Message, Role, SpecialTokens, Tokenizer};

use crate::material;

const SMOLLM2: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
const GEMMA3: &str = "gemma-3-270m-q4_k_m.gguf";

/// What `scripts/golden/llama_cpp_tokens.py` writes.
#[derive(Deserialize)]
struct Golden {
    texts: Vec<GoldenText>,
    prompts: Vec<GoldenPrompt>,
}

#[derive(Deserialize)]
struct GoldenText {
    text: String,
    parse: Vec<u32>,
    plain: Vec<u32>,
}

#[derive(Deserialize)]
struct GoldenPrompt {
    messages: Vec<GoldenMessage>,
    add_generation_prompt: bool,
    text: String,
    ids: Vec<u32>,
}

#[derive(Deserialize)]
struct GoldenMessage {
    role: String,
    content: String,
}

fn golden(name: &str) -> Golden {
    let text = fs_err::read_to_string(material::fixture("golden").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn content(path: &Utf8Path) -> Content {
    Content::read(&mut File::open(path).unwrap()).unwrap()
}

fn message(golden: &GoldenMessage) -> Message {
    let role = match golden.role.as_str() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => panic!("no role {other}"),
    };
    Message { role, content: golden.content.clone() }
}

/// All texts, in both ways of reading special tokens.
fn check_texts(tokenizer: &Tokenizer, golden: &Golden) {
    assert!(200 <= golden.texts.len());
    for GoldenText { text, parse, plain } in &golden.texts {
        // llama.cpp takes this for the end of a sequence in every vocabulary that
        // spells it; some vocabularies have it as mark-up, and say so.
        if text == "</s>" {
            continue;
        }
        let ids = tokenizer.encode(text, SpecialTokens::Parse).unwrap();
        assert_eq!(ids, *parse, "{text:?}, special tokens read");
        let ids = tokenizer.encode(text, SpecialTokens::Plain).unwrap();
        assert_eq!(ids, *plain, "{text:?}, special tokens not read");
    }
}

#[test]
fn texts_get_the_ids_that_llama_cpp_gives_them() {
    let tokenizer = Tokenizer::from_gguf(&content(&material::model(SMOLLM2))).unwrap();
    check_texts(&tokenizer, &golden("llama_cpp_tokens_smollm2.json"));
}

#[test]
fn rendered_prompts_get_the_ids_that_llama_cpp_gives_them() {
    let content = content(&material::model(SMOLLM2));
    let tokenizer = Tokenizer::from_gguf(&content).unwrap();
    let template = ChatTemplate::from_gguf(&content).unwrap().unwrap();
    let prompts = golden("llama_cpp_tokens_smollm2.json").prompts;
    assert_eq!(prompts.len(), 20);
    for prompt in prompts {
        let messages: Vec<Message> = prompt.messages.iter().map(message).collect();
        let add_generation_prompt = if prompt.add_generation_prompt {
            AddGenerationPrompt::Yes
        } else {
            AddGenerationPrompt::No
        };
        let text = template.render(&messages, add_generation_prompt).unwrap();
        assert_eq!(text, prompt.text);
        assert_eq!(tokenizer.encode(&text, SpecialTokens::Parse).unwrap(), prompt.ids, "{text:?}");
    }
}

#[test]
fn plain_ids_give_their_text_back() {
    let tokenizer = Tokenizer::from_gguf(&content(&material::model(SMOLLM2))).unwrap();
    // The vocabulary has no token for some bytes of these, and llama.cpp drops them too.
    let not_spelled = ['\u{1}', '\u{7f}', '\u{10ffff}', '\0'];
    for GoldenText { text, .. } in golden("llama_cpp_tokens_smollm2.json").texts {
        if text.contains(not_spelled) {
            continue;
        }
        let ids = tokenizer.encode(&text, SpecialTokens::Plain).unwrap();
        assert_eq!(tokenizer.decode(&ids), text);
    }
}

#[test]
fn more_ids_never_change_the_text_of_fewer() {
    let tokenizer = Tokenizer::from_gguf(&content(&material::model(SMOLLM2))).unwrap();
    let ids = tokenizer.encode("rain 🌧 on 你好, naïve 👩‍👩‍👧‍👦", SpecialTokens::Plain).unwrap();
    let mut text = String::new();
    for n_ids in 0..=ids.len() {
        let longer = tokenizer.decode(&ids[..n_ids]);
        assert!(longer.starts_with(&text), "{text:?} then {longer:?}");
        text = longer;
    }
}

#[test]
fn the_model_file_says_where_sequences_begin_and_end() {
    let tokenizer = Tokenizer::from_gguf(&content(&material::model(SMOLLM2))).unwrap();
    assert_eq!(tokenizer.n_tokens(), 49_152);
    assert_eq!(tokenizer.bos(), Some(1));
    assert!(!tokenizer.adds_bos());
    assert_eq!(tokenizer.end_ids(), [0, 2]);
    assert_eq!(tokenizer.decode(&[1, 9690, 198, 2]), "system\n");
}

/// The vocabularies that lie in the source package of llama-cpp-python under
/// `vendor/llama.cpp/models`, each beside what the script makes of it.
#[test]
fn vocabularies_of_other_families_get_the_ids_that_llama_cpp_gives_them() {
    let Some(folder) = material::optional_model("vocabularies") else {
        return;
    };
    for entry in folder.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        if path.extension() == Some("gguf") {
            let tokenizer = Tokenizer::from_gguf(&content(&path)).unwrap();
            let golden = fs_err::read_to_string(path.with_extension("json")).unwrap();
            check_texts(&tokenizer, &serde_json::from_str(&golden).unwrap());
        }
    }
}

#[test]
fn a_sentencepiece_vocabulary_gets_the_ids_that_llama_cpp_gives_it() {
    let tokenizer = Tokenizer::from_gguf(&content(&material::model(GEMMA3))).unwrap();
    check_texts(&tokenizer, &golden("llama_cpp_tokens_gemma3.json"));
    assert_eq!(tokenizer.bos(), Some(2));
    assert!(tokenizer.adds_bos());
}

#[test]
fn a_tokenizer_file_is_read_with_the_configuration_beside_it() {
    let path = material::model("all-MiniLM-L6-v2/tokenizer.json");
    let tokenizer = Tokenizer::from_file(&path).unwrap();
    let ids = tokenizer.encode("Who is Alex? [SEP]", SpecialTokens::Parse).unwrap();
    assert_eq!(ids, [2040, 2003, 4074, 1029, 102]);
    assert_eq!(tokenizer.decode(&ids), "who is alex?");
    let plain = tokenizer.encode("[SEP]", SpecialTokens::Plain).unwrap();
    assert!(!plain.contains(&102), "{plain:?}");
    assert_eq!((tokenizer.bos(), tokenizer.adds_bos()), (None, false));
    assert_eq!(tokenizer.n_tokens(), 30_522);
}

#[test]
fn a_broken_tokenizer_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("tokenizer.json");
    let missing = Tokenizer::from_file(&path).err().unwrap().to_string();
    assert!(missing.contains("tokenizer.json"), "{missing}");
    fs_err::write(&path, "{\"version\": ").unwrap();
    let torn = Tokenizer::from_file(&path).err().unwrap().to_string();
    assert!(torn.contains("tokenizer.json") && torn.contains("line 1"), "{torn}");
}
