//! What is looked at to find out how likely some continuations of a text are.

use std::collections::BTreeMap;

use crate::nn::{NextToken, ScoringJob};

/// Texts to read for one request: a main one and what branches off it.
#[derive(Clone, Debug, Default)]
pub(super) struct Inquiry {
    texts: Vec<Text>,
}

/// A text, and by place the tokens that may come next there.
#[derive(Clone, Debug)]
struct Text {
    tokens: Vec<u32>,
    candidates: BTreeMap<usize, Vec<u32>>,
}

/// A continuation, as the places where its tokens are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path(Vec<Look>);

/// A token that may come next at a place of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    text: usize,
    place: usize,
    token: u32,
}

/// The natural logarithms of the probabilities that were asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers(BTreeMap<Look, f64>);

impl Inquiry {
    /// One about what follows on beginnings of a text, and on branches off it.
    pub(super) fn of(main: Vec<u32>) -> Self {
        Self { texts: vec![Text { tokens: main, candidates: BTreeMap::new() }] }
    }

    /// Asks how likely the tokens of a text are from the one with index `from` on,
    /// each after all those before it.
    pub(super) fn ask(&mut self, tokens: &[u32], from: usize) -> Path {
        let looks = (from..tokens.len()).map(|place| {
            let text = self.text_with(tokens, place);
            let token = tokens[place];
            let candidates = self.texts[text].candidates.entry(place).or_default();
            if !candidates.contains(&token) {
                candidates.push(token);
            }
            Look { text, place, token }
        });
        Path(looks.collect())
    }

    /// The text that begins with as many of these tokens, made if there is none.
    fn text_with(&mut self, tokens: &[u32], place: usize) -> usize {
        let found = self.texts.iter().position(|text| text.tokens.starts_with(&tokens[..place]));
        found.unwrap_or_else(|| {
            let tokens = tokens[..tokens.len() - 1].to_vec();
            self.texts.push(Text { tokens, candidates: BTreeMap::new() });
            self.texts.len() - 1
        })
    }

    /// The work of it; the main text is kept if `keep` says so. The texts that nothing
    /// was asked about are left out.
    pub(super) fn jobs(&self, keep: bool) -> Vec<ScoringJob> {
        let asked = self.texts.iter().enumerate().filter(|(_, text)| !text.candidates.is_empty());
        asked
            .map(|(index, text)| ScoringJob {
                tokens: text.tokens.clone(),
                questions: text
                    .candidates
                    .iter()
                    .map(|(&place, candidates)| NextToken { place, candidates: candidates.clone() })
                    .collect(),
                keep: keep && index == 0,
            })
            .collect()
    }

    /// The answers, from what came of the jobs, in their order.
    pub(super) fn answers(&self, scores: impl IntoIterator<Item = Vec<Vec<f64>>>) -> Answers {
        let asked = self.texts.iter().enumerate().filter(|(_, text)| !text.candidates.is_empty());
        let mut answers = BTreeMap::new();
        for ((text, asked), scores) in asked.zip(scores) {
            for ((&place, candidates), scores) in asked.candidates.iter().zip(scores) {
                for (&token, score) in candidates.iter().zip(scores) {
                    answers.insert(Look { text, place, token }, score);
                }
            }
        }
        Answers(answers)
    }
}

impl Answers {
    /// The natural logarithm of the probability of a continuation.
    pub(super) fn of(&self, path: &Path) -> f64 {
        path.0.iter().map(|look| self.0.get(look).copied().unwrap_or(f64::NEG_INFINITY)).sum()
    }
}

/// How many tokens all of some texts begin with.
pub(super) fn n_common(texts: &[Vec<u32>]) -> usize {
    let Some((first, others)) = texts.split_first() else { return 0 };
    let alike = |other: &Vec<u32>| first.iter().zip(other).take_while(|(a, b)| a == b).count();
    others.iter().map(alike).min().unwrap_or(first.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_off_the_main_text_is_looked_at_in_a_branch() {
        let mut inquiry = Inquiry::of(vec![1, 2, 3]);
        let paths = [inquiry.ask(&[1, 2, 3], 2), inquiry.ask(&[1, 2, 7, 8, 9], 2)];
        let jobs = inquiry.jobs(true);
        let texts: Vec<_> = jobs.iter().map(|job| (job.tokens.clone(), job.keep)).collect();
        assert_eq!(texts, [(vec![1, 2, 3], true), (vec![1, 2, 7, 8], false)]);
        let places: Vec<Vec<(usize, Vec<u32>)>> = jobs
            .into_iter()
            .map(|job| job.questions.into_iter().map(|ask| (ask.place, ask.candidates)).collect())
            .collect();
        assert_eq!(places, [vec![(2, vec![3, 7])], vec![(3, vec![8]), (4, vec![9])]]);
        let answers = inquiry.answers([vec![vec![-0.5, -1.0]], vec![vec![-2.0], vec![-4.0]]]);
        for (path, expected) in paths.iter().zip([-0.5, -7.0]) {
            assert!((answers.of(path) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn texts_have_in_common_what_all_begin_with() {
        assert_eq!(n_common(&[vec![1, 2, 3], vec![1, 2], vec![1, 2, 4]]), 2);
        assert_eq!(n_common(&[vec![1, 2, 3]]), 3);
        assert_eq!(n_common(&[]), 0);
    }
}
