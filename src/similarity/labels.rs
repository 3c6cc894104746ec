//! The labels of pairs in a batch: `A`, `B`, ..., `Z`, `AA`, `AB`, ...

/// The label of the pair with this index, counted from zero.
pub fn label(index: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = index + 1;
    while 0 < rest {
        rest -= 1;
        letters.extend(('A'..='Z').nth(rest % 26));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

/// The index of the pair with this label, if it is one.
pub(super) fn index(label: &str) -> Option<usize> {
    let number = label.bytes().try_fold(0_usize, |number, byte| {
        let digit = byte.checked_sub(b'A').filter(|digit| *digit < 26)?;
        number.checked_mul(26)?.checked_add(usize::from(digit) + 1)
    })?;
    number.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn labels_go_from_one_letter_to_two_and_three() {
        for (at, text) in [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA"), (701, "ZZ")] {
            assert_eq!(label(at), text);
        }
        assert_eq!(label(702), "AAA");
        for text in ["", "a", "A1", "É", "ZZZZZZZZZZZZZZZZZZZZ"] {
            assert_eq!(index(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_label_names_its_index(at in 0_usize..2_000_000) {
            prop_assert_eq!(index(&label(at)), Some(at));
        }
    }
}
