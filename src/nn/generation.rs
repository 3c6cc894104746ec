//! Going on with many prompts at once.
//!
//! Prompts are taken in an order in which those that begin alike follow each other,
//! and what they share is read once. Sequences of any length work side by side;
//! one that is done leaves, and the next enters as soon as there is room. None of
//! this changes a token of any reply.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::{
    decoder::{Decoder, Step, Wanted},
    decoder_error::DecoderError,
    kv::Sequence,
    kv_memory::KvMemoryError,
    prefix_cache::{PrefillCount, PrefixCache},
    reading::{Effort, MAX_ROWS, Next, ReadError, Reading},
    sampling::{FlawedLogits, Sampler, SamplingRules},
};

/// A prompt to go on with.
#[derive(Clone, Debug, PartialEq)]
pub struct GenerationJob {
    /// The prompt.
    pub tokens: Vec<u32>,
    /// The most tokens to draw.
    pub max_new_tokens: usize,
    /// How they are drawn.
    pub rules: SamplingRules,
    /// Where the random draws start.
    pub seed: u64,
}

/// What bounds the work at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenerationLimits {
    /// The most replies that grow at the same time.
    pub max_sequences: usize,
    /// The memory of their keys and values. A job enters only when its own, for the
    /// longest reply it may get, fit beside the others'; one that alone does not fit
    /// fails.
    pub kv_memory_bytes: usize,
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Its tokens, without the one that ended it.
    pub tokens: Vec<u32>,
    /// Why it ended.
    pub end: GenerationEnd,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerationEnd {
    /// The model drew a token that ends a reply.
    EndToken,
    /// The recipient had enough.
    Recipient,
    /// The limit on new tokens was met.
    Limit,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerationError {
    /// There is nothing to go on with.
    #[error("the prompt has no tokens")]
    Empty,
    /// Prompt and reply do not fit the model together.
    #[error(
        "{n_prompt_tokens} tokens of prompt and up to {max_new_tokens} of reply do not fit the context of {context_length}"
    )]
    Context {
        /// The tokens of the prompt.
        n_prompt_tokens: usize,
        /// The most tokens of the reply.
        max_new_tokens: usize,
        /// The most tokens that the model can hold.
        context_length: usize,
    },
    /// The keys and values of this job alone are too many.
    #[error("{0}: allow for more (`--kv-memory`, in MiB)")]
    Memory(#[from] KvMemoryError),
    /// The decoder failed.
    #[error(transparent)]
    Decoder(#[from] DecoderError),
    /// The decoder's predictions are useless.
    #[error(transparent)]
    Flawed(#[from] FlawedLogits),
}

impl From<ReadError> for GenerationError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Memory(error) => error.into(),
            ReadError::Decoder(error) => error.into(),
        }
    }
}

/// Whoever takes the replies; it may be called from a thread of the pool.
pub trait Recipient: Send {
    /// Whether a reply, which just got its newest token, is to go on.
    fn goes_on(&mut self, job: usize, tokens: &[u32]) -> bool;

    /// Takes what came of one job, as soon as it is there. Each job is finished
    /// once, in any order, unless a break ends all the work.
    fn finish(&mut self, job: usize, result: Result<Generated, GenerationError>)
    -> ControlFlow<()>;
}

/// Goes on with every job until it ends. The work goes to the threads of the
/// current `rayon` pool.
///
/// A reply hangs on its own job alone, bit for bit.
pub fn generate(
    decoder: &Decoder,
    jobs: &[GenerationJob],
    end_ids: &[u32],
    limits: GenerationLimits,
    recipient: &mut dyn Recipient,
) -> ControlFlow<()> {
    let mut cache = PrefixCache::new(limits.kv_memory_bytes);
    let crew = Crew { decoder, max_sequences: limits.max_sequences, cache: &mut cache };
    generate_with(crew, jobs, end_ids, recipient)
}

/// What works on jobs.
#[derive(Debug)]
pub struct Crew<'a> {
    /// The model.
    pub decoder: &'a Decoder,
    /// The most replies that grow at the same time.
    pub max_sequences: usize,
    /// The memory of keys and values, with what it holds of this decoder already.
    pub cache: &'a mut PrefixCache,
}

/// Goes on with every job as [`generate`] does, but reads nothing again that is kept
/// from work before, and keeps what may be of use again. Not a bit of any reply
/// hangs on what was kept.
pub fn generate_with(
    crew: Crew<'_>,
    jobs: &[GenerationJob],
    end_ids: &[u32],
    recipient: &mut dyn Recipient,
) -> ControlFlow<()> {
    let mut possible = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        match check(crew.decoder, job) {
            Err(error) => recipient.finish(index, Err(error))?,
            Ok(()) if job.max_new_tokens == 0 => {
                let nothing = Generated { tokens: Vec::new(), end: GenerationEnd::Limit };
                recipient.finish(index, Ok(nothing))?;
            }
            Ok(()) => possible.push(index),
        }
    }
    let prompts = possible.iter().map(|&index| &jobs[index].tokens[..]).collect();
    let Crew { decoder, max_sequences, cache } = crew;
    let reading = Reading::new(decoder, prompts, cache, Effort::Read);
    let mut floor = Floor { decoder, jobs, possible, reading, active: Vec::new() };
    loop {
        floor.admit(max_sequences.max(1), recipient)?;
        if floor.active.is_empty() {
            return ControlFlow::Continue(());
        }
        floor.advance(end_ids, recipient)?;
    }
}

/// Counts what [`generate_with`] would read of some jobs if every reply were as long
/// as it may be, and leaves the cache as that would leave it, but for the keys and
/// values themselves: it is of no use to read with.
pub fn rehearse(crew: Crew<'_>, jobs: &[GenerationJob]) -> PrefillCount {
    let Crew { decoder, max_sequences, cache } = crew;
    let before = cache.count();
    let works = |job: &&GenerationJob| job.max_new_tokens > 0 && check(decoder, job).is_ok();
    let jobs: Vec<&GenerationJob> = jobs.iter().filter(works).collect();
    let prompts = jobs.iter().map(|job| &job.tokens[..]).collect();
    let mut reading = Reading::new(decoder, prompts, &mut *cache, Effort::Count);
    let mut active: Vec<Sequence> = Vec::new();
    loop {
        if active.len() >= max_sequences.max(1) {
            active.remove(0);
        }
        match reading.next(|index| jobs[index].max_new_tokens - 1, !active.is_empty()) {
            Next::Open(_, sequence) => active.push(sequence),
            Next::Failed(..) => (),
            Next::Wait => drop(active.remove(0)),
            Next::Over => break,
        }
    }
    let after = cache.count();
    PrefillCount { n_read: after.n_read - before.n_read, n_naive: after.n_naive - before.n_naive }
}

fn check(decoder: &Decoder, job: &GenerationJob) -> Result<(), GenerationError> {
    let config = decoder.config();
    let n_prompt_tokens = job.tokens.len();
    let &GenerationJob { max_new_tokens, .. } = job;
    if n_prompt_tokens == 0 {
        return Err(GenerationError::Empty);
    }
    if n_prompt_tokens.saturating_add(max_new_tokens) > config.context_length {
        let context_length = config.context_length;
        return Err(GenerationError::Context { n_prompt_tokens, max_new_tokens, context_length });
    }
    let vocabulary_size = config.vocabulary_size;
    match job.tokens.iter().find(|&&token| token as usize >= vocabulary_size) {
        Some(&token) => Err(DecoderError::UnknownToken { token, vocabulary_size }.into()),
        None => Ok(()),
    }
}

/// The work in progress.
struct Floor<'a> {
    decoder: &'a Decoder,
    jobs: &'a [GenerationJob],
    /// The jobs that are read.
    possible: Vec<usize>,
    reading: Reading<'a>,
    active: Vec<Active<'a>>,
}

/// A reply that grows.
struct Active<'a> {
    index: usize,
    job: &'a GenerationJob,
    sequence: Sequence,
    sampler: Sampler,
    /// The part of the prompt that is not read yet.
    unread: &'a [u32],
    tokens: Vec<u32>,
}

impl Active<'_> {
    /// Takes a token that was drawn; what comes of the job if that was the last.
    fn take(
        &mut self,
        token: u32,
        end_ids: &[u32],
        recipient: &mut dyn Recipient,
    ) -> Option<Generated> {
        let end = if end_ids.contains(&token) {
            GenerationEnd::EndToken
        } else {
            self.tokens.push(token);
            if !recipient.goes_on(self.index, &self.tokens) {
                GenerationEnd::Recipient
            } else if self.tokens.len() == self.job.max_new_tokens {
                GenerationEnd::Limit
            } else {
                return None;
            }
        };
        Some(Generated { tokens: std::mem::take(&mut self.tokens), end })
    }
}

impl Floor<'_> {
    /// Lets jobs enter while there is room.
    fn admit(&mut self, max_sequences: usize, recipient: &mut dyn Recipient) -> ControlFlow<()> {
        while self.active.len() < max_sequences {
            let (jobs, possible) = (self.jobs, &self.possible);
            // The last token drawn is never read.
            let room = |at: usize| jobs[possible[at]].max_new_tokens - 1;
            match self.reading.next(room, !self.active.is_empty()) {
                Next::Open(at, sequence) => {
                    let index = possible[at];
                    let job = &jobs[index];
                    let sampler = Sampler::new(job.rules, job.seed, &job.tokens);
                    let unread = &job.tokens[sequence.n_tokens()..];
                    let tokens = Vec::new();
                    self.active.push(Active { index, job, sequence, sampler, unread, tokens });
                }
                Next::Failed(at, error) => recipient.finish(possible[at], Err(error.into()))?,
                Next::Wait | Next::Over => break,
            }
        }
        ControlFlow::Continue(())
    }

    /// Takes one step with all replies that find room in it, the longest here first,
    /// and parts with those that are done.
    fn advance(&mut self, end_ids: &[u32], recipient: &mut dyn Recipient) -> ControlFlow<()> {
        let mut outcomes = self.step().into_iter();
        for mut active in std::mem::take(&mut self.active) {
            let result = match outcomes.next() {
                Some(Ok(Some(token))) => active.take(token, end_ids, recipient).map(Ok),
                Some(Err(error)) => Some(Err(error)),
                Some(Ok(None)) | None => None,
            };
            match result {
                Some(result) => recipient.finish(active.index, result)?,
                None => self.active.push(active),
            }
        }
        ControlFlow::Continue(())
    }

    /// Reads the next tokens of the first replies, and draws a token for each whose
    /// prompt is read. One outcome comes back for each reply that took part.
    fn step(&mut self) -> Vec<Result<Option<u32>, GenerationError>> {
        let mut room = MAX_ROWS;
        let mut steps = Vec::new();
        let mut samplers = Vec::new();
        for Active { sequence, sampler, unread, tokens, .. } in &mut self.active {
            let next = if unread.is_empty() { &tokens[tokens.len() - 1..] } else { *unread };
            let count = next.len().min(room);
            if count == 0 {
                break;
            }
            room -= count;
            *unread = unread.get(count..).unwrap_or_default();
            let is_read = count == next.len();
            let wanted = if is_read { Wanted::Last } else { Wanted::Nothing };
            steps.push(Step { sequence, tokens: &next[..count], wanted });
            samplers.push(is_read.then_some(sampler));
        }
        match self.decoder.forward(&mut steps) {
            Err(error) => steps.iter().map(|_| Err(error.clone().into())).collect(),
            Ok(mut logits) => {
                let mut rows = logits.rows_mut();
                let draws: Vec<_> = samplers
                    .into_iter()
                    .map(|sampler| sampler.and_then(|sampler| Some((sampler, rows.next()?))))
                    .collect();
                draws
                    .into_par_iter()
                    .map(|draw| draw.map(|(sampler, row)| Ok(sampler.draw(row)?)).transpose())
                    .collect()
            }
        }
    }
}
