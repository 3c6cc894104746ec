//! Three ways of generating: the paper's, and the two of its public release.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{Budget, PromptFormat};

/// How much of the essay a prompt holds, how it is shown to the model, and how
/// the reply is drawn.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// As the paper says: 8,192 tokens, through the chat template. The default,
    /// for small models too, since every preset keeps within the model's window.
    #[default]
    Paper,
    /// As the release's scripts do: 0.37 of 8,192 tokens, raw.
    RefScript,
    /// As the release's notebook does: 0.36 of the model's window, through the
    /// chat template and then tokenised again with special tokens.
    RefNotebook,
}

/// How a reply is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerationSettings {
    /// The most tokens to draw.
    pub max_new_tokens: usize,
    /// Zero picks the likeliest token.
    pub temperature: f64,
    /// The mass of the nucleus; one keeps every token.
    pub top_p: f64,
    /// The most candidates to draw from; `None` keeps every token.
    pub top_k: Option<usize>,
    /// Hugging Face's repetition penalty, over prompt and output.
    pub repetition_penalty: f64,
    /// The seed of the run.
    pub seed: u64,
}

/// The paper's context, in tokens.
const PAPER_TOKENS: usize = 8_192;

/// Kept free in the window for what a chat template writes around a prompt, a
/// default system message included, and for the error of summed token counts.
const TEMPLATE_TOKENS: usize = 64;

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 3] = [Self::Paper, Self::RefScript, Self::RefNotebook];

    /// Its name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::RefScript => "ref-script",
            Self::RefNotebook => "ref-notebook",
        }
    }

    /// How a local model is shown the prompt.
    pub fn format(self) -> PromptFormat {
        match self {
            Self::Paper => PromptFormat::Chat,
            Self::RefScript => PromptFormat::Raw,
            Self::RefNotebook => PromptFormat::ChatTwice,
        }
    }

    /// How the reply is drawn: at most 250 new tokens, temperature 0.1, top-p
    /// 1, repetition penalty 1.2, seed 42 (section 2 of the paper).
    ///
    /// The release leaves `top_k` to Hugging Face, whose default is 50.
    pub fn settings(self) -> GenerationSettings {
        GenerationSettings {
            max_new_tokens: 250,
            temperature: 0.1,
            top_p: 1.0,
            top_k: match self {
                Self::Paper => None,
                Self::RefScript | Self::RefNotebook => Some(50),
            },
            repetition_penalty: 1.2,
            seed: 42,
        }
    }

    /// What a prompt may hold for a model that holds `window` tokens, of which
    /// `max_new_tokens` are kept for the reply.
    ///
    /// The release's rule binds context and empty prompt alone, so that a long
    /// target or rubric could overflow a small window: the second bound is ours.
    pub fn budget(self, window: usize, max_new_tokens: usize) -> Budget {
        let context_and_empty_prompt = match self {
            Self::Paper => PAPER_TOKENS.min(window),
            Self::RefScript => PAPER_TOKENS.min(window) * 37 / 100,
            Self::RefNotebook => window * 36 / 100,
        };
        let prompt = window.saturating_sub(max_new_tokens.saturating_add(TEMPLATE_TOKENS));
        Budget { context_and_empty_prompt, prompt }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|preset| preset.name() == text).ok_or_else(|| {
            format!("unknown preset `{text}`: there are {}", Self::ALL.map(Self::name).join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_those_of_the_paper_and_its_release() {
        let budget = |preset: Preset, window| preset.budget(window, 250).context_and_empty_prompt;
        assert_eq!(budget(Preset::Paper, 131_072), 8_192);
        assert_eq!(budget(Preset::RefScript, 131_072), 3_031);
        assert_eq!(budget(Preset::RefNotebook, 131_072), 47_185);
        assert_eq!(budget(Preset::Paper, 2_048), 2_048);
        assert_eq!(Preset::Paper.budget(2_048, 250).prompt, 1_734);
        assert_eq!(Preset::Paper.budget(100, 250).prompt, 0);
        assert_eq!(Preset::Paper.budget(100, usize::MAX).prompt, 0);
    }

    #[test]
    fn names_round_trip_and_a_wrong_one_is_told_what_exists() {
        for preset in Preset::ALL {
            assert_eq!(preset.to_string().parse(), Ok(preset));
            let json = serde_json::to_string(&preset).unwrap();
            assert_eq!(json, format!("\"{preset}\""));
        }
        let message = "papre".parse::<Preset>().unwrap_err();
        assert!(message.contains("paper, ref-script, ref-notebook"), "{message}");
    }
}
