//! `--print-prompts` and `--dry-run`: what a run would do.

use std::{io::Write, time::Instant};

use super::{Ending, duration::in_words, prepare::Prepared};
use crate::{
    backend::{Request, Sampling},
    experiment::{TextModel, Until, prompts, sampling},
    generate::FeedbackRequest,
    prompt::Prompt,
    report::{Table, render_text},
};

/// Prints the first prompts as the model gets them.
pub(super) fn print_prompts(prepared: &Prepared, n_prompts: usize) -> anyhow::Result<Ending> {
    let model = prepared.models.open(&prepared.plan.generator)?;
    let requests = prompts(&prepared.plan, &prepared.corpus, &prepared.library, &*model)?;
    let mut out = std::io::stdout().lock();
    for request in requests.iter().take(n_prompts) {
        writeln!(out, "===== {} =====", request.paragraph)?;
        match &request.prompt {
            Ok(prompt) => writeln!(out, "{}", model.show(prompt)?)?,
            Err(error) => writeln!(out, "(no prompt: {error})")?,
        }
    }
    Ok(Ending::Done)
}

/// How counts are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum CountFormat {
    /// A table, and an estimate of the time from a first reply.
    Text,
    /// One object; nothing is read or written by the model.
    Json,
}

/// What a run would work on.
#[derive(Debug, serde::Serialize)]
#[expect(clippy::struct_field_names, reason = "each is a number of things, and is called so")]
struct Counts {
    n_drafts: usize,
    n_paragraphs: usize,
    n_comments: usize,
    n_trimmed_prompts: usize,
    n_paragraphs_without_prompt: usize,
    /// As the batches of the run come, each shared beginning read as often as the
    /// memory for keys and values makes necessary.
    n_prefill_tokens: usize,
    /// Each prompt read by itself.
    n_prefill_tokens_naive: usize,
    /// If every reply were as long as it may be.
    n_reply_tokens_most: usize,
}

/// Prints counts and tokens, and as text an estimate of the time.
pub(super) fn print_counts(
    prepared: &Prepared,
    until: Until,
    format: CountFormat,
) -> anyhow::Result<Ending> {
    let Prepared { plan, corpus, library, models, cards: _ } = prepared;
    models.open_for(plan, library, Until::Generate, until)?;
    let model = models.open(&plan.generator)?;
    let requests = prompts(plan, corpus, library, &*model)?;
    let batches: Vec<Vec<Prompt>> = requests
        .chunks(models.machine().batch_size)
        .map(|batch| batch.iter().filter_map(|request| request.prompt.clone().ok()).collect())
        .collect();
    let n_prompts: usize = batches.iter().map(Vec::len).sum();
    // A model that cannot be spoken to in this form would refuse every prompt.
    if let Some(prompt) = batches.iter().flatten().next() {
        model.show(prompt)?;
    }
    let max_new_tokens = plan.settings.max_new_tokens;
    let slices: Vec<&[Prompt]> = batches.iter().map(Vec::as_slice).collect();
    let prefill = model.prefill(&slices, max_new_tokens);
    let counts = Counts {
        n_drafts: corpus.drafts().len(),
        n_paragraphs: requests.len(),
        n_comments: corpus.scorable_targets().map(|target| target.comments.len()).sum(),
        n_trimmed_prompts: requests.iter().filter(|request| is_trimmed(request)).count(),
        n_paragraphs_without_prompt: requests.len() - n_prompts,
        n_prefill_tokens: prefill.n_prefill_tokens,
        n_prefill_tokens_naive: prefill.n_prefill_tokens_naive,
        n_reply_tokens_most: n_prompts.saturating_mul(max_new_tokens),
    };
    let mut out = std::io::stdout().lock();
    if format == CountFormat::Json {
        writeln!(out, "{}", serde_json::to_string_pretty(&counts)?)?;
        return Ok(Ending::Done);
    }
    writeln!(out, "{}", render_text(&counts.table()))?;
    if let Some(error) = requests.iter().find_map(|request| request.prompt.as_ref().err()) {
        writeln!(out, "first paragraph without a prompt: {error}\n")?;
    }
    let sampling = sampling(plan);
    let mut first = slices.iter().copied().flatten().take(MAX_PROBES);
    match first.find_map(|prompt| probe(&*model, prompt, &sampling)) {
        Some(speed) => {
            let seconds = counts.n_prefill_tokens as f64 / speed.prefill_tokens_per_s
                + counts.n_reply_tokens_most as f64 / speed.reply_tokens_per_s;
            writeln!(
                out,
                "measured on one prompt: {:.0} prompt tokens/s, {:.0} reply tokens/s\n\
                 writing the feedback takes about {} if every reply is as long as allowed\n\
                 (several replies are written together, which is faster than measured here)",
                speed.prefill_tokens_per_s,
                speed.reply_tokens_per_s,
                in_words(seconds),
            )?;
        }
        None => {
            writeln!(out, "no estimate of the time: the first replies are too short to measure")?;
        }
    }
    Ok(Ending::Done)
}

impl Counts {
    fn table(&self) -> Table {
        let mut table = Table::new(&["what", "how many"]);
        let mut row = |what: &str, count: usize| table.push([what.to_owned(), count.to_string()]);
        row("drafts", self.n_drafts);
        row("paragraphs to comment on", self.n_paragraphs);
        row("instructors' comments on them", self.n_comments);
        row("prompts that leave out paragraphs of the essay", self.n_trimmed_prompts);
        row("paragraphs without a prompt, which would fail", self.n_paragraphs_without_prompt);
        row("prompt tokens, each prompt by itself", self.n_prefill_tokens_naive);
        row("prompt tokens, shared beginnings once", self.n_prefill_tokens);
        row("reply tokens at most", self.n_reply_tokens_most);
        table
    }
}

fn is_trimmed(request: &FeedbackRequest) -> bool {
    !request.context.dropped_paragraphs.is_empty()
}

/// How fast a model reads and writes.
struct Speed {
    prefill_tokens_per_s: f64,
    reply_tokens_per_s: f64,
}

/// The prompts that are tried before the estimate is given up.
const MAX_PROBES: usize = 4;

/// The tokens of a reply that is long enough to measure.
const N_PROBE_TOKENS: usize = 24;

/// Asks for one token and then for some more of the same reply: the difference
/// is the time of writing. `None` where the model has no more to say, or fails.
///
/// The first token is asked for twice before, since a model may keep what it has read
/// of a prompt that comes again: the second and third question find the same kept.
fn probe(model: &dyn TextModel, prompt: &Prompt, sampling: &Sampling) -> Option<Speed> {
    let ask = |max_new_tokens: usize| {
        let sampling = Sampling { max_new_tokens, ..sampling.clone() };
        let begun = Instant::now();
        let reply = model.complete(&[Request { prompt: prompt.clone(), sampling }]).pop()?.ok()?;
        Some((begun.elapsed(), reply.usage))
    };
    let (reading, _) = ask(1)?;
    ask(1)?;
    let (first, _) = ask(1)?;
    let (second, usage) = ask(N_PROBE_TOKENS)?;
    let writing = second.checked_sub(first).filter(|writing| !writing.is_zero())?;
    if usage.n_completion_tokens < N_PROBE_TOKENS / 2 {
        return None;
    }
    Some(Speed {
        prefill_tokens_per_s: usage.n_prompt_tokens as f64 / reading.as_secs_f64(),
        reply_tokens_per_s: (usage.n_completion_tokens - 1) as f64 / writing.as_secs_f64(),
    })
}
