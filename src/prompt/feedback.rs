//! Requests for feedback on the paragraphs of a draft.

use crate::corpus::Draft;

use super::{
    Condition, ContextUse, DraftTokens, FeedbackSlots, FixedTokens, GenerationSettings, Library,
    Preset, Prompt, PromptError, TokenCounter, fit,
};

/// Renders requests for feedback under one condition and one preset.
#[derive(Clone, Copy)]
pub struct FeedbackPrompts<'a> {
    library: &'a Library,
    condition: Condition,
    preset: Preset,
    counter: &'a dyn TokenCounter,
    max_new_tokens: usize,
    n_empty_tokens: usize,
}

/// A prompt and how much of the essay it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedPrompt {
    /// The prompt.
    pub prompt: Prompt,
    /// What was done to the essay.
    pub context: ContextUse,
}

impl<'a> FeedbackPrompts<'a> {
    /// Prepares to render, and counts the empty prompt. `settings` say how many
    /// tokens must stay free for the reply.
    ///
    /// # Errors
    ///
    /// If the library cannot serve the condition.
    pub fn new(
        library: &'a Library,
        condition: Condition,
        preset: Preset,
        settings: &GenerationSettings,
        counter: &'a dyn TokenCounter,
    ) -> Result<Self, PromptError> {
        let slots = FeedbackSlots { context: "", paragraph: "", rubric: Some("") };
        let empty = library.feedback(condition, &slots, preset.format())?;
        let n_system_tokens = empty.system.as_deref().map_or(0, |text| counter.count(text));
        Ok(Self {
            library,
            condition,
            preset,
            counter,
            max_new_tokens: settings.max_new_tokens,
            n_empty_tokens: n_system_tokens + counter.count(&empty.user),
        })
    }

    /// Counts a draft's paragraphs, once for all its targets. Paragraphs and
    /// rubric are trimmed.
    pub fn for_draft(&self, draft: &'a Draft) -> DraftPrompts<'a> {
        let paragraphs: Vec<&str> =
            draft.paragraphs.iter().map(|paragraph| paragraph.text.trim()).collect();
        let rubric = draft.rubric.as_ref().map(|rubric| rubric.text.trim());
        let n_rubric_tokens = match rubric {
            Some(rubric) if self.condition.rubric => self.counter.count(rubric),
            _ => 0,
        };
        let tokens = DraftTokens::count(&paragraphs, self.counter);
        DraftPrompts { prompts: *self, paragraphs, rubric, tokens, n_rubric_tokens }
    }
}

/// Renders the requests of one draft.
pub struct DraftPrompts<'a> {
    prompts: FeedbackPrompts<'a>,
    paragraphs: Vec<&'a str>,
    rubric: Option<&'a str>,
    tokens: DraftTokens,
    n_rubric_tokens: usize,
}

impl DraftPrompts<'_> {
    /// Renders the request for feedback on the paragraph with this index.
    ///
    /// # Errors
    ///
    /// If the paragraph alone is over budget, or the condition asks for an
    /// assignment and the draft has none.
    ///
    /// # Panics
    ///
    /// If the draft has no such paragraph.
    pub fn render(&self, target: usize) -> Result<RenderedPrompt, PromptError> {
        let FeedbackPrompts { library, condition, preset, counter, .. } = self.prompts;
        let budget = preset.budget(counter.context_length(), self.prompts.max_new_tokens);
        let fixed = FixedTokens {
            n_empty_tokens: self.prompts.n_empty_tokens,
            n_rubric_tokens: self.n_rubric_tokens,
        };
        let fitted = fit(&self.tokens, target, fixed, budget)?;
        let slots = FeedbackSlots {
            context: &fitted.text(&self.paragraphs),
            paragraph: self.paragraphs[target],
            rubric: self.rubric,
        };
        let prompt = library.feedback(condition, &slots, preset.format())?;
        Ok(RenderedPrompt { prompt, context: fitted.used })
    }
}
