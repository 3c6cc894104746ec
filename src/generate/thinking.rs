//! The thoughts that some models write before their reply.

/// A reply without its thoughts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithoutThinking {
    /// What is left, trimmed where anything was removed.
    pub text: String,
    /// The number of blocks that were removed.
    pub n_blocks: usize,
    /// Whether a block was never closed, so that nothing is a reply.
    pub unterminated: bool,
}

const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// Removes every `<think>...</think>` (or `<thinking>`) block. A block that is
/// never closed makes the reply empty, whatever stands before it; an end without
/// a beginning ends thoughts that the chat template began, and all before it
/// goes.
pub fn without_thinking(reply: &str) -> WithoutThinking {
    let mut text = reply.to_owned();
    let mut n_blocks = 0;
    let mut unterminated = false;
    for (open, close) in TAGS {
        loop {
            // ASCII case alone, so that offsets hold in the text itself.
            let lower = text.to_ascii_lowercase();
            match (lower.find(open), lower.find(close)) {
                (Some(start), Some(end)) if start < end => {
                    text.replace_range(start..end + close.len(), "");
                }
                (_, Some(end)) => text.replace_range(..end + close.len(), ""),
                (Some(_), None) => {
                    text.clear();
                    unterminated = true;
                }
                (None, None) => break,
            }
            n_blocks += 1;
        }
    }
    if 0 < n_blocks {
        text = text.trim().to_owned();
    }
    WithoutThinking { text, n_blocks, unterminated }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: &str, text: &str, n_blocks: usize, unterminated: bool) {
        let expected = WithoutThinking { text: text.into(), n_blocks, unterminated };
        assert_eq!(without_thinking(reply), expected, "{reply}");
    }

    #[test]
    fn thoughts_go_and_the_reply_stays() {
        check("<think>Hm.\n</think>\n\nGood.", "Good.", 1, false);
        check("<Think>a</THINK>Good.<think>b</think> More.", "Good. More.", 2, false);
        check("<thinking>a</thinking> Good.", "Good.", 1, false);
        check(" Good. ", " Good. ", 0, false);
        check("I think <b>so</b>.", "I think <b>so</b>.", 0, false);
    }

    #[test]
    fn thoughts_without_an_end_leave_nothing() {
        check("<think>I could say that", "", 1, true);
        check("Good. <think>Or not", "", 1, true);
        check("<think>a</think>Good.<think>b", "", 2, true);
    }

    #[test]
    fn an_end_alone_closes_what_the_chat_template_opened() {
        check("Hm, so.\n</think>\nGood.", "Good.", 1, false);
        check("a</think>b</think>Good.", "Good.", 2, false);
    }
}
