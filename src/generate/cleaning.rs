//! Feedback freed from markup, headings and talk about the task, by rules.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{chatter, lines, markup};

/// A text after cleaning, and what was done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleaned {
    /// What is left: the words of the feedback, unchanged and in order. Empty
    /// where nothing was feedback.
    pub text: String,
    /// How often each rule applied; those that did not are left out.
    pub rules: BTreeMap<CleaningRule, usize>,
}

/// A rule of cleaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CleaningRule {
    /// A tag, as `<feedback>`, or a control token, as `<|im_end|>`.
    Tag,
    /// A line of quotation marks, backticks, dashes or the like.
    Fence,
    /// The model went on with the next essay: all from its heading on.
    Continuation,
    /// A heading above text. One that is a sentence only lost its marks.
    Heading,
    /// The dash or number of a list item.
    ListMarker,
    /// A label, as `Feedback:`, or the name of a category.
    Label,
    /// Marks of bold, italic or fixed-width type.
    Emphasis,
    /// A sentence about the task, or a word of greeting to it.
    Chatter,
    /// Quotation marks around the whole.
    Quotation,
    /// A word that says that there is no feedback.
    Nothing,
}

/// Applies every rule, and again until none applies any more, so that what is
/// clean stays as it is.
pub fn clean(text: &str) -> Cleaned {
    let mut cleaned = Cleaned { text: text.trim().to_owned(), rules: BTreeMap::new() };
    loop {
        let before = cleaned.text.clone();
        for rule in [markup::tags, lines::lines, markup::emphasis, chatter::chatter, markup::quotes]
        {
            let mut next = Cleaned { text: cleaned.text.trim().to_owned(), ..cleaned };
            rule(&mut next);
            cleaned = next;
        }
        if cleaned.text.trim() == before {
            return Cleaned { text: before, ..cleaned };
        }
    }
}

impl Cleaned {
    /// Notes that a rule applied once more.
    pub(super) fn note(&mut self, rule: CleaningRule) {
        *self.rules.entry(rule).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str, rules: &[CleaningRule]) {
        let cleaned = clean(text);
        assert_eq!(cleaned.text, expected, "{text}");
        assert_eq!(cleaned.rules.keys().copied().collect::<Vec<_>>(), rules, "{text}");
    }

    #[test]
    fn clean_feedback_stays_to_the_letter() {
        for text in [
            "Vivid opening. Who is Alex?\n\nSay more about \"the letter\"; it's 3 * 4 pages (why?).",
            "were",
            "\"were\"",
            "Great! I was sure that he had left. Is this what you mean: a storm?",
            "Here your tense slips. Let me see the room. Let's hear the mother speak.",
            "Great work",
            "1984 is a year, not a title here.",
            "The focus shifts: first the dog, then the feedback you got.",
        ] {
            check(text, text, &[]);
        }
    }

    #[test]
    fn talk_about_the_task_goes() {
        use CleaningRule::Chatter;
        for (text, expected) in [
            ("Here is my feedback: Slow down.", "Slow down."),
            ("Sure! Here’s some feedback on the target paragraph:\n\nSlow down.", "Slow down."),
            ("Certainly, here are a few comments.\nSlow down.", "Slow down."),
            ("Slow down. I hope this helps! Let me know if you need more.", "Slow down."),
            ("As an AI language model, I cannot feel. Slow down.", "Slow down."),
            ("Sure!\nSlow down.", "Slow down."),
            ("Here is the feedback", ""),
        ] {
            check(text, expected, &[Chatter]);
        }
    }

    #[test]
    fn markup_headings_and_labels_go() {
        use CleaningRule::{Emphasis, Fence, Heading, Label, ListMarker, Quotation, Tag};
        check("### Feedback\nSlow down.", "Slow down.", &[Heading]);
        check("# Slow down here, please.", "Slow down here, please.", &[Heading]);
        check(
            "**Strengths**\nThe end.\n\n**Great work**",
            "The end.\n\nGreat work",
            &[Heading, Emphasis],
        );
        check(
            "- Slow *down*.\n2) Who is **she**?",
            "Slow down.\nWho is she?",
            &[ListMarker, Emphasis],
        );
        check(
            "1) Slow. 2) Who is she? 3) It's 2. now",
            "Slow. Who is she? It's 2. now",
            &[ListMarker],
        );
        check("**Clarity:** Who is she?", "Who is she?", &[Label]);
        check("Feedback: Slow down.", "Slow down.", &[Label]);
        check("Focus: the end\nFeedback: Slow down.", "Slow down.", &[Label]);
        check("*Elaboration* - Slow down.", "Slow down.", &[Label]);
        check("```\nSlow down.\n```\n---", "Slow down.", &[Fence]);
        check("\"\"\"\nSlow down.\n\"\"\"", "Slow down.", &[Fence]);
        check("<feedback>Slow down.</feedback><|im_end|>", "Slow down.", &[Tag]);
        check(
            "\"Slow down here, as I lost the thread.\"",
            "Slow down here, as I lost the thread.",
            &[Quotation],
        );
    }

    #[test]
    fn another_essay_that_the_model_made_up_goes() {
        check(
            "Slow down.\n\n## Your task\n### Essay\nOnce I was.\n### Feedback\nGood.",
            "Slow down.",
            &[CleaningRule::Continuation],
        );
    }

    #[test]
    fn nothing_may_be_left() {
        check("None.", "", &[CleaningRule::Nothing]);
        check("No feedback is needed", "", &[CleaningRule::Nothing]);
        check("  ", "", &[]);
    }

    #[test]
    fn rules_are_counted() {
        let cleaned = clean("1. One.\n2. Two.");
        assert_eq!(cleaned.rules, BTreeMap::from([(CleaningRule::ListMarker, 2)]));
    }

    fn letters(text: &str) -> Vec<char> {
        text.chars().filter(|ch| ch.is_alphanumeric()).collect()
    }

    proptest! {
        #[test]
        fn nothing_is_added_or_reordered_and_clean_is_clean(
            text in "(Sure! |Here is my feedback|Feedback:|# |\\*\\*|- |1\\. |\n|<think>|</b>|\"|Slow|[a-z .:*`_]|\\PC){0,20}",
        ) {
            let cleaned = clean(&text).text;
            let mut rest = letters(&text).into_iter();
            prop_assert!(letters(&cleaned).iter().all(|ch| rest.any(|other| other == *ch)));
            prop_assert_eq!(&clean(&cleaned).text, &cleaned);
        }
    }
}
