//! How likely a model takes a text to be.

use rayon::prelude::*;
use unimatch::nn::{Decoder, DecoderError, KvMemory, Step, Wanted};

/// The most logits of one step.
const MAX_LOGITS: usize = 1 << 24;

/// For each token but the first, the negative logarithm of its probability after those
/// before it, in nats.
pub(crate) fn surprisals(decoder: &Decoder, tokens: &[u32]) -> Result<Vec<f64>, DecoderError> {
    let Some((_, read)) = tokens.split_last() else { return Ok(Vec::new()) };
    let memory = KvMemory::new(decoder.sequence_bytes(read.len()));
    let mut sequence = decoder
        .sequence(None, read.len(), &memory)
        .map_err(|_| DecoderError::Room { n_tokens: read.len(), n_free: 0 })?;
    let n_rows = (MAX_LOGITS / decoder.config().vocabulary_size).clamp(1, 256);
    let mut all = Vec::new();
    for (tokens, next) in read.chunks(n_rows).zip(tokens[1..].chunks(n_rows)) {
        let step = Step { sequence: &mut sequence, tokens, wanted: Wanted::Every };
        let logits = decoder.forward(&mut [step])?;
        let rows: Vec<(&[f32], u32)> = logits.rows().zip(next.iter().copied()).collect();
        all.par_extend(rows.into_par_iter().map(|(row, token)| surprisal(row, token)));
    }
    Ok(all)
}

fn surprisal(logits: &[f32], token: u32) -> f64 {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits
        .chunks(256)
        .map(|part| f64::from(part.iter().map(|logit| (logit - greatest).exp()).sum::<f32>()))
        .sum();
    f64::from(greatest) + sum.ln() - f64::from(logits[token as usize])
}
