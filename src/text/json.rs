//! What is wrong with a JSON text, told without quoting it.

/// Says why JSON could not be read: what `serde_json` says, without the place
/// and without any text of the document, which may be a student's.
pub fn unquoted_reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    match (message.find("string \""), message.rfind("\", expected")) {
        (Some(start), Some(end)) if start + "string ".len() < end => {
            format!("{}a text{}", &message[..start], &message[end + 1..])
        }
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, reason: &str) {
        let error = serde_json::from_str::<(String, u8)>(json).unwrap_err();
        assert_eq!(unquoted_reason(&error), reason);
    }

    #[test]
    fn text_of_the_document_is_not_quoted() {
        check(r#"["a", "My \"secret\", expected"]"#, "invalid type: a text, expected u8");
        check(r#"["a", ""]"#, "invalid type: a text, expected u8");
        check("[3, 1]", "invalid type: integer `3`, expected a string");
        check(r#"["a", "#, "EOF while parsing a value");
    }
}
