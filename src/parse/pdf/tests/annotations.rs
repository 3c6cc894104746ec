//! Annotations of every kind, and the ways in which programs write them.

use super::builder::{Page, file, parsed, quad, rect, texts};
use crate::{
    corpus::{Anchor, Color},
    parse::{
        Mark, ParsedAnnotation, ParsedDocument,
        pdf::{PdfOptions, parse_pdf},
    },
};

/// Two full lines and a short one.
fn essay() -> Page {
    Page::of(&[
        (72.0, 700.0, "so it goes and then it goes on and so it goes to the end of it"),
        (72.0, 688.0, "and on the next line it goes on as it always did until it ends"),
        (72.0, 676.0, "here."),
    ])
}

fn marked(page: Page) -> ParsedDocument {
    parsed(&[page])
}

fn only(document: &ParsedDocument) -> &ParsedAnnotation {
    let mut all = document.paragraphs.iter().flat_map(|paragraph| &paragraph.annotations);
    let annotation = all.next().expect("an annotation");
    assert!(all.next().is_none(), "one annotation alone");
    annotation
}

fn highlight(quads: &str, rest: &str) -> String {
    format!("/Subtype /Highlight /QuadPoints [{quads}] /Rect [0 0 1 1] {rest}")
}

#[test]
fn a_highlight_hangs_on_the_words_it_covers() {
    // The third `goes` of four.
    let quads = quad(72.0, 700.0, 41, 4);
    let rest = "/C [1 0.82 0] /Contents (which?) /T (Ann) /M (D:2024)";
    let document = marked(essay().with(&highlight(&quads, rest)));
    let annotation = only(&document);
    let text = &document.paragraphs[0].text;
    assert_eq!(&text[annotation.start..annotation.end], "goes");
    assert_eq!(text[..annotation.start].matches("goes").count(), 2);
    assert_eq!(annotation.annotation.comment, "which?");
    assert!(annotation.annotation.context_left.ends_with("on and so it "));
    assert!(annotation.annotation.context_right.starts_with(" to the end of it and on"));
    assert_eq!(annotation.annotation.color(), Some(Color::Yellow));
    assert_eq!(annotation.hex.as_deref(), Some("#ffd100"));
    assert_eq!(
        (annotation.author.as_deref(), annotation.date.as_deref()),
        (Some("Ann"), Some("D:2024"))
    );
    assert!(document.warnings.is_empty(), "{:?}", document.warnings);
}

#[test]
fn quads_may_come_in_any_order() {
    let (first, second) = (quad(72.0, 700.0, 50, 12), quad(72.0, 688.0, 0, 6));
    let words = "end of it and on";
    for quads in [format!("{first} {second}"), format!("{second} {first}")] {
        let document = marked(essay().with(&highlight(&quads, "")));
        assert!(only(&document).annotation.text().is_some_and(|text| text.ends_with(words)));
    }
    let around = "72 698 96 698 96 708 72 708";
    let document = marked(essay().with(&highlight(around, "")));
    assert_eq!(only(&document).annotation.text(), Some("so i"));
}

#[test]
fn kinds_of_marks_are_kept() {
    for (subtype, mark) in [
        ("Highlight", Mark::Highlight),
        ("Underline", Mark::Underline),
        ("Squiggly", Mark::Squiggly),
        ("StrikeOut", Mark::Strikeout),
    ] {
        let quads = quad(72.0, 700.0, 3, 7);
        let entries = format!("/Subtype /{subtype} /QuadPoints [{quads}] /C [1 0 0]");
        let document = marked(essay().with(&entries));
        let annotation = only(&document);
        assert_eq!((annotation.mark, annotation.annotation.text()), (mark, Some("it goes")));
        let is_strikeout = matches!(annotation.annotation.anchor, Anchor::Strikeout { .. });
        assert_eq!(is_strikeout, mark == Mark::Strikeout);
    }
}

#[test]
fn without_quads_the_appearance_or_the_rectangle_tells() {
    let area = rect(72.0, 700.0, 3, 7);
    let document = marked(essay().with(&format!("/Subtype /Highlight /Rect [{area}]")));
    assert_eq!(only(&document).annotation.text(), Some("it goes"));

    // Both lines lie in the rectangle, and two short strips of them are painted.
    let form = "0.5 1 0.5 rg 390 698 54 10 re 72 686 36 10 re f";
    let form = format!(
        "<< /Subtype /Form /BBox [72 686 444 708] /Length {} >>\nstream\n{form}\nendstream",
        form.len()
    );
    let page = essay().with("/Subtype /Highlight /Rect [72 686 444 708] /AP << /N 90 0 R >>");
    let document =
        parse_pdf(&file(&[page], &[(90, form)]), &PdfOptions::default()).expect("a sound file");
    let annotation = only(&document);
    assert_eq!(annotation.annotation.color(), Some(Color::Green));
    // One appearance with one shape of two parts is one box; its colour counts all the same.
    assert_eq!(annotation.hex.as_deref(), Some("#80ff80"));
    assert!(annotation.annotation.text().is_some_and(|text| text.contains("and on")));
}

#[test]
fn a_mark_that_misses_the_text_is_kept_with_a_warning() {
    for quads in [quad(72.0, 300.0, 0, 5), "1 2 3".to_owned(), "(a) (b) 1 1 1 1 1 1".to_owned()] {
        let document = marked(essay().with(&highlight(&quads, "/Contents (lost)")));
        assert_eq!(only(&document).annotation.comment, "lost");
        assert_eq!(document.warnings.len(), 1, "{:?}", document.warnings);
    }
    let document = marked(essay().with("/Subtype /Text /Contents (nowhere)"));
    assert_eq!(only(&document).annotation.comment, "nowhere");
    assert_eq!(document.warnings.len(), 1);
}

#[test]
fn a_note_points_at_the_nearest_words() {
    for (entries, before) in [
        // On the word, above it, and in the margin beside the line.
        ("/Rect [90 690 110 712]", "so "),
        ("/Rect [378 682 398 702]", "and on the next line it goes on as it always did un"),
        ("/Rect [500 684 520 700]", "always did until it ends"),
    ] {
        let entries = format!("/Subtype /Text /Contents (why) {entries}");
        let document = marked(essay().with(&entries));
        let annotation = only(&document);
        assert_eq!(annotation.mark, Mark::Note);
        assert!(annotation.annotation.context_left.ends_with(before), "{annotation:?}");
    }
    let document =
        marked(essay().with("/Subtype /FreeText /Contents (typed) /Rect [72 690 90 700]"));
    assert_eq!(only(&document).mark, Mark::FreeText);
}

#[test]
fn answers_popups_and_doubles_are_no_annotations() {
    let quads = quad(72.0, 700.0, 3, 7);
    let mark = highlight(&quads, "/Contents (why)");
    let page = essay()
        .with(&mark)
        .with("/Subtype /Popup /Parent 1000 0 R /Rect [0 0 9 9] /Contents (why)")
        .with("/Subtype /Text /IRT 1000 0 R /Contents (because) /T (Bob) /Rect [0 0 9 9]")
        .with(&mark);
    let document = marked(page);
    let annotation = only(&document);
    assert_eq!(annotation.replies.len(), 1);
    assert_eq!(annotation.replies[0].text, "because");
    assert_eq!(annotation.replies[0].author.as_deref(), Some("Bob"));
}

#[test]
fn the_same_mark_twice_is_one_with_a_warning() {
    let mark = highlight(&quad(72.0, 700.0, 3, 7), "/Contents (why)");
    let document = marked(essay().with(&mark).with(&mark));
    assert_eq!(only(&document).annotation.comment, "why");
    assert_eq!(document.warnings.len(), 1);
}

#[test]
fn a_group_is_joined_on_its_words() {
    let page =
        essay().with("/Subtype /Caret /Rect [90 690 96 700] /Contents (went)").with(&format!(
            "/Subtype /StrikeOut /QuadPoints [{}] /IRT 1000 0 R /RT /Group",
            quad(72.0, 700.0, 6, 4)
        ));
    let document = marked(page);
    let annotation = only(&document);
    assert_eq!(annotation.annotation.anchor, Anchor::Strikeout { text: "goes".to_owned() });
    assert_eq!(annotation.annotation.comment, "went");
}

#[test]
fn comments_are_read_in_every_encoding() {
    for (contents, comment) in [
        ("/Contents <FEFF00DC0062006500720020201C>", "Über “"),
        ("/Contents <FFFE DC00 6200>", "Üb"),
        ("/Contents <EFBBBFC39C62>", "Üb"),
        ("/Contents (\\334b\\rer)", "Üb\ner"),
        ("/Contents <FEFF> /RC (<body><p>so &amp; so</p></body>)", "so & so"),
        ("/Contents <FEFF>", ""),
    ] {
        let document = marked(essay().with(&highlight(&quad(72.0, 700.0, 3, 7), contents)));
        assert_eq!(only(&document).annotation.comment, comment, "{contents}");
    }
}

#[test]
fn links_and_bare_drawings_are_no_annotations() {
    let page = essay()
        .with("/Subtype /Link /Rect [0 0 9 9]")
        .with("/Subtype /Ink /Rect [0 0 9 9]")
        .with("/Rect [0 0 9 9]");
    let document = marked(page);
    assert!(document.paragraphs.iter().all(|paragraph| paragraph.annotations.is_empty()));
    assert_eq!(document.warnings.len(), 1);
    let document = marked(essay().with("/Subtype /Square /Rect [72 690 90 700] /Contents (here)"));
    assert_eq!((only(&document).mark, texts(&document).len()), (Mark::Note, 1));
}

#[test]
fn a_mark_over_two_paragraphs_hangs_on_the_larger_part() {
    let mut page = essay();
    page.draw(72.0, 640.0, 10.0, "A second paragraph.");
    let quads = format!("{} {}", quad(72.0, 676.0, 0, 5), quad(72.0, 640.0, 0, 19));
    let document = marked(page.with(&highlight(&quads, "")));
    assert_eq!(only(&document).annotation.text(), Some("A second paragraph."));
    assert_eq!(document.warnings.len(), 1);
}
