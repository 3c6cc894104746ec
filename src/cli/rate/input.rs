//! The pairs that `unimatch rate` is given, a JSON object a line.

use std::{
    collections::BTreeMap,
    io::{self, Read},
};

use anyhow::{Context, bail, ensure};
use camino::Utf8Path;
use serde_json::{Map, Value, json};

use crate::text::unquoted_reason;

/// What the fields of a pair are called.
pub(super) struct Fields<'a> {
    pub(super) id: &'a str,
    pub(super) generated: &'a str,
    pub(super) gold: &'a str,
}

/// A line that is not blank.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// Counted from one.
    pub(super) number: usize,
    /// Its id, or its number where it has none.
    pub(super) id: Value,
    /// The text under evaluation and the one it is compared with, or why the line is no
    /// pair.
    pub(super) texts: Result<[String; 2], String>,
}

/// The lines of a file, or of standard input for `-`.
///
/// # Errors
///
/// If it cannot be read, if no line of it is a pair, or if two lines have one id.
pub(super) fn load(path: &Utf8Path, fields: &Fields<'_>) -> anyhow::Result<Vec<Line>> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        bail!(
            "{path}: pairs are read from JSON lines, not from CSV: give an object like \
             {{\"id\": \"7\", \"{}\": \"...\", \"{}\": \"...\"}} on each line",
            fields.generated,
            fields.gold
        );
    }
    let bytes = if path == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        bytes
    } else {
        fs_err::read(path)?
    };
    let lines = lines(&bytes, fields);
    check(&lines).with_context(|| format!("cannot rate the pairs of {path}"))?;
    Ok(lines)
}

fn lines(bytes: &[u8], fields: &Fields<'_>) -> Vec<Line> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
    lines
        .filter(|(_, bytes)| !bytes.trim_ascii().is_empty())
        .map(|(number, bytes)| line(number, bytes, fields))
        .collect()
}

fn line(number: usize, bytes: &[u8], fields: &Fields<'_>) -> Line {
    let object: Result<Map<String, Value>, String> = match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text)
            .map_err(|error| format!("it is not a JSON object: {}", unquoted_reason(&error))),
        Err(_) => Err("it is not UTF-8".to_owned()),
    };
    let mut object = match object {
        Ok(object) => object,
        Err(reason) => return Line { number, id: json!(number), texts: Err(reason) },
    };
    let mut text = |field: &str, option: &str| match object.remove(field) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("the field `{field}` is not a text")),
        None => Err(format!("there is no field `{field}`: say with {option} how it is called")),
    };
    let generated = text(fields.generated, "--generated-field");
    let gold = text(fields.gold, "--gold-field");
    let id = object.remove(fields.id).filter(|id| !id.is_null()).unwrap_or_else(|| json!(number));
    let texts = generated.and_then(|generated| Ok([generated, gold?]));
    Line { number, id, texts }
}

fn check(lines: &[Line]) -> anyhow::Result<()> {
    let is_pair = |line: &Line| line.texts.is_ok();
    if let (false, Some(Line { number, texts: Err(reason), .. })) =
        (lines.iter().any(is_pair), lines.first())
    {
        bail!("line {number}: {reason}, and no other line is a pair either");
    }
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines.iter().filter(|line| is_pair(line)) {
        let id = line.id.as_str().map_or_else(|| line.id.to_string(), str::to_owned);
        let first = *numbers.entry(id).or_insert(line.number);
        ensure!(
            first == line.number,
            "line {}: the id is that of line {first}: give each pair its own",
            line.number
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: Fields<'_> = Fields { id: "id", generated: "a", gold: "b" };

    #[test]
    fn a_line_that_is_no_pair_is_an_error_of_its_own() {
        let text = b"\xef\xbb\xbf{\"id\":7,\"a\":\"x\",\"b\":\"y\"}\r\n\n\"secret\"\n\
                     {\"a\":\"Caf\xe9\",\"b\":\"y\"}\n{\"id\":\"t\",\"a\":\"secret\"}\n";
        let lines = lines(text, &FIELDS);
        let places: Vec<(usize, String)> =
            lines.iter().map(|line| (line.number, line.id.to_string())).collect();
        let place = |number, id: &str| (number, id.to_owned());
        assert_eq!(places, [place(1, "7"), place(3, "3"), place(4, "4"), place(5, "\"t\"")]);
        assert_eq!(lines[0].texts, Ok(["x".to_owned(), "y".to_owned()]));
        for (line, expected) in
            lines[1..].iter().zip(["not a JSON object", "not UTF-8", "no field `b`"])
        {
            let reason = line.texts.as_ref().unwrap_err();
            assert!(reason.contains(expected) && !reason.contains("secret"), "{reason}");
        }
        assert!(check(&lines).is_ok());
        let none = check(&lines[1..]).unwrap_err().to_string();
        assert!(none.starts_with("line 3: it is not a JSON object"), "{none}");
    }

    #[test]
    fn an_id_that_comes_twice_names_both_lines() {
        let pair = |id: &str| format!("{{\"id\":{id},\"a\":\"x\",\"b\":\"y\"}}\n");
        let twice = lines((pair("7") + &pair("8") + &pair("\"7\"")).as_bytes(), &FIELDS);
        let message = check(&twice).unwrap_err().to_string();
        assert!(message.contains("line 3") && message.contains("that of line 1"), "{message}");
    }
}
