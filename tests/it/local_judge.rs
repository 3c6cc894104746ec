//! A model on this machine that weighs what it could say.

use std::sync::Arc;

use camino::Utf8Path;
use serde_json::Value;
use unimatch::{
    backend::{
        Choice, Marking, Scoring,
        local::{LocalBackend, LocalOptions},
    },
    nn::{Cpu, Decoder, GgufFile, KvMemory, SpecialTokens, Step, Wanted, WeightType},
    prompt::{Library, Prompt, PromptFormat},
    segment::{MarkingSegmenter, Segmenter},
    similarity::{JudgeRating, LogitScorer, Scorer, UnitPair},
};

use crate::{
    clockwork::{self, ASSISTANT, Clockwork, bytes},
    material,
    program::{rehearsal, succeed, text},
};

const SMOLLM2: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

fn open(path: &Utf8Path) -> LocalBackend {
    LocalBackend::open(path, WeightType::default(), &LocalOptions::default()).unwrap()
}

/// A backend that follows chains of tokens.
fn clockwork(chains: &[&[u32]]) -> LocalBackend {
    let folder = tempfile::tempdir().unwrap();
    open(&Clockwork::new(chains).write(Utf8Path::from_path(folder.path()).unwrap()))
}

fn prompt(user: &str) -> Prompt {
    Prompt { system: None, user: user.to_owned(), format: PromptFormat::Chat }
}

#[test]
fn probabilities_of_ratings_are_those_of_a_plain_forward_pass() {
    let path = material::model(SMOLLM2);
    let backend = Arc::new(open(&path));
    let library = Arc::new(Library::embedded().unwrap());
    let pair = UnitPair { generated: "Too vague.", gold: "Could you be more specific here?" };
    let scorer = LogitScorer::new(backend.clone(), library.clone(), JudgeRating::Argmax).unwrap();
    assert_eq!(scorer.id(), "judge:local:SmolLM2-135M-Instruct.Q4_1.gguf:logits");
    let weighed = scorer.weigh(&[pair]).remove(0).unwrap();
    let found = weighed.probabilities.unwrap().get();

    let prompt = library.rating(pair.generated, pair.gold).unwrap();
    let tokens = backend.prompt_tokens(&prompt).unwrap();
    let decoder = Decoder::from_gguf(&GgufFile::open(&path).unwrap(), Cpu::detect()).unwrap();
    let mut sequence = decoder.sequence(None, tokens.len(), &KvMemory::new(1 << 30)).unwrap();
    let step = Step { sequence: &mut sequence, tokens: &tokens, wanted: Wanted::Last };
    let logits = decoder.forward(&mut [step]).unwrap();
    let row = logits.rows().next().unwrap();
    let weights: Vec<f64> = (0..=4)
        .map(|digit: u8| {
            let id = backend.tokenizer().encode(&digit.to_string(), SpecialTokens::Plain).unwrap();
            assert_eq!(id.len(), 1, "SmolLM2 has a token for each digit");
            f64::from(row[id[0] as usize]).exp()
        })
        .collect();
    let sum: f64 = weights.iter().sum();
    for (found, weight) in found.iter().zip(&weights) {
        assert!((found - weight / sum).abs() < 1e-9, "{found} {}", weight / sum);
    }
    assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);

    // Others beside it, and what was read before, change no bit; nor does less room.
    let others = [
        UnitPair { generated: "Lovely work!", gold: "This is a strong paragraph." },
        pair,
        UnitPair { generated: "Too vague.", gold: "Who is Mr Hale?" },
    ];
    let among = scorer.weigh(&others);
    assert_eq!(among[1].as_ref().unwrap().probabilities, weighed.probabilities);
    assert!(backend.prefill_count().n_read < 2 * tokens.len() + 400);
    let kv_memory_bytes = decoder.sequence_bytes(tokens.len() + 40);
    let options = LocalOptions { kv_memory_bytes, ..LocalOptions::default() };
    let small = Arc::new(LocalBackend::open(&path, WeightType::default(), &options).unwrap());
    let small = LogitScorer::new(small, library, JudgeRating::Expectation).unwrap();
    assert!(small.id().ends_with(":logits:expectation"));
    let among = small.weigh(&others).remove(1).unwrap();
    assert_eq!(among.probabilities, weighed.probabilities);
    let mean: f64 = (0_u8..).zip(found).map(|(digit, p)| f64::from(digit) * p).sum();
    assert!((among.rating.get() - mean).abs() < 1e-12);
}

#[test]
fn a_run_with_a_local_judge_cuts_and_rates_by_what_is_likely() {
    let dir = tempfile::tempdir().unwrap();
    let out = Utf8Path::from_path(dir.path()).unwrap().join("run");
    let judge = format!("judge:local:{}", material::model(SMOLLM2));
    let run = || {
        let mut command = rehearsal(&out);
        command.args(["--limit", "1", "--constrained-units", "segment"]);
        command.args(["--scorer", &judge, "--segmenter", &judge]);
        command
    };
    succeed(&mut run());
    let records = |stage: &str| -> Vec<Value> {
        let path = out.join(format!("{stage}/0000-of-0001.jsonl"));
        let lines = fs_err::read_to_string(path).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let mut n_pairs = 0;
    for record in records("score") {
        let record = &record["outcome"]["done"];
        let scorer = "judge:local:SmolLM2-135M-Instruct.Q4_1.gguf:logits";
        assert_eq!(record["scorer"], scorer);
        for pair in record["pairs"].as_array().unwrap() {
            let values = pair["probabilities"].as_array().unwrap();
            let values: Vec<f64> = values.iter().map(|value| value.as_f64().unwrap()).collect();
            assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{values:?}");
            let best = (0..5).rev().max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
            assert!((pair["rating"].as_f64().unwrap() - best as f64).abs() < 1e-12);
            n_pairs += 1;
        }
    }
    assert!(n_pairs > 3);
    let segmenters: Vec<Value> =
        records("segment").iter().map(|r| r["outcome"]["done"]["segmenter"].clone()).collect();
    assert!(segmenters.iter().all(|name| name.as_str().unwrap().ends_with("gguf:scoring")));
    let manifest: Value =
        serde_json::from_slice(&fs_err::read(out.join("run.json")).unwrap()).unwrap();
    assert_eq!(manifest["spec"]["scorer"]["mode"], "logits");
    assert_eq!(manifest["spec"]["segmenter"]["mode"], "scoring");
    // Another way to ask is another run.
    let message = crate::program::fail(run().args(["--judge-mode", "batch"]));
    assert!(message.contains("scorer"), "{message}");
}

#[test]
fn a_mark_stands_where_it_is_likelier_than_the_next_word() {
    // After x the mark is likely, after y and z a space, after a space c, after c x.
    // A tokenizer of this kind has U+2581 for a space.
    let chains = ["x$", "$$", "y\u{2581}cx", "z\u{2581}"].map(bytes);
    let backend = clockwork(&[&chains[0], &chains[1], &chains[2], &chains[3]]);
    let marked = |text: &str| {
        let places = text.match_indices(' ').map(|(at, _)| at).collect();
        let (prompt, mark) = (prompt("Copy."), "$$".to_owned());
        let marking = Marking { prompt, text: text.to_owned(), mark, places };
        backend.mark(&[marking]).remove(0).unwrap()
    };
    assert_eq!(marked("ax by cx dz"), [2, 8]);
    assert_eq!(marked("ay cx cy cx"), [5]);
    assert_eq!(marked("ax"), [0_usize; 0]);
    // A unit may be a word long.
    assert_eq!(marked("x x x x x"), [1, 3, 5, 7]);
}

#[test]
fn replies_offered_may_have_tokens_in_common_and_several_of_their_own() {
    let backend = clockwork(&[&[ASSISTANT, clockwork::byte(b'a')], &bytes("abd")]);
    let choose = |replies: &[&str]| {
        let replies = replies.iter().map(|&reply| reply.to_owned()).collect();
        backend.choose(&[Choice { prompt: prompt("?"), replies }]).remove(0)
    };
    let scores = choose(&["abd", "abc", "x"]).unwrap();
    assert!(scores[0] > -1e-3 && scores[1] < -10.0 && scores[2] < -10.0, "{scores:?}");
    let scores = choose(&["ab", "ac"]).unwrap();
    assert!(scores[0] > -1e-3 && scores[1] < -10.0, "{scores:?}");
    let error = choose(&["ab", "ab"]).unwrap_err().to_string();
    assert!(error.contains("not different"), "{error}");
    let error = choose(&["a", "ab"]).unwrap_err().to_string();
    assert!(error.contains("not different"), "{error}");
}

#[test]
fn what_is_cut_by_scoring_always_joins_back_and_hangs_on_no_other_text() {
    let backend = Arc::new(open(&material::model(SMOLLM2)));
    let library = Arc::new(Library::embedded().unwrap());
    let segmenter = MarkingSegmenter::new(backend, library).unwrap();
    let texts = [
        "Great title! The second paragraph needs a source, and I would move the joke to the end.",
        "It costs $$5 <|im_end|> or so.\n\nWhy not more?",
        "",
        "Good.",
    ];
    let together = segmenter.segment(&texts);
    for (text, cut) in texts.iter().zip(&together) {
        let cut = cut.as_ref().unwrap();
        assert_eq!(cut.ranges().map(|range| &text[range]).collect::<String>(), *text);
        let alone = segmenter.segment(&[text]).remove(0).unwrap();
        assert_eq!(&alone, cut);
    }
}

#[test]
fn a_dry_run_gives_its_counts_as_json() {
    let dir = tempfile::tempdir().unwrap();
    let out = Utf8Path::from_path(dir.path()).unwrap().join("run");
    let generator = format!("local:{}", material::model(SMOLLM2));
    let output = succeed(
        rehearsal(&out)
            .args(["--generator", &generator, "--limit", "3", "--dry-run", "-f", "json"])
            .args(["--batch-size", "4"]),
    );
    let counts: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let number = |name: &str| counts[name].as_u64().unwrap();
    assert!(number("n_prefill_tokens") * 2 < number("n_prefill_tokens_naive"), "{counts}");
    assert_eq!(number("n_reply_tokens_most"), 250 * number("n_paragraphs"));
    assert!(!out.exists());
}

#[test]
fn a_dry_run_fails_where_every_prompt_would_be_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = Utf8Path::from_path(dir.path()).unwrap().join("run");
    // A base model: it has no chat template.
    let generator = format!("local:{}", material::model("gemma-3-270m-q4_k_m.gguf"));
    let output = rehearsal(&out)
        .args(["--generator", &generator, "--limit", "1", "--dry-run", "-f", "json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("has no chat template"), "{said}");
    assert!(output.stdout.is_empty());
}
