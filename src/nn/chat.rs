//! A model's chat template: messages to the text that the model was trained on.

mod folder;

use std::{str::FromStr, sync::LazyLock};

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::quantized::gguf_file;
use minijinja::{
    Environment, Error, ErrorKind, Value, context, syntax::SyntaxConfig, value::Serde,
};
use regex::Regex;
use serde::Serialize;

use super::tokenizer::{Metadata, TokenizerError};

/// The chat template of a model, as Hugging Face's `apply_chat_template` runs it.
///
/// Rendering depends on the template, the messages and the date that was set,
/// never on the clock.
pub struct ChatTemplate {
    environment: Environment<'static>,
    bos_token: Option<String>,
    eos_token: Option<String>,
    supports_system: bool,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Whoever set the model up.
    System,
    /// Whoever talks to the model.
    User,
    /// The model.
    Assistant,
}

/// Whether the text ends where the model's reply begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddGenerationPrompt {
    /// It does: for a text that the model is to go on with.
    Yes,
    /// It ends with the last message.
    No,
}

/// Why a chat template cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// The model file says it in another way than expected.
    #[error("the chat template of the model file cannot be read")]
    Metadata(#[from] TokenizerError),
    /// A file of the model's folder cannot be read.
    #[error("cannot read {file}: {reason}")]
    File {
        /// The file.
        file: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The template is not one.
    #[error("the chat template cannot be parsed: {0}")]
    Syntax(String),
    /// The template refuses the messages.
    #[error("the chat template cannot render the conversation: {0}")]
    Render(String),
}

/// The only template of the environment.
const NAME: &str = "chat template";

impl ChatTemplate {
    /// The date of every prompt that has one, unless another is set: the date
    /// that the templates of Llama 3 write where there is no clock.
    pub const DATE: jiff::civil::Date = jiff::civil::date(2024, 7, 26);

    /// Reads the template that a GGUF file carries, with the texts of its
    /// beginning- and end-of-sequence tokens. `None` where it carries none, as
    /// base models do.
    pub fn from_gguf(content: &gguf_file::Content) -> Result<Option<Self>, ChatError> {
        let metadata = Metadata::of(content);
        let Some(source) = metadata.text("tokenizer.chat_template")? else {
            return Ok(None);
        };
        let texts = metadata.texts("tokenizer.ggml.tokens")?.unwrap_or_default();
        let text_of = |key| -> Result<Option<String>, TokenizerError> {
            let id = metadata.id(key)?;
            Ok(id.and_then(|id| texts.get(id as usize)).map(|&text| text.to_owned()))
        };
        let bos_token = text_of("tokenizer.ggml.bos_token_id")?;
        let eos_token = text_of("tokenizer.ggml.eos_token_id")?;
        Self::new(source, bos_token, eos_token).map(Some)
    }

    /// Reads the template of a Hugging Face folder: `chat_template.jinja`, or that in
    /// `tokenizer_config.json`, where there may be several of which the one called
    /// `default` counts. `None` where there is none, as in base models.
    pub fn from_folder(folder: &Utf8Path) -> Result<Option<Self>, ChatError> {
        folder::template(folder)
    }

    /// Parses a template that may write `bos_token` and `eos_token`.
    pub fn new(
        source: &str,
        bos_token: Option<String>,
        eos_token: Option<String>,
    ) -> Result<Self, ChatError> {
        let mut environment = environment()?;
        environment
            .add_template_owned(NAME, without_generation_marks(source))
            .map_err(|error| ChatError::Syntax(error.to_string()))?;
        let mut template = Self { environment, bos_token, eos_token, supports_system: true };
        template.supports_system = template.tries_system()?;
        Ok(template)
    }

    /// Sets the date that the template's `strftime_now` gives, in place of
    /// [`DATE`](Self::DATE).
    #[must_use]
    pub fn with_date(mut self, date: jiff::civil::Date) -> Self {
        set_date(&mut self.environment, date);
        self
    }

    /// Whether the template has a place for a system message. Where it has none,
    /// [`render`](Self::render) puts the system message before the user's.
    pub fn supports_system(&self) -> bool {
        self.supports_system
    }

    /// The text of a conversation.
    ///
    /// Under a template without system messages, those are put before the user
    /// message that follows them, with an empty line between; one that no user
    /// message follows becomes a user message.
    pub fn render(
        &self,
        messages: &[Message],
        add_generation_prompt: AddGenerationPrompt,
    ) -> Result<String, ChatError> {
        let result = if self.supports_system {
            self.render_as_is(messages, add_generation_prompt)
        } else {
            self.render_as_is(&without_system(messages), add_generation_prompt)
        };
        result.map_err(|error| ChatError::Render(error.to_string()))
    }

    fn render_as_is(
        &self,
        messages: &[Message],
        add_generation_prompt: AddGenerationPrompt,
    ) -> Result<String, Error> {
        let or_undefined =
            |text: &Option<String>| text.clone().map_or(Value::UNDEFINED, Value::from);
        self.environment.get_template(NAME)?.render(context! {
            messages => Serde(messages),
            add_generation_prompt => add_generation_prompt == AddGenerationPrompt::Yes,
            bos_token => or_undefined(&self.bos_token),
            eos_token => or_undefined(&self.eos_token),
            // Templates ask whether these are none, not whether they are there.
            tools => (),
            documents => (),
        })
    }

    /// Whether a system message comes through. A template that cannot even render
    /// a user message is an error.
    fn tries_system(&self) -> Result<bool, ChatError> {
        const MARK: &str = "A system message of the template's test.";
        let user = Message { role: Role::User, content: "Hello.".to_owned() };
        self.render_as_is(std::slice::from_ref(&user), AddGenerationPrompt::Yes)
            .map_err(|error| ChatError::Render(error.to_string()))?;
        let system = Message { role: Role::System, content: MARK.to_owned() };
        let text = self.render_as_is(&[system, user], AddGenerationPrompt::Yes);
        Ok(text.is_ok_and(|text| text.contains(MARK)))
    }
}

impl FromStr for ChatTemplate {
    type Err = ChatError;

    fn from_str(source: &str) -> Result<Self, ChatError> {
        Self::new(source, None, None)
    }
}

/// Jinja as transformers sets it up.
fn environment() -> Result<Environment<'static>, ChatError> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(|error| ChatError::Syntax(error.to_string()))?;
    environment.set_syntax(syntax);
    // An error must not quote the conversation.
    environment.set_debug(false);
    set_date(&mut environment, ChatTemplate::DATE);
    // In Python nothing can be iterated over that is none, and templates ask so.
    environment.add_test("iterable", |value: &Value| !value.is_none() && value.try_iter().is_ok());
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<String, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    Ok(environment)
}

fn set_date(environment: &mut Environment<'_>, date: jiff::civil::Date) {
    environment.add_function("strftime_now", move |format: String| {
        jiff::fmt::strtime::format(&format, date)
            .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
    });
}

/// Takes `{% generation %}` and its end out of a template: they mark what a
/// model is trained on and write nothing.
fn without_generation_marks(source: &str) -> String {
    #[expect(clippy::unwrap_used, reason = "the patterns are constant")]
    static MARKS: LazyLock<[Regex; 2]> = LazyLock::new(|| {
        [r"\{%(-?)\s*generation\s*(-?)%\}", r"\{%(-?)\s*endgeneration\s*(-?)%\}"]
            .map(|pattern| Regex::new(pattern).unwrap())
    });
    let [opens, closes] = &*MARKS;
    let source = opens.replace_all(source, "{%${1} if true ${2}%}");
    closes.replace_all(&source, "{%${1} endif ${2}%}").into_owned()
}

/// The conversation with each system message put before the user message that
/// follows it.
fn without_system(messages: &[Message]) -> Vec<Message> {
    let mut folded: Vec<Message> = Vec::with_capacity(messages.len());
    let mut waiting: Vec<&str> = Vec::new();
    for message in messages {
        match message.role {
            Role::System => waiting.push(&message.content),
            Role::User => {
                waiting.push(&message.content);
                folded.push(user_message(&std::mem::take(&mut waiting)));
            }
            Role::Assistant => {
                if !waiting.is_empty() {
                    folded.push(user_message(&std::mem::take(&mut waiting)));
                }
                folded.push(message.clone());
            }
        }
    }
    if !waiting.is_empty() {
        folded.push(user_message(&waiting));
    }
    folded
}

fn user_message(parts: &[&str]) -> Message {
    Message { role: Role::User, content: parts.join("\n\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A template that knows users and assistants only.
    const STRICT: &str = "{% for message in messages %}\
        {% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\
        {{ raise_exception('roles must alternate') }}{% endif %}\
        [{{ message.role }}:{{ message.content.strip() }}]{% endfor %}";

    fn say(role: Role, content: &str) -> Message {
        Message { role, content: content.to_owned() }
    }

    #[test]
    fn a_system_message_goes_before_the_users_where_the_template_has_no_place_for_it() {
        let template: ChatTemplate = STRICT.parse().unwrap();
        assert!(!template.supports_system());
        let messages = [say(Role::System, "Be brief. "), say(Role::User, "Hi")];
        let text = template.render(&messages, AddGenerationPrompt::No).unwrap();
        assert_eq!(text, "[user:Be brief. \n\nHi]");
        let text = template.render(&messages[..1], AddGenerationPrompt::No).unwrap();
        assert_eq!(text, "[user:Be brief.]");
    }

    #[test]
    fn a_refusal_is_an_error_with_the_templates_reason() {
        let template: ChatTemplate = STRICT.parse().unwrap();
        let messages = [say(Role::User, "Hi"), say(Role::User, "Still there?")];
        let error = template.render(&messages, AddGenerationPrompt::Yes).unwrap_err().to_string();
        assert!(error.contains("roles must alternate"), "{error}");
        assert!(!error.contains("Still there?"), "{error}");
    }

    #[test]
    fn a_template_that_is_none_is_refused() {
        assert!(matches!("{% for %}".parse::<ChatTemplate>(), Err(ChatError::Syntax(_))));
        let refuses_all = "{{ raise_exception('no') }}".parse::<ChatTemplate>();
        assert!(matches!(refuses_all, Err(ChatError::Render(_))));
    }

    #[test]
    fn the_date_is_given_and_not_read_from_the_clock() {
        let source = "{{ strftime_now('%d %b %Y') }} {{ messages[0].content }}";
        let template: ChatTemplate = source.parse().unwrap();
        let messages = [say(Role::User, "Hi")];
        assert_eq!(template.render(&messages, AddGenerationPrompt::No).unwrap(), "26 Jul 2024 Hi");
        let template = template.with_date(jiff::civil::date(2026, 1, 2));
        assert_eq!(template.render(&messages, AddGenerationPrompt::No).unwrap(), "02 Jan 2026 Hi");
    }

    #[test]
    fn marks_of_what_is_trained_on_write_nothing() {
        let source = "{% for message in messages %}{%- generation %}<{{ message.content }}>\
            {% endgeneration -%} {% endfor %}";
        let template: ChatTemplate = source.parse().unwrap();
        let text = template.render(&[say(Role::User, "Hi")], AddGenerationPrompt::No).unwrap();
        assert_eq!(text, "<Hi>");
    }
}
