//! A parsed document to be looked at: its text with the marks and comments in place.

use std::fmt::Write;

use crate::{
    corpus::Anchor,
    parse::{ParsedAnnotation, ParsedDocument, ParsedParagraph},
};

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2129;--dim:#5d6673;--line:#d9dde3;--page:#fff;\
--pink:#ffb9f1;--green:#99eba4;--yellow:#fce680;--generic:#bcd7f5}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--dim:#9aa3af;--line:#3a414b;--page:#15181c;\
--pink:#7a2f69;--green:#245c30;--yellow:#6b5a12;--generic:#2b4a6b}}\
body{margin:2rem auto;max-width:72rem;padding:0 1.5rem;font:16px/1.55 system-ui,sans-serif;\
color:var(--ink);background:var(--page)}\
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}\
.row{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:1.5rem;\
border-top:1px solid var(--line);padding:.7rem 0}\
.row p{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}ol{margin:0;padding:0;list-style:none}\
li{font-size:.9rem;margin-bottom:.5rem;overflow-wrap:anywhere}\
.dim{color:var(--dim);font-size:.85rem}mark{color:inherit;border-radius:2px}\
.pink{background:var(--pink)}.green{background:var(--green)}.yellow{background:var(--yellow)}\
.generic{background:var(--generic)}.strikeout{background:none;text-decoration:line-through}\
sup{font-weight:600}@media(max-width:50rem){.row{grid-template-columns:1fr}}";

/// The page of a document. It needs no other file, and runs no script.
pub fn preview(name: &str, document: &ParsedDocument) -> String {
    let mut html = String::new();
    let title = escaped(name);
    put(
        &mut html,
        format_args!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
             'unsafe-inline'\"><title>{title}</title><style>{STYLE}</style></head><body>\n\
             <h1>{title}</h1>\n"
        ),
    );
    let n_annotations: usize = document.paragraphs.iter().map(|own| own.annotations.len()).sum();
    put(
        &mut html,
        format_args!(
            "<p class=\"dim\">{} paragraphs, {n_annotations} annotations, {} pieces of text set \
             aside</p>\n",
            document.paragraphs.len(),
            document.removed.len()
        ),
    );
    for warning in &document.warnings {
        put(&mut html, format_args!("<p><strong>Look at:</strong> {}</p>\n", escaped(warning)));
    }
    html.push_str("<main>\n");
    for paragraph in &document.paragraphs {
        put_paragraph(&mut html, paragraph);
    }
    html.push_str("</main>\n");
    if !document.removed.is_empty() {
        html.push_str("<h2>Set aside</h2>\n");
        for removed in &document.removed {
            let page = removed.page.map_or_else(String::new, |page| format!(", page {page}"));
            put(
                &mut html,
                format_args!(
                    "<p dir=\"auto\"><span class=\"dim\">{}{page}</span> {}</p>\n",
                    removed.reason.name().replace('_', " "),
                    escaped(&removed.text)
                ),
            );
        }
    }
    html.push_str("</body></html>\n");
    html
}

fn put_paragraph(html: &mut String, paragraph: &ParsedParagraph) {
    html.push_str("<section class=\"row\"><p dir=\"auto\">");
    put_marked(html, paragraph);
    html.push_str("</p><ol>");
    for (index, parsed) in paragraph.annotations.iter().enumerate() {
        let color = class(parsed);
        let comment = &parsed.annotation.comment;
        let comment = if comment.is_empty() { "no comment" } else { comment };
        put(
            html,
            format_args!(
                "<li dir=\"auto\"><sup>{}</sup> <span class=\"dim\">{}, <span class=\"{color}\">{color}</span>\
                 </span> {}",
                index + 1,
                parsed.mark.name().replace('_', " "),
                escaped(comment)
            ),
        );
        for reply in &parsed.replies {
            put(
                html,
                format_args!("<br><span class=\"dim\">answer:</span> {}", escaped(&reply.text)),
            );
        }
        html.push_str("</li>");
    }
    html.push_str("</ol></section>\n");
}

/// The text, each stretch between the ends of marks in the colour of the first mark that
/// covers it, and the number of each mark where it ends.
fn put_marked(html: &mut String, paragraph: &ParsedParagraph) {
    let text = paragraph.text.as_str();
    let mut borders: Vec<usize> = paragraph
        .annotations
        .iter()
        .flat_map(|parsed| [parsed.start, parsed.end])
        .filter(|&border| text.is_char_boundary(border))
        .chain([0, text.len()])
        .collect();
    borders.sort_unstable();
    borders.dedup();
    put_numbers(html, paragraph, 0);
    for stretch in borders.windows(2) {
        let (start, end) = (stretch[0], stretch[1]);
        let words = escaped(text.get(start..end).unwrap_or_default());
        let covering =
            paragraph.annotations.iter().find(|parsed| parsed.start <= start && end <= parsed.end);
        match covering {
            Some(parsed) => {
                put(html, format_args!("<mark class=\"{}\">{words}</mark>", class(parsed)));
            }
            None => html.push_str(&words),
        }
        put_numbers(html, paragraph, end);
    }
}

/// The numbers of the marks that end there.
fn put_numbers(html: &mut String, paragraph: &ParsedParagraph, place: usize) {
    for (index, parsed) in paragraph.annotations.iter().enumerate() {
        if parsed.end == place {
            put(html, format_args!("<sup>{}</sup>", index + 1));
        }
    }
}

fn class(parsed: &ParsedAnnotation) -> &'static str {
    match parsed.annotation.anchor {
        Anchor::Highlight { color, .. } => color.name(),
        Anchor::Strikeout { .. } => "strikeout",
        Anchor::Note => "note",
    }
}

fn put(html: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = html.write_fmt(text);
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(ch),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        corpus::{Annotation, Color},
        parse::Mark,
    };

    #[test]
    fn marks_may_overlap_and_nothing_of_the_text_is_markup() {
        let mark = |start, end, color| ParsedAnnotation {
            annotation: Annotation {
                anchor: Anchor::Highlight { text: String::new(), color },
                comment: "<b>so</b>".to_owned(),
                context_left: String::new(),
                context_right: String::new(),
            },
            start,
            end,
            mark: Mark::Highlight,
            hex: None,
            author: None,
            date: None,
            replies: Vec::new(),
        };
        let paragraph = ParsedParagraph {
            text: "a <script> b".to_owned(),
            annotations: vec![mark(0, 5, Color::Pink), mark(2, 12, Color::Green)],
            page: None,
        };
        let document = ParsedDocument { paragraphs: vec![paragraph], ..ParsedDocument::default() };
        let html = preview("x", &document);
        assert!(html.contains(
            "<mark class=\"pink\">a </mark><mark class=\"pink\">&lt;sc</mark><sup>1</sup>\
             <mark class=\"green\">ript&gt; b</mark><sup>2</sup>"
        ));
        assert!(html.contains("&lt;b&gt;so&lt;/b&gt;"));
        assert!(!html.contains("<script"));
    }
}
