//! How a byte-level vocabulary cuts text into words, by the name GGUF gives it.
//!
//! The names and what they stand for are llama.cpp's. A name that is not listed
//! is refused: words cut in another way than in training give other tokens.

use fancy_regex::Regex;

use super::TokenizerError;

/// The words of GPT-2.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
/// One digit at a time.
const DIGIT: &str = r"\p{N}";
/// The words of Llama 3: digits by three.
const LLAMA3: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// The words of Qwen 2: as Llama 3, but digits one by one.
const QWEN2: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// The words of Qwen 3.5: as Qwen 2, but marks belong to their letters.
const QWEN35: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// The words of Mistral's Tekken: a capital may begin one in the middle.
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Line breaks one by one.
const LINE_BREAK: &str = r"[\r\n]";
/// The letters of `DeepSeek` LLM: those with a case, as an old Unicode lists them.
const DEEPSEEK_LETTERS: &str = "\\s?[\
    A-Za-z\u{b5}\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{1ba}\u{1bc}-\u{1bf}\u{1c4}-\u{293}\
    \u{295}-\u{2af}\u{370}-\u{373}\u{376}\u{377}\u{37b}-\u{37d}\u{37f}\u{386}\u{388}-\u{38a}\
    \u{38c}\u{38e}-\u{3a1}\u{3a3}-\u{3f5}\u{3f7}-\u{481}\u{48a}-\u{52f}\u{531}-\u{556}\
    \u{10a0}-\u{10c5}\u{13a0}-\u{13f5}\u{13f8}-\u{13fd}\u{1c90}-\u{1cba}\u{1cbd}-\u{1cbf}\
    \u{1d00}-\u{1d2b}\u{1d6b}-\u{1d77}\u{1d79}-\u{1d9a}\u{1e00}-\u{1f15}\u{1f18}-\u{1f1d}\
    \u{1f20}-\u{1f45}\u{1f48}-\u{1f4d}\u{1f50}-\u{1f57}\u{1f59}\u{1f5b}\u{1f5d}\u{1f5f}-\u{1f7d}\
    \u{1f80}-\u{1fb4}\u{1fb6}-\u{1fbc}\u{1fbe}\u{1fc2}-\u{1fc4}\u{1fc6}-\u{1fcc}\u{1fd0}-\u{1fd3}\
    \u{1fd6}-\u{1fdb}\u{1fe0}-\u{1fec}\u{1ff2}-\u{1ff4}\u{1ff6}-\u{1ffc}\u{2102}\u{2107}\
    \u{210a}-\u{2113}\u{2115}\u{2119}-\u{211d}\u{2124}\u{2126}\u{2128}\u{212a}-\u{212d}\
    \u{212f}-\u{2134}\u{2139}\u{213c}-\u{213f}\u{2145}-\u{2149}\u{214e}\u{2183}\u{2184}\
    \u{2c00}-\u{2c7b}\u{2c7e}-\u{2ce4}\u{2ceb}-\u{2cee}\u{2cf2}\u{2cf3}\u{a640}-\u{a66d}\
    \u{a680}-\u{a69b}\u{a722}-\u{a76f}\u{a771}-\u{a787}\u{a78b}-\u{a78e}\u{ab70}-\u{abbf}\
    \u{fb00}-\u{fb06}\u{fb13}-\u{fb17}\u{ff21}-\u{ff3a}\u{ff41}-\u{ff5a}\u{10400}-\u{1044f}\
    \u{104b0}-\u{104d3}\u{104d8}-\u{104fb}\u{10c80}-\u{10cb2}\u{10cc0}-\u{10cf2}\u{118a0}-\u{118df}\
    \u{1e900}-\u{1e943}]+";
/// The punctuation of `DeepSeek` LLM.
const DEEPSEEK_PUNCTUATION: &str =
    r"\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+";
/// The scripts without word breaks of `DeepSeek`.
const DEEPSEEK_SCRIPTS: &str = r"[\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+";

/// Cuts text into words.
pub(super) struct PreTokenizer {
    patterns: Vec<Regex>,
    keeps_whole_words: bool,
    adds_bos: bool,
}

/// What a name of a pre-tokenizer stands for.
struct Rule {
    /// Each cuts what the one before has left, at every match.
    patterns: &'static [&'static str],
    /// Whether a word that is a token is taken as it stands, without merging.
    keeps_whole_words: bool,
    /// Whether sequences begin with a token, where the file does not say.
    adds_bos: bool,
}

fn rule(name: &str) -> Option<Rule> {
    let plain = |patterns| Rule { patterns, keeps_whole_words: false, adds_bos: false };
    let rule = match name {
        "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone" | "minerva-7b" => {
            plain(&[DIGIT, GPT2])
        }
        "gpt-2" | "phi-2" | "mpt" | "olmo" | "jais" | "exaone4" => plain(&[GPT2]),
        "llama-bpe" | "llama3" | "llama-v3" | "falcon3" | "pixtral" => {
            Rule { patterns: &[LLAMA3], keeps_whole_words: true, adds_bos: true }
        }
        "dbrx" | "smaug-bpe" => plain(&[LLAMA3]),
        "qwen2" | "deepseek-r1-qwen" | "megrez" | "stablelm2" | "hunyuan" => plain(&[QWEN2]),
        "qwen35" => plain(&[QWEN35]),
        "deepseek-llm" => plain(&[
            LINE_BREAK,
            DEEPSEEK_LETTERS,
            DEEPSEEK_PUNCTUATION,
            r"\s+$",
            DEEPSEEK_SCRIPTS,
            r"\p{N}+",
        ]),
        "deepseek-coder" => {
            plain(&[LINE_BREAK, r"\s?\p{L}+", r"\s?\p{P}+", DEEPSEEK_SCRIPTS, DIGIT])
        }
        "falcon" => plain(&[r"[\p{P}$+<=>^~|`]+", GPT2, "[0-9][0-9][0-9]"]),
        "tekken" => Rule { patterns: &[TEKKEN], keeps_whole_words: true, adds_bos: true },
        _ => return None,
    };
    Some(rule)
}

impl PreTokenizer {
    pub(super) fn by_name(name: &str) -> Result<Self, TokenizerError> {
        let Rule { patterns, keeps_whole_words, adds_bos } =
            rule(name).ok_or_else(|| TokenizerError::UnknownPreTokenizer(name.to_owned()))?;
        let patterns: Result<_, fancy_regex::Error> =
            patterns.iter().map(|pattern| Regex::new(pattern)).collect();
        let patterns = patterns.map_err(|error| TokenizerError::Broken(error.to_string()))?;
        Ok(Self { patterns, keeps_whole_words, adds_bos })
    }

    pub(super) fn keeps_whole_words(&self) -> bool {
        self.keeps_whole_words
    }

    pub(super) fn adds_bos(&self) -> bool {
        self.adds_bos
    }

    /// The words of a text, in order; joined they are the text.
    pub(super) fn split<'t>(&self, text: &'t str) -> Result<Vec<&'t str>, TokenizerError> {
        let mut words = vec![text];
        for pattern in &self.patterns {
            let mut finer = Vec::with_capacity(words.len().max(text.len() / 4));
            for word in words {
                isolate(pattern, word, &mut finer).map_err(|error| TokenizerError::Text {
                    n_bytes: text.len(),
                    reason: error.to_string(),
                })?;
            }
            words = finer;
        }
        Ok(words)
    }
}

/// Appends the matches in a text and what lies between them, in order.
fn isolate<'t>(
    pattern: &Regex,
    text: &'t str,
    words: &mut Vec<&'t str>,
) -> Result<(), fancy_regex::Error> {
    let mut start = 0;
    for found in pattern.find_iter(text) {
        let found = found?;
        if start < found.start() {
            words.push(&text[start..found.start()]);
        }
        words.push(found.as_str());
        start = found.end();
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(name: &str, text: &str, expected: &[&str]) {
        let words = PreTokenizer::by_name(name).unwrap().split(text).unwrap();
        assert_eq!(words, expected, "{name}");
    }

    #[test]
    fn words_are_cut_as_each_vocabulary_learned_them() {
        let text = "It's IT'S 1234  cafés\n\n ok!?\n";
        check(
            "smollm",
            text,
            &[
                "It", "'s", " IT", "'", "S", " ", "1", "2", "3", "4", " ", " cafés", "\n\n", " ok",
                "!?", "\n",
            ],
        );
        check(
            "gpt-2",
            text,
            &["It", "'s", " IT", "'", "S", " 1234", " ", " cafés", "\n\n", " ok", "!?", "\n"],
        );
        check(
            "llama-bpe",
            text,
            &["It", "'s", " IT", "'S", " ", "123", "4", " ", " cafés", "\n\n", " ok", "!?\n"],
        );
        check(
            "qwen2",
            text,
            &[
                "It", "'s", " IT", "'S", " ", "1", "2", "3", "4", " ", " cafés", "\n\n", " ok",
                "!?\n",
            ],
        );
        check("tekken", "aBc ÉTÉx", &["a", "Bc", " ÉTÉx"]);
    }

    #[test]
    fn an_unknown_pre_tokenizer_is_refused() {
        let refused = PreTokenizer::by_name("my-own").err().unwrap();
        assert!(refused.to_string().contains("`my-own`"));
    }

    #[test]
    fn joined_words_give_the_text_back() {
        let names = ["smollm", "gpt-2", "llama-bpe", "qwen2", "qwen35", "tekken"];
        let all = names.map(|name| PreTokenizer::by_name(name).unwrap());
        proptest!(|(text in "(\\PC|[ \\n\\t'0-9]){0,60}")| {
            for words in &all {
                prop_assert_eq!(words.split(&text).unwrap().concat(), text.clone());
            }
        });
    }
}
