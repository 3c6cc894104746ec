//! Pages: paragraphs, columns, furniture, rotation, damage.

use super::builder::{Page, SIZE, file, parsed, quad, texts};
use crate::parse::{
    RemovalReason,
    pdf::{PdfError, PdfOptions, parse_pdf},
};

/// A line of so many characters.
fn line(n_chars: usize) -> String {
    "word ".repeat(n_chars.div_ceil(5)).chars().take(n_chars - 1).chain(['x']).collect()
}

#[test]
fn indents_and_gaps_begin_paragraphs() {
    let full = line(60);
    let page = Page::of(&[
        (108.0, 700.0, &full[..54]),
        (72.0, 688.0, &full),
        (72.0, 676.0, "the end."),
        (108.0, 664.0, &full[..54]),
        (72.0, 652.0, "the end."),
    ]);
    let document = parsed(&[page]);
    assert_eq!(document.paragraphs.len(), 2);
    assert!(texts(&document).iter().all(|text| text.ends_with("the end.")));

    let page = Page::of(&[
        (72.0, 700.0, &full),
        (72.0, 688.0, &full),
        (72.0, 664.0, &full),
        (72.0, 652.0, &full),
    ]);
    assert_eq!(parsed(&[page]).paragraphs.len(), 2);
}

#[test]
fn without_them_a_line_that_ends_early_ends_its_paragraph() {
    let full = line(60);
    let page = Page::of(&[
        (72.0, 700.0, &full),
        (72.0, 688.0, "a short end."),
        (72.0, 676.0, &full),
        (72.0, 664.0, &full),
        (72.0, 652.0, "an end."),
    ]);
    let document = parsed(&[page]);
    let ends: Vec<&str> = texts(&document).iter().map(|text| &text[text.len() - 4..]).collect();
    assert_eq!(ends, ["end.", "end."]);
}

#[test]
fn a_sentence_runs_on_over_the_end_of_a_page() {
    let full = line(60);
    let first = Page::of(&[(108.0, 700.0, &full[..54]), (72.0, 688.0, &full)]);
    let second = Page::of(&[
        (72.0, 700.0, "until here."),
        (108.0, 688.0, &full[..54]),
        (72.0, 676.0, "more."),
    ]);
    let document = parsed(&[first, second]);
    assert_eq!(document.paragraphs.len(), 2);
    assert!(document.paragraphs[0].text.ends_with("x until here."));
    assert_eq!(document.paragraphs[1].page, Some(2));
}

#[test]
fn words_broken_at_the_end_of_a_line_are_joined_where_they_are_known() {
    let page = Page::of(&[
        (72.0, 700.0, "an example of a thing that is well-known, and of one more exam-"),
        (72.0, 688.0, "ple that is not so, of which one hears of late that it is well-"),
        (72.0, 676.0, "known."),
    ]);
    let document = parsed(&[page]);
    assert!(document.paragraphs[0].text.contains("one more example that"));
    assert!(document.paragraphs[0].text.ends_with("it is well-known."));
}

/// Three pages with a header and page numbers.
fn book() -> Vec<Page> {
    let full = line(60);
    let page = |number: i32| {
        let mut page = Page::of(&[
            (480.0, 750.0, &format!("Alvarez {number}")),
            (300.0, 40.0, &format!("{number}")),
        ]);
        for row in 0..6 {
            page.draw(72.0, 700.0 - 12.0 * f64::from(row), SIZE, &full);
        }
        page
    };
    (1..=3).map(page).collect()
}

#[test]
fn headers_and_page_numbers_are_taken_out_or_kept() {
    let document = parsed(&book());
    let reasons: Vec<RemovalReason> = document.removed.iter().map(|text| text.reason).collect();
    assert_eq!(reasons, [RemovalReason::Header, RemovalReason::PageNumber].repeat(3));
    assert_eq!(document.removed[0].text, "Alvarez 1");
    assert_eq!(document.removed[5].page, Some(3));
    assert!(texts(&document).iter().all(|text| !text.contains("Alvarez")));

    let options = PdfOptions { keep_headers: true, ..PdfOptions::default() };
    let document = parse_pdf(&file(&book(), &[]), &options).expect("a sound file");
    assert!(document.removed.is_empty());
    let kept = texts(&document);
    assert_eq!(kept.iter().filter(|text| text.starts_with("Alvarez")).count(), 3);
}

#[test]
fn the_block_of_name_and_date_is_taken_out() {
    let full = line(60);
    let page = Page::of(&[
        (72.0, 720.0, "Maria Alvarez"),
        (72.0, 708.0, "Professor Kowalski"),
        (72.0, 696.0, "ENGCMP 0200"),
        (72.0, 684.0, "4 March 2023"),
        (216.0, 672.0, "What We Keep"),
        (108.0, 660.0, &full[..54]),
        (72.0, 648.0, "the end."),
    ]);
    let document = parsed(&[page]);
    assert_eq!(document.removed.len(), 4);
    assert!(document.removed.iter().all(|text| text.reason == RemovalReason::NameBlock));
    assert_eq!(texts(&document)[0], "What We Keep");
    assert_eq!(document.paragraphs.len(), 2);
}

#[test]
fn footnotes_go_with_their_marks() {
    let full = line(60);
    let mut page = Page::of(&[(72.0, 700.0, &full), (72.0, 688.0, "the end.")]);
    page.draw(120.0, 692.0, 6.0, "1");
    page.draw(72.0, 100.0, 8.0, "1 See there.");
    let document = parsed(&[page]);
    assert_eq!(document.removed.len(), 1);
    assert_eq!(document.removed[0].reason, RemovalReason::Footnote);
    assert!(document.paragraphs[0].text.ends_with("the end."));
}

#[test]
fn columns_are_read_one_after_the_other() {
    let mut page = Page::default();
    for row in 0..8 {
        let y = 700.0 - 12.0 * f64::from(row);
        page.draw(72.0, y, SIZE, &format!("left column text number {row}"));
        page.draw(330.0, y, SIZE, &format!("right column text number {row}"));
    }
    let document = parsed(&[page]);
    let text = texts(&document).join(" ");
    let last_left = text.find("left column text number 7").expect("all of the left column");
    let first_right = text.find("right column text number 0").expect("all of the right column");
    assert!(last_left < first_right, "{text}");
}

#[test]
fn turned_and_moved_pages_read_as_others_do() {
    let lines = [(172.0, 700.0, "so it goes and goes"), (172.0, 688.0, "and goes.")];
    let mark = |page: Page| {
        let quads = quad(172.0, 700.0, 3, 7);
        page.with(&format!("/Subtype /Highlight /QuadPoints [{quads}]"))
    };
    for entries in [
        "",
        "/Rotate 90",
        "/Rotate 180",
        "/Rotate -90",
        "/MediaBox [150 -100 762 792]",
        "/CropBox [150 300 600 780]",
    ] {
        let mut page = mark(Page::of(&lines));
        entries.clone_into(&mut page.entries);
        let document = parsed(&[page]);
        assert_eq!(texts(&document), ["so it goes and goes and goes."], "{entries}");
        let annotation = &document.paragraphs[0].annotations[0].annotation;
        assert_eq!(annotation.text(), Some("it goes"), "{entries}");
    }
}

#[test]
fn actual_text_stands_for_its_glyphs() {
    let mut page = Page::default();
    page.content.push_str(
        "BT /F1 10 Tf 72 700 Td (e) Tj /Span << /ActualText (ffi) >> BDC (##) Tj EMC (cient) Tj ET",
    );
    assert_eq!(texts(&parsed(&[page])), ["efficient"]);
}

#[test]
fn damaged_files_are_read_where_they_can_be() {
    let sound = file(&book(), &[]);
    let expected = parsed(&book());
    let text = String::from_utf8(sound.clone()).expect("these files are plain text");
    let table = text.rfind("xref\n0 1").expect("a table");
    let wrong = text.replace("xref\n0 1", "xrxf\n0 1").replace("startxref\n", "startxref\n9");
    for damaged in [sound[..table].to_vec(), wrong.into_bytes()] {
        assert_eq!(parse_pdf(&damaged, &PdfOptions::default()).as_ref(), Ok(&expected));
    }
}

#[test]
fn what_is_no_text_is_an_error() {
    let parse = |bytes: &[u8]| parse_pdf(bytes, &PdfOptions::default());
    assert_eq!(parse(b""), Err(PdfError::Empty));
    assert_eq!(parse(b"not a file of this kind"), Err(PdfError::Invalid));
    assert_eq!(parse(&file(&[Page::default()], &[])), Err(PdfError::NoText { n_pages: 1 }));
}
