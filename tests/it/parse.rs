//! Annotated documents become a corpus that runs, and broken ones are named.

use std::io::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::program::{fail, succeed, text, unimatch};

fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
    (dir, path)
}

const W: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";

/// A DOCX file with two paragraphs, a comment over words of the first, a header, and words
/// that were deleted while changes were tracked.
fn docx() -> Vec<u8> {
    let relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let parts = [
        (
            "[Content_Types].xml",
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
             <Default Extension=\"xml\" ContentType=\"application/xml\"/></Types>"
                .to_owned(),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" \
                 Type=\"{relationships}/officeDocument\" Target=\"word/document.xml\"/></Relationships>"
            ),
        ),
        (
            "word/_rels/document.xml.rels",
            format!(
                "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" \
                 Type=\"{relationships}/comments\" Target=\"comments.xml\"/></Relationships>"
            ),
        ),
        (
            "word/document.xml",
            format!(
                "<w:document {W}><w:body><w:p><w:r><w:t xml:space=\"preserve\">The harbour wakes \
                 </w:t></w:r><w:commentRangeStart w:id=\"0\"/><w:r><w:t>before the sun</w:t></w:r>\
                 <w:commentRangeEnd w:id=\"0\"/><w:r><w:commentReference w:id=\"0\"/></w:r>\
                 <w:r><w:t xml:space=\"preserve\"> does.</w:t></w:r></w:p><w:p><w:r><w:t \
                 xml:space=\"preserve\">Nets are mended</w:t></w:r><w:del w:id=\"9\" \
                 w:author=\"A\"><w:r><w:delText xml:space=\"preserve\"> by hand</w:delText></w:r>\
                 </w:del><w:r><w:t>.</w:t></w:r></w:p></w:body></w:document>"
            ),
        ),
        (
            "word/comments.xml",
            format!(
                "<w:comments {W}><w:comment w:id=\"0\" w:author=\"Prof. Quill\" \
                 w:date=\"2026-01-02T03:04:05Z\"><w:p><w:r><w:t>A lovely image; say what it \
                 smells of.</w:t></w:r></w:p></w:comment></w:comments>"
            ),
        ),
    ];
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A PDF file of one page with two lines, the first words of which bear a yellow highlight
/// with a comment.
fn pdf() -> Vec<u8> {
    let content = "BT /F1 12 Tf 72 700 Td (Boats leave early in the morning.) Tj \
                   0 -14 Td (They come back late.) Tj ET";
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> /Annots [6 0 R] >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
        "<< /Type /Annot /Subtype /Highlight /Rect [71 696 134 712] /QuadPoints [72 711 133 711 72 \
         697 133 697] /C [1 0.9 0.5] /Contents (Which boats? Name one.) /T (Prof. Quill) >>"
            .to_owned(),
    ];
    let mut bytes = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", index + 1).as_bytes());
    }
    let start = bytes.len();
    bytes.extend_from_slice(
        format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).as_bytes(),
    );
    for place in &places {
        bytes.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    bytes.extend_from_slice(
        format!(
            "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
            places.len() + 1
        )
        .as_bytes(),
    );
    bytes
}

fn json(path: &Utf8Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

#[test]
fn a_folder_of_good_and_broken_files_gives_the_good_ones_and_names_the_broken() {
    let (_guard, dir) = scratch();
    let (essays, out) = (dir.join("essays"), dir.join("corpus"));
    fs_err::create_dir_all(essays.join("more")).unwrap();
    for (name, bytes) in [
        ("harbour.docx", docx()),
        ("more/boats.PDF", pdf()),
        ("torn.docx", docx()[..300].to_vec()),
        ("empty.pdf", Vec::new()),
        ("lie.pdf", b"just words".to_vec()),
        ("~$harbour.docx", b"lock".to_vec()),
        ("notes.txt", b"no document".to_vec()),
    ] {
        fs_err::write(essays.join(name), bytes).unwrap();
    }
    let parse = |extra: &[&str]| {
        let output =
            unimatch().args(["parse", essays.as_str(), "--out", out.as_str()]).args(extra).output();
        let output = output.unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, printed, errors) = parse(&[]);
    assert_eq!(code, Some(3), "{printed}{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    assert!(printed.contains("2 of 5 files"), "{printed}");
    for name in ["torn.docx", "empty.pdf", "lie.pdf"] {
        assert!(printed.contains(&format!("{name}: FAILED: ")), "{name}: {printed}");
    }
    assert!(!printed.contains("notes") && !printed.contains("~$"), "{printed}");

    let harbour = json(&out.join("harbour.json"));
    assert_eq!(harbour["paragraphs"][0]["body"], "The harbour wakes before the sun does.");
    assert_eq!(harbour["paragraphs"][1]["body"], "Nets are mended.");
    let own = &harbour["paragraphs"][0]["annotations"][0];
    assert_eq!((&own["type"], &own["text"]), (&"highlight".into(), &"before the sun".into()));
    assert_eq!(own["context_left"], "The harbour wakes ");
    let boats = json(&out.join("boats.json"));
    let own = &boats["paragraphs"][0]["annotations"][0];
    assert_eq!((&own["color"], &own["text"]), (&"yellow".into(), &"Boats leave".into()), "{boats}");
    assert_eq!(own["comment"], "Which boats? Name one.");

    // What the corpus has no place for is kept beside it, but for who it was.
    let side = json(&dir.join("corpus-side/harbour.json"));
    assert_eq!(side["removed"][0]["reason"], "tracked_change");
    assert!(!side.to_string().contains("Quill"), "{side}");
    let (_, printed, _) = parse(&["--authors"]);
    assert!(printed.contains("2 of 5 files"), "{printed}");
    assert!(json(&dir.join("corpus-side/harbour.json")).to_string().contains("Quill"));

    // A draft that somebody changed is not replaced unasked.
    fs_err::write(out.join("boats.json"), "{}").unwrap();
    let (_, printed, _) = parse(&[]);
    assert!(printed.contains("is there already and differs: --force"), "{printed}");
    parse(&["--force"]);
    assert_eq!(json(&out.join("boats.json")), boats);

    succeed(unimatch().args(["corpus", "check", out.as_str()]));
    let run = dir.join("run");
    succeed(
        unimatch()
            .args(["run", out.as_str(), "--out", run.as_str()])
            .args(["--generator", "scripted:tests/fixtures/replies.jsonl"])
            .args(["--segmenter", "sentence", "--scorer", "lexical:chrf"]),
    );
}

#[test]
fn tracked_changes_assessments_and_previews_come_as_asked() {
    let (_guard, dir) = scratch();
    let (file, out, table) = (dir.join("a.docx"), dir.join("out"), dir.join("grades.csv"));
    fs_err::write(&file, docx()).unwrap();
    fs_err::write(&table, "draft,Summary,comment\na,13,Good.\nb,1,\n").unwrap();
    let mut command = unimatch();
    command.args(["parse", file.as_str(), "--out", out.as_str(), "--tracked", "reject"]);
    let output = command.args(["--assessments", table.as_str()]).output().unwrap();
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("an assessment is given of b"), "{printed}");
    let found = json(&out.join("a.json"));
    assert_eq!(found["paragraphs"][1]["body"], "Nets are mended by hand.");
    assert_eq!(found["annotations"][0]["grades"]["Summary"], 13.0);
    assert_eq!(found["annotations"][0]["comment"], "Good.");

    let page = dir.join("page.html");
    succeed(unimatch().args(["parse", file.as_str(), "--preview", page.as_str()]));
    let page = fs_err::read_to_string(page).unwrap();
    assert!(page.contains(">before the sun</mark>") && page.contains("A lovely image"), "{page}");

    let message = fail(unimatch().args(["parse", table.as_str(), "--out", out.as_str()]));
    assert!(message.contains("no PDF and no DOCX"), "{message}");
    let output = unimatch().args(["parse", file.as_str()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
