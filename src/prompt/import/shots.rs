//! The release's samples, whose words were withheld.

use super::placeholder::escaped;

/// A loop over our exemplars in the form of the release's first sample, if
/// `samples` has the placeholders in place of words; `None` where someone has
/// put samples in, which then stand as they are.
///
/// A sample's feedback is a numbered list where the first placeholder of a
/// point has `1)` before it.
pub(super) fn shot_loop(samples: &str) -> Option<String> {
    let (head, rest) = samples.split_once("SAMPLE 1 PARAGRAPH")?;
    let (middle, _) = rest.split_once("SAMPLE 1 FEEDBACK")?;
    let (middle, feedback) = match middle.strip_suffix("1) ") {
        Some(middle) => (
            middle,
            "{%+ for point in shot.points +%}{{ loop.index }}) {{ point.text }}\n{%+ endfor +%}",
        ),
        None => (middle, "{{ shot.feedback }}\n"),
    };
    let head = escaped(head);
    let middle = escaped(middle);
    Some(format!(
        "{{%+ for shot in shots +%}}{head}{{{{ shot.paragraph }}}}{middle}{feedback}{{%+ endfor +%}}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn withheld_samples_become_a_loop_and_others_stay() {
        let samples =
            "\n## S:\nSAMPLE 1 PARAGRAPH\nF:\n1) SAMPLE 1 FEEDBACK 1\n2) SAMPLE 1 FEEDBACK 2";
        let expected = "{%+ for shot in shots +%}\n## S:\n{{ shot.paragraph }}\nF:\n\
                        {%+ for point in shot.points +%}{{ loop.index }}) {{ point.text }}\n\
                        {%+ endfor +%}{%+ endfor +%}";
        assert_eq!(shot_loop(samples).as_deref(), Some(expected));
        let plain = "S:\nSAMPLE 1 PARAGRAPH\nF:\nSAMPLE 1 FEEDBACK  \n";
        assert!(shot_loop(plain).unwrap().contains("F:\n{{ shot.feedback }}\n{%+ endfor"));
        assert_eq!(shot_loop("S:\nA real paragraph."), None);
    }
}
