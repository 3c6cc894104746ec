//! Judges that segment, rate and clean, on replies of every kind.

use std::sync::Arc;

use unimatch::{
    backend::{
        Backend, BackendError, Completion, Request, judge::JudgeSettings, scripted::Scripted,
    },
    generate::{CleaningError, Implausible, JudgeCleaner, Verdict, clean},
    prompt::Library,
    segment::{
        JudgeSegmenter, MarkingSegmenter, MarkingSegmenterError, SegmentError, Segmenter, units,
    },
    similarity::{
        JudgeRating, JudgeScorer, LogitScorer, LogitScorerError, Rating, ScoreError, Scorer,
        UnitPair,
    },
};

use crate::material::{fixture, shared};

fn backend() -> Arc<Scripted> {
    Arc::new(Scripted::load(&fixture("prompts/judge.jsonl")).unwrap())
}

fn library() -> Arc<Library> {
    Arc::new(Library::embedded().unwrap())
}

fn segmenter() -> JudgeSegmenter {
    JudgeSegmenter::new(backend(), library(), JudgeSettings::default()).unwrap()
}

fn scorer(n_retries: usize, batch_size: usize) -> JudgeScorer {
    let settings = JudgeSettings { n_retries, ..JudgeSettings::default() };
    JudgeScorer::new(backend(), library(), settings, batch_size).unwrap()
}

fn pairs<'a>(generated: &[&'a str]) -> Vec<UnitPair<'a>> {
    generated.iter().map(|&generated| UnitPair { generated, gold: "gold" }).collect()
}

#[test]
fn a_segmenter_takes_a_faithful_copy_and_asks_again_for_another() {
    let segmenter = segmenter();
    assert_eq!(segmenter.id(), "judge:scripted:judge.jsonl");
    let texts = ["Vivid opening. Who is Alex?", "Slow down, please.", "", "  \n"];
    let cut = segmenter.segment(&texts);
    let found: Vec<Vec<String>> =
        texts.iter().zip(cut).map(|(text, cut)| units(text, &cut.unwrap()).texts).collect();
    assert_eq!(
        found,
        [vec!["Vivid opening.", "Who is Alex?"], vec!["Slow down, please."], vec![], vec![]]
    );
}

#[test]
fn a_text_that_no_reply_copies_is_an_error_of_its_own() {
    let cut = segmenter().segment(&[
        "Say more about the boat.",
        "Cut this.",
        "Not in the script.",
        "Vivid opening. Who is Alex?",
    ]);
    assert!(
        matches!(cut[0], Err(SegmentError::TextChanged { at: 15, n_tries: 3 })),
        "{:?}",
        cut[0]
    );
    assert!(matches!(cut[1], Err(SegmentError::WordCut { at: 6, n_tries: 3 })), "{:?}", cut[1]);
    assert!(matches!(&cut[2], Err(SegmentError::Backend(error)) if error.is_transient()));
    assert!(cut[3].is_ok());
    let message = cut[0].as_ref().unwrap_err().to_string();
    assert!(!message.contains("boat"), "{message}");
}

#[test]
fn a_scorer_asks_again_and_rates_by_label() {
    let ratings = scorer(2, 50).score(&pairs(&["one", "two", "three"]));
    let values: Vec<f64> = ratings.into_iter().map(|rating| rating.unwrap().get()).collect();
    assert_eq!(values, [4.0, 3.0, 1.0]);
}

#[test]
fn a_batch_that_cannot_be_read_has_no_rating_and_spoils_no_other() {
    let units = ["one", "two", "three", "four", "five", "six", "seven"];
    // Batches: one two three, four five six (three replies, none of them good), seven.
    let ratings = scorer(2, 3).score(&pairs(&units));
    assert_eq!(ratings.len(), 7);
    for index in [0, 1, 2, 6] {
        assert!(ratings[index].is_ok(), "{:?}", ratings[index]);
    }
    for rating in &ratings[3..6] {
        assert!(
            matches!(rating, Err(ScoreError::Unreadable { n_tries: 3, reason })
                if reason == "label A stands twice"),
            "{rating:?}"
        );
    }
    let again = scorer(3, 2).score(&pairs(&["four", "five"]));
    let again: Vec<Rating> = again.into_iter().map(Result::unwrap).collect();
    assert_eq!(again, [4, 3].map(|value| Rating::from_int(value).unwrap()));
}

#[test]
fn a_rating_depends_on_its_own_batch_alone() {
    let alone = scorer(2, 3).score(&pairs(&["one", "two", "three"]));
    let among = scorer(2, 3).score(&pairs(&["one", "two", "three", "seven"]));
    for (alone, among) in alone.iter().zip(&among) {
        assert_eq!(alone.as_ref().unwrap(), among.as_ref().unwrap());
    }
    assert_eq!(among[3].as_ref().ok().copied(), Rating::from_int(2));
}

#[test]
fn a_judge_that_does_not_reply_is_an_error_for_every_pair() {
    let ratings = scorer(2, 50).score(&pairs(&["nine", "ten"]));
    assert_eq!(ratings.len(), 2);
    for rating in ratings {
        assert!(matches!(rating, Err(ScoreError::Backend(error)) if !error.is_transient()));
    }
}

#[test]
fn a_cleaning_judge_is_believed_only_where_it_cuts() {
    let judge = JudgeCleaner::new(backend(), library(), JudgeSettings::default()).unwrap();
    let texts = [
        "Okay then. Slow down here.",
        "Slow down here, since I lost you.",
        "I made this up.",
        "Good. Now more.",
        " ",
    ];
    let cleaned: Vec<(String, Verdict)> = judge
        .clean(&texts)
        .into_iter()
        .map(|result| result.map(|cleaned| (cleaned.text, cleaned.verdict)).unwrap())
        .collect();
    let refused = |reason| Verdict::Refused { n_tries: 3, reason };
    assert_eq!(
        cleaned,
        [
            ("Slow down here.".into(), Verdict::Accepted),
            (texts[1].into(), refused(Implausible::WordsChanged)),
            (String::new(), Verdict::Accepted),
            (texts[3].into(), refused(Implausible::BrokenOff)),
            (String::new(), Verdict::NotAsked),
        ]
    );
    let failed = judge.clean(&["Not in the script."]);
    assert!(matches!(&failed[0], Err(CleaningError::Backend(error)) if error.is_transient()));
}

fn scripted(rules: &[(&str, &str)]) -> Arc<Scripted> {
    let rules: Vec<String> = rules
        .iter()
        .map(|(contains, reply)| {
            serde_json::json!({"contains": contains, "reply": reply}).to_string()
        })
        .collect();
    Arc::new(Scripted::parse(&rules.join("\n"), "rules.jsonl").unwrap())
}

#[test]
fn a_pair_is_rated_by_the_weights_of_five_replies() {
    let backend = scripted(&[("First: <feedback>one</feedback>", "3"), ("", "It is a 2.")]);
    let weigh = |rating| {
        let scorer = LogitScorer::new(backend.clone(), library(), rating).unwrap();
        scorer.weigh(&pairs(&["one", "two"]))
    };
    let weighed = weigh(JudgeRating::Argmax);
    let one = weighed[0].as_ref().unwrap();
    assert_eq!(Some(one.rating), Rating::from_int(3));
    let expected = [0.1, 0.1, 0.1, 0.6, 0.1];
    for (found, expected) in one.probabilities.unwrap().get().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12);
    }
    assert!(matches!(weighed[1], Err(ScoreError::Backend(_))), "{:?}", weighed[1]);
    let mean = weigh(JudgeRating::Expectation)[0].as_ref().unwrap().rating.get();
    assert!((mean - 2.5).abs() < 1e-12, "{mean}");
}

#[test]
fn a_text_is_cut_where_the_copy_has_marks_and_never_changed() {
    let backend = scripted(&[
        ("<text>Vivid opening, but who is Alex?", "Vivid opening,$$ but who is Alex?$$ More.$$"),
        ("<text>Write ＄5, not ＄＄5. Good.", "Write ＄5, not ＄＄5.$$ Good.$$"),
        ("", "Something$$ else.$$"),
    ]);
    let segmenter = MarkingSegmenter::new(backend, library()).unwrap();
    assert_eq!(segmenter.id(), "judge:scripted:rules.jsonl:scoring");
    let texts = [
        " Vivid opening, but who is Alex?\nMore. ",
        "Write $5, not $$5. Good.",
        "No copy of this.",
        "",
    ];
    let found: Vec<Option<Vec<String>>> = texts
        .iter()
        .zip(segmenter.segment(&texts))
        .map(|(text, cut)| Some(units(text, &cut.ok()?).texts))
        .collect();
    let units = |units: &[&str]| Some(units.iter().map(ToString::to_string).collect());
    assert_eq!(
        found,
        [
            units(&["Vivid opening,", "but who is Alex?", "More."]),
            units(&["Write $5, not $$5.", "Good."]),
            None,
            units(&[]),
        ]
    );
}

/// Replies, and can do nothing else.
struct Speaker;

impl Backend for Speaker {
    fn id(&self) -> &'static str {
        "speaker"
    }

    fn complete(&self, _: &[Request]) -> Vec<Result<Completion, BackendError>> {
        Vec::new()
    }
}

#[test]
fn a_backend_that_only_speaks_is_told_the_other_way() {
    let scorer = LogitScorer::new(Arc::new(Speaker), library(), JudgeRating::Argmax).err();
    assert!(matches!(scorer, Some(LogitScorerError::NoProbabilities { .. })));
    let message = scorer.unwrap().to_string();
    assert!(message.contains("speaker") && message.contains("--judge-mode batch"), "{message}");
    let segmenter = MarkingSegmenter::new(Arc::new(Speaker), library()).err();
    assert!(matches!(segmenter, Some(MarkingSegmenterError::NoProbabilities { .. })));
    let message = segmenter.unwrap().to_string();
    assert!(message.contains("speaker") && message.contains("--segment-mode copy"), "{message}");
}

/// What annotators made of a text.
#[derive(serde::Deserialize)]
struct Annotated {
    source: String,
    text: String,
    segmented: String,
}

fn annotated() -> Option<Vec<Annotated>> {
    let path = shared("annotations/segmentation_train.jsonl")?;
    let text = fs_err::read_to_string(path).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn every_copy_that_annotators_made_is_taken() {
    let Some(annotated) = annotated() else { return };
    // The longest first, as a text may hold another.
    let mut rules: Vec<&Annotated> = annotated.iter().collect();
    rules.sort_by_key(|item| std::cmp::Reverse(item.text.len()));
    let rules: Vec<String> = rules
        .iter()
        .map(|item| {
            let contains = format!("<text>{}</text>\nReply:", item.text.trim());
            serde_json::json!({"contains": contains, "reply": item.segmented}).to_string()
        })
        .collect();
    let backend = Arc::new(Scripted::parse(&rules.join("\n"), "annotated.jsonl").unwrap());
    let segmenter = JudgeSegmenter::new(backend, library(), JudgeSettings::default()).unwrap();
    let texts: Vec<&str> = annotated.iter().map(|item| item.text.as_str()).collect();
    for (item, cut) in annotated.iter().zip(segmenter.segment(&texts)) {
        let expected: Vec<String> = item
            .segmented
            .split("$$")
            .map(|unit| unit.trim().to_owned())
            .filter(|unit| 3 <= unit.chars().count())
            .collect();
        assert_eq!(units(&item.text, &cut.unwrap()).texts, expected);
    }
}

#[test]
fn what_instructors_wrote_is_clean() {
    let Some(annotated) = annotated() else { return };
    let instructors: Vec<&Annotated> =
        annotated.iter().filter(|item| item.source == "instructor").collect();
    assert!(100 < instructors.len());
    for item in instructors {
        assert_eq!(clean(&item.text).text, item.text.trim());
    }
}
