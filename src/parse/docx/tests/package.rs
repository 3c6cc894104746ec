//! Archives: how parts are found, and what is refused.

use super::*;
use crate::parse::docx::{
    mark::MAX_WORK,
    package::{FREE_BYTES, MAX_RATIO},
    xml::MAX_DEPTH,
};

const MAIN: &str =
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";

fn read(parts: &[(String, String)]) -> ParsedDocument {
    parse_docx(&zipped(parts), &DocxOptions::default()).expect("a document")
}

fn sample() -> Docx {
    Docx::new(&p(&[start("0"), r("words"), end("0")].concat())).comments(&[("0", "x")])
}

fn renamed(parts: Vec<(String, String)>, rename: impl Fn(&str) -> String) -> Vec<(String, String)> {
    parts.into_iter().map(|(name, content)| (rename(&name), content)).collect()
}

#[test]
fn parts_are_found_wherever_they_lie() {
    let expected = annotations(&sample().read());
    assert_eq!(expected, ["0 highlight(generic) words: x"]);
    let backslashes = renamed(sample().parts(), |name| name.replace('/', "\\"));
    assert_eq!(annotations(&read(&backslashes)), expected);
    let upper = renamed(sample().parts(), str::to_uppercase);
    assert_eq!(annotations(&read(&upper)), expected);
    let mut moved = renamed(sample().parts(), |name| {
        name.replace("word/document", "a/b/main")
            .replace("word/", "a/b/")
            .replace("document", "main")
    });
    moved[0].1 = moved[0].1.replace("word/document.xml", "/a/./x/../b/main.xml");
    assert_eq!(moved[2].0, "a/b/_rels/main.xml.rels");
    assert_eq!(annotations(&read(&moved)), expected);
}

#[test]
fn content_types_name_parts_where_relationships_do_not() {
    let mut parts = sample().parts();
    parts.retain(|(name, _)| !name.contains("_rels"));
    let comments = MAIN.replace("document.main", "comments");
    let types = content_types(&[("/word/document.xml", MAIN), ("/word/comments.xml", &comments)]);
    parts.push(("[Content_Types].xml".to_owned(), types));
    assert_eq!(annotations(&read(&parts)), ["0 highlight(generic) words: x"]);
    parts[0].0 = "word/elsewhere.xml".to_owned();
    assert_eq!(error(&parts), DocxError::NoMainPart);
}

#[test]
fn relationships_that_lead_nowhere_leave_a_warning() {
    let mut parts = sample().parts();
    parts.retain(|(name, _)| name != "word/comments.xml");
    let document = read(&parts);
    assert_eq!(texts(&document), ["words"]);
    assert_eq!(document.warnings.len(), 2);
    let external = parts[2].1.replace("Target=", "TargetMode=\"External\" Target=");
    parts[2].1 = external;
    assert_eq!(read(&parts).warnings.len(), 1);
}

#[test]
fn sixteen_bit_text_is_read() {
    let parts = Docx::new(&p(&r("schön"))).parts();
    for (mark, unit) in
        [([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xfe, 0xff], u16::to_be_bytes)]
    {
        let wide: Vec<u8> =
            mark.into_iter().chain(parts[1].1.encode_utf16().flat_map(unit)).collect();
        let bytes = zipped_bytes(&[(&parts[0].0, parts[0].1.as_bytes()), (&parts[1].0, &wide)]);
        let document = parse_docx(&bytes, &DocxOptions::default()).expect("a document");
        assert_eq!(texts(&document), ["schön"]);
    }
    let bytes =
        zipped_bytes(&[(&parts[0].0, parts[0].1.as_bytes()), (&parts[1].0, b"<w:document>\xff")]);
    let error = parse_docx(&bytes, &DocxOptions::default());
    assert_eq!(error, Err(DocxError::Encoding { part: "word/document.xml".to_owned() }));
}

#[test]
fn other_files_are_told_apart() {
    let compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    let encrypted: Vec<u8> = compound
        .iter()
        .copied()
        .chain("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let whole = sample().bytes();
    for (bytes, expected) in [
        (compound.as_slice(), DocxError::OldDoc),
        (&encrypted, DocxError::Encrypted),
        (b"", DocxError::NotZip),
        (b"{\\rtf1 hello}", DocxError::NotZip),
        (b"PK\x03\x04", DocxError::DamagedArchive),
        (&whole[..whole.len() / 2], DocxError::DamagedArchive),
        (&zipped(&[]), DocxError::NoMainPart),
    ] {
        assert_eq!(parse_docx(bytes, &DocxOptions::default()), Err(expected));
    }
    let mut parts = sample().parts();
    parts[1].1 = "<workbook/>".to_owned();
    assert_eq!(error(&parts), DocxError::NotWord { part: "word/document.xml".to_owned() });
}

#[test]
fn encrypted_parts_are_told() {
    let mut bytes = sample().bytes();
    for (magic, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let starts: Vec<usize> =
            (0..bytes.len() - 4).filter(|at| &bytes[*at..at + 4] == magic).collect();
        for at in starts {
            bytes[at + flags] |= 1;
        }
    }
    assert_eq!(parse_docx(&bytes, &DocxOptions::default()), Err(DocxError::Encrypted));
}

#[test]
fn broken_xml_is_named_with_its_part() {
    let part = || "word/document.xml".to_owned();
    let mut parts = sample().parts();
    let whole = parts[1].1.clone();
    parts[1].1 = whole[..whole.len() - 30].to_owned();
    assert_eq!(error(&parts), DocxError::CutShort { part: part() });
    parts[1].1 = whole[..whole.len() - 2].to_owned();
    assert_eq!(error(&parts), DocxError::CutShort { part: part() });
    parts[1].1 = whole.replace("</w:p>", "</w:q>");
    assert!(
        matches!(error(&parts), DocxError::Xml { part: name, offset } if name == part() && 0 < offset)
    );
    parts[1].1 = whole;
    parts[3].1 = "<w:comments".to_owned();
    assert_eq!(error(&parts), DocxError::CutShort { part: "word/comments.xml".to_owned() });
}

#[test]
fn document_types_and_entities_are_refused() {
    let expected = DocxError::DocumentType { part: "word/document.xml".to_owned() };
    let mut parts = sample().parts();
    let whole = parts[1].1.clone();
    parts[1].1 =
        whole.replace("?><", r#"?><!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><"#);
    assert_eq!(error(&parts), expected);
    parts[1].1 = whole.replace("words", "&lol;");
    assert_eq!(error(&parts), expected);
}

#[test]
fn bombs_are_refused() {
    let too_much = |error: DocxError| match error {
        DocxError::TooMuch { limit, .. } => limit,
        other => panic!("{other}"),
    };
    let deep = "<w:sdt>".repeat(MAX_DEPTH) + &"</w:sdt>".repeat(MAX_DEPTH);
    assert_eq!(too_much(error(&Docx::new(&deep).parts())), MAX_DEPTH as u64);
    let free = usize::try_from(FREE_BYTES).expect("a small number");
    let dense = p(&r(&"a".repeat(free)));
    assert_eq!(too_much(error(&Docx::new(&dense).parts())), MAX_RATIO);
    let below = p(&r(&"a".repeat(free / 2)));
    assert_eq!(texts(&Docx::new(&below).read())[0].len(), free / 2);
    // Each of many comments covers all of a long paragraph.
    let ids: Vec<String> = (0..500).map(|id| id.to_string()).collect();
    let all = |anchor: fn(&str) -> String| ids.iter().map(|id| anchor(id)).collect::<String>();
    let words = (0..40_000).map(|word| word.to_string()).collect::<Vec<_>>().join(" ");
    let inner = [all(start), r(&words), all(end)].concat();
    let comments: Vec<_> = ids.iter().map(|id| (id.as_str(), "x")).collect();
    let document = Docx::new(&p(&inner)).comments(&comments);
    assert_eq!(too_much(error(&document.parts())), MAX_WORK as u64);
}

#[test]
fn unsound_side_parts_leave_a_warning() {
    let document = sample()
        .part("styles", "styles.xml", "<w:styles")
        .part("header", "header1.xml", "<oh>")
        .part("commentsExtended", "extended.xml", "&no;")
        .read();
    assert_eq!(annotations(&document), ["0 highlight(generic) words: x"]);
    assert_eq!(document.warnings.len(), 3);
}
