//! `--print-prompts` and `--dry-run`: what a run would do.

use std::{io::Write, time::Instant};

use super::{Ending, prepare::Prepared};
use crate::{
    backend::{Request, Sampling},
    experiment::{TextModel, prompts, sampling},
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

/// Prints counts, tokens and an estimate of the time.
pub(super) fn print_counts(prepared: &Prepared) -> anyhow::Result<Ending> {
    let Prepared { plan, corpus, library, models } = prepared;
    let model = models.open(&plan.generator)?;
    let requests = prompts(plan, corpus, library, &*model)?;
    let possible: Vec<Prompt> =
        requests.iter().filter_map(|request| request.prompt.clone().ok()).collect();
    let prefill = model.prefill(&possible);
    let n_trimmed = requests.iter().filter(|request| is_trimmed(request)).count();
    let n_comments: usize = corpus.scorable_targets().map(|target| target.comments.len()).sum();
    let n_new_most = possible.len() * plan.settings.max_new_tokens;

    let mut table = Table::new(&["what", "how many"]);
    let mut row = |what: &str, count: usize| table.push([what.to_owned(), count.to_string()]);
    row("drafts", corpus.drafts().len());
    row("paragraphs to comment on", requests.len());
    row("instructors' comments on them", n_comments);
    row("prompts that leave out paragraphs of the essay", n_trimmed);
    row("paragraphs without a prompt, which would fail", requests.len() - possible.len());
    row("prompt tokens, each prompt by itself", prefill.n_prefill_tokens_naive);
    row("prompt tokens, shared beginnings once", prefill.n_prefill_tokens);
    row("reply tokens at most", n_new_most);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", render_text(&table))?;
    if let Some(error) = requests.iter().find_map(|request| request.prompt.as_ref().err()) {
        writeln!(out, "first paragraph without a prompt: {error}\n")?;
    }
    let sampling = sampling(plan);
    match possible.iter().take(MAX_PROBES).find_map(|prompt| probe(&*model, prompt, &sampling)) {
        Some(speed) => {
            let seconds = prefill.n_prefill_tokens as f64 / speed.prefill_tokens_per_s
                + n_new_most as f64 / speed.reply_tokens_per_s;
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
fn probe(model: &dyn TextModel, prompt: &Prompt, sampling: &Sampling) -> Option<Speed> {
    let ask = |max_new_tokens: usize| {
        let sampling = Sampling { max_new_tokens, ..sampling.clone() };
        let begun = Instant::now();
        let reply = model.complete(&[Request { prompt: prompt.clone(), sampling }]).pop()?.ok()?;
        Some((begun.elapsed(), reply.usage))
    };
    let (first, _) = ask(1)?;
    let (second, usage) = ask(N_PROBE_TOKENS)?;
    let writing = second.checked_sub(first).filter(|writing| !writing.is_zero())?;
    if usage.n_completion_tokens < N_PROBE_TOKENS / 2 {
        return None;
    }
    Some(Speed {
        prefill_tokens_per_s: usage.n_prompt_tokens as f64 / first.as_secs_f64(),
        reply_tokens_per_s: (usage.n_completion_tokens - 1) as f64 / writing.as_secs_f64(),
    })
}

/// A time in the unit that fits.
fn in_words(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("{seconds:.0} seconds")
    } else if seconds < 5400.0 {
        format!("{:.0} minutes", seconds / 60.0)
    } else {
        format!("{:.1} hours", seconds / 3600.0)
    }
}
