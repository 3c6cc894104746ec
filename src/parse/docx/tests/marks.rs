//! Comments, pens and points.

use super::*;
use crate::parse::Mark;

const YELLOW: &str = r#"<w:highlight w:val="yellow"/>"#;
const MAGENTA: &str = r#"<w:highlight w:val="magenta"/>"#;

fn check(inner: &str, comments: &[(&str, &str)], expected: &[&str]) {
    let document = Docx::new(&p(inner)).comments(comments).read();
    assert_eq!(annotations(&document), expected, "{inner}");
}

#[test]
fn a_comment_covers_its_runs() {
    let inner =
        [r("A "), start("7"), r("good"), pen("<w:i/>", " sta"), r("rt "), end("7"), r("here.")];
    let document = Docx::new(&p(&inner.concat())).comments(&[("7", "Why?")]).read();
    assert_eq!(annotations(&document), ["0 highlight(generic) good start: Why?"]);
    let annotation = &document.paragraphs[0].annotations[0];
    assert_eq!(annotation.annotation.context_left, "A ");
    assert_eq!(annotation.annotation.context_right, " here.");
    assert_eq!(annotation.mark, Mark::Comment);
    assert_eq!(annotation.author.as_deref(), Some("Ada"));
    assert_eq!(annotation.date.as_deref(), Some("2024-01-15T12:00:00Z"));
    assert!(document.warnings.is_empty());
}

#[test]
fn contexts_are_as_long_as_asked_for() {
    let inner = [r("one two "), start("0"), r("three"), end("0"), r(" four five")].concat();
    let bytes = Docx::new(&p(&inner)).comments(&[("0", "x")]).bytes();
    let options = DocxOptions { context: 3, ..DocxOptions::default() };
    let document = parse_docx(&bytes, &options).expect("a document");
    let annotation = &document.paragraphs[0].annotations[0].annotation;
    assert_eq!(
        (annotation.context_left.as_str(), annotation.context_right.as_str()),
        ("wo ", " fo")
    );
}

#[test]
fn comments_without_words_are_notes() {
    check(
        &[r("Here"), reference("0"), r(" it is.")].concat(),
        &[("0", "x")],
        &["0 note() Here|: x"],
    );
    let empty = [r("Here "), start("0"), end("0"), r("it is.")].concat();
    check(&empty, &[("0", "x")], &["0 note() Here |: x"]);
    let space = [r("Here"), start("0"), r(" "), end("0"), r("it is.")].concat();
    check(&space, &[("0", "x")], &["0 note() Here|: x"]);
}

#[test]
fn broken_ranges_leave_a_note_and_a_warning() {
    let backwards =
        "<w:commentRangeEnd w:id=\"0\"/>".to_owned() + &r("a b") + &start("0") + &r("c");
    for inner in [backwards, r("a bc") + &start("0"), r("a bc") + "<w:commentRangeEnd w:id=\"0\"/>"]
    {
        let document = Docx::new(&p(&inner)).comments(&[("0", "x")]).read();
        assert_eq!(document.paragraphs[0].annotations.len(), 1);
        assert_eq!(document.paragraphs[0].annotations[0].mark, Mark::Note);
        assert_eq!(document.warnings.len(), 1, "{inner}");
    }
    let without_end = [start("0"), r("good"), reference("0"), r(" start")].concat();
    check(&without_end, &[("0", "x")], &["0 highlight(generic) good: x"]);
}

#[test]
fn a_comment_over_paragraphs_hangs_on_the_first_with_words() {
    let body = [
        p(&[r("One."), start("0")].concat()),
        p(""),
        p(&r("Two.")),
        p(&[r("Three."), end("0"), r(" Four.")].concat()),
    ];
    let document = Docx::new(&body.concat()).comments(&[("0", "x")]).read();
    assert_eq!(annotations(&document), ["1 highlight(generic) Two.: x"]);
    assert_eq!(document.warnings.len(), 1);
}

#[test]
fn a_range_between_paragraphs_counts_from_the_next_to_the_last() {
    let body =
        [start("0"), p(&r("One.")), "<w:commentRangeEnd w:id=\"0\"/>".to_owned(), p(&r("Two."))];
    let document = Docx::new(&body.concat()).comments(&[("0", "x")]).read();
    assert_eq!(annotations(&document), ["0 highlight(generic) One.: x"]);
}

#[test]
fn a_comment_on_nothing_moves_to_the_nearest_text() {
    let body = [p(&reference("0")), p(&r("One.")), p(&reference("1")), p(&r("Two."))].concat();
    let document = Docx::new(&body).comments(&[("0", "x"), ("1", "y"), ("2", "z")]).read();
    assert_eq!(annotations(&document), ["0 note() |: x", "0 note() One.|: y", "1 note() Two.|: z"]);
    assert_eq!(document.warnings.len(), 3);
    let document = Docx::new(&p(&reference("0"))).comments(&[("0", "x")]).read();
    assert!(document.paragraphs.is_empty());
    assert_eq!(document.warnings.len(), 1);
}

#[test]
fn overlapping_comments_are_all_kept() {
    let inner =
        [start("0"), r("one "), start("1"), r("two"), end("0"), r(" three"), end("1")].concat();
    check(
        &inner,
        &[("0", "a"), ("1", "b")],
        &["0 highlight(generic) one two: a", "0 highlight(generic) two three: b"],
    );
}

#[test]
fn runs_under_one_pen_are_one_highlight() {
    let bold = format!("<w:b/>{YELLOW}");
    let inner = [
        r("a "),
        pen(YELLOW, "good "),
        pen(&bold, "start"),
        pen(MAGENTA, " here"),
        r("."),
        pen(YELLOW, " "),
    ];
    check(
        &inner.concat(),
        &[],
        &["0 highlight(yellow#ffff00) good start: ", "0 highlight(pink#ff00ff) here: "],
    );
}

#[test]
fn shading_is_a_pen_unless_it_is_paper() {
    let shade = |fill: &str| format!(r#"<w:shd w:val="clear" w:color="auto" w:fill="{fill}"/>"#);
    let inner = [
        pen(&shade("b6d7a8"), "green"),
        pen(&shade("FFFFFF"), " white"),
        pen(&shade("auto"), " none"),
        pen(&shade("bea0fa"), " purple"),
        pen(r#"<w:highlight w:val="none"/>"#, " off"),
    ];
    check(
        &inner.concat(),
        &[],
        &["0 highlight(green#b6d7a8) green: ", "0 highlight(generic#bea0fa) purple: "],
    );
}

#[test]
fn a_pen_under_a_comment_is_its_mark() {
    let inner = [
        r("a "),
        start("0"),
        pen(YELLOW, "good start"),
        end("0"),
        r(" and "),
        pen(MAGENTA, "so on"),
    ];
    check(
        &inner.concat(),
        &[("0", "x")],
        &["0 highlight(yellow#ffff00) good start: x", "0 highlight(pink#ff00ff) so on: "],
    );
    // A comment on most of what is highlighted, as word processors select words.
    let inner =
        [pen(YELLOW, "(“"), start("0"), pen(YELLOW, "good start"), end("0"), pen(YELLOW, "”)")];
    check(&inner.concat(), &[("0", "x")], &["0 highlight(yellow#ffff00) good start: x"]);
    // A comment that covers much more than the pen.
    let inner =
        [start("0"), r("of all these words only "), pen(YELLOW, "one"), r(" is marked"), end("0")];
    check(
        &inner.concat(),
        &[("0", "x")],
        &[
            "0 highlight(generic) of all these words only one is marked: x",
            "0 highlight(yellow#ffff00) one: ",
        ],
    );
}

#[test]
fn one_pen_under_neighbouring_comments_marks_each() {
    let inner = ["0", "1", "2"]
        .map(|id| [start(id), pen(YELLOW, "words"), end(id), pen(YELLOW, " ")].concat());
    check(
        &inner.concat(),
        &[("0", "a"), ("1", "b"), ("2", "c")],
        &[
            "0 highlight(yellow#ffff00) words: a",
            "0 highlight(yellow#ffff00) words: b",
            "0 highlight(yellow#ffff00) words: c",
        ],
    );
}

#[test]
fn a_pen_marks_one_comment_alone() {
    let inner =
        [start("0"), pen(YELLOW, "all of "), start("1"), pen(YELLOW, "this"), end("1"), end("0")];
    check(
        &inner.concat(),
        &[("0", "a"), ("1", "b")],
        &["0 highlight(yellow#ffff00) all of this: a", "0 highlight(generic) this: b"],
    );
}

#[test]
fn struck_words_are_strikeouts() {
    let inner = [
        pen("<w:strike/>", "one"),
        r(" "),
        pen("<w:dstrike w:val=\"true\"/>", "two"),
        r(" "),
        pen("<w:strike w:val=\"0\"/>", "three"),
        start("0"),
        pen("<w:strike/>", " four"),
        end("0"),
        r(" "),
        pen("<w:strike/>", "five"),
        pen(&format!("<w:strike/>{YELLOW}"), " six"),
    ];
    check(
        &inner.concat(),
        &[("0", "x")],
        &[
            "0 strikeout() one: ",
            "0 strikeout() two: ",
            "0 strikeout() four: x",
            "0 strikeout() five six: ",
            "0 highlight(yellow#ffff00) six: ",
        ],
    );
    let inner = [r("a "), pen(&format!("<w:strike/>{YELLOW}"), "b")].concat();
    check(&inner, &[], &["0 strikeout(#ffff00) b: "]);
}

#[test]
fn styles_of_characters_carry_pens() {
    let styles = root(
        "styles",
        r#"<w:style w:type="character" w:styleId="Base"><w:rPr><w:highlight w:val="green"/><w:shd w:fill="ff0000"/></w:rPr></w:style>
           <w:style w:type="character" w:styleId="Marked"><w:basedOn w:val="Base"/><w:rPr><w:b/></w:rPr></w:style>
           <w:style w:type="character" w:styleId="Circle"><w:basedOn w:val="Circle"/></w:style>
           <w:style w:type="paragraph" w:styleId="Block"><w:rPr><w:strike/></w:rPr></w:style>"#,
    );
    let style = |name: &str| format!(r#"<w:rStyle w:val="{name}"/>"#);
    let off = format!(r#"{}<w:highlight w:val="none"/>"#, style("Marked"));
    let inner = [
        pen(&style("Marked"), "one"),
        pen(&off, " two"),
        pen(&style("Circle"), " three"),
        pen(&style("Block"), " four"),
        pen(&style("Nobody"), " five"),
    ];
    let document = Docx::new(&p(&inner.concat())).part("styles", "styles.xml", &styles).read();
    assert_eq!(annotations(&document), ["0 highlight(green#00ff00) one: "]);
}
