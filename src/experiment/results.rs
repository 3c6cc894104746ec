//! What comes out of a run, as plain data.

use serde::{Deserialize, Serialize};

use super::work::{CutParagraph, Records};
use crate::{
    agreement::Standing,
    backend::FinishReason,
    generate::{CleanRecord, ReplyRecord, Verdict},
    matching::CompleteScores,
    metrics::{Evaluation, Paragraph, ParagraphMetrics, State, measure},
    run::{Fingerprint, Outcome},
};

/// The results of one run. Written as `results.json`; the same records and the
/// same card of the scorer give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The version of this structure.
    pub format_version: u32,
    /// One line that says what was run, to stand under a table.
    pub signature: String,
    /// What is known of the scorer: `unvalidated`, or what its card says. It hangs on the
    /// cards that there are, and on nothing else outside of the records.
    #[serde(default)]
    pub validation: Standing,
    /// The run's fingerprint.
    pub fingerprint: Fingerprint,
    /// The figures.
    pub evaluation: Evaluation,
    /// What became of the replies.
    pub replies: ReplyCounts,
    /// How much of the essays the prompts held.
    pub context: ContextCounts,
}

impl Results {
    /// The structure that this program writes.
    pub const FORMAT_VERSION: u32 = 1;
}

/// What became of the replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyCounts {
    /// Replies that were asked for.
    pub n_asked: usize,
    /// Those that came.
    pub n_received: usize,
    /// Those that the limit on new tokens cut off.
    pub n_cut_by_length: usize,
    /// Those whose unfinished last sentence was removed.
    pub n_ending_removed: usize,
    /// Those that do not keep to the format they were asked for, where there is one.
    pub n_off_format: usize,
    /// Those of which nothing was left as feedback.
    pub n_empty: usize,
    /// Those of which a cleaning judge left nothing; they are among the empty.
    pub n_emptied_by_judge: usize,
    /// Those that a cleaning judge could not clean, so that rules alone did.
    pub n_refused_by_judge: usize,
    /// Tokens of all prompts.
    pub n_prompt_tokens: usize,
    /// Tokens of all replies.
    pub n_completion_tokens: usize,
}

/// How much of the essays the prompts held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextCounts {
    /// Prompts that hold the whole essay.
    pub n_whole: usize,
    /// Prompts from which paragraphs were dropped to fit the budget.
    pub n_trimmed: usize,
    /// The paragraphs dropped, over all prompts.
    pub n_dropped_paragraphs: usize,
    /// Their tokens.
    pub n_dropped_tokens: usize,
}

/// One paragraph with its units and how they were matched: a line of
/// `paragraphs.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParagraphResult {
    /// The paragraph, as `DRAFT#3`.
    pub paragraph: String,
    /// How many usable comments its instructor made.
    pub n_references: usize,
    /// The model's units: the rows of `ratings`.
    pub generated: Vec<String>,
    /// The instructor's units: the columns of `ratings`.
    pub gold: Vec<GoldUnit>,
    /// The ratings, 0 to 4; `null` where a pair is unscored.
    pub ratings: Vec<Vec<Option<f64>>>,
    /// The figures, where every pair has a rating and there are gold units.
    pub metrics: Option<ParagraphMetrics>,
    /// The stage that failed and why, where one did.
    pub failure: Option<Failure>,
}

/// A unit of an instructor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldUnit {
    /// The annotation it comes from, counted from zero.
    pub annotation: usize,
    /// Its words.
    pub text: String,
}

/// A stage that failed on a paragraph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The stage.
    pub stage: String,
    /// Why.
    pub error: String,
}

/// Counts over the replies to `n_asked` requests.
pub(super) fn count_replies(
    n_asked: usize,
    generated: &Records<ReplyRecord>,
    cleaned: &Records<CleanRecord>,
) -> (ReplyCounts, ContextCounts) {
    let mut replies = ReplyCounts { n_asked, ..ReplyCounts::default() };
    let mut context = ContextCounts::default();
    for outcome in generated.values() {
        let Outcome::Done(record) = outcome else { continue };
        replies.n_received += 1;
        replies.n_cut_by_length += usize::from(record.finish_reason == FinishReason::Length);
        replies.n_prompt_tokens += record.usage.n_prompt_tokens;
        replies.n_completion_tokens += record.usage.n_completion_tokens;
        let n_dropped = record.context.dropped_paragraphs.len();
        context.n_whole += usize::from(n_dropped == 0);
        context.n_trimmed += usize::from(n_dropped != 0);
        context.n_dropped_paragraphs += n_dropped;
        context.n_dropped_tokens += record.context.n_dropped_tokens;
    }
    for outcome in cleaned.values() {
        let Outcome::Done(record) = outcome else { continue };
        replies.n_ending_removed += usize::from(record.is_ending_cut());
        replies.n_off_format += usize::from(record.is_off_format());
        let is_empty = record.feedback.trim().is_empty();
        replies.n_empty += usize::from(is_empty);
        replies.n_emptied_by_judge +=
            usize::from(is_empty && record.judge == Some(Verdict::Accepted));
        replies.n_refused_by_judge +=
            usize::from(matches!(record.judge, Some(Verdict::Refused { .. })));
    }
    (replies, context)
}

/// The paragraphs with their units, ratings and figures.
pub(super) fn paragraph_results(
    cut: &[CutParagraph<'_>],
    rated: &[Paragraph],
) -> Vec<ParagraphResult> {
    cut.iter().zip(rated).map(|(cut, rated)| paragraph_result(cut, rated)).collect()
}

fn paragraph_result(cut: &CutParagraph<'_>, rated: &Paragraph) -> ParagraphResult {
    let (generated, gold) = match &cut.units {
        Ok(units) => (
            units.generated.clone(),
            units
                .gold
                .iter()
                .map(|(annotation, text)| GoldUnit { annotation: *annotation, text: text.clone() })
                .collect(),
        ),
        Err(_) => (Vec::new(), Vec::new()),
    };
    let (ratings, metrics, failure) = match &rated.state {
        State::Rated(scores) => (
            (0..scores.n_generated())
                .map(|row| {
                    (0..scores.n_gold())
                        .map(|column| scores.get(row, column).map(f64::from))
                        .collect()
                })
                .collect(),
            CompleteScores::of(scores)
                .filter(|_| 0 < scores.n_gold())
                .map(|scores| measure(&scores)),
            None,
        ),
        State::Failed { stage, error, .. } => {
            (Vec::new(), None, Some(Failure { stage: stage.clone(), error: error.clone() }))
        }
    };
    ParagraphResult {
        paragraph: rated.key.clone(),
        n_references: rated.n_references,
        generated,
        gold,
        ratings,
        metrics,
        failure,
    }
}
