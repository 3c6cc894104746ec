//! A model that rates pairs of units, many in one request.

use std::sync::Arc;

use super::{Rating, ScoreError, Scorer, UnitPair, labels};
use crate::{
    backend::{
        Backend, BackendError,
        judge::{JudgeSettings, Question, Unanswered, ask},
    },
    generate::without_thinking,
    prompt::{LabelledPair, Library, PromptError, Purpose},
};

/// The pairs of one request in the paper.
pub const DEFAULT_BATCH_SIZE: usize = 50;

/// Rates by asking a model for a whole number from 0 to 4 for each pair of a
/// batch.
///
/// The pairs of one call are taken in order, so many to a request; the last
/// request may have fewer. A pair's rating can depend on the pairs of its own
/// request and on nothing else. Where no reply to a request can be read, its
/// pairs have no rating: none of them is zero instead.
pub struct JudgeScorer {
    id: String,
    backend: Arc<dyn Backend>,
    library: Arc<Library>,
    settings: JudgeSettings,
    batch_size: usize,
}

impl JudgeScorer {
    /// Prepares to ask a judge, `batch_size` pairs at a time (zero counts as
    /// one). The scorer is named `judge:` and the name of the backend.
    ///
    /// # Errors
    ///
    /// If the library has no similarity template.
    pub fn new(
        backend: Arc<dyn Backend>,
        library: Arc<Library>,
        settings: JudgeSettings,
        batch_size: usize,
    ) -> Result<Self, PromptError> {
        library.template(Purpose::Similarity)?;
        let id = format!("judge:{}", backend.id());
        Ok(Self { id, backend, library, settings, batch_size: batch_size.max(1) })
    }

    fn question(&self, batch: &[UnitPair<'_>]) -> Result<Question, PromptError> {
        let pairs: Vec<LabelledPair<'_>> = batch
            .iter()
            .enumerate()
            .map(|(index, pair)| LabelledPair {
                label: labels::label(index),
                generated: pair.generated,
                gold: pair.gold,
            })
            .collect();
        let prompt = self.library.similarity(&pairs)?;
        // A line takes about five tokens.
        Ok(Question { prompt, max_new_tokens: 8 * batch.len() + 64 })
    }
}

impl Scorer for JudgeScorer {
    fn id(&self) -> &str {
        &self.id
    }

    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>> {
        let batches: Vec<&[UnitPair<'_>]> = pairs.chunks(self.batch_size).collect();
        let questions: Result<Vec<Question>, PromptError> =
            batches.iter().map(|batch| self.question(batch)).collect();
        let questions = match questions {
            Ok(questions) => questions,
            Err(error) => {
                let reason = format!("no prompt for the judge: {error}");
                return pairs.iter().map(|_| Err(ScoreError::Model(reason.clone()))).collect();
            }
        };
        let answers = ask(&*self.backend, &questions, &self.settings, |batch, completion| {
            read_ratings(&without_thinking(&completion.text).text, batches[batch].len())
        });
        let mut results = Vec::with_capacity(pairs.len());
        for (batch, answer) in batches.iter().zip(answers) {
            match answer {
                Ok(ratings) => results.extend(ratings.into_iter().map(Ok)),
                Err(Unanswered::Backend(error)) => {
                    results.extend(batch.iter().map(|_| Err(ScoreError::Backend(copy(&error)))));
                }
                Err(Unanswered::Unread { n_tries, reason }) => results.extend(
                    batch
                        .iter()
                        .map(|_| Err(ScoreError::Unreadable { n_tries, reason: reason.clone() })),
                ),
            }
        }
        results
    }
}

/// The error again, for each pair of a batch that it struck.
fn copy(error: &BackendError) -> BackendError {
    match error {
        BackendError::Unavailable { backend, reason } => {
            BackendError::Unavailable { backend: backend.clone(), reason: reason.clone() }
        }
        BackendError::Refused { backend, reason } => {
            BackendError::Refused { backend: backend.clone(), reason: reason.clone() }
        }
    }
}

/// Reads a reply to a batch of `n_pairs`, in the order of the labels.
///
/// A rating is a line of its own: a label in capitals, a closing bracket, and a
/// whole number from 0 to 4, white space aside. Every label stands once, in any
/// order, and no other label stands at all. Blank lines, and lines that do not
/// begin with capitals and a closing bracket, are not looked at: a word before
/// or after the ratings costs nothing.
///
/// # Errors
///
/// What is wrong with the reply, in words that hold nothing of it but labels.
pub fn read_ratings(reply: &str, n_pairs: usize) -> Result<Vec<Rating>, String> {
    let mut ratings: Vec<Option<Rating>> = vec![None; n_pairs];
    for line in reply.lines() {
        let Some((label, value)) = rating_line(line.trim()) else {
            continue;
        };
        let place = labels::index(label).and_then(|index| ratings.get_mut(index));
        let Some(place) = place else {
            return Err(format!("label {label} was not asked for"));
        };
        let rating = one_digit(value.trim()).and_then(Rating::from_int);
        let Some(rating) = rating else {
            return Err(format!("label {label} has no whole number from 0 to 4"));
        };
        if place.replace(rating).is_some() {
            return Err(format!("label {label} stands twice"));
        }
    }
    let missing = ratings.iter().position(Option::is_none);
    match missing {
        Some(index) => Err(format!("label {} is missing", labels::label(index))),
        None => Ok(ratings.into_iter().flatten().collect()),
    }
}

/// The most letters of a label.
const MAX_LABEL: usize = 4;

/// The label and what follows its bracket, in a line that opens with one.
fn rating_line(line: &str) -> Option<(&str, &str)> {
    let (label, value) = line.split_once(')')?;
    let is_label = (1..=MAX_LABEL).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_uppercase());
    is_label.then_some((label, value))
}

fn one_digit(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [digit @ b'0'..=b'9'] => Some(digit - b'0'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(reply: &str, n_pairs: usize, expected: Result<&[f64], &str>) {
        let found = read_ratings(reply, n_pairs)
            .map(|ratings| ratings.into_iter().map(Rating::get).collect::<Vec<_>>());
        assert_eq!(found, expected.map(<[f64]>::to_vec).map_err(str::to_owned), "{reply}");
    }

    #[test]
    fn a_strict_reply_is_read_in_any_order() {
        check("A) 0\nB) 4", 2, Ok(&[0.0, 4.0]));
        check(" B)4\r\n\nA)  0 \n", 2, Ok(&[0.0, 4.0]));
        check("Here are the ratings:\nA) 3\nDone (all of them).", 1, Ok(&[3.0]));
        check("", 0, Ok(&[]));
    }

    #[test]
    fn a_reply_that_is_not_strict_about_labels_is_refused() {
        check("A) 0", 2, Err("label B is missing"));
        check("A) 0\nB) 1\nC) 2", 2, Err("label C was not asked for"));
        check("A) 0\nB) 1\nA) 0", 2, Err("label A stands twice"));
        check("A) 0\nB) 5", 2, Err("label B has no whole number from 0 to 4"));
        check("A) 0\nB) 3.5", 2, Err("label B has no whole number from 0 to 4"));
        check("A) 0\nB) 3 as both praise", 2, Err("label B has no whole number from 0 to 4"));
        check("A) 0\nB)", 2, Err("label B has no whole number from 0 to 4"));
        check("0\n1", 2, Err("label A is missing"));
        check("A: 0\nB: 1", 2, Err("label A is missing"));
    }

    proptest! {
        #[test]
        fn what_is_written_in_the_form_is_read(
            values in prop::collection::vec(0_u8..=4, 1..80),
            dropped in any::<prop::sample::Index>(),
        ) {
            let lines: Vec<String> = values
                .iter()
                .enumerate()
                .map(|(index, value)| format!("{}) {value}", labels::label(index)))
                .collect();
            let read = read_ratings(&lines.join("\n"), values.len()).unwrap();
            let expected: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
            prop_assert_eq!(read.into_iter().map(Rating::get).collect::<Vec<_>>(), expected);
            let mut fewer = lines;
            fewer.remove(dropped.index(values.len()));
            prop_assert!(read_ratings(&fewer.join("\n"), values.len()).is_err());
        }
    }
}
