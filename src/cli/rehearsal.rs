//! `--print-prompts` and `--dry-run`: what a run would do.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use anyhow::Context;

use super::{Ending, prepare::Prepared};
use crate::{
    backend::{Request, Sampling},
    experiment::{TextModel, prompts},
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
    if let Some(prompt) = possible.first() {
        let speed = probe(&*model, prompt)?;
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

/// Asks for one token and then for some more of the same reply: the difference
/// is the time of writing.
fn probe(model: &dyn TextModel, prompt: &Prompt) -> anyhow::Result<Speed> {
    let ask = |max_new_tokens: usize| -> anyhow::Result<(Duration, usize, usize)> {
        let sampling = Sampling {
            temperature: 0.0,
            top_p: 1.0,
            top_k: None,
            repetition_penalty: 1.0,
            max_new_tokens,
            seed: 0,
            stop: Vec::new(),
        };
        let request = Request { prompt: prompt.clone(), sampling };
        let begun = Instant::now();
        let completion = model
            .complete(&[request])
            .pop()
            .context("the model gave no reply to the first prompt")??;
        let usage = completion.usage;
        Ok((begun.elapsed(), usage.n_prompt_tokens, usage.n_completion_tokens))
    };
    let (first, n_prompt, n_first) = ask(1)?;
    let (second, _, n_second) = ask(17)?;
    let writing = second.saturating_sub(first).as_secs_f64().max(1e-6);
    Ok(Speed {
        prefill_tokens_per_s: n_prompt as f64 / first.as_secs_f64().max(1e-6),
        reply_tokens_per_s: (n_second.saturating_sub(n_first)).max(1) as f64 / writing,
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
