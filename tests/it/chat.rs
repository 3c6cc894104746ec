//! Chat templates, against transformers.

use std::collections::BTreeMap;

use camino::Utf8Path;
use candle_core::quantized::gguf_file::Content;
use fs_err::File;
use serde::Deserialize;
use unimatch::nn::{AddGenerationPrompt, ChatTemplate, Message, Role};

use crate::material;

/// What `scripts/golden/chat_templates.py` writes.
#[derive(Deserialize)]
struct Golden {
    bos_token: String,
    eos_token: String,
    renderings: Vec<Rendering>,
}

#[derive(Deserialize)]
struct Rendering {
    template: String,
    messages: Vec<GoldenMessage>,
    add_generation_prompt: bool,
    /// `None` where the template refuses the conversation.
    text: Option<String>,
}

#[derive(Deserialize)]
struct GoldenMessage {
    role: String,
    content: String,
}

fn golden() -> Golden {
    let text = fs_err::read_to_string(material::fixture("golden/chat_templates.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn template(name: &str, golden: &Golden) -> ChatTemplate {
    let template = if Utf8Path::new(name).extension() == Some("gguf") {
        let content = Content::read(&mut File::open(material::model(name)).unwrap()).unwrap();
        ChatTemplate::from_gguf(&content).unwrap().unwrap()
    } else {
        let source = material::fixture("chat_templates").join(name);
        let source = fs_err::read_to_string(source).unwrap();
        let (bos, eos) = (golden.bos_token.clone(), golden.eos_token.clone());
        ChatTemplate::new(&source, Some(bos), Some(eos)).unwrap()
    };
    template.with_date(jiff::civil::date(2024, 7, 26))
}

fn messages(rendering: &Rendering) -> Vec<Message> {
    let message = |golden: &GoldenMessage| {
        let role = match golden.role.as_str() {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            other => panic!("no role {other}"),
        };
        Message { role, content: golden.content.clone() }
    };
    rendering.messages.iter().map(message).collect()
}

#[test]
fn templates_render_as_transformers_renders_them() {
    let golden = golden();
    let mut templates: BTreeMap<&str, ChatTemplate> = BTreeMap::new();
    let mut n_rendered = 0;
    for rendering in &golden.renderings {
        let name = rendering.template.as_str();
        let template = templates.entry(name).or_insert_with(|| template(name, &golden));
        let messages = messages(rendering);
        let add_generation_prompt = if rendering.add_generation_prompt {
            AddGenerationPrompt::Yes
        } else {
            AddGenerationPrompt::No
        };
        let has_system = messages.iter().any(|message| message.role == Role::System);
        if has_system && !template.supports_system() {
            continue;
        }
        let text = template.render(&messages, add_generation_prompt).ok();
        assert_eq!(text, rendering.text, "{}: {messages:?}", rendering.template);
        n_rendered += 1;
    }
    assert!(100 < n_rendered, "{n_rendered}");
}

#[test]
fn each_template_says_whether_it_has_a_place_for_a_system_message() {
    let golden = golden();
    let supports = |name| template(name, &golden).supports_system();
    assert!(supports("SmolLM2-135M-Instruct.Q4_1.gguf"));
    assert!(supports("headers.jinja"));
    assert!(supports("chatml.jinja"));
    assert!(supports("marks.jinja"));
    assert!(!supports("brackets.jinja"));
    assert!(!supports("turns.jinja"));
}
