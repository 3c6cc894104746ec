//! Tracked changes.

use super::*;

fn deleted(text: &str) -> String {
    format!(
        r#"<w:del w:id="9"><w:r><w:delText xml:space="preserve">{text}</w:delText></w:r></w:del>"#
    )
}

fn wrapped(name: &str, inner: &str) -> String {
    format!(r#"<w:{name} w:id="9">{inner}</w:{name}>"#)
}

fn check(body: &str, tracked: Tracked, text: &[&str], left_out: &[&str]) {
    let document = Docx::new(body).read_with(tracked);
    assert_eq!(texts(&document), text);
    let left: Vec<&str> = document
        .removed
        .iter()
        .filter(|removed| removed.reason == RemovalReason::TrackedChange)
        .map(|removed| removed.text.as_str())
        .collect();
    assert_eq!(left, left_out);
}

#[test]
fn changes_are_accepted_rejected_or_kept() {
    let body = p(&[
        r("A "),
        deleted("very "),
        deleted("bad "),
        wrapped("ins", &r("good ")),
        r("start "),
        wrapped("moveFrom", &r("over there ")),
        r("is "),
        wrapped("moveTo", &r("over there ")),
        r("made."),
    ]
    .concat());
    check(
        &body,
        Tracked::Accept,
        &["A good start is over there made."],
        &["very bad ", "over there "],
    );
    check(
        &body,
        Tracked::Reject,
        &["A very bad start over there is made."],
        &["good ", "over there "],
    );
    check(&body, Tracked::Keep, &["A very bad good start over there is over there made."], &[]);
}

#[test]
fn what_was_inserted_and_then_deleted_goes_either_way() {
    let body = p(&[r("a"), wrapped("ins", &deleted(" b")), r(" c")].concat());
    check(&body, Tracked::Accept, &["a c"], &[" b"]);
    check(&body, Tracked::Reject, &["a c"], &[" b"]);
    check(&body, Tracked::Keep, &["a b c"], &[]);
}

#[test]
fn a_deleted_paragraph_mark_joins_two_paragraphs() {
    let mark = |name: &str| format!("<w:pPr><w:rPr><w:{name} w:id=\"9\"/></w:rPr></w:pPr>");
    let body = [
        p(&[mark("del"), r("One ")].concat()),
        p(&[mark("ins"), r(" two "), start("0"), r("three"), end("0")].concat()),
        p(&pen("<w:strike/>", "four")),
    ]
    .concat();
    let document = Docx::new(&body).comments(&[("0", "x")]).read();
    assert_eq!(texts(&document), ["One two three", "four"]);
    assert_eq!(annotations(&document), ["0 highlight(generic) three: x", "1 strikeout() four: "]);
    let document = Docx::new(&body).comments(&[("0", "x")]).read_with(Tracked::Reject);
    assert_eq!(texts(&document), ["One", "two threefour"]);
    assert_eq!(annotations(&document), ["1 highlight(generic) three: x", "1 strikeout() four: "]);
    // Numbering that was inserted is no paragraph mark, and cells keep their own.
    let numbered = "<w:pPr><w:numPr><w:ins w:id=\"9\"/></w:numPr></w:pPr>".to_owned() + &r("a");
    check(&[p(&numbered), p(&r("b"))].concat(), Tracked::Reject, &["a", "b"], &[]);
    let cell = format!("<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>", p(&(mark("del") + &r("a"))));
    check(&[cell, p(&r("b"))].concat(), Tracked::Accept, &["a", "b"], &[]);
}

#[test]
fn former_formatting_is_no_formatting() {
    let changed = "<w:rPrChange w:id=\"9\"><w:rPr><w:strike/></w:rPr></w:rPrChange>";
    let former = "<w:pPr><w:pPrChange w:id=\"9\"><w:pPr><w:rPr><w:del/></w:rPr></w:pPr></w:pPrChange></w:pPr>";
    let body = p(&[former.to_owned(), pen(changed, "a")].concat()) + &p(&r("b"));
    let document = Docx::new(&body).read();
    assert_eq!(texts(&document), ["a", "b"]);
    assert!(annotations(&document).is_empty());
}

#[test]
fn a_comment_on_words_that_are_left_out_is_a_note() {
    let body = p(&[r("A "), start("0"), deleted("bad "), end("0"), r("start.")].concat());
    let document = Docx::new(&body).comments(&[("0", "x")]).read();
    assert_eq!(annotations(&document), ["0 note() A |: x"]);
    assert_eq!(removed(&document), [(RemovalReason::TrackedChange, "bad ")]);
}

#[test]
fn a_comment_on_moved_words_moves_along() {
    let moved = [start("0"), r("over there "), end("0")].concat();
    let body =
        p(&[wrapped("moveFrom", &moved), r("is "), wrapped("moveTo", &moved), r("made.")].concat());
    let document = Docx::new(&body).comments(&[("0", "x")]).read();
    assert_eq!(annotations(&document), ["0 highlight(generic) over there: x"]);
}
