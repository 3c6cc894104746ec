//! What becomes text, and in which order.

use super::*;

fn check(body: &str, expected: &[&str]) {
    assert_eq!(texts(&Docx::new(body).read()), expected, "{body}");
}

#[test]
fn runs_are_joined_and_white_space_is_one_space() {
    let runs = [r("“Smart” quotes’ "), r(" stay\u{a0}"), pen("<w:b/>", " bo"), r("ld. ")].concat();
    check(&p(&runs), &["“Smart” quotes’ stay bold."]);
    check(&[p(&r(" ")), p(""), "<w:p/>".to_owned(), p(&r("One"))].concat(), &["One"]);
}

#[test]
fn references_and_cdata_are_characters() {
    check(&p(&r("A &amp; B &lt;&#233;&#x1F60A;&gt; <![CDATA[<x>]]>")), &["A & B <é😊> <x>"]);
}

#[test]
fn breaks_tabs_and_hyphens_are_what_they_look_like() {
    let inner = "<w:r><w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t><w:cr/>\
                 <w:t>four</w:t><w:noBreakHyphen/><w:t>fi</w:t><w:softHyphen/><w:t>ve\u{ad}!</w:t>\
                 <w:lastRenderedPageBreak/><w:ptab/><w:t>six</w:t></w:r>";
    check(&p(inner), &["one two three four-five! six"]);
    check(
        &p(&format!("<w:pPr><w:tabs><w:tab w:val=\"left\"/></w:tabs></w:pPr>{}", r("a"))),
        &["a"],
    );
}

#[test]
fn large_first_letters_and_headings_in_line_join_their_paragraph() {
    let letter = r#"<w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr>"#.to_owned() + &r("O");
    let heading =
        "<w:pPr><w:rPr><w:vanish/><w:specVanish/></w:rPr></w:pPr>".to_owned() + &r("One.");
    let framed = r#"<w:pPr><w:framePr w:w="100"/></w:pPr>"#.to_owned() + &r("Three.");
    let body = [p(&letter), p(&r("nce.")), p(&heading), p(&r(" Two.")), p(&framed), p(&r("Four."))];
    check(&body.concat(), &["Once.", "One. Two.", "Three.", "Four."]);
}

#[test]
fn symbols_are_read_by_their_fonts() {
    let inner = r#"<w:r><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Nobody" w:char="oh"/></w:r>
        <w:r><mc:AlternateContent><mc:Choice Requires="w16se"><w16se:symEx w16se:font="Segoe UI Emoji" w16se:char="1F60A"/></mc:Choice>
        <mc:Fallback><w:t>fallback</w:t></mc:Fallback></mc:AlternateContent></w:r>"#;
    let document = Docx::new(&p(inner)).read();
    assert_eq!(texts(&document), ["α\u{fffd}😊"]);
    assert_eq!(document.warnings.len(), 1);
}

#[test]
fn tables_are_read_row_by_row() {
    let cell = |text: &str| format!("<w:tc><w:tcPr/>{}</w:tc>", p(&r(text)));
    let row = |a: &str, b: &str| format!("<w:tr><w:trPr/>{}{}</w:tr>", cell(a), cell(b));
    let inner = format!("<w:tbl><w:tr><w:tc>{}{}</w:tc></w:tr></w:tbl>", p(&r("in")), p(&r("ner")));
    let table = format!(
        "<w:tbl><w:tblPr/><w:tblGrid/>{}{}<w:tr><w:tc>{inner}<w:p/></w:tc></w:tr></w:tbl>",
        row("a", "b"),
        row("c", "d")
    );
    check(
        &format!("{}{table}{}", p(&r("before")), p(&r("after"))),
        &["before", "a", "b", "c", "d", "in", "ner", "after"],
    );
}

#[test]
fn content_controls_links_and_tags_are_transparent() {
    let control = |inner: &str| {
        format!(
            "<w:sdt><w:sdtPr><w:alias w:val=\"x\"/><w:rPr><w:strike/></w:rPr></w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>"
        )
    };
    let inline = format!(
        "{}{}<w:smartTag>{}<w:customXml>{}</w:customXml></w:smartTag>",
        control(&r("a")),
        format_args!("<w:hyperlink r:id=\"nowhere\">{}</w:hyperlink>", r("b")),
        r("c"),
        r("d"),
    );
    let document = Docx::new(&control(&p(&inline))).read();
    assert_eq!(texts(&document), ["abcd"]);
    assert!(annotations(&document).is_empty());
}

#[test]
fn a_text_box_is_read_once_behind_its_paragraph() {
    let boxed = |text: &str| format!("<w:txbxContent>{}</w:txbxContent>", p(&r(text)));
    let alternatives = format!(
        "<w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing><wps:txbx>{}</wps:txbx></w:drawing></mc:Choice>\
         <mc:Fallback><w:pict>{}</w:pict></mc:Fallback></mc:AlternateContent></w:r>",
        boxed("in the box"),
        boxed("in the box"),
    );
    let body = format!("{}{}", p(&[r("be"), alternatives, r("fore")].concat()), p(&r("after")));
    check(&body, &["before", "in the box", "after"]);
    let fallback = format!(
        "<w:r><mc:AlternateContent><mc:Fallback>{}</mc:Fallback></mc:AlternateContent></w:r>",
        boxed("b")
    );
    check(&p(&[r("a"), fallback].concat()), &["a", "b"]);
}

#[test]
fn fields_show_their_results() {
    let char = |kind: &str| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
    let instruction = |text: &str| format!("<w:r><w:instrText>{text}</w:instrText></w:r>");
    let nested = [
        char("begin"),
        instruction(" IF "),
        char("begin"),
        instruction("DATE"),
        char("separate"),
        r("hidden"),
        char("end"),
        char("separate"),
        r("shown"),
        char("end"),
    ]
    .concat();
    let simple = format!("<w:fldSimple w:instr=\" PAGE \">{}</w:fldSimple>", r(" 7"));
    check(&p(&[r("a "), nested, simple].concat()), &["a shown 7"]);
    // A result over two paragraphs, and a field that never ends.
    let first = p(&[char("begin"), instruction("TOC"), char("separate"), r("One")].concat());
    let second = p(&[r("Two"), char("end"), r("!"), char("begin"), r("lost")].concat());
    check(&[first, second, p(&r("Three"))].concat(), &["One", "Two!", "Three"]);
}

#[test]
fn right_to_left_text_and_formulas_are_kept() {
    let inner = format!(
        "<w:pPr><w:bidi/></w:pPr>{}<m:oMath><m:r><w:rPr/><m:t>x=2</m:t></m:r></m:oMath>",
        pen("<w:rtl/>", "שלום עולם ")
    );
    check(&p(&inner), &["שלום עולם x=2"]);
    let ruby = "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>かん</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby></w:r>";
    check(&p(ruby), &["漢"]);
}

#[test]
fn strict_documents_are_read_alike() {
    let body = p(&pen("<w:strike/>", "gone"));
    let mut parts = Docx::new(&body).parts();
    for (_, content) in &mut parts {
        *content = content
            .replace(WORD, "http://purl.oclc.org/ooxml/wordprocessingml/main")
            .replace(OFFICE, "http://purl.oclc.org/ooxml/officeDocument/relationships");
    }
    let document = parse_docx(&zipped(&parts), &DocxOptions::default()).expect("a document");
    assert_eq!(annotations(&document), ["0 strikeout() gone: "]);
}

#[test]
fn prefixes_are_names_like_others() {
    let mut parts = Docx::new(&p(&r("text"))).parts();
    for (_, content) in &mut parts {
        *content = content.replace("xmlns:w=", "xmlns:q=").replace("w:", "q:");
    }
    let document = parse_docx(&zipped(&parts), &DocxOptions::default()).expect("a document");
    assert_eq!(texts(&document), ["text"]);
}

#[test]
fn furniture_and_notes_are_taken_out() {
    let notes = |name: &str, inner: &str| root(&format!("{name}s"), inner);
    let note = |name: &str, id: &str, inner: &str| {
        format!("<w:{name} w:id=\"{id}\"><w:p>{inner}</w:p></w:{name}>")
    };
    let footnotes = [
        note("footnote", "-1", "<w:r><w:separator/></w:r>"),
        note("footnote", "2", &r(" See chapter two.")),
        note("footnote", "3", &[start("0"), r("Whence?"), end("0")].concat()),
    ]
    .concat();
    let body = [
        p(&[r("One."), "<w:r><w:footnoteReference w:id=\"2\"/></w:r>".to_owned(), r(" Two.")]
            .concat()),
        p(&[r("Three."), "<w:r><w:footnoteReference w:id=\"3\"/></w:r>".to_owned()].concat()),
        p(&[r("Four."), "<w:r><w:endnoteReference w:id=\"2\"/></w:r>".to_owned()].concat()),
    ];
    let document = Docx::new(&body.concat())
        .part("footnotes", "footnotes.xml", &notes("footnote", &footnotes))
        .part("endnotes", "endnotes.xml", &notes("endnote", &note("endnote", "2", &r("The end."))))
        .part("header", "header1.xml", &root("hdr", &p(&r("Doe 1"))))
        .part("header", "header2.xml", &root("hdr", &p(&r("Doe 1"))))
        .part("footer", "footer1.xml", &root("ftr", &p(&r("Page 1"))))
        .comments(&[("0", "Good question.")])
        .read();
    assert_eq!(texts(&document), ["One. Two.", "Three.", "Whence?", "Four."]);
    assert_eq!(annotations(&document), ["2 highlight(generic) Whence?: Good question."]);
    assert_eq!(
        removed(&document),
        [
            (RemovalReason::Header, "Doe 1"),
            (RemovalReason::Footnote, "See chapter two."),
            (RemovalReason::Footnote, "The end."),
            (RemovalReason::Footer, "Page 1"),
        ]
    );
}

#[test]
fn the_name_block_is_taken_out_but_not_what_bears_a_comment() {
    let body = [
        p(&r("Ana Ruiz")),
        p(&[start("0"), r("Professor Lee"), end("0")].concat()),
        p(&r("3 May 2021")),
        p(&r("The Prison")),
    ];
    let document = Docx::new(&body.concat()).comments(&[("0", "Hello!")]).read();
    assert_eq!(texts(&document), ["Professor Lee", "The Prison"]);
    let reason = RemovalReason::NameBlock;
    assert_eq!(removed(&document), [(reason, "Ana Ruiz"), (reason, "3 May 2021")]);
}
