//! A decoder on this machine that weighs given replies.

use rayon::prelude::*;

use super::{
    LocalBackend,
    inquiry::{Answers, Inquiry, Path, n_common},
};
use crate::{
    backend::{BackendError, Choice, Marking, Scoring},
    nn::{PrefixCache, ScoringError, score},
};

impl Scoring for LocalBackend {
    fn choose(&self, choices: &[Choice]) -> Vec<Result<Vec<f64>, BackendError>> {
        self.work(|cache| {
            let asked: Vec<Result<(Inquiry, Vec<Path>), BackendError>> = choices
                .par_iter()
                .map(|choice| self.options_of(choice).map_err(|reason| self.refused(reason)))
                .collect();
            let inquiries: Vec<&Inquiry> =
                asked.iter().flatten().map(|(inquiry, _)| inquiry).collect();
            let mut answers = self.answer(&inquiries, false, cache).into_iter();
            asked
                .into_iter()
                .map(|asked| {
                    let (_, paths) = asked?;
                    let answers = answers.next().unwrap_or_else(|| Err(self.lost()))?;
                    Ok(paths.iter().map(|path| answers.of(path)).collect())
                })
                .collect()
        })
    }

    fn mark(&self, markings: &[Marking]) -> Vec<Result<Vec<usize>, BackendError>> {
        self.work(|cache| {
            let mut walks: Vec<Walk<'_>> = markings.iter().map(Walk::new).collect();
            while walks.iter().any(|walk| walk.goes_on) {
                self.walk(&mut walks, cache);
            }
            cache.drop_kept_texts();
            walks.into_iter().map(|walk| walk.result).collect()
        })
    }
}

/// A text that is being copied with marks.
struct Walk<'a> {
    marking: &'a Marking,
    /// The places that got a mark so far.
    result: Result<Vec<usize>, BackendError>,
    /// The first of the places that is not decided yet.
    next: usize,
    goes_on: bool,
}

/// What is asked on the way from the last mark to the end of a text.
struct Stretch {
    inquiry: Inquiry,
    /// By place from the next on: the mark, and the word that follows if none stands
    /// there. `None` where the two cannot be told apart.
    rivals: Vec<Option<(Path, Path)>>,
}

impl<'a> Walk<'a> {
    fn new(marking: &'a Marking) -> Self {
        let goes_on = !marking.places.is_empty();
        Self { marking, result: Ok(Vec::new()), next: 0, goes_on }
    }

    fn stop(&mut self, error: BackendError) {
        self.result = Err(error);
        self.goes_on = false;
    }

    /// The copy as far as a place of the text, with the marks that are decided.
    fn copy(&self, end: usize) -> String {
        let Marking { text, mark, .. } = self.marking;
        let mut copy = String::new();
        let mut start = 0;
        for &cut in self.result.iter().flatten().filter(|&&cut| cut <= end) {
            copy.push_str(&text[start..cut]);
            copy.push_str(mark);
            start = cut;
        }
        copy.push_str(&text[start..end]);
        copy
    }

    /// Puts the first mark that is likelier than what follows in the text.
    fn decide(&mut self, stretch: &Stretch, answers: &Answers) {
        let wins = |rivals: &Option<(Path, Path)>| match rivals {
            Some((mark, word)) => answers.of(mark) > answers.of(word),
            None => false,
        };
        let Some(at) = stretch.rivals.iter().position(wins) else {
            self.goes_on = false;
            return;
        };
        let places = &self.marking.places;
        if let Ok(cuts) = &mut self.result {
            cuts.push(places[self.next + at]);
        }
        self.next += at + 1;
        self.goes_on = self.next < places.len();
    }
}

impl LocalBackend {
    fn options_of(&self, choice: &Choice) -> Result<(Inquiry, Vec<Path>), String> {
        let replies: Vec<&str> = choice.replies.iter().map(String::as_str).collect();
        let texts = self.speech.tokens_with_each(&choice.prompt, &replies)?;
        let n_common = n_common(&texts);
        if n_common == 0 || texts.iter().any(|text| text.len() <= n_common) {
            return Err("the replies offered are not different continuations of a prompt".into());
        }
        let mut inquiry = Inquiry::of(texts[0][..n_common].to_vec());
        let paths = texts.iter().map(|text| inquiry.ask(text, n_common)).collect();
        Ok((inquiry, paths))
    }

    /// Takes every text that goes on as far as its next mark: one pass over what is
    /// left of it, of which all before the mark holds.
    fn walk(&self, walks: &mut [Walk<'_>], cache: &mut PrefixCache) {
        let stretches: Vec<Option<Result<Stretch, String>>> =
            walks.par_iter().map(|walk| walk.goes_on.then(|| self.stretch(walk))).collect();
        let inquiries: Vec<&Inquiry> =
            stretches.iter().flatten().flatten().map(|stretch| &stretch.inquiry).collect();
        let mut answers = self.answer(&inquiries, true, cache).into_iter();
        for (walk, stretch) in walks.iter_mut().zip(&stretches) {
            match stretch {
                None => (),
                Some(Err(reason)) => walk.stop(self.refused(reason.clone())),
                Some(Ok(stretch)) => match answers.next().unwrap_or_else(|| Err(self.lost())) {
                    Ok(answers) => walk.decide(stretch, &answers),
                    Err(error) => walk.stop(error),
                },
            }
        }
    }

    fn stretch(&self, walk: &Walk<'_>) -> Result<Stretch, String> {
        let Marking { prompt, text, mark, places } = walk.marking;
        let open = &places[walk.next..];
        let mut copies: Vec<String> = vec![walk.copy(text.len())];
        for (at, &place) in open.iter().enumerate() {
            let next = open.get(at + 1).copied().unwrap_or(text.len());
            copies.push(walk.copy(place) + mark);
            copies.push(walk.copy(next));
        }
        let copies: Vec<&str> = copies.iter().map(String::as_str).collect();
        let mut tokens = self.speech.tokens_with_each(prompt, &copies)?.into_iter();
        let mut inquiry = Inquiry::of(tokens.next().unwrap_or_default());
        let mut rivals = Vec::new();
        while let (Some(marked), Some(plain)) = (tokens.next(), tokens.next()) {
            let pair = [marked, plain];
            let from = n_common(&pair);
            let can_tell = 0 < from && pair.iter().all(|tokens| from < tokens.len());
            let [marked, plain] = &pair;
            rivals.push(can_tell.then(|| (inquiry.ask(marked, from), inquiry.ask(plain, from))));
        }
        Ok(Stretch { inquiry, rivals })
    }

    fn answer(
        &self,
        inquiries: &[&Inquiry],
        keep: bool,
        cache: &mut PrefixCache,
    ) -> Vec<Result<Answers, BackendError>> {
        let jobs: Vec<Vec<_>> = inquiries.iter().map(|inquiry| inquiry.jobs(keep)).collect();
        let counts: Vec<usize> = jobs.iter().map(Vec::len).collect();
        let mut scores = score(&self.decoder, &jobs.concat(), cache).into_iter();
        inquiries
            .iter()
            .zip(counts)
            .map(|(inquiry, count)| {
                let own: Vec<_> = scores.by_ref().take(count).collect();
                let own: Result<Vec<_>, ScoringError> = own.into_iter().collect();
                let own = own.map_err(|error| self.refused(error.to_string()))?;
                Ok(inquiry.answers(own))
            })
            .collect()
    }

    fn lost(&self) -> BackendError {
        self.refused("the answer was lost".to_owned())
    }
}
