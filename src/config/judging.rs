//! How judges are asked, by the names of the settings.

use anyhow::bail;

use super::RunOptions;
use crate::{
    experiment::{Judging, ScorerName, SegmenterName},
    segment::SegmentMode,
    similarity::{JudgeMode, JudgeRating},
};

/// The settings of judges, without what is asked of none.
#[derive(Clone, Copy, Debug, Default)]
pub struct JudgingNames<'a> {
    /// `batch` or `logits`.
    pub judge_mode: Option<&'a str>,
    /// `argmax` or `expectation`.
    pub judge_rating: Option<&'a str>,
    /// `copy` or `scoring`.
    pub segment_mode: Option<&'a str>,
}

impl<'a> JudgingNames<'a> {
    /// Those of some options.
    pub(super) fn of(options: &'a RunOptions) -> Self {
        Self {
            judge_mode: options.judge_mode.as_deref(),
            judge_rating: options.judge_rating.as_deref(),
            segment_mode: options.segment_mode.as_deref(),
        }
    }
}

/// `judging` with what these names say of the judges there are, nothing left to a
/// default.
///
/// # Errors
///
/// If a name is none of those that exist, or does not go with another; the message
/// names the option.
pub fn judging(
    judging: Judging,
    names: JudgingNames<'_>,
    segmenter: &SegmenterName,
    scorer: &ScorerName,
) -> anyhow::Result<Judging> {
    let mut judging = judging;
    judging.mode = match names.judge_mode {
        None => None,
        Some("batch") => Some(JudgeMode::Batch),
        Some("logits") => Some(JudgeMode::Logits),
        Some(other) => bail!("--judge-mode: `{other}` is neither batch nor logits"),
    };
    judging.rating = match names.judge_rating {
        None | Some("argmax") => JudgeRating::Argmax,
        Some("expectation") => JudgeRating::Expectation,
        Some(other) => bail!("--judge-rating: `{other}` is neither argmax nor expectation"),
    };
    judging.segment_mode = match names.segment_mode {
        None => None,
        Some("copy") => Some(SegmentMode::Copy),
        Some("scoring") => Some(SegmentMode::Scoring),
        Some(other) => bail!("--segment-mode: `{other}` is neither copy nor scoring"),
    };
    if let SegmenterName::Judge(model) = segmenter {
        judging.segment_mode = Some(judging.segment_mode_for(model));
    }
    if let ScorerName::Judge(model) = scorer {
        let mode = judging.mode_for(model);
        if (mode, judging.rating) == (JudgeMode::Batch, JudgeRating::Expectation) {
            bail!(
                "--judge-rating: a judge that rates in batches gives no probabilities: leave it \
                 out, or use --judge-mode logits"
            );
        }
        judging.mode = Some(mode);
    }
    Ok(judging)
}

/// The names that give these settings again.
pub(super) fn names(judging: &Judging) -> JudgingNames<'static> {
    JudgingNames {
        judge_mode: judging.mode.map(|mode| match mode {
            JudgeMode::Batch => "batch",
            JudgeMode::Logits => "logits",
        }),
        judge_rating: Some(match judging.rating {
            JudgeRating::Argmax => "argmax",
            JudgeRating::Expectation => "expectation",
        }),
        segment_mode: judging.segment_mode.map(|mode| match mode {
            SegmentMode::Copy => "copy",
            SegmentMode::Scoring => "scoring",
        }),
    }
}
