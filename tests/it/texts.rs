//! Feedback from elsewhere: files of texts in, figures out.

use std::{num::NonZeroUsize, sync::Mutex};

use camino::{Utf8Path, Utf8PathBuf};
use unimatch::{
    experiment::texts::{
        Content, Entry, Format, Instrument, Options, TextOutcome, TextsEvaluation, Unpaired,
        evaluate, load,
    },
    metrics::EmptyAnswers,
    segment::{SegmentError, Segmentation, Segmenter},
    similarity::{Rating, ScoreError, Scorer, UnitPair},
};

use crate::program::{fail, succeed, text, unimatch};

/// Cuts after each full stop, and cannot cut what says "uncuttable".
#[derive(Default)]
struct StopSegmenter {
    asked: Mutex<Vec<Vec<String>>>,
}

impl Segmenter for StopSegmenter {
    fn id(&self) -> &'static str {
        "stop"
    }

    fn segment(&self, texts: &[&str]) -> Vec<Result<Segmentation, SegmentError>> {
        let batch = texts.iter().map(|&text| text.to_owned()).collect();
        self.asked.lock().unwrap().push(batch);
        texts.iter().map(|text| cut(text)).collect()
    }
}

fn cut(text: &str) -> Result<Segmentation, SegmentError> {
    if text.contains("uncuttable") {
        return Err(SegmentError::TextChanged { at: 0, n_tries: 2 });
    }
    let mut ends: Vec<usize> = text.match_indices('.').map(|(at, _)| at + 1).collect();
    if ends.last() != Some(&text.len()) {
        ends.push(text.len());
    }
    Ok(Segmentation::new(text, ends).unwrap())
}

/// Rates 4 what is equal, 2 what begins alike, 0 otherwise, and cannot rate what
/// says "unreadable".
#[derive(Default)]
struct ScriptedScorer {
    asked: Mutex<Vec<Vec<(String, String)>>>,
}

impl Scorer for ScriptedScorer {
    fn id(&self) -> &'static str {
        "scripted"
    }

    fn score(&self, pairs: &[UnitPair<'_>]) -> Vec<Result<Rating, ScoreError>> {
        let batch = pairs.iter().map(|pair| (pair.generated.to_owned(), pair.gold.to_owned()));
        self.asked.lock().unwrap().push(batch.collect());
        pairs.iter().map(rate).collect()
    }
}

fn rate(pair: &UnitPair<'_>) -> Result<Rating, ScoreError> {
    if pair.generated.contains("unreadable") {
        return Err(ScoreError::Unreadable { n_tries: 3, reason: "no label".to_owned() });
    }
    let rating = match (pair.generated == pair.gold, pair.generated[..1] == pair.gold[..1]) {
        (true, _) => 4,
        (_, true) => 2,
        _ => 0,
    };
    Ok(Rating::from_int(rating).unwrap())
}

struct Outcome {
    result: anyhow::Result<TextsEvaluation>,
    cuts: Vec<Vec<String>>,
    pairs: Vec<Vec<(String, String)>>,
}

fn run(references: &[Entry], candidates: &[Entry], unpaired: Unpaired) -> Outcome {
    let (segmenter, scorer) = (StopSegmenter::default(), ScriptedScorer::default());
    let options = Options {
        empty_answers: EmptyAnswers::Count,
        unpaired,
        batch_size: NonZeroUsize::new(3).unwrap(),
    };
    let instrument = Instrument { segmenter: &segmenter, scorer: &scorer };
    let result = evaluate(references, candidates, &instrument, &options);
    let cuts = segmenter.asked.into_inner().unwrap();
    Outcome { result, cuts, pairs: scorer.asked.into_inner().unwrap() }
}

fn texts(entries: &[(&str, &str)]) -> Vec<Entry> {
    let entries = entries.iter().enumerate();
    entries
        .map(|(index, &(id, text))| Entry {
            id: id.to_owned(),
            content: Content::Text(text.to_owned()),
            line: index + 1,
        })
        .collect()
}

#[test]
fn texts_are_cut_rated_and_measured() {
    let references =
        texts(&[("p1", "Good image. Check tense."), ("p2", "Expand."), ("p2", "Good image.")]);
    let candidates = texts(&[("p2", "Good image. Cut this."), ("p1", "Good image.")]);
    let Outcome { result, cuts, pairs } = run(&references, &candidates, Unpaired::Refuse);
    let evaluation = result.unwrap();
    let full = &evaluation.metrics.full;
    assert_eq!((full.estimate.n_generated, full.estimate.n_gold), (3, 4));
    assert_eq!(full.estimate.soft.micro.precision, Some(8.0 / 12.0));
    assert_eq!(full.estimate.soft.micro.recall, Some(8.0 / 16.0));
    assert_eq!(full.bounds, None);
    assert_eq!(evaluation.metrics.single_reference.coverage.paragraphs.n_total, 1);
    assert_eq!(evaluation.metrics.multi_reference.coverage.paragraphs.n_total, 1);
    let record = &evaluation.texts[1];
    assert_eq!((record.id.as_str(), record.n_references), ("p2", 2));
    assert_eq!(record.generated, ["Good image.", "Cut this."]);
    assert_eq!(record.gold, ["Expand.", "Good image."]);
    let TextOutcome::Measured(metrics) = &record.outcome else { panic!("{record:?}") };
    assert_eq!(metrics.pairs.len(), 1);

    // "Good image." is cut once, though three entries say it.
    assert_eq!(cuts.concat().len(), 4);
    assert!(cuts.iter().all(|batch| batch.len() <= 3));
    // Of the two times three pairs, ("Good image.", "Good image.") comes twice.
    let mut distinct = pairs.concat();
    assert!(pairs.iter().all(|batch| batch.len() <= 3));
    distinct.sort();
    distinct.dedup();
    assert_eq!(pairs.concat().len(), distinct.len());
    assert_eq!(distinct.len(), 5);
}

#[test]
fn units_need_no_segmenter() {
    let entry = |units: &[&str]| {
        let units = units.iter().map(|&unit| unit.to_owned()).collect();
        vec![Entry { id: "a".to_owned(), content: Content::Units(units), line: 1 }]
    };
    let Outcome { result, cuts, .. } =
        run(&entry(&["Good.", "Why?"]), &entry(&["Good.", " Why? ", "ok", " "]), Unpaired::Refuse);
    let evaluation = result.unwrap();
    assert_eq!(evaluation.metrics.full.estimate.soft.micro.f1, Some(1.0));
    assert_eq!(evaluation.coverage.n_short_units, 1);
    assert!(cuts.is_empty());
}

#[test]
fn failures_are_stated_and_never_scored() {
    let references =
        texts(&[("a", "Good."), ("b", "Good."), ("c", "Good. Also."), ("d", "Good."), ("e", "")]);
    let candidates = texts(&[
        ("a", "Good."),
        ("b", "This is uncuttable."),
        ("c", "This is unreadable."),
        ("d", " "),
        ("e", "Good."),
    ]);
    let Outcome { result, .. } = run(&references, &candidates, Unpaired::Refuse);
    let evaluation = result.unwrap();
    let coverage = evaluation.metrics.full.coverage;
    assert_eq!(coverage.paragraphs.n_total, 5);
    assert_eq!(coverage.paragraphs.n_evaluated, 2);
    assert_eq!(coverage.paragraphs.n_empty_answers, 1);
    assert_eq!(coverage.paragraphs.n_failed, 1);
    assert_eq!(coverage.paragraphs.n_with_unscored_pairs, 1);
    assert_eq!(coverage.paragraphs.n_without_gold, 1);
    assert_eq!(coverage.pairs.n_unscored, 2);
    assert_eq!(evaluation.coverage.n_references_without_unit, 1);
    let reasons: Vec<(&str, usize)> = evaluation
        .coverage
        .score_errors
        .iter()
        .map(|(reason, &count)| (reason.as_str(), count))
        .collect();
    assert_eq!(reasons.len(), 1);
    assert!(reasons[0].0.contains("no label") && reasons[0].1 == 2, "{reasons:?}");
    assert_eq!(evaluation.metrics.full.estimate.soft.micro.precision, Some(1.0));
    assert_eq!(evaluation.metrics.full.estimate.soft.micro.recall, Some(0.5));
    let bounds = evaluation.metrics.full.bounds.as_ref().unwrap();
    assert_eq!(bounds.lower.soft.micro.recall, Some(4.0 / 20.0));
    let outcomes: Vec<&TextOutcome> =
        evaluation.texts.iter().map(|record| &record.outcome).collect();
    assert!(matches!(outcomes[1], TextOutcome::Failed { stage, .. } if stage == "segment"));
    assert!(matches!(outcomes[2], TextOutcome::Unscored { n_unscored: 2 }));
}

#[test]
fn order_of_the_files_changes_nothing() {
    let references = texts(&[("a", "Good. So."), ("b", "Why? Because."), ("c", "Expand.")]);
    let candidates = texts(&[("a", "So."), ("b", "Bold. Why."), ("c", "Elaborate. Expand.")]);
    let forwards = run(&references, &candidates, Unpaired::Refuse).result.unwrap();
    let reversed = |entries: &[Entry]| entries.iter().rev().cloned().collect::<Vec<_>>();
    let backwards =
        run(&reversed(&references), &reversed(&candidates), Unpaired::Refuse).result.unwrap();
    assert_eq!(forwards, backwards);
    let json = serde_json::to_string(&forwards).unwrap();
    assert_eq!(serde_json::from_str::<TextsEvaluation>(&json).unwrap(), forwards);
}

#[test]
fn id_with_one_side_is_refused_or_counted() {
    let references = texts(&[("a", "Good."), ("b", "Good."), ("c", "Good.")]);
    let candidates = texts(&[("a", "Good."), ("x", "Good.")]);
    let refused = |references: &[Entry], candidates: &[Entry], part: &str| {
        let error = run(references, candidates, Unpaired::Refuse).result.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused(&references, &candidates, "2 ids have no candidate, the first being b");
    refused(&references[..1], &candidates, "1 ids have no reference, the first being x");
    let evaluation = run(&references, &candidates, Unpaired::LeaveOut).result.unwrap();
    assert_eq!(evaluation.coverage.n_ids_without_candidate, 2);
    assert_eq!(evaluation.coverage.n_ids_without_reference, 1);
    assert_eq!(evaluation.texts.len(), 1);
    let apart = run(&references[1..], &candidates, Unpaired::LeaveOut).result.unwrap_err();
    assert_eq!(apart.to_string(), "no id has both a candidate and a reference");
    let twice = texts(&[("a", "Good."), ("a", "Again.")]);
    refused(&references, &twice, "candidate a stands on line 1 and again on line 2");
}

#[test]
fn files_are_loaded_in_either_format() {
    let units = |id: &str, units: &[&str], line| Entry {
        id: id.to_owned(),
        content: Content::Units(units.iter().map(|&unit| unit.to_owned()).collect()),
        line,
    };
    let text = |id: &str, text: &str, line| Entry {
        id: id.to_owned(),
        content: Content::Text(text.to_owned()),
        line,
    };
    check_loaded(
        "a.jsonl",
        "{\"id\": \"a\", \"text\": \"Go on.\"}\n\n{\"units\": [\"One.\", \"Two.\"], \"id\": \"b\"}\r\n",
        &[text("a", "Go on.", 1), units("b", &["One.", "Two."], 3)],
    );
    check_loaded("a.jsonl", "{\"id\": 7, \"text\": \"Go on.\"}", &[text("7", "Go on.", 1)]);
    check_loaded(
        "a.csv",
        "id,text\r\na,\"Go on,\r\nplease.\"\r\nb,Two.\r\n",
        &[text("a", "Go on,\r\nplease.", 2), text("b", "Two.", 4)],
    );
    check_loaded(
        "a.csv",
        "\u{feff}id,text\na,\"Go on,\nplease.\"\na,\nb,é 🙂\n",
        &[text("a", "Go on,\nplease.", 2), text("a", "", 4), text("b", "é 🙂", 5)],
    );
    check_loaded(
        "a.CSV",
        "unit,id\nOne.,a\nTwo.,a\n,b\n",
        &[units("a", &["One.", "Two."], 2), units("b", &[], 4)],
    );
    assert_eq!(Format::of("a.txt".into()), None);
}

#[test]
fn broken_file_is_refused_with_its_line() {
    check_refused("a.jsonl", "", &["holds no entry"]);
    check_refused("a.csv", "id,text\n", &["holds no entry"]);
    check_refused("a.csv", "", &["line 1", "not id,text or id,unit"]);
    check_refused("a.jsonl", "{\"id\": \"a\", \"text\": \"b\"", &["line 1", "EOF"]);
    check_refused("a.jsonl", "{\"id\": \"a\", \"txt\": \"b\"}", &["line 1", "unknown field `txt`"]);
    check_refused("a.jsonl", "\n{\"text\": \"b\"}", &["line 2", "missing field `id`"]);
    check_refused("a.jsonl", "{\"id\": \"a\"}", &["line 1", "neither field text nor field units"]);
    check_refused(
        "a.jsonl",
        "{\"id\": \"a\", \"text\": \"b\", \"units\": []}",
        &["line 1", "both field text and field units"],
    );
    check_refused("a.jsonl", "{\"id\": \" \", \"text\": \"b\"}", &["line 1", "field id is empty"]);
    check_refused(
        "a.jsonl",
        "{\"id\": [1], \"text\": \"b\"}",
        &["line 1", "neither text nor number"],
    );
    check_refused("a.csv", "id,text,extra\na,b,c\n", &["line 1", "id,text,extra"]);
    check_refused("a.csv", "id,text\na,b\nc\n", &["line 3", "1 columns"]);
    check_refused("a.csv", "id,text\n,b\n", &["line 2", "field id is empty"]);
    check_refused(
        "a.csv",
        "id,unit\na,One.\nb,Two.\na,Three.\n",
        &["line 4", "the id of line 2 comes again"],
    );
}

#[track_caller]
fn check_loaded(name: &str, text: &str, entries: &[Entry]) {
    let loaded = load_text(name, text).unwrap();
    assert_eq!(loaded, entries);
}

#[track_caller]
fn check_refused(name: &str, text: &str, parts: &[&str]) {
    let message = format!("{:#}", load_text(name, text).unwrap_err());
    for part in parts.iter().chain(&[name]) {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

fn load_text(name: &str, text: &str) -> anyhow::Result<Vec<Entry>> {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().join(name)).unwrap();
    fs_err::write(&path, text).unwrap();
    load(&path, Format::of(&path).unwrap())
}

#[test]
fn what_ids_lose_is_said_with_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        fs_err::write(dir.join(name), bytes).unwrap();
        dir.join(name)
    };
    let references = write("r.csv", b"id,unit\na,Why?\nb,Good image.\nc,Why?\n");
    let candidates = write(
        "c.jsonl",
        b"{\"id\":\"a\",\"units\":[\"Why?\",\"ok\"]}\n{\"id\":\"d\",\"text\":\"Why?\"}\n",
    );
    let eval = |candidates: &Utf8Path| {
        let mut command = unimatch();
        command.args(["eval", "--references", references.as_str(), "--scorer", "lexical:chrf"]);
        command.args(["--segmenter", "sentence", "--candidates", candidates.as_str()]);
        command
    };
    let refused = fail(&mut eval(&candidates));
    assert!(
        refused.contains("2 ids have no candidate (b, c); 1 id has no reference (d)"),
        "{refused}"
    );
    let left_out = succeed(eval(&candidates).args(["--unpaired", "leave-out", "-f", "json"]));
    let notes = text(&left_out.stderr);
    assert!(notes.contains("2 ids have no candidate (b, c): left out"), "{notes}");
    assert!(
        notes.contains("c.jsonl: 1 unit of under 3 characters dropped, of 1 id (a)"),
        "{notes}"
    );
    for (bytes, expected) in [
        (&b"id,text\na,x\nb,Caf\xe9\n"[..], "x.csv, line 3: it is not UTF-8"),
        (b" \n", "x.csv is empty"),
    ] {
        let message = fail(&mut eval(&write("x.csv", bytes)));
        assert!(message.contains(expected), "{message}");
    }
}
