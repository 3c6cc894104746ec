//! The answer in a reply, by the form that the template asked for.

use serde::{Deserialize, Serialize};

use crate::prompt::{Labels, ReplyForm};

/// What a reply says, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The feedback; the whole reply where the form was not followed.
    pub text: String,
    /// Whether the reply kept to the form; `None` where none was asked for.
    pub format_followed: Option<bool>,
    /// What a unit says that it is about.
    pub focus: Option<String>,
    /// The reasoning before the feedback.
    pub reasoning: Option<String>,
}

/// Reads a reply. Nothing of it is lost: where it does not follow the form, the
/// whole of it is the answer and `format_followed` says so.
///
/// [`ReplyForm::Unit`] is followed by a line with the label `Focus:`, with
/// nothing but white space before it, and a later one with `Feedback:`, each of
/// them once and neither empty: the answer is all that stands after the second
/// label. [`ReplyForm::Reasoned`] is followed by `Final feedback:` anywhere: the
/// answer is what stands after its last occurrence, and may be empty where the
/// reply broke off. Labels may be in either case and in Markdown's bold type.
pub fn read_answer(reply: &str, form: ReplyForm) -> Answer {
    let whole = |format_followed| Answer {
        text: reply.trim().to_owned(),
        format_followed,
        focus: None,
        reasoning: None,
    };
    match form {
        ReplyForm::Free => whole(None),
        ReplyForm::Unit => unit(reply).unwrap_or_else(|| whole(Some(false))),
        ReplyForm::Reasoned => reasoned(reply).unwrap_or_else(|| whole(Some(false))),
    }
}

fn unit(reply: &str) -> Option<Answer> {
    let Labels { focus: focus_label, feedback: feedback_label, .. } = Labels::IN_USE;
    let mut focus = None;
    let mut feedback = None;
    let mut start = 0;
    for line in reply.split_inclusive('\n') {
        let rest_of_line =
            |label| after_label(line, label).map(|rest| start + line.len() - rest.len());
        if let Some(at) = rest_of_line(focus_label) {
            if focus.is_some() || feedback.is_some() || !reply[..start].trim().is_empty() {
                return None;
            }
            focus = Some(reply[at..start + line.len()].trim());
        } else if let Some(at) = rest_of_line(feedback_label) {
            if feedback.is_some() || focus.is_none() {
                return None;
            }
            feedback = Some(reply[at..].trim());
        }
        start += line.len();
    }
    let (focus, feedback) = (focus?, feedback?);
    (!focus.is_empty() && !feedback.is_empty()).then(|| Answer {
        text: feedback.to_owned(),
        format_followed: Some(true),
        focus: Some(focus.to_owned()),
        reasoning: None,
    })
}

fn reasoned(reply: &str) -> Option<Answer> {
    let Labels { answer, reasoning, .. } = Labels::IN_USE;
    let label = answer.trim_end_matches(':').to_ascii_lowercase();
    let lower = reply.to_ascii_lowercase();
    let (at, rest) = lower
        .rmatch_indices(&label)
        .map(|(at, _)| reply[..at].trim_end_matches(['*', '_']).len())
        .find_map(|at| after_label(&reply[at..], answer).map(|rest| (at, rest)))?;
    let before = reply[..at].trim_end_matches(is_mark).trim();
    let thoughts = after_label(before, reasoning).unwrap_or(before).trim();
    Some(Answer {
        text: rest.trim().to_owned(),
        format_followed: Some(true),
        focus: None,
        reasoning: Some(thoughts.to_owned()).filter(|text| !text.is_empty()),
    })
}

/// What follows a label that opens `line`, markup around the label aside.
pub(super) fn after_label<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    let label = label.trim_end_matches(':');
    let from_label = line.trim_start_matches(is_mark);
    let marks = &line[..line.len() - from_label.len()];
    if !from_label.get(..label.len())?.eq_ignore_ascii_case(label) {
        return None;
    }
    let is_type = |ch: char| matches!(ch, '*' | '_');
    let from_end = &from_label[label.len()..];
    let from_colon = from_end.trim_start_matches(is_type).trim_start();
    let rest = from_colon.strip_prefix(':')?;
    // Bold type that began before the label may end after its colon.
    let is_open = marks.ends_with(is_type) && !from_end.starts_with(is_type);
    let rest = if is_open { rest.trim_start_matches(is_type) } else { rest };
    Some(rest.trim_start_matches([' ', '\t']))
}

/// White space and Markdown's marks of headings, lists, quotations and type.
fn is_mark(ch: char) -> bool {
    ch.is_whitespace() || matches!(ch, '*' | '_' | '#' | '-' | '>' | '`' | '•')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_in_its_form_is_taken_apart() {
        for reply in [
            "Focus: the quarrel\nFeedback: It goes by too fast.\nSlow down.",
            "\n**Focus:** the quarrel\n\n**Feedback:** It goes by too fast.\nSlow down.\n",
            "- focus : the quarrel\n- FEEDBACK: It goes by too fast.\nSlow down.",
        ] {
            let answer = read_answer(reply, ReplyForm::Unit);
            assert_eq!(answer.text, "It goes by too fast.\nSlow down.", "{reply}");
            assert_eq!(answer.focus.as_deref(), Some("the quarrel"));
            assert_eq!(answer.format_followed, Some(true));
        }
    }

    #[test]
    fn a_unit_out_of_its_form_is_kept_whole() {
        for reply in [
            "It goes by too fast.",
            "Feedback: It goes by too fast.",
            "Feedback: Too fast.\nFocus: the quarrel",
            "Focus: the quarrel\nFeedback: Fast.\nFocus: the end\nFeedback: Slow.",
            "Focus: the quarrel\nFeedback: Fast.\nFeedback: Slow.",
            "Focus: the quarrel",
            "Focus: the quarrel\nFeedback:",
            "Your draft is good.\nFocus: the quarrel\nFeedback: Fast.",
            "",
        ] {
            let answer = read_answer(reply, ReplyForm::Unit);
            assert_eq!((answer.text.as_str(), answer.format_followed), (reply, Some(false)));
            assert_eq!(answer.focus, None);
        }
    }

    #[test]
    fn reasoning_is_parted_from_the_answer() {
        for (reply, text, reasoning) in [
            ("Reasoning: It opens.\nFinal feedback: Slow down.", "Slow down.", Some("It opens.")),
            ("It opens. **Final Feedback:**\n1) Slow down.", "1) Slow down.", Some("It opens.")),
            ("Final feedback: a\nFinal feedback: b", "b", Some("Final feedback: a")),
            ("Reasoning: It opens.\nFinal feedback:", "", Some("It opens.")),
            ("final feedback: ü", "ü", None),
        ] {
            let answer = read_answer(reply, ReplyForm::Reasoned);
            assert_eq!(answer.text, text);
            assert_eq!(answer.reasoning.as_deref(), reasoning);
            assert_eq!(answer.format_followed, Some(true));
        }
        let answer = read_answer(" My final feedback is short. ", ReplyForm::Reasoned);
        assert_eq!(answer.text, "My final feedback is short.");
        assert_eq!(answer.format_followed, Some(false));
    }

    #[test]
    fn a_free_reply_is_the_answer() {
        let answer = read_answer(" Feedback: Good. ", ReplyForm::Free);
        assert_eq!((answer.text.as_str(), answer.format_followed), ("Feedback: Good.", None));
    }
}
