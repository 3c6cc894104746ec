//! Many replies at once, against each alone.

use std::ops::ControlFlow;

use unimatch::nn::{
    Cpu, Crew, Decoder, Generated, GenerationEnd, GenerationError, GenerationJob, GenerationLimits,
    PrefixCache, Recipient, SamplingRules, generate, generate_with, rehearse,
};

use crate::tiny::{self, Weights, tokens};

const PLENTY: GenerationLimits = GenerationLimits { max_sequences: 100, kv_memory_bytes: 1 << 30 };

/// Keeps what comes, and in which order.
#[derive(Default)]
struct Collected {
    results: Vec<(usize, Result<Generated, GenerationError>)>,
    /// Replies are cut after this token.
    stop: Option<u32>,
    /// The work ends after this many.
    enough: Option<usize>,
}

impl Recipient for Collected {
    fn goes_on(&mut self, _job: usize, tokens: &[u32]) -> bool {
        tokens.last().copied() != self.stop
    }

    fn finish(
        &mut self,
        job: usize,
        result: Result<Generated, GenerationError>,
    ) -> ControlFlow<()> {
        self.results.push((job, result));
        if self.enough == Some(self.results.len()) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

fn decoder() -> Decoder {
    Weights::new(&tiny::config()).decoder(Cpu::detect())
}

/// Prompts that share beginnings of several lengths, drawn from in several ways.
fn jobs() -> Vec<GenerationJob> {
    let parts = [tokens(70, 1), tokens(40, 2), tokens(300, 3), tokens(9, 4)];
    let prompts = [
        [&parts[0][..], &parts[1]].concat(),
        [&parts[0][..], &parts[2]].concat(),
        [&parts[0][..], &parts[1], &parts[3]].concat(),
        parts[3].clone(),
        [&parts[0][..], &parts[1]].concat(),
        vec![5],
    ];
    let rules = [
        SamplingRules { temperature: 0.0, top_k: None, top_p: 1.0, repetition_penalty: 1.2 },
        SamplingRules { temperature: 0.8, top_k: Some(20), top_p: 0.9, repetition_penalty: 1.0 },
    ];
    prompts
        .into_iter()
        .enumerate()
        .map(|(index, tokens)| GenerationJob {
            tokens,
            max_new_tokens: 5 + 7 * index,
            rules: rules[index % 2],
            seed: index as u64,
        })
        .collect()
}

fn replies(jobs: &[GenerationJob], limits: GenerationLimits) -> Vec<Generated> {
    replies_up_to(jobs, limits, &[3])
}

fn replies_up_to(
    jobs: &[GenerationJob],
    limits: GenerationLimits,
    end_ids: &[u32],
) -> Vec<Generated> {
    let mut collected = Collected::default();
    assert!(generate(&decoder(), jobs, end_ids, limits, &mut collected).is_continue());
    collected.results.sort_by_key(|(job, _)| *job);
    assert!(collected.results.iter().map(|(job, _)| *job).eq(0..jobs.len()));
    collected.results.into_iter().map(|(_, result)| result.unwrap()).collect()
}

#[test]
fn company_and_limits_change_no_token() {
    let jobs = jobs();
    let alone: Vec<Generated> =
        jobs.iter().map(|job| replies(std::slice::from_ref(job), PLENTY).remove(0)).collect();
    assert!(alone.iter().any(|reply| reply.end == GenerationEnd::Limit));
    assert_eq!(replies(&jobs, PLENTY), alone);
    assert_eq!(replies(&jobs, GenerationLimits { max_sequences: 2, ..PLENTY }), alone);
    // Room for the greatest, and for some of the others beside it.
    let kv_memory_bytes = decoder().sequence_bytes(450);
    assert_eq!(replies(&jobs, GenerationLimits { kv_memory_bytes, ..PLENTY }), alone);
    let backwards: Vec<GenerationJob> = jobs.iter().rev().cloned().collect();
    let mut replies = replies(&backwards, PLENTY);
    replies.reverse();
    assert_eq!(replies, alone);
}

#[test]
fn a_reply_ends_with_an_end_token_or_where_the_recipient_says() {
    let job = GenerationJob { max_new_tokens: 60, ..jobs().remove(0) };
    let whole = replies_up_to(std::slice::from_ref(&job), PLENTY, &[]).remove(0);
    let token = whole.tokens[4];
    let at = whole.tokens.iter().position(|&other| other == token).unwrap();
    let mut collected = Collected { stop: Some(token), ..Collected::default() };
    let _ = generate(&decoder(), std::slice::from_ref(&job), &[], PLENTY, &mut collected);
    let cut = collected.results.remove(0).1.unwrap();
    assert_eq!((&cut.tokens[..], cut.end), (&whole.tokens[..=at], GenerationEnd::Recipient));
    let mut collected = Collected::default();
    let _ = generate(&decoder(), &[job], &[token, 99], PLENTY, &mut collected);
    let ended = collected.results.remove(0).1.unwrap();
    assert_eq!((&ended.tokens[..], ended.end), (&whole.tokens[..at], GenerationEnd::EndToken));
}

#[test]
fn a_job_that_cannot_be_done_fails_alone() {
    let mut jobs = jobs();
    jobs[1].tokens.clear();
    jobs[3].max_new_tokens = 4992;
    jobs[4].tokens[0] = 77;
    jobs[5].max_new_tokens = 0;
    let mut collected = Collected::default();
    let kv_memory_bytes = decoder().sequence_bytes(130);
    let limits = GenerationLimits { kv_memory_bytes, ..PLENTY };
    jobs[2].tokens = tokens(200, 8);
    let _ = generate(&decoder(), &jobs, &[], limits, &mut collected);
    collected.results.sort_by_key(|(job, _)| *job);
    let texts: Vec<String> = collected
        .results
        .iter()
        .map(|(_, result)| match result {
            Ok(reply) => format!("{} tokens", reply.tokens.len()),
            Err(error) => error.to_string(),
        })
        .collect();
    let needed = decoder().sequence_bytes(218);
    assert_eq!(
        texts,
        [
            "5 tokens",
            "the prompt has no tokens",
            &format!(
                "the keys and values need {needed} bytes, and 0 of {kv_memory_bytes} are in use: allow for more (`--kv-memory`, in MiB)"
            ),
            "9 tokens of prompt and up to 4992 of reply do not fit the context of 5000",
            "there is no token 77: the model has 77",
            "0 tokens",
        ]
    );
}

#[test]
fn a_recipient_may_end_all_the_work() {
    let mut collected = Collected { enough: Some(2), ..Collected::default() };
    assert!(generate(&decoder(), &jobs(), &[], PLENTY, &mut collected).is_break());
    assert_eq!(collected.results.len(), 2);
}

fn replies_with(
    decoder: &Decoder,
    jobs: &[GenerationJob],
    max_sequences: usize,
    cache: &mut PrefixCache,
) -> Vec<Generated> {
    let mut collected = Collected::default();
    let crew = Crew { decoder, max_sequences, cache };
    assert!(generate_with(crew, jobs, &[3], &mut collected).is_continue());
    collected.results.sort_by_key(|(job, _)| *job);
    collected.results.into_iter().map(|(_, result)| result.unwrap()).collect()
}

#[test]
fn what_is_kept_between_calls_changes_no_token_and_saves_reading() {
    let (decoder, jobs) = (decoder(), jobs());
    let expected = replies(&jobs, PLENTY);
    let mut n_read = Vec::new();
    for kv_memory_bytes in [1 << 30, decoder.sequence_bytes(450), decoder.sequence_bytes(420)] {
        let mut cache = PrefixCache::new(kv_memory_bytes);
        for portion in [1, 2, 6, 1] {
            let found: Vec<Generated> = jobs
                .chunks(portion)
                .flat_map(|jobs| replies_with(&decoder, jobs, 3, &mut cache))
                .collect();
            assert_eq!(found, expected, "{portion} at a time in {kv_memory_bytes} bytes");
        }
        n_read.push(cache.count());
    }
    assert!(n_read.iter().all(|count| count.n_naive == n_read[0].n_naive));
    assert!(n_read[0].n_read * 2 < n_read[0].n_naive, "{n_read:?}");
    assert!(n_read[0].n_read < n_read[2].n_read, "less memory, more to read: {n_read:?}");
}

#[test]
fn a_rehearsal_counts_what_is_read() {
    let decoder = decoder();
    let jobs: Vec<GenerationJob> = [jobs(), jobs()].concat();
    for kv_memory_bytes in [1 << 30, decoder.sequence_bytes(500)] {
        let mut real = PrefixCache::new(kv_memory_bytes);
        let mut imagined = PrefixCache::new(kv_memory_bytes);
        for jobs in jobs.chunks(5) {
            // One at a time, so that replies leave in the order they came.
            let before = real.count();
            let mut collected = Collected::default();
            let crew = Crew { decoder: &decoder, max_sequences: 1, cache: &mut real };
            let _ = generate_with(crew, jobs, &[], &mut collected);
            let crew = Crew { decoder: &decoder, max_sequences: 1, cache: &mut imagined };
            let counted = rehearse(crew, jobs);
            assert_eq!(before.n_read + counted.n_read, real.count().n_read);
            assert_eq!(imagined.count(), real.count());
        }
    }
}

#[test]
fn with_one_at_a_time_the_first_call_is_remembered_and_the_second_kept() {
    let decoder = decoder();
    let guideline = tokens(200, 9);
    let job = |seed| GenerationJob {
        tokens: [&guideline[..], &tokens(10, seed)].concat(),
        max_new_tokens: 1,
        ..jobs().remove(0)
    };
    let mut cache = PrefixCache::new(1 << 30);
    let mut n_read = Vec::new();
    for seed in 20..24 {
        replies_with(&decoder, &[job(seed)], 1, &mut cache);
        n_read.push(cache.count().n_read);
    }
    assert_eq!(n_read[..2], [210, 420]);
    assert!(n_read[3] - n_read[1] <= 20, "{n_read:?}");
}
