//! The tokens of `mteval-v13a`, sacrebleu's default for BLEU.

use super::white_space::{is_white_space, words};

/// Cuts a text as sacrebleu's `13a` tokenizer does, and joins the tokens with
/// one space: four entities are resolved, hyphens at a line's end joined, ASCII
/// punctuation set apart, save apostrophes, hyphens between words, and points
/// and commas within numbers.
pub(super) fn tokenize(text: &str) -> String {
    let mut line = text
        .trim_end_matches(is_white_space)
        .replace("<skipped>", "")
        .replace("-\n", "")
        .replace('\n', " ");
    if line.contains('&') {
        for (entity, ch) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
            line = line.replace(entity, ch);
        }
    }
    let mut apart = String::with_capacity(2 * line.len());
    apart.push(' ');
    for ch in line.chars() {
        if is_set_apart(ch) {
            apart.extend([' ', ch, ' ']);
        } else {
            apart.push(ch);
        }
    }
    apart.push(' ');

    let after_other = rewrite_pairs(&apart, |first, second| {
        (!first.is_ascii_digit() && is_stop(second)).then_some([first, ' ', second, ' '])
    });
    let before_other = rewrite_pairs(&after_other, |first, second| {
        (is_stop(first) && !second.is_ascii_digit()).then_some([' ', first, ' ', second])
    });
    let tokens = rewrite_pairs(&before_other, |first, second| {
        (first.is_ascii_digit() && second == '-').then_some([first, ' ', second, ' '])
    });
    words(&tokens).collect::<Vec<_>>().join(" ")
}

/// ASCII punctuation and symbols, without the apostrophe, comma, hyphen and point.
fn is_set_apart(ch: char) -> bool {
    matches!(ch, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/')
}

fn is_stop(ch: char) -> bool {
    ch == '.' || ch == ','
}

/// Rewrites pairs of neighbours from left to right. A pair that was rewritten is
/// behind, so that its second character begins no other pair, which is how a
/// regular expression of two characters substitutes.
fn rewrite_pairs(text: &str, rewrite: impl Fn(char, char) -> Option<[char; 4]>) -> String {
    let mut rewritten = String::with_capacity(2 * text.len());
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        match chars.peek().and_then(|&second| rewrite(first, second)) {
            Some(characters) => {
                rewritten.extend(characters);
                chars.next();
            }
            None => rewritten.push(first),
        }
    }
    rewritten
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, tokens: &str) {
        assert_eq!(tokenize(text), tokens);
    }

    #[test]
    fn stops_within_numbers_stay() {
        check("1,000.5 words, 3.", "1,000.5 words , 3 .");
        check("a.b", "a . b");
        check("wait...", "wait . . .");
        check("... so", ". . . so");
    }

    #[test]
    fn hyphens_and_apostrophes_stay_save_after_a_digit() {
        check("don't well-known 20-year", "don't well-known 20 - year");
        check("end-\nless line\nbreak", "endless line break");
    }

    #[test]
    fn entities_are_resolved_before_punctuation_is_set_apart() {
        check("&quot;good&quot; &amp;lt; R&amp;D", "\" good \" < R & D");
    }
}
