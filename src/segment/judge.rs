//! A model that marks where units end.

use std::{borrow::Cow, sync::Arc};

use super::{SegmentError, Segmentation, Segmenter};
use crate::{
    backend::{
        Backend, Completion,
        judge::{JudgeSettings, Question, Unanswered, ask},
    },
    generate::without_thinking,
    prompt::{Library, PromptError, Purpose},
};

/// What a judge puts at the end of every unit.
pub(super) const DELIMITER: &str = "$$";

/// Cuts by asking a model to copy the text with `$$` at the end of every unit.
///
/// A reply is taken only if removing the delimiters gives the text back, white
/// space at both ends aside and nowhere else, and no delimiter stands inside a
/// word. White space between two units belongs to the second, wherever the
/// model put the delimiter.
///
/// The dollars of a text that holds `$$` itself are shown to the model as
/// full-width ones (`＄`), and its copy is held against that.
pub struct JudgeSegmenter {
    id: String,
    backend: Arc<dyn Backend>,
    library: Arc<Library>,
    settings: JudgeSettings,
}

impl JudgeSegmenter {
    /// Prepares to ask a judge. The segmenter is named `judge:` and the name of
    /// the backend.
    ///
    /// # Errors
    ///
    /// If the library has no segmentation template.
    pub fn new(
        backend: Arc<dyn Backend>,
        library: Arc<Library>,
        settings: JudgeSettings,
    ) -> Result<Self, PromptError> {
        library.template(Purpose::Segmentation)?;
        Ok(Self { id: format!("judge:{}", backend.id()), backend, library, settings })
    }

    fn question(&self, text: &str) -> Result<Question, PromptError> {
        let prompt = self.library.segmentation(&shown(text))?;
        // A copy has as many tokens as the text, of two bytes at the least on
        // average, and the delimiters besides.
        Ok(Question { prompt, max_new_tokens: text.len() / 2 + 128 })
    }
}

impl Segmenter for JudgeSegmenter {
    fn id(&self) -> &str {
        &self.id
    }

    fn segment(&self, texts: &[&str]) -> Vec<Result<Segmentation, SegmentError>> {
        let mut results: Vec<Option<Result<Segmentation, SegmentError>>> =
            texts.iter().map(|_| None).collect();
        let mut asked = Vec::new();
        let mut questions = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            if text.trim().is_empty() {
                results[index] = Some(Ok(Segmentation::whole(text)));
                continue;
            }
            match self.question(text) {
                Ok(question) => {
                    questions.push(question);
                    asked.push(index);
                }
                Err(error) => results[index] = Some(Err(error.into())),
            }
        }
        let answers = ask(&*self.backend, &questions, &self.settings, |question, completion| {
            read_copy(texts[asked[question]], completion)
        });
        for (index, answer) in asked.into_iter().zip(answers) {
            results[index] = Some(answer.map_err(|unanswered| match unanswered {
                Unanswered::Backend(error) => error.into(),
                Unanswered::Unread { n_tries, reason: Unfaithful::Changed { at } } => {
                    SegmentError::TextChanged { at, n_tries }
                }
                Unanswered::Unread { n_tries, reason: Unfaithful::InsideWord { at } } => {
                    SegmentError::WordCut { at, n_tries }
                }
            }));
        }
        results.into_iter().flatten().collect()
    }
}

/// The text as a model sees it: trimmed, and without the delimiter. Each
/// character stands for one of the text.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.contains(DELIMITER) {
        Cow::Owned(text.replace('$', "＄"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Why a copy is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfaithful {
    /// It differs from the text, first at this byte of the text.
    Changed { at: usize },
    /// A delimiter stands inside a word, at this byte of the text.
    InsideWord { at: usize },
}

fn read_copy(text: &str, completion: &Completion) -> Result<Segmentation, Unfaithful> {
    cut_as(text, without_thinking(&completion.text).text.trim())
}

/// Cuts `text` where its marked copy says.
fn cut_as(text: &str, copy: &str) -> Result<Segmentation, Unfaithful> {
    let lead = text.len() - text.trim_start().len();
    let body = text.trim();
    let shown = shown(text);
    // White space between the last word and the last delimiter is at the end of
    // the text, where it is not looked at.
    let copy = match copy.strip_suffix(DELIMITER) {
        Some(rest) => rest.trim_end(),
        None => copy,
    };
    let mut ends = Vec::new();
    let mut own = body.char_indices();
    let mut expected = shown.chars().peekable();
    let mut rest = copy;
    while let Some(ch) = rest.chars().next() {
        let at = lead + own.offset();
        // Of three dollars the first is the text's, if the text has one here.
        let is_own = expected.peek() == Some(&'$') && rest.starts_with("$$$");
        if let Some(after) = rest.strip_prefix(DELIMITER).filter(|_| !is_own) {
            ends.push(at);
            rest = after;
        } else if expected.next() == Some(ch) {
            own.next();
            rest = &rest[ch.len_utf8()..];
        } else {
            return Err(Unfaithful::Changed { at });
        }
    }
    if expected.next().is_some() {
        return Err(Unfaithful::Changed { at: lead + own.offset() });
    }
    tidy(text, ends)
}

/// The segmentation with these ends and that of the text. Ends move back over
/// white space, and those before the first word or after the last one go.
pub(super) fn tidy(text: &str, ends: Vec<usize>) -> Result<Segmentation, Unfaithful> {
    let last = text.trim_end().len();
    let mut tidied: Vec<usize> = Vec::new();
    for end in ends {
        let is_inside = text[..end].ends_with(char::is_alphanumeric)
            && text[end..].starts_with(char::is_alphanumeric);
        if is_inside {
            return Err(Unfaithful::InsideWord { at: end });
        }
        let end = text[..end].trim_end().len();
        if 0 < end && end < last && tidied.last() != Some(&end) {
            tidied.push(end);
        }
    }
    tidied.push(text.len());
    Ok(Segmentation { ends: tidied })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::units, *};

    fn check(text: &str, copy: &str, expected: Result<&[&str], Unfaithful>) {
        let cut = cut_as(text, copy.trim());
        if let Ok(cut) = &cut {
            assert_eq!(Segmentation::new(text, cut.ends.clone()).as_ref(), Some(cut));
        }
        let found = cut.map(|cut| units(text, &cut).texts);
        assert_eq!(found, expected.map(|texts| texts.iter().map(|&t| t.to_owned()).collect()));
    }

    #[test]
    fn a_faithful_copy_says_where_units_end() {
        let text = " Vivid opening, but who is Alex?\nMore. ";
        let expected = ["Vivid opening,", "but who is Alex?", "More."];
        check(text, "Vivid opening,$$ but who is Alex?$$\nMore.$$", Ok(&expected));
        check(text, "Vivid opening, $$but who is Alex?\n$$More.", Ok(&expected));
        check(text, "$$Vivid opening,$$$$ but who is Alex?$$\nMore.$$\n$$", Ok(&expected));
        check("Good.", "Good. $$", Ok(&["Good."]));
    }

    #[test]
    fn a_copy_that_changes_the_text_is_refused() {
        let text = "Vivid opening. Who is Alex?";
        let changed = |at| Err(Unfaithful::Changed { at });
        check(text, "Vivid opening.$$ Who was Alex?$$", changed(19));
        check(text, "Vivid opening.$$  Who is Alex?$$", changed(15));
        check(text, "Vivid opening.$$", changed(14));
        check(text, "Vivid opening.$$ Who is Alex?$$ (two)", changed(27));
        check(text, "", changed(0));
        check(text, "Vivid ope$$ning. Who is Alex?$$", Err(Unfaithful::InsideWord { at: 9 }));
    }

    #[test]
    fn a_text_with_the_delimiter_in_it_is_cut_all_the_same() {
        let text = "Write $5, not $$5. Good.";
        assert_eq!(shown(text), "Write ＄5, not ＄＄5. Good.");
        check(text, "Write ＄5, not ＄＄5.$$ Good.$$", Ok(&["Write $5, not $$5.", "Good."]));
        check(text, "Write $5, not ＄＄5.$$ Good.$$", Err(Unfaithful::Changed { at: 6 }));
        check("It costs 5$. Why?", "It costs 5$.$$ Why?$$", Ok(&["It costs 5$.", "Why?"]));
        check("It costs 5$ Why?", "It costs 5$$$ Why?$$", Ok(&["It costs 5$", "Why?"]));
    }

    proptest! {
        #[test]
        fn any_cut_at_white_space_comes_back(
            words in prop::collection::vec("[a-zé$.!]{1,5}", 1..9),
            cuts in prop::collection::vec(any::<bool>(), 9),
        ) {
            let text = words.join(" ");
            let shown_words: Vec<String> = shown(&text).split(' ').map(str::to_owned).collect();
            let mut copy = String::new();
            let mut expected = Vec::new();
            let mut n_bytes = 0;
            for (index, word) in shown_words.iter().enumerate() {
                copy.push_str(if index == 0 { "" } else { " " });
                copy.push_str(word);
                n_bytes += words[index].len() + usize::from(0 < index);
                if index + 1 == words.len() || cuts[index] {
                    copy.push_str(DELIMITER);
                    expected.push(n_bytes);
                }
            }
            let cut = cut_as(&text, &copy).unwrap();
            prop_assert_eq!(Segmentation::new(&text, expected), Some(cut));
        }
    }
}
