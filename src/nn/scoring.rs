//! How likely a decoder holds given tokens to be, without drawing any.
//!
//! A text is read in one pass, and at some places in it the predictions are looked
//! at. Many texts are packed into one step behind the beginnings that they share;
//! none of this changes a bit of any number.

use rayon::prelude::*;

use super::{
    decoder::{Decoder, Step, Wanted},
    decoder_error::DecoderError,
    kernels::{Cpu, softmax},
    kv::Sequence,
    kv_memory::KvMemoryError,
    prefix_cache::PrefixCache,
    reading::{Effort, MAX_ROWS, Next, ReadError, Reading},
    sampling::FlawedLogits,
};

/// The most predictions over the whole vocabulary in one step, which bounds their
/// memory.
const MAX_PREDICTIONS: usize = 64;

/// A text to read, and what to look at on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoringJob {
    /// The text.
    pub tokens: Vec<u32>,
    /// What to look at, in rising order of the places.
    pub questions: Vec<NextToken>,
    /// Whether its keys and values are kept for texts to come that begin alike, until
    /// [`PrefixCache::drop_kept_texts`].
    pub keep: bool,
}

/// Tokens that may come next at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextToken {
    /// How many tokens of the text come before; at least one.
    pub place: usize,
    /// The tokens.
    pub candidates: Vec<u32>,
}

/// Why a text was not scored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoringError {
    /// There is nothing to look at, or not in rising order within the text.
    #[error("the places to look at do not rise from 1 to the {n_tokens} tokens of the text")]
    Places {
        /// The tokens of the text.
        n_tokens: usize,
    },
    /// A token is not in the vocabulary.
    #[error("there is no token {token}: the model has {vocabulary_size}")]
    UnknownToken {
        /// The token.
        token: u32,
        /// The number of tokens there are.
        vocabulary_size: usize,
    },
    /// The text does not fit the model.
    #[error("{n_tokens} tokens do not fit the context of {context_length}")]
    Context {
        /// The tokens of the text.
        n_tokens: usize,
        /// The most tokens that the model can hold.
        context_length: usize,
    },
    /// The keys and values of this text alone are too many.
    #[error("{0}: allow for more (`--kv-memory`, in MiB)")]
    Memory(#[from] KvMemoryError),
    /// The decoder failed.
    #[error(transparent)]
    Decoder(#[from] DecoderError),
    /// The decoder's predictions are useless.
    #[error(transparent)]
    Flawed(#[from] FlawedLogits),
}

impl From<ReadError> for ScoringError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Memory(error) => error.into(),
            ReadError::Decoder(error) => error.into(),
        }
    }
}

/// What a job comes to.
type Scored = Result<Vec<Vec<f64>>, ScoringError>;

/// Scores every text, in order: for each question the natural logarithms of its
/// candidates' probabilities. The work goes to the threads of the current `rayon`
/// pool.
///
/// What comes of a job hangs on that job alone, bit for bit.
pub fn score(
    decoder: &Decoder,
    jobs: &[ScoringJob],
    cache: &mut PrefixCache,
) -> Vec<Result<Vec<Vec<f64>>, ScoringError>> {
    let mut results: Vec<Option<Scored>> = Vec::new();
    let mut possible = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let error = check(decoder, job).err();
        if error.is_none() {
            possible.push(index);
        }
        results.push(error.map(Err));
    }
    // Predictions are wanted from the first place on, so only what is before it can
    // be shared with others.
    let heads = possible.iter().map(|&index| head(&jobs[index])).collect();
    let mut reading = Reading::new(decoder, heads, cache, Effort::Read);
    let mut active: Vec<Active<'_>> = Vec::new();
    loop {
        let mut n_unread: usize = active.iter().map(Active::n_unread).sum();
        while n_unread < MAX_ROWS {
            let room = |at: usize| {
                let job = &jobs[possible[at]];
                job.tokens.len() - head(job).len()
            };
            match reading.next(room, !active.is_empty()) {
                Next::Open(at, sequence) => {
                    let (index, answers) = (possible[at], Vec::new());
                    let one = Active { index, job: &jobs[index], sequence, answers };
                    n_unread += one.n_unread();
                    reading.count(one.end() - head(one.job).len());
                    active.push(one);
                }
                Next::Failed(at, error) => results[possible[at]] = Some(Err(error.into())),
                Next::Wait | Next::Over => break,
            }
        }
        if active.is_empty() {
            break;
        }
        let mut outcomes = step(decoder, &mut active).into_iter();
        for mut one in std::mem::take(&mut active) {
            match outcomes.next() {
                Some(Err(error)) => results[one.index] = Some(Err(error)),
                Some(Ok(())) if one.answers.len() == one.job.questions.len() => {
                    results[one.index] = Some(Ok(std::mem::take(&mut one.answers)));
                    if one.job.keep {
                        let n_read = one.sequence.n_tokens();
                        reading.keep_text(&one.job.tokens[..n_read], one.sequence);
                    }
                }
                Some(Ok(())) | None => active.push(one),
            }
        }
    }
    let lost = |job: &ScoringJob| Err(ScoringError::Places { n_tokens: job.tokens.len() });
    results.into_iter().zip(jobs).map(|(result, job)| result.unwrap_or_else(|| lost(job))).collect()
}

/// The tokens before the first prediction.
fn head(job: &ScoringJob) -> &[u32] {
    &job.tokens[..job.questions.first().map_or(job.tokens.len(), |question| question.place)]
}

fn check(decoder: &Decoder, job: &ScoringJob) -> Result<(), ScoringError> {
    let config = decoder.config();
    let n_tokens = job.tokens.len();
    let places: Vec<usize> = job.questions.iter().map(|question| question.place).collect();
    let rises = places.is_sorted_by(|a, b| a < b);
    if !rises || places.first().is_none_or(|&first| first == 0) || places.last() > Some(&n_tokens) {
        return Err(ScoringError::Places { n_tokens });
    }
    let &context_length = &config.context_length;
    if n_tokens > context_length {
        return Err(ScoringError::Context { n_tokens, context_length });
    }
    let vocabulary_size = config.vocabulary_size;
    let candidates = job.questions.iter().flat_map(|question| &question.candidates);
    match job.tokens.iter().chain(candidates).find(|&&token| token as usize >= vocabulary_size) {
        Some(&token) => Err(ScoringError::UnknownToken { token, vocabulary_size }),
        None => Ok(()),
    }
}

/// A text in work.
struct Active<'a> {
    index: usize,
    job: &'a ScoringJob,
    sequence: Sequence,
    /// Of the first questions.
    answers: Vec<Vec<f64>>,
}

impl Active<'_> {
    /// The last place.
    fn end(&self) -> usize {
        self.job.questions.last().map_or(0, |question| question.place)
    }

    /// The tokens up to the last place that are not read yet.
    fn n_unread(&self) -> usize {
        self.end().saturating_sub(self.sequence.n_tokens())
    }

    /// How many tokens to read next, and after which of them a prediction is wanted:
    /// those up to the next place, or those that stand at places one after another.
    fn portion(&self, room: usize, n_predictions: usize) -> (usize, Wanted) {
        let n_read = self.sequence.n_tokens();
        let mut places = self.job.questions[self.answers.len()..].iter().map(|next| next.place);
        let count = places.next().map_or(0, |place| place - n_read);
        if count > room {
            return (room, Wanted::Nothing);
        }
        if count != 1 {
            return (count, Wanted::Last);
        }
        let run = places.zip(n_read + 2..).take_while(|(place, expected)| place == expected);
        ((1 + run.count()).min(room).min(n_predictions), Wanted::Every)
    }
}

/// Reads the next tokens of the first texts, and answers the questions there. One
/// outcome comes back for each text that took part.
fn step<'a>(decoder: &Decoder, active: &mut [Active<'a>]) -> Vec<Result<(), ScoringError>> {
    let (mut room, mut n_predictions) = (MAX_ROWS, MAX_PREDICTIONS);
    let mut steps = Vec::new();
    let mut asked: Vec<&'a [NextToken]> = Vec::new();
    for one in active.iter_mut() {
        if room == 0 || n_predictions == 0 {
            break;
        }
        let (count, wanted) = one.portion(room, n_predictions);
        let n_wanted = match wanted {
            Wanted::Nothing => 0,
            Wanted::Last => 1,
            Wanted::Every => count,
        };
        room -= count;
        n_predictions -= n_wanted;
        let (job, n_read) = (one.job, one.sequence.n_tokens());
        let tokens = &job.tokens[n_read..n_read + count];
        asked.push(&job.questions[one.answers.len()..][..n_wanted]);
        steps.push(Step { sequence: &mut one.sequence, tokens, wanted });
    }
    let logits = match decoder.forward(&mut steps) {
        Ok(logits) => logits,
        Err(error) => return steps.iter().map(|_| Err(error.clone().into())).collect(),
    };
    drop(steps);
    let rows: Vec<(&[f32], &NextToken)> =
        logits.rows().zip(asked.iter().copied().flatten()).collect();
    let answers: Vec<Result<Vec<f64>, FlawedLogits>> = rows
        .into_par_iter()
        .map(|(row, question)| log_probabilities(decoder.cpu(), row, &question.candidates))
        .collect();
    let mut answers = answers.into_iter();
    active
        .iter_mut()
        .zip(asked)
        .map(|(one, asked)| {
            let own: Vec<_> = answers.by_ref().take(asked.len()).collect();
            one.answers.extend(own.into_iter().collect::<Result<Vec<_>, _>>()?);
            Ok(())
        })
        .collect()
}

/// The natural logarithms of the probabilities of some tokens.
fn log_probabilities(
    cpu: Cpu,
    logits: &[f32],
    candidates: &[u32],
) -> Result<Vec<f64>, FlawedLogits> {
    let n_flawed = logits.iter().filter(|logit| !logit.is_finite()).count();
    if n_flawed > 0 || logits.is_empty() {
        return Err(FlawedLogits { n_flawed });
    }
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum = softmax(cpu, &mut logits.to_vec());
    let logarithm = f64::from(greatest) + f64::from(sum).ln();
    Ok(candidates.iter().map(|&token| f64::from(logits[token as usize]) - logarithm).collect())
}
