//! A prompt as the tokens of one model.

use crate::{
    nn::{AddGenerationPrompt, ChatTemplate, Message, Role, SpecialTokens, Tokenizer},
    prompt::{Prompt, PromptFormat},
};

/// What a model needs to be spoken to.
pub(super) struct Speech {
    pub(super) tokenizer: Tokenizer,
    pub(super) template: Option<ChatTemplate>,
}

impl Speech {
    /// The tokens of a prompt, with the beginning-of-sequence tokens that its format
    /// asks for. On failure, why.
    ///
    /// What people wrote is never read as a special token, even where it spells one.
    pub(super) fn tokens(&self, prompt: &Prompt) -> Result<Vec<u32>, String> {
        self.tokens_with(prompt, "")
    }

    /// The tokens of a prompt with each of some beginnings of a reply to it, cut into
    /// tokens as the model would see them. On failure, why.
    pub(super) fn tokens_with_each(
        &self,
        prompt: &Prompt,
        replies: &[&str],
    ) -> Result<Vec<Vec<u32>>, String> {
        let tokens = self.tokens(prompt)?;
        let Some(end) = self.end_of_prompt(prompt)? else {
            return replies.iter().map(|reply| self.tokens_with(prompt, reply)).collect();
        };
        // A special token parts the end from what is before it, so that only the end
        // can change with the reply.
        let alone = self.encode(&end, SpecialTokens::Parse)?;
        let is_special = alone.first().is_some_and(|&id| self.tokenizer.decode(&[id]).is_empty());
        match tokens.strip_suffix(&alone[..]).filter(|_| is_special) {
            None => replies.iter().map(|reply| self.tokens_with(prompt, reply)).collect(),
            Some(before) => replies
                .iter()
                .map(|reply| Ok([before, &self.encode_end(&end, reply)?].concat()))
                .collect(),
        }
    }

    /// What the chat template writes after the last message, if anything.
    fn end_of_prompt(&self, prompt: &Prompt) -> Result<Option<String>, String> {
        if prompt.format == PromptFormat::Raw {
            return Ok(None);
        }
        let text = self.chat_text(&messages(prompt))?;
        let end = text.rsplit_once(prompt.user.trim()).map(|(_, end)| end.to_owned());
        Ok(end.filter(|end| !end.is_empty()))
    }

    fn tokens_with(&self, prompt: &Prompt, reply: &str) -> Result<Vec<u32>, String> {
        let bos = self.tokenizer.bos().filter(|_| self.tokenizer.adds_bos());
        let mut tokens = match prompt.format {
            PromptFormat::Raw => self.encode(&(raw_text(prompt) + reply), SpecialTokens::Plain)?,
            PromptFormat::Chat | PromptFormat::ChatTwice => self.chat_tokens(prompt, reply)?,
        };
        let has_bos = tokens.first().copied() == bos;
        if let Some(bos) = bos
            && (!has_bos || prompt.format == PromptFormat::ChatTwice)
        {
            tokens.insert(0, bos);
        }
        Ok(tokens)
    }

    /// The tokens that end a reply: those of the tokenizer, and the one that the chat
    /// template writes after what the model says.
    pub(super) fn end_ids(&self) -> Vec<u32> {
        let mut end_ids = self.tokenizer.end_ids().to_vec();
        end_ids.extend(self.template.as_ref().and_then(|template| self.end_of_turn(template)));
        end_ids.sort_unstable();
        end_ids.dedup();
        end_ids
    }

    fn end_of_turn(&self, template: &ChatTemplate) -> Option<u32> {
        const REPLY: &str = "Certainly.";
        let messages = [message(Role::User, "Hello."), message(Role::Assistant, REPLY)];
        let text = template.render(&messages, AddGenerationPrompt::No).ok()?;
        let (_, after) = text.split_once(REPLY)?;
        let tokens = self.encode(after.trim_start(), SpecialTokens::Parse).ok()?;
        let first = tokens.first().copied()?;
        // A special token has no text, and one whose text is an unfinished character
        // cannot be first.
        self.tokenizer.decode(&[first]).is_empty().then_some(first)
    }

    /// The text of a prompt as the model gets it, before tokens. On failure, why.
    pub(super) fn text(&self, prompt: &Prompt) -> Result<String, String> {
        match prompt.format {
            PromptFormat::Raw => Ok(raw_text(prompt)),
            PromptFormat::Chat | PromptFormat::ChatTwice => self.chat_text(&messages(prompt)),
        }
    }

    fn chat_text(&self, messages: &[Message]) -> Result<String, String> {
        let template = self.template.as_ref().ok_or(
            "the model file has no chat template: use `--format raw`, or a model tuned to chat",
        )?;
        template.render(messages, AddGenerationPrompt::Yes).map_err(|error| error.to_string())
    }

    fn chat_tokens(&self, prompt: &Prompt, reply: &str) -> Result<Vec<u32>, String> {
        let messages = messages(prompt);
        let text = self.chat_text(&messages)?;
        let mut tokens = Vec::new();
        let mut rest = text.as_str();
        for Message { content, .. } in &messages {
            // Templates may cut white space off.
            let content = content.trim();
            if self.spells_special(content)?
                && let Some((before, after)) = rest.split_once(content)
            {
                tokens.extend(self.encode(before, SpecialTokens::Parse)?);
                tokens.extend(self.encode(content, SpecialTokens::Plain)?);
                rest = after;
            }
        }
        tokens.extend(self.encode_end(rest, reply)?);
        Ok(tokens)
    }

    /// The tokens of the end of a prompt and the beginning of a reply.
    fn encode_end(&self, end: &str, reply: &str) -> Result<Vec<u32>, String> {
        if self.spells_special(reply)? {
            let mut tokens = self.encode(end, SpecialTokens::Parse)?;
            tokens.extend(self.encode(reply, SpecialTokens::Plain)?);
            return Ok(tokens);
        }
        self.encode(&[end, reply].concat(), SpecialTokens::Parse)
    }

    fn spells_special(&self, text: &str) -> Result<bool, String> {
        let plain = self.encode(text, SpecialTokens::Plain)?;
        Ok(plain != self.encode(text, SpecialTokens::Parse)?)
    }

    fn encode(&self, text: &str, special: SpecialTokens) -> Result<Vec<u32>, String> {
        self.tokenizer.encode(text, special).map_err(|error| error.to_string())
    }
}

fn raw_text(prompt: &Prompt) -> String {
    let parts = prompt.system.iter().chain([&prompt.user]);
    parts.map(String::as_str).collect::<Vec<_>>().join("\n\n")
}

fn messages(prompt: &Prompt) -> Vec<Message> {
    let system = prompt.system.as_deref().map(|text| message(Role::System, text));
    system.into_iter().chain([message(Role::User, &prompt.user)]).collect()
}

fn message(role: Role, content: &str) -> Message {
    Message { role, content: content.to_owned() }
}
