//! How figures are written and how words are kept from being read as markup.

use super::Estimate;

/// What stands where a figure has no value.
pub(super) const NOTHING: &str = "–";
const MINUS: char = '\u{2212}';

/// Words for the text or an attribute of HTML or SVG. Characters that XML forbids become
/// a replacement character.
pub(super) fn escaped(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for ch in words.chars() {
        match ch {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            '\t' | '\n' => text.push(ch),
            '\0'..='\u{1f}' | '\u{7f}' | '\u{fffe}' | '\u{ffff}' => text.push('\u{fffd}'),
            _ => text.push(ch),
        }
    }
    text
}

/// JSON that may stand in a page: nothing in it can end the element it stands in.
pub(super) fn in_script(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 16);
    for ch in json.chars() {
        match ch {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            _ => text.push(ch),
        }
    }
    text
}

/// A figure to so many places, with a true minus; a dash where it has no value.
pub(super) fn figure(value: Option<f64>, places: usize) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return NOTHING.to_owned();
    };
    unsigned_zero(&format!("{value:.places$}")).replace('-', &MINUS.to_string())
}

/// A difference: the same with its sign.
pub(super) fn signed(value: Option<f64>, places: usize) -> String {
    let text = figure(value, places);
    let is_positive = value.is_some_and(|value| value.is_finite() && 0.0 < value);
    if is_positive && text.chars().any(|ch| ('1'..='9').contains(&ch)) {
        format!("+{text}")
    } else {
        text
    }
}

/// Zero without a sign, which a small negative number would keep.
fn unsigned_zero(text: &str) -> &str {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|ch| ch == '0' || ch == '.') => rest,
        _ => text,
    }
}

/// A p-value to three places; those below as such.
pub(super) fn p_value(value: Option<f64>) -> String {
    match value {
        Some(p) if p < 0.0005 => "<0.001".to_owned(),
        _ => figure(value, 3),
    }
}

/// The ends of an interval, in words; empty where there is none.
pub(super) fn interval(estimate: &Estimate, is_signed: bool) -> String {
    let write = if is_signed { signed } else { figure };
    ends(estimate).map_or_else(String::new, |(low, high)| {
        format!("{} to {}", write(Some(low), 3), write(Some(high), 3))
    })
}

/// The ends of an interval where both are numbers.
pub(super) fn ends(estimate: &Estimate) -> Option<(f64, f64)> {
    estimate.interval.filter(|(low, high)| low.is_finite() && high.is_finite())
}

/// A count with its thousands apart by a narrow space.
pub(super) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if 0 < at && (digits.len() - at).is_multiple_of(3) && 4 < digits.len() {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A share as whole percent where it is, as `95`, else to one place.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let places = usize::from((percent - percent.round()).abs() > 1e-6);
    figure(Some(percent), places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_true_signs() {
        assert_eq!(figure(Some(-0.1234), 3), "\u{2212}0.123");
        assert_eq!(signed(Some(0.1234), 2), "+0.12");
        assert_eq!(signed(Some(0.0001), 3), "0.000");
        assert_eq!(signed(Some(-0.0001), 3), "0.000");
        assert_eq!(figure(None, 3), "–");
        assert_eq!(figure(Some(f64::NAN), 3), "–");
        assert_eq!(p_value(Some(0.0001)), "<0.001");
        assert_eq!(p_value(Some(0.0312)), "0.031");
        assert_eq!(count(15580), "15\u{202f}580");
        assert_eq!(count(1558), "1558");
        assert_eq!((percent(0.95), percent(0.999)), ("95".to_owned(), "99.9".to_owned()));
    }

    #[test]
    fn markup_in_words_is_words() {
        assert_eq!(escaped("<a b='\"&\u{1}"), "&lt;a b=&#39;&quot;&amp;\u{fffd}");
        assert_eq!(in_script("</script>&\u{2028}"), "\\u003c/script\\u003e\\u0026\\u2028");
    }
}
