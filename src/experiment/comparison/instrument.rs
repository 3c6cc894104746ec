//! Whether two runs were measured with the same instrument.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::experiment::FinishedRun;

/// What measures: all that changes figures and is not what is compared.
const INSTRUMENT: [(&str, &str); 7] = [
    ("corpus", "/corpus/digest"),
    ("segmenter", "/segmenter"),
    ("scorer", "/scorer"),
    ("cleaner", "/cleaner"),
    ("constrained units", "/constrained_units"),
    ("retries of judges", "/judge_retries"),
    ("empty answers", "/empty_answers"),
];

/// A part of the instrument that two runs do not share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstrumentDifference {
    /// The part.
    pub part: &'static str,
    /// What the first has, in few words.
    pub first: String,
    /// What the other has.
    pub other: String,
}

impl fmt::Display for InstrumentDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} and {}", self.part, self.first, self.other)
    }
}

/// In what the instruments of two runs differ, in a fixed order.
pub fn instrument_differences(
    first: &FinishedRun,
    other: &FinishedRun,
) -> Vec<InstrumentDifference> {
    let setting = |run: &FinishedRun, pointer| run.manifest.spec.pointer(pointer).cloned();
    INSTRUMENT
        .into_iter()
        .filter_map(|(part, pointer)| {
            let (a, b) = (setting(first, pointer), setting(other, pointer));
            (a != b).then(|| InstrumentDifference {
                part,
                first: in_words(a.as_ref()),
                other: in_words(b.as_ref()),
            })
        })
        .collect()
}

/// A setting in few words: names whole, digests by their first eight characters.
fn in_words(setting: Option<&Value>) -> String {
    match setting {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::String(text)) if 40 < text.len() => text.chars().take(8).collect(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(fields)) => {
            let parts: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name} {}", in_words(Some(value))))
                .collect();
            parts.join(", ")
        }
        Some(Value::Array(all)) => {
            all.iter().map(|value| in_words(Some(value))).collect::<Vec<_>>().join(" ")
        }
        Some(value) => value.to_string(),
    }
}
