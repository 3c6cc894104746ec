//! The stage that turns replies into feedback.

use serde::{Deserialize, Serialize};

use super::{Extracted, JudgeCleaner, Verdict, cut_unfinished, extract};
use crate::{
    corpus::ParagraphId,
    prompt::ReplyForm,
    run::{Emit, Outcome, RunError, Stage},
};

/// Finds the feedback in replies.
pub struct CleanStage {
    /// The form that the prompt asked for.
    pub form: ReplyForm,
    /// Who cleans.
    pub cleaner: Cleaner,
}

/// Who cleans.
pub enum Cleaner {
    /// Nobody: only thoughts, form and an unfinished end are dealt with.
    None,
    /// Rules.
    Rules,
    /// Rules, then a model.
    Judge(JudgeCleaner),
}

/// A reply about one paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The paragraph.
    pub paragraph: ParagraphId,
    /// The reply as it came.
    pub text: String,
}

impl Reply {
    /// Names the reply by its paragraph and its words.
    pub fn key(&self) -> String {
        let hash = blake3::hash(self.text.as_bytes()).to_hex();
        format!("{}:{}", self.paragraph, &hash[..12])
    }
}

/// The feedback in one reply, and what was done to find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CleanRecord {
    /// What is left: the feedback. Empty for an empty answer.
    pub feedback: String,
    /// What was removed on the way.
    pub extracted: Extracted,
    /// What a judge said, where one was asked.
    pub judge: Option<Verdict>,
}

impl CleanRecord {
    /// Whether the reply keeps to the form of a constrained prompt, so that it
    /// is one unit.
    pub fn is_one_unit(&self) -> bool {
        self.extracted.answer.format_followed == Some(true) && self.extracted.answer.focus.is_some()
    }

    /// Whether a form was asked for and not kept to.
    pub fn is_off_format(&self) -> bool {
        self.extracted.answer.format_followed == Some(false)
    }

    /// Whether an unfinished last sentence was cut.
    pub fn is_ending_cut(&self) -> bool {
        0 < self.extracted.n_chars_cut
    }
}

impl Stage for CleanStage {
    type Item = Reply;
    type Record = CleanRecord;

    const NAME: &'static str = "clean";

    fn key(&self, reply: &Reply) -> String {
        reply.key()
    }

    fn process(&self, replies: &[Reply], emit: &mut Emit<'_, CleanRecord>) -> Result<(), RunError> {
        let extracted = replies.iter().map(|reply| extract(&reply.text, self.form));
        match &self.cleaner {
            Cleaner::None => {
                for (index, extracted) in extracted.enumerate() {
                    let feedback = cut_unfinished(&extracted.answer.text).trim().to_owned();
                    emit(index, Outcome::Done(CleanRecord { feedback, extracted, judge: None }))?;
                }
            }
            Cleaner::Rules => {
                for (index, extracted) in extracted.enumerate() {
                    let feedback = extracted.cleaned.text.clone();
                    emit(index, Outcome::Done(CleanRecord { feedback, extracted, judge: None }))?;
                }
            }
            Cleaner::Judge(judge) => {
                let extracted: Vec<Extracted> = extracted.collect();
                for (part, some) in extracted.chunks(N_AT_ONCE).enumerate() {
                    let texts: Vec<&str> =
                        some.iter().map(|extracted| extracted.cleaned.text.as_str()).collect();
                    for (at, judged) in judge.clean(&texts).into_iter().enumerate() {
                        let index = part * N_AT_ONCE + at;
                        emit(index, judged_outcome(some[at].clone(), judged))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Texts that a judge gets at once: enough to work on its prompt once for many, and
/// few enough that a kill loses little.
const N_AT_ONCE: usize = 32;

fn judged_outcome(
    extracted: Extracted,
    judged: Result<super::JudgedCleaning, super::CleaningError>,
) -> Outcome<CleanRecord> {
    match judged {
        Ok(judged) => Outcome::Done(CleanRecord {
            feedback: judged.text,
            extracted,
            judge: Some(judged.verdict),
        }),
        Err(error) => Outcome::Failed { error: format!("{:#}", anyhow::Error::new(error)) },
    }
}
