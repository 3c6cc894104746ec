//! Comments and their answers.

use super::*;

/// A comment of one paragraph with the name that threads use.
fn comment(id: &str, paragraph: &str, text: &str) -> String {
    format!(
        r#"<w:comment w:id="{id}" w:author="A{id}"><w:p w14:paraId="{paragraph}"><w:r><w:annotationRef/></w:r>{}</w:p></w:comment>"#,
        r(text)
    )
}

fn threads(rows: &[(&str, &str)]) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|(id, parent)| {
            let parent = if parent.is_empty() {
                String::new()
            } else {
                format!(r#" w15:paraIdParent="{parent}""#)
            };
            format!(r#"<w15:commentEx w15:paraId="{id}"{parent} w15:done="0"/>"#)
        })
        .collect();
    let rows = rows.concat();
    root("x", &format!("<w15:commentsEx>{rows}</w15:commentsEx>"))
}

fn document(rows: &[(&str, &str)]) -> ParsedDocument {
    let ids = ["0", "1", "2"];
    let inner = [ids.map(start).concat(), r("words"), ids.map(end).concat()].concat();
    let comments =
        [comment("0", "0A", "Why?"), comment("1", "0B", "Because."), comment("2", "0C", "I see.")];
    Docx::new(&p(&inner))
        .part("comments", "comments.xml", &root("comments", &comments.concat()))
        .part("commentsExtended", "commentsExtended.xml", &threads(rows))
        .read()
}

#[test]
fn answers_belong_to_the_comment_that_began_the_thread() {
    let document = document(&[("0A", ""), ("0b", "0a"), ("0C", "0B")]);
    assert_eq!(annotations(&document), ["0 highlight(generic) words: Why?"]);
    let replies = &document.paragraphs[0].annotations[0].replies;
    let replies: Vec<_> =
        replies.iter().map(|it| (it.text.as_str(), it.author.as_deref())).collect();
    assert_eq!(replies, [("Because.", Some("A1")), ("I see.", Some("A2"))]);
}

#[test]
fn threads_that_lead_nowhere_or_in_circles_lose_nothing() {
    assert_eq!(annotations(&document(&[("0B", "FF"), ("0C", "0C")])).len(), 3);
    let document = document(&[("0A", "0B"), ("0B", "0A"), ("0C", "0B")]);
    assert_eq!(annotations(&document), ["0 highlight(generic) words: Why?"]);
    assert_eq!(document.paragraphs[0].annotations[0].replies.len(), 2);
}

#[test]
fn paragraphs_and_breaks_of_a_comment_are_lines() {
    let text = p(&r("One.  Two."))
        + &p("<w:r><w:t>Th</w:t><w:t>ree</w:t><w:br/><w:t>Four</w:t></w:r>")
        + &p("");
    let document =
        Docx::new(&p(&[start("0"), r("a"), end("0")].concat())).comments(&[("0", &text)]).read();
    assert_eq!(annotations(&document), ["0 highlight(generic) a: One.  Two.\nThree\nFour"]);
}

#[test]
fn places_of_comments_that_are_not_there_leave_a_warning() {
    let document = Docx::new(&p(&[start("0"), r("a"), end("0")].concat())).read();
    assert!(annotations(&document).is_empty());
    assert_eq!(document.warnings.len(), 1);
}

#[test]
fn a_thread_hangs_where_any_of_its_comments_does() {
    let comments = [comment("0", "0A", "Why?"), comment("1", "0B", "Because.")].concat();
    let document = Docx::new(&p(&[start("1"), r("a"), end("1"), r("b")].concat()))
        .part("comments", "comments.xml", &root("comments", &comments))
        .part("commentsExtended", "extended.xml", &threads(&[("0B", "0A")]))
        .read();
    assert_eq!(annotations(&document), ["0 highlight(generic) a: Why?"]);
}
