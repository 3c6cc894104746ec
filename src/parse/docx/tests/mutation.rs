//! Damaged files: whatever the bytes, there is an answer.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// A document with one of everything.
fn rich() -> Docx {
    let body = [
        p(&r("Ana Ruiz")),
        p(&r("3 May 2021")),
        p(&[
            start("0"),
            pen("<w:highlight w:val=\"yellow\"/>", "A good"),
            end("0"),
            reference("1"),
        ]
        .concat()),
        format!(
            "<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>",
            p(&[start("2"), r("cell")].concat())
        ),
        p(&["<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>".to_owned(), r("on"), end("2")].concat()),
        p(
            "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new &amp; old</w:t></w:r></w:ins>",
        ),
        p(
            "<w:r><w:fldChar w:fldCharType=\"begin\"/><w:instrText>PAGE</w:instrText><w:fldChar w:fldCharType=\"separate\"/><w:t>7</w:t><w:fldChar w:fldCharType=\"end\"/></w:r>",
        ),
        p(
            "<w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback/></mc:AlternateContent></w:r>",
        ),
        p("<w:r><w:sym w:font=\"Symbol\" w:char=\"F061\"/><w:footnoteReference w:id=\"2\"/></w:r>"),
        p(&pen("<w:strike/><w:shd w:fill=\"b6d7a8\"/>", "struck")),
    ];
    let note = format!("<w:footnote w:id=\"2\">{}</w:footnote>", p(&r("See chapter two.")));
    Docx::new(&body.concat())
        .comments(&[("0", "Why?"), ("1", "Because."), ("2", "Ünïcödé")])
        .part("footnotes", "footnotes.xml", &root("footnotes", &note))
        .part("header", "header1.xml", &root("hdr", &p(&r("Ruiz 1"))))
        .part(
            "styles",
            "styles.xml",
            &root("styles", "<w:style w:type=\"character\" w:styleId=\"a\"/>"),
        )
}

/// Parses with every option; what comes of it has sound places.
fn digest(bytes: &[u8]) -> bool {
    let options = [Tracked::Accept, Tracked::Reject, Tracked::Keep]
        .map(|tracked| DocxOptions { tracked, context: 7 });
    let read = options.map(|options| parse_docx(bytes, &options));
    for document in read.iter().flatten() {
        for paragraph in &document.paragraphs {
            assert!(!paragraph.text.trim().is_empty());
            for it in &paragraph.annotations {
                assert_eq!(
                    it.annotation.text().unwrap_or_default(),
                    &paragraph.text[it.start..it.end]
                );
            }
        }
    }
    read.iter().any(Result::is_ok)
}

#[test]
fn archives_with_flipped_bits_or_cut_ends_are_answered() {
    let bytes = rich().bytes();
    assert!(digest(&bytes));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..1500 {
        let mut damaged = bytes.clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..damaged.len());
            damaged[at] ^= 1 << rng.random_range(0..8);
        }
        digest(&damaged);
        damaged.truncate(rng.random_range(0..bytes.len()));
        digest(&damaged);
    }
}

#[test]
fn parts_with_damaged_text_are_answered() {
    let parts = rich().parts();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut n_read = 0;
    for _ in 0..3000 {
        let which = rng.random_range(0..parts.len());
        let mut content = parts[which].1.clone().into_bytes();
        match rng.random_range(0..4) {
            0 => content.truncate(rng.random_range(0..content.len())),
            1 => {
                let at = rng.random_range(0..content.len());
                content[at] = rng.random_range(b' '..b'\x7f');
            }
            2 => {
                let (a, b) =
                    (rng.random_range(0..content.len()), rng.random_range(0..content.len()));
                content.drain(a.min(b)..a.max(b));
            }
            _ => {
                let (tags, text) = (tags(&parts[which].1), parts[which].1.as_str());
                let a = tags[rng.random_range(0..tags.len())].clone();
                let b = tags[rng.random_range(0..tags.len())].clone();
                let (a, b) = if a.start <= b.start { (a, b) } else { (b, a) };
                if a.end <= b.start {
                    let (from, to) = (&text[a.clone()], &text[b.clone()]);
                    let swapped =
                        [&text[..a.start], to, &text[a.end..b.start], from, &text[b.end..]];
                    content = swapped.concat().into_bytes();
                }
            }
        }
        let archive: Vec<(&str, &[u8])> = parts
            .iter()
            .enumerate()
            .map(|(index, (name, whole))| {
                (name.as_str(), if index == which { content.as_slice() } else { whole.as_bytes() })
            })
            .collect();
        n_read += usize::from(digest(&zipped_bytes(&archive)));
    }
    assert!(300 < n_read, "only {n_read} got past the XML");
}

/// Where the tags of a text are.
fn tags(text: &str) -> Vec<std::ops::Range<usize>> {
    let starts = text.match_indices('<').map(|(at, _)| at);
    starts.filter_map(|at| Some(at..at + text[at..].find('>')? + 1)).collect()
}
