//! Drawing against values worked out by hand and against Hugging Face's.

use serde::Deserialize;

use super::*;

const GREEDY: SamplingRules =
    SamplingRules { temperature: 0.0, top_k: None, top_p: 1.0, repetition_penalty: 1.0 };
const PLAIN: SamplingRules = SamplingRules { temperature: 1.0, ..GREEDY };

#[track_caller]
fn check(rules: SamplingRules, logits: &[f32], expected: &[(u32, f64)]) {
    let kept = candidates(&rules, logits);
    let sum: f64 = kept.iter().map(|(_, mass)| mass).sum();
    assert_eq!(kept.len(), expected.len(), "{kept:?}");
    for ((token, mass), (expected_token, probability)) in kept.iter().zip(expected) {
        assert_eq!(token, expected_token);
        assert!((mass / sum - probability).abs() < 1e-6, "{token}: {}", mass / sum);
    }
}

#[test]
fn temperature_divides_logits() {
    // Odds of 1 to 3 become 1 to 9 at half the temperature.
    let logits = [0.0, 3.0_f32.ln()];
    check(PLAIN, &logits, &[(0, 0.25), (1, 0.75)]);
    check(SamplingRules { temperature: 0.5, ..PLAIN }, &logits, &[(0, 0.1), (1, 0.9)]);
}

#[test]
fn the_likeliest_k_are_kept_and_all_that_tie_with_the_last() {
    let rules = SamplingRules { top_k: Some(2), ..PLAIN };
    check(rules, &[1.0, 0.0, 0.5, 0.5], &[(0, 0.451_862), (2, 0.274_069), (3, 0.274_069)]);
    check(SamplingRules { top_k: Some(9), ..PLAIN }, &[0.0, 0.0], &[(0, 0.5), (1, 0.5)]);
    check(SamplingRules { top_k: Some(0), ..PLAIN }, &[0.0, 0.0], &[(0, 0.5), (1, 0.5)]);
}

#[test]
fn the_nucleus_ends_with_the_token_that_fills_it() {
    // Probabilities of 1, 5, 2 and 2 in ten.
    let logits = [1.0_f32.ln(), 5.0_f32.ln(), 2.0_f32.ln(), 2.0_f32.ln()];
    let at = |top_p| SamplingRules { top_p, ..PLAIN };
    check(at(0.4), &logits, &[(1, 1.0)]);
    check(at(0.6), &logits, &[(1, 5.0 / 7.0), (2, 2.0 / 7.0)]);
    check(at(0.8), &logits, &[(1, 5.0 / 9.0), (2, 2.0 / 9.0), (3, 2.0 / 9.0)]);
    check(at(0.0), &logits, &[(1, 1.0)]);
}

#[test]
fn a_token_that_was_there_is_penalised_once_whatever_its_sign() {
    let rules = SamplingRules { repetition_penalty: 2.0, ..GREEDY };
    let mut sampler = Sampler::new(rules, 0, &[0, 1, 1, 1]);
    let mut logits = [4.0, -1.0, 1.0, -3.0];
    // The first is halved but still ahead of the third.
    assert_eq!(sampler.draw(&mut logits), Ok(0));
    assert_eq!(logits.map(f32::to_bits), [2.0, -2.0, 1.0, -3.0].map(f32::to_bits));
    assert_eq!(sampler.draw(&mut [4.0, -1.0, 2.5, -3.0]), Ok(2));
    assert_eq!(sampler.draw(&mut [0.1, 0.0, 3.0, 1.6]), Ok(3), "the reply counts as well");
}

#[test]
fn of_equal_logits_the_lowest_token_is_taken() {
    assert_eq!(Sampler::new(GREEDY, 0, &[]).draw(&mut [1.0, 3.0, 3.0, 2.0]), Ok(1));
}

#[test]
fn a_seed_gives_the_same_tokens_again_and_another_others() {
    let draw = |seed| {
        let mut sampler = Sampler::new(PLAIN, seed, &[]);
        (0..64).map(|_| sampler.draw(&mut [0.0; 100]).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(draw(5), draw(5));
    assert_ne!(draw(5), draw(6));
}

#[test]
fn tokens_are_drawn_as_often_as_they_are_likely() {
    let mut sampler = Sampler::new(PLAIN, 1, &[]);
    let mut counts = [0_i32; 3];
    for _ in 0..10_000 {
        counts[sampler.draw(&mut [0.0, 2.0_f32.ln(), 1.0_f32.ln()]).unwrap() as usize] += 1;
    }
    for (count, expected) in counts.iter().zip([2500, 5000, 2500]) {
        // Five standard deviations.
        assert!((count - expected).abs() < 250, "{counts:?}");
    }
}

#[test]
fn logits_that_are_no_numbers_are_refused() {
    let mut sampler = Sampler::new(GREEDY, 0, &[]);
    let mut logits = [0.0, f32::NAN, f32::INFINITY];
    assert_eq!(sampler.draw(&mut logits), Err(FlawedLogits { n_flawed: 2 }));
}

#[derive(Deserialize)]
struct Case {
    logits: Vec<f32>,
    seen: Vec<u32>,
    rules: Rules,
    probabilities: Vec<f64>,
}

#[derive(Deserialize)]
struct Rules {
    temperature: f64,
    top_k: Option<usize>,
    top_p: f64,
    repetition_penalty: f32,
}

#[test]
fn what_is_left_to_draw_is_what_hugging_face_leaves() {
    let golden = include_str!("../../../tests/fixtures/golden/hf_sampling.json");
    let cases: Vec<Case> = serde_json::from_str(golden).unwrap();
    assert!(cases.len() > 40);
    for case in cases {
        let Rules { temperature, top_k, top_p, repetition_penalty } = case.rules;
        let rules = SamplingRules { temperature, top_k, top_p, repetition_penalty };
        let mut logits = case.logits.clone();
        Sampler::new(rules, 0, &case.seen).penalize(&mut logits);
        let kept = candidates(&rules, &logits);
        let sum: f64 = kept.iter().map(|(_, mass)| mass).sum();
        for (token, &expected) in (0..).zip(&case.probabilities) {
            let mass = kept.iter().find(|&&(kept, _)| kept == token).map_or(0.0, |&(_, mass)| mass);
            let error = (mass / sum - expected).abs();
            assert!(error < 1e-6, "{rules:?} {token}: {} and {expected}", mass / sum);
        }
    }
}
