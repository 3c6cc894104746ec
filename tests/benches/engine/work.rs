//! The kinds of work that are measured, each with the seconds it took.

use std::{ops::ControlFlow, sync::Arc, time::Instant};

use anyhow::Context;
use unimatch::nn::{
    Decoder, Generated, GenerationError, GenerationJob, GenerationLimits, KvMemory, Logits,
    PrefixTree, Recipient, SamplingRules, Segment, Sequence, Step, Wanted, generate,
};

use crate::model::Model;

/// The most tokens of one step, as in `unimatch::nn::generate`.
const MAX_ROWS: usize = 256;

/// Reads a prompt and predicts the next token.
pub(crate) fn prefill(model: &Model, n_tokens: usize) -> anyhow::Result<f64> {
    let tokens = model.tokens(n_tokens, 1);
    model.in_pool(|| {
        let memory = unbounded();
        let mut sequence = model.decoder.sequence(None, n_tokens, &memory)?;
        let start = Instant::now();
        read(&model.decoder, &mut sequence, &tokens, Wanted::Last)?;
        Ok(start.elapsed().as_secs_f64())
    })
}

/// Goes on for `n_tokens` with each of some sequences, in steps of one token each.
pub(crate) fn decode(
    model: &Model,
    n_prefix: usize,
    n_sequences: usize,
    n_tokens: usize,
) -> anyhow::Result<f64> {
    let decoder = &model.decoder;
    let own = model.tokens(n_sequences * n_tokens, 2);
    model.in_pool(|| {
        let memory = unbounded();
        let prefix = segment(decoder, &model.tokens(n_prefix, 1), &memory)?;
        // A sequence more than once, so that the first step is no slower than others.
        let mut warm = decoder.sequence(Some(Arc::clone(&prefix)), 4, &memory)?;
        for token in own.chunks(1).take(4) {
            read(decoder, &mut warm, token, Wanted::Last)?;
        }
        let mut sequences = Vec::new();
        for _ in 0..n_sequences {
            sequences.push(decoder.sequence(Some(Arc::clone(&prefix)), n_tokens, &memory)?);
        }
        let start = Instant::now();
        for tokens in own.chunks(n_sequences) {
            let mut steps: Vec<Step<'_>> = sequences
                .iter_mut()
                .zip(tokens.chunks(1))
                .map(|(sequence, tokens)| Step { sequence, tokens, wanted: Wanted::Last })
                .collect();
            decoder.forward(&mut steps)?;
        }
        Ok(start.elapsed().as_secs_f64())
    })
}

/// Prompts that begin alike, and how long the replies to them are.
#[expect(clippy::struct_field_names, reason = "counts are named so")]
pub(crate) struct Essay {
    pub(crate) n_prefix: usize,
    pub(crate) n_own: usize,
    pub(crate) n_paragraphs: usize,
    pub(crate) n_new: usize,
}

/// Replies to all prompts of an essay, through the scheduler that a run uses. With the
/// seconds come the tokens that were read.
pub(crate) fn reply(model: &Model, essay: &Essay) -> anyhow::Result<(f64, usize)> {
    let prefix = model.tokens(essay.n_prefix, 1);
    let rules =
        SamplingRules { temperature: 0.0, top_k: None, top_p: 1.0, repetition_penalty: 1.0 };
    let jobs: Vec<GenerationJob> = (2..)
        .take(essay.n_paragraphs)
        .map(|seed| GenerationJob {
            tokens: [&prefix[..], &model.tokens(essay.n_own, seed)].concat(),
            max_new_tokens: essay.n_new,
            rules,
            seed,
        })
        .collect();
    let prompts: Vec<&[u32]> = jobs.iter().map(|job| &job.tokens[..]).collect();
    let n_read = PrefixTree::new(&prompts).n_prefill_tokens();
    let limits = GenerationLimits { max_sequences: 8, kv_memory_bytes: 4 << 30 };
    let mut replies = Replies { n_tokens: 0, failure: None };
    let start = Instant::now();
    let end = model.in_pool(|| generate(&model.decoder, &jobs, &[], limits, &mut replies));
    let seconds = start.elapsed().as_secs_f64();
    if let (ControlFlow::Break(()), Some(error)) = (end, replies.failure) {
        return Err(error).context("replying");
    }
    anyhow::ensure!(replies.n_tokens == essay.n_paragraphs * essay.n_new, "replies are missing");
    Ok((seconds, n_read))
}

struct Replies {
    n_tokens: usize,
    failure: Option<GenerationError>,
}

impl Recipient for Replies {
    fn goes_on(&mut self, _: usize, _: &[u32]) -> bool {
        true
    }

    fn finish(&mut self, _: usize, result: Result<Generated, GenerationError>) -> ControlFlow<()> {
        match result {
            Ok(reply) => {
                self.n_tokens += reply.tokens.len();
                ControlFlow::Continue(())
            }
            Err(error) => {
                self.failure = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// Predicts what follows each pair behind a guideline, as many pairs at a time as a
/// step holds.
pub(crate) fn predict(
    model: &Model,
    n_prefix: usize,
    n_own: usize,
    n_pairs: usize,
) -> anyhow::Result<f64> {
    let decoder = &model.decoder;
    let own = model.tokens(n_pairs * n_own, 2);
    let n_at_once = (MAX_ROWS / n_own).max(1);
    model.in_pool(|| {
        let memory = unbounded();
        let guideline = segment(decoder, &model.tokens(n_prefix, 1), &memory)?;
        let start = Instant::now();
        for tokens in own.chunks(n_own * n_at_once) {
            let mut sequences = Vec::new();
            for _ in tokens.chunks(n_own) {
                sequences.push(decoder.sequence(Some(Arc::clone(&guideline)), n_own, &memory)?);
            }
            let mut steps: Vec<Step<'_>> = sequences
                .iter_mut()
                .zip(tokens.chunks(n_own))
                .map(|(sequence, tokens)| Step { sequence, tokens, wanted: Wanted::Last })
                .collect();
            decoder.forward(&mut steps)?;
        }
        Ok(start.elapsed().as_secs_f64())
    })
}

/// The likeliest token after some, and the bytes of their keys and values.
pub(crate) fn first_token(model: &Model, tokens: &[u32]) -> anyhow::Result<(usize, usize)> {
    model.in_pool(|| {
        let memory = unbounded();
        let mut sequence = model.decoder.sequence(None, tokens.len(), &memory)?;
        let logits = read(&model.decoder, &mut sequence, tokens, Wanted::Last)?;
        let row = logits.rows().next().context("no logits")?;
        let best = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        Ok((best.context("no vocabulary")?.0, memory.used_bytes()))
    })
}

fn segment(decoder: &Decoder, tokens: &[u32], memory: &KvMemory) -> anyhow::Result<Arc<Segment>> {
    let mut sequence = decoder.sequence(None, tokens.len(), memory)?;
    read(decoder, &mut sequence, tokens, Wanted::Nothing)?;
    Ok(sequence.freeze())
}

/// Reads tokens in steps; predictions are wanted of the last.
fn read(
    decoder: &Decoder,
    sequence: &mut Sequence,
    tokens: &[u32],
    wanted: Wanted,
) -> anyhow::Result<Logits> {
    let n_before = tokens.len().saturating_sub(1) / MAX_ROWS * MAX_ROWS;
    let (before, last) = tokens.split_at(n_before);
    for tokens in before.chunks(MAX_ROWS) {
        decoder.forward(&mut [Step {
            sequence: &mut *sequence,
            tokens,
            wanted: Wanted::Nothing,
        }])?;
    }
    Ok(decoder.forward(&mut [Step { sequence, tokens: last, wanted }])?)
}

fn unbounded() -> KvMemory {
    KvMemory::new(usize::MAX)
}
