//! A run in the layout of the public release.

use std::collections::BTreeMap;

use super::{Run, work::CutParagraph};
use crate::{
    generate::{CleanStage, GenerateStage},
    metrics::{
        Paragraph, State,
        release::{Answer, ReleaseDraft, ReleaseParagraph},
    },
    run::Outcome,
};

impl Run<'_> {
    /// The drafts with units and ratings, as the release has them: each gold
    /// unit is an annotation of its own. With them comes the number of paragraphs
    /// that are not there in full, since a stage failed or is not done.
    pub fn release_drafts(&self) -> anyhow::Result<(Vec<ReleaseDraft>, usize)> {
        let generated = self.store.records::<GenerateStage<'_>>()?;
        let cleaned = self.store.records::<CleanStage>()?;
        let mut feedback = BTreeMap::new();
        for reply in super::work::replies(self.corpus, &generated) {
            let text = match cleaned.get(&reply.key()) {
                Some(Outcome::Done(record)) => Some(record.feedback.clone()),
                _ => None,
            };
            feedback.insert(reply.paragraph.to_string(), (reply.text, text));
        }
        self.with_rated(|cut, rated| {
            let mut by_key: BTreeMap<&str, (&CutParagraph<'_>, &Paragraph)> = BTreeMap::new();
            for (cut, rated) in cut.iter().zip(rated) {
                by_key.insert(&rated.key, (cut, rated));
            }
            let n_partial = rated
                .iter()
                .filter(|paragraph| match &paragraph.state {
                    State::Rated(scores) => 0 < scores.n_unscored(),
                    State::Failed { .. } => true,
                })
                .count();
            let drafts = self
                .corpus
                .drafts()
                .iter()
                .map(|draft| ReleaseDraft {
                    id: draft.id.clone(),
                    paragraphs: draft
                        .paragraphs
                        .iter()
                        .enumerate()
                        .map(|(index, paragraph)| {
                            let key = format!("{}#{index}", draft.id);
                            let (comments, answer) = match by_key.get(key.as_str()) {
                                Some((cut, rated)) => (
                                    cut.gold_texts(),
                                    answer(cut, rated, feedback.get(&key).cloned()),
                                ),
                                None => (Vec::new(), Answer::Absent),
                            };
                            ReleaseParagraph { body: paragraph.text.clone(), comments, answer }
                        })
                        .collect(),
                })
                .collect();
            Ok((drafts, n_partial))
        })
    }
}

fn answer(
    cut: &CutParagraph<'_>,
    rated: &Paragraph,
    feedback: Option<(String, Option<String>)>,
) -> Answer {
    let Some((raw, cleaned)) = feedback else { return Answer::Absent };
    match (&cut.units, &rated.state) {
        (Ok(units), State::Rated(scores)) => {
            Answer::Cut { raw, cleaned, units: units.generated.clone(), scores: scores.clone() }
        }
        _ => Answer::Uncut { raw, cleaned },
    }
}
