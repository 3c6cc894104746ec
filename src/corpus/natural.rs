//! The order people expect of names that hold numbers.

use std::cmp::Ordering;

/// Compares two names with every run of digits read as a number, so that
/// `Essay_2` stands before `Essay_10`.
///
/// Outside the numbers the order is that of the characters. Names that differ
/// only in leading zeros are ordered as plain strings, so that the order is
/// total and agrees with `==`.
pub fn natural_order(left: &str, right: &str) -> Ordering {
    let (mut rest_left, mut rest_right) = (left, right);
    loop {
        let (number_left, number_right) = (leading_digits(rest_left), leading_digits(rest_right));
        if !number_left.is_empty() && !number_right.is_empty() {
            match compare_numbers(number_left, number_right) {
                Ordering::Equal => (),
                unequal => return unequal,
            }
            rest_left = &rest_left[number_left.len()..];
            rest_right = &rest_right[number_right.len()..];
            continue;
        }
        let (mut chars_left, mut chars_right) = (rest_left.chars(), rest_right.chars());
        match (chars_left.next(), chars_right.next()) {
            (None, None) => return left.cmp(right),
            (a, b) if a != b => return a.cmp(&b),
            _ => (rest_left, rest_right) = (chars_left.as_str(), chars_right.as_str()),
        }
    }
}

fn leading_digits(text: &str) -> &str {
    let end = text.find(|ch: char| !ch.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// Compares two runs of digits of any length by their value.
fn compare_numbers(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_count_by_value_and_not_by_digit() {
        let mut names = ["Essay_10_ID2", "Essay_2_ID10", "Essay_2_ID9", "Essay", "Essay_02_ID9"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["Essay", "Essay_02_ID9", "Essay_2_ID9", "Essay_2_ID10", "Essay_10_ID2"]);
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in "[a0-2_]{0,6}", b in "[a0-2_]{0,6}", c in "[a0-2_]{0,6}") {
            prop_assert_eq!(natural_order(&a, &b) == Ordering::Equal, a == b);
            prop_assert_eq!(natural_order(&a, &b), natural_order(&b, &a).reverse());
            let mut names = [a, b, c];
            names.sort_by(|x, y| natural_order(x, y));
            prop_assert_ne!(natural_order(&names[0], &names[2]), Ordering::Greater);
        }
    }
}
