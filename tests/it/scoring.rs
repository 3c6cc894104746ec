//! How likely given tokens are, against plain predictions.

use unimatch::nn::{
    Cpu, Decoder, Generated, GenerationJob, GenerationLimits, NextToken, PrefixCache,
    SamplingRules, ScoringJob, generate, score,
};

use crate::tiny::{self, Weights, tokens};

const PLENTY: usize = 1 << 30;

fn decoder() -> Decoder {
    Weights::new(&tiny::config()).decoder(Cpu::detect())
}

/// Texts that begin alike over several lengths, with questions of every kind: one at
/// the end, some in a row, some far apart, one after the first token.
fn jobs() -> Vec<ScoringJob> {
    let parts = [tokens(300, 1), tokens(40, 2), tokens(90, 3)];
    let texts = [
        [&parts[0][..], &parts[1]].concat(),
        [&parts[0][..], &parts[2]].concat(),
        [&parts[0][..], &parts[1], &parts[2]].concat(),
        parts[2].clone(),
        [&parts[0][..], &parts[1]].concat(),
    ];
    let places: [Vec<usize>; 5] =
        [vec![340], (301..391).collect(), vec![310, 340, 341, 342, 429], vec![1, 90], vec![339]];
    texts
        .into_iter()
        .zip(places)
        .enumerate()
        .map(|(index, (tokens, places))| ScoringJob {
            tokens,
            questions: places
                .into_iter()
                .map(|place| NextToken { place, candidates: vec![5, 70, 5] })
                .collect(),
            keep: index % 2 == 0,
        })
        .collect()
}

fn scores(decoder: &Decoder, jobs: &[ScoringJob], cache: &mut PrefixCache) -> Vec<Vec<Vec<f64>>> {
    score(decoder, jobs, cache).into_iter().map(Result::unwrap).collect()
}

#[test]
fn scores_are_the_logarithms_of_the_softmax_of_plain_predictions() {
    let (decoder, jobs) = (decoder(), jobs());
    let found = scores(&decoder, &jobs, &mut PrefixCache::new(PLENTY));
    for (job, found) in jobs.iter().zip(&found) {
        let rows = tiny::logits(&decoder, &job.tokens);
        assert_eq!(found.len(), job.questions.len());
        for (question, found) in job.questions.iter().zip(found) {
            let row = &rows[question.place - 1];
            let sum: f64 = row.iter().map(|&logit| f64::from(logit).exp()).sum();
            for (&token, found) in question.candidates.iter().zip(found) {
                let expected = f64::from(row[token as usize]) - sum.ln();
                assert!((found - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
    }
}

#[test]
fn company_memory_and_what_was_kept_change_no_bit_of_a_score() {
    let (decoder, jobs) = (decoder(), jobs());
    let alone: Vec<Vec<Vec<f64>>> = jobs
        .iter()
        .flat_map(|job| scores(&decoder, std::slice::from_ref(job), &mut PrefixCache::new(PLENTY)))
        .collect();
    for kv_memory_bytes in [PLENTY, decoder.sequence_bytes(460), decoder.sequence_bytes(431)] {
        let mut cache = PrefixCache::new(kv_memory_bytes);
        assert_eq!(scores(&decoder, &jobs, &mut cache), alone);
        let once = cache.count();
        assert!(once.n_read <= once.n_naive);
        // Again with what is kept, one by one and all, backwards too.
        for (job, alone) in jobs.iter().zip(&alone) {
            assert_eq!(&scores(&decoder, std::slice::from_ref(job), &mut cache)[0], alone);
        }
        cache.drop_kept_texts();
        let backwards: Vec<ScoringJob> = jobs.iter().rev().cloned().collect();
        let mut again = scores(&decoder, &backwards, &mut cache);
        again.reverse();
        assert_eq!(again, alone);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    pool.install(|| {
        assert_eq!(scores(&decoder, &jobs, &mut PrefixCache::new(PLENTY)), alone);
    });
}

#[test]
fn what_is_kept_is_not_read_again() {
    let (decoder, jobs) = (decoder(), jobs());
    let mut cache = PrefixCache::new(PLENTY);
    scores(&decoder, &jobs[..1], &mut cache);
    let first = cache.count();
    assert_eq!((first.n_read, first.n_naive), (340, 340));
    // The same text, kept whole: only its last token is read for the prediction.
    scores(&decoder, &jobs[..1], &mut cache);
    assert_eq!(cache.count().n_read, 341);
    // Another one that begins as it does.
    scores(&decoder, &jobs[1..2], &mut cache);
    assert_eq!(cache.count().n_read, 341 + 90);
}

#[test]
fn a_text_that_cannot_be_scored_fails_alone() {
    let decoder = decoder();
    let mut jobs = jobs();
    jobs[0].questions.clear();
    jobs[1].questions.swap(3, 4);
    jobs[2].tokens[7] = 77;
    jobs[3].questions[1].place = 91;
    jobs.push(ScoringJob {
        tokens: tokens(5001, 4),
        questions: vec![NextToken { place: 5001, candidates: vec![1] }],
        keep: false,
    });
    jobs.push(ScoringJob {
        tokens: tokens(900, 4),
        questions: vec![NextToken { place: 900, candidates: vec![1] }],
        keep: false,
    });
    let bytes = decoder.sequence_bytes(400);
    let texts: Vec<String> = score(&decoder, &jobs, &mut PrefixCache::new(bytes))
        .into_iter()
        .map(|result| result.map_or_else(|error| error.to_string(), |_| "scored".to_owned()))
        .collect();
    let needed = decoder.sequence_bytes(900);
    let places =
        |n| format!("the places to look at do not rise from 1 to the {n} tokens of the text");
    assert_eq!(
        texts,
        [
            places(340),
            places(390),
            "there is no token 77: the model has 77".to_owned(),
            places(90),
            "scored".to_owned(),
            "5001 tokens do not fit the context of 5000".to_owned(),
            format!(
                "the keys and values need {needed} bytes, and 0 of {bytes} are in use: allow for \
                 more (`--kv-memory`, in MiB)"
            ),
        ]
    );
}

#[test]
fn the_first_token_of_a_reply_is_the_likeliest_by_its_score() {
    let decoder = decoder();
    let rules =
        SamplingRules { temperature: 0.0, top_k: None, top_p: 1.0, repetition_penalty: 1.0 };
    let job = GenerationJob { tokens: tokens(50, 6), max_new_tokens: 1, rules, seed: 0 };
    let limits = GenerationLimits { max_sequences: 1, kv_memory_bytes: PLENTY };
    let mut reply = First(None);
    let _ = generate(&decoder, std::slice::from_ref(&job), &[], limits, &mut reply);
    let question = NextToken { place: 50, candidates: (0..77).collect() };
    let job = ScoringJob { tokens: job.tokens, questions: vec![question], keep: false };
    let scores = scores(&decoder, &[job], &mut PrefixCache::new(PLENTY)).remove(0).remove(0);
    let total: f64 = scores.iter().map(|score| score.exp()).sum();
    assert!((total - 1.0).abs() < 1e-5, "{total}");
    let likeliest = (0..77).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
    assert_eq!(reply.0.unwrap().tokens, [u32::try_from(likeliest).unwrap()]);
}

struct First(Option<Generated>);

impl unimatch::nn::Recipient for First {
    fn goes_on(&mut self, _job: usize, _tokens: &[u32]) -> bool {
        true
    }

    fn finish(
        &mut self,
        _job: usize,
        result: Result<Generated, unimatch::nn::GenerationError>,
    ) -> std::ops::ControlFlow<()> {
        self.0 = result.ok();
        std::ops::ControlFlow::Continue(())
    }
}
