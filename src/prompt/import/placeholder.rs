//! The placeholders of Python's format strings.

/// A part of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text that stays, its doubled braces made single.
    Literal(String),
    /// The name of what is filled in.
    Hole(String),
}

/// Splits a format string. A conversion or format after the name of a
/// placeholder is dropped.
///
/// # Errors
///
/// If a brace is not closed or not opened.
pub(super) fn pieces(format: &str) -> Result<Vec<Piece>, &'static str> {
    let mut found = Vec::new();
    let mut literal = String::new();
    let mut chars = format.chars().peekable();
    while let Some(ch) = chars.next() {
        match ch {
            '{' | '}' if chars.peek() == Some(&ch) => {
                chars.next();
                literal.push(ch);
            }
            '{' => {
                let mut hole = String::new();
                loop {
                    match chars.next() {
                        Some('}') => break,
                        Some('{') | None => return Err("a brace that is not closed"),
                        Some(ch) => hole.push(ch),
                    }
                }
                if !literal.is_empty() {
                    found.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                let name = hole.split(['!', ':']).next().unwrap_or_default();
                found.push(Piece::Hole(name.trim().to_owned()));
            }
            '}' => return Err("a closing brace without an opening one"),
            ch => literal.push(ch),
        }
    }
    if !literal.is_empty() {
        found.push(Piece::Literal(literal));
    }
    Ok(found)
}

/// The names of the placeholders, sorted, each once.
pub(super) fn holes(pieces: &[Piece]) -> Vec<&str> {
    let mut names: Vec<&str> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Hole(name) => Some(name.as_str()),
            Piece::Literal(_) => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Writes a template of ours that renders to the text, `fill` saying what
/// stands for each placeholder.
///
/// # Errors
///
/// The name of a placeholder for which `fill` has nothing.
pub(super) fn template(
    pieces: &[Piece],
    fill: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Literal(text) => Ok(escaped(text)),
            Piece::Hole(name) => fill(name).ok_or_else(|| name.clone()),
        })
        .collect()
}

/// Text as a template that renders to it.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        // What comes after the text may be a brace too.
        if ch == '{' && chars.peek().is_none_or(|next| matches!(next, '{' | '%' | '#')) {
            escaped.push_str("{{ \"{\" }}");
        } else {
            escaped.push(ch);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use minijinja::{Environment, context};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn format_strings_are_split_as_python_splits_them() {
        let hole = |name: &str| Piece::Hole(name.into());
        let literal = |text: &str| Piece::Literal(text.into());
        assert_eq!(pieces("{a}{{b}} {c!r:>5}"), Ok(vec![hole("a"), literal("{b} "), hole("c")]));
        assert_eq!(pieces(""), Ok(vec![]));
        assert_eq!(pieces("{a"), Err("a brace that is not closed"));
        assert_eq!(pieces("a}"), Err("a closing brace without an opening one"));
    }

    proptest! {
        #[test]
        fn an_escaped_text_renders_to_itself(text in "[{}%#\" a\\n-]{0,12}") {
            let template = format!("{}{{{{ x }}}}", escaped(&text));
            let mut environment = Environment::new();
            environment.set_syntax(
                minijinja::syntax::SyntaxConfig::builder()
                    .trim_blocks(true)
                    .lstrip_blocks(true)
                    .keep_trailing_newline(true)
                    .build()
                    .unwrap(),
            );
            let rendered = environment.render_str(&template, context! { x => "X" }).unwrap();
            prop_assert_eq!(rendered, format!("{text}X"));
        }
    }
}
