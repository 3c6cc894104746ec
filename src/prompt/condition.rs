//! A cell of the experiment's design: which prompt a model gets.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Which feedback prompt a model gets.
///
/// Its short name is the template and the factors that are on, in the order
/// `few`, `guided`, `rubric`: `v1`, `v2+guided+rubric`, `cot+few+guided`.
/// Parsing takes the factors in any order and either case, and `zero` for the
/// absence of `few`; what is written is always the short name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition {
    /// The wording of the request.
    pub template: FeedbackTemplate,
    /// Whether the categories of feedback are listed.
    pub guided: bool,
    /// Whether the assignment is given.
    pub rubric: bool,
    /// How many exemplars are given.
    pub shots: Shots,
}

/// The wording of the request for feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FeedbackTemplate {
    /// Unconstrained: as many points as the model likes, in a few sentences.
    V1,
    /// Constrained: one feedback unit on the most important focus.
    V2,
    /// Chain of thought: reasoning, then feedback as in [`Self::V1`].
    Cot,
}

/// How many exemplars a prompt shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shots {
    /// None.
    Zero,
    /// All that the library holds: five in the embedded one.
    Few,
}

impl FeedbackTemplate {
    /// Every template.
    pub const ALL: [Self; 3] = [Self::V1, Self::V2, Self::Cot];

    /// Its short name, which is the name of its file too.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::Cot => "cot",
        }
    }
}

impl Condition {
    /// Every condition, in the order of the fields.
    pub fn all() -> impl Iterator<Item = Self> {
        FeedbackTemplate::ALL.into_iter().flat_map(|template| {
            (0..8).map(move |bits| Self {
                template,
                guided: bits & 4 != 0,
                rubric: bits & 2 != 0,
                shots: if bits & 1 == 0 { Shots::Zero } else { Shots::Few },
            })
        })
    }
}

impl Default for Condition {
    /// The paper's default template, with no factor on: `v2`.
    fn default() -> Self {
        Self { template: FeedbackTemplate::V2, guided: false, rubric: false, shots: Shots::Zero }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.template.name())?;
        let factors =
            [(self.shots == Shots::Few, "few"), (self.guided, "guided"), (self.rubric, "rubric")];
        for (_, name) in factors.iter().filter(|(is_on, _)| *is_on) {
            write!(f, "+{name}")?;
        }
        Ok(())
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let mut template = None;
        let mut seen: Vec<String> = Vec::new();
        for part in text.split('+') {
            let part = part.trim().to_lowercase();
            if seen.contains(&part) {
                return Err(ConditionError::Repeated { part, condition: text.to_owned() });
            }
            if let Some(found) = FeedbackTemplate::ALL.into_iter().find(|t| t.name() == part) {
                if template.replace(found).is_some() {
                    return Err(ConditionError::TwoTemplates { condition: text.to_owned() });
                }
            } else if !FACTORS.contains(&part.as_str()) {
                return Err(ConditionError::Unknown { part, condition: text.to_owned() });
            }
            seen.push(part);
        }
        let has = |name: &str| seen.iter().any(|part| part == name);
        if has("few") && has("zero") {
            return Err(ConditionError::FewAndZero { condition: text.to_owned() });
        }
        Ok(Self {
            template: template
                .ok_or_else(|| ConditionError::NoTemplate { condition: text.to_owned() })?,
            guided: has("guided"),
            rubric: has("rubric"),
            shots: if has("few") { Shots::Few } else { Shots::Zero },
        })
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}

impl TryFrom<String> for Condition {
    type Error = ConditionError;

    fn try_from(text: String) -> Result<Self, ConditionError> {
        text.parse()
    }
}

const FACTORS: [&str; 4] = ["few", "zero", "guided", "rubric"];

/// What exists, at the end of every message.
const KNOWN: &str = "write one template (v1, v2, cot) and any of few, guided, rubric, \
                     as in v2+guided+rubric";

/// Why a text names no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionError {
    /// A part is neither a template nor a factor.
    #[error("unknown part `{part}` in condition `{condition}`: {KNOWN}")]
    Unknown {
        /// The part.
        part: String,
        /// The whole text.
        condition: String,
    },
    /// A part stands twice.
    #[error("part `{part}` stands twice in condition `{condition}`: {KNOWN}")]
    Repeated {
        /// The part.
        part: String,
        /// The whole text.
        condition: String,
    },
    /// There are two templates.
    #[error("condition `{condition}` names two templates: {KNOWN}")]
    TwoTemplates {
        /// The whole text.
        condition: String,
    },
    /// There is no template.
    #[error("condition `{condition}` names no template: {KNOWN}")]
    NoTemplate {
        /// The whole text.
        condition: String,
    },
    /// The number of shots is given twice.
    #[error("condition `{condition}` is both few and zero: {KNOWN}")]
    FewAndZero {
        /// The whole text.
        condition: String,
    },
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_condition_comes_back_from_its_short_name() {
        let all: Vec<Condition> = Condition::all().collect();
        assert_eq!(all.len(), 24);
        assert_eq!(all.iter().copied().collect::<BTreeSet<_>>().len(), 24);
        for condition in all {
            assert_eq!(condition.to_string().parse(), Ok(condition));
            let json = serde_json::to_string(&condition).unwrap();
            assert_eq!(json, format!("\"{condition}\""));
            assert_eq!(serde_json::from_str::<Condition>(&json).unwrap(), condition);
        }
    }

    #[test]
    fn factors_come_in_any_order_and_go_out_in_one() {
        let written = |text: &str| text.parse::<Condition>().unwrap().to_string();
        assert_eq!(written("rubric+guided+v2"), "v2+guided+rubric");
        assert_eq!(written("CoT + guided + few"), "cot+few+guided");
        assert_eq!(written("v1+zero"), "v1");
        assert_eq!(Condition::default().to_string(), "v2");
    }

    #[test]
    fn a_wrong_name_is_told_what_exists() {
        for (text, part) in [
            ("v3", "unknown part `v3`"),
            ("guided", "names no template"),
            ("", "unknown part ``"),
            ("v1+v2", "names two templates"),
            ("v1+guided+guided", "part `guided` stands twice"),
            ("v1+few+zero", "both few and zero"),
        ] {
            let message = text.parse::<Condition>().unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
            assert!(message.contains("v1, v2, cot"), "{message}");
        }
    }
}
