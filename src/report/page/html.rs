//! A report as pages, each a file without a link to anywhere but its neighbours.
//!
//! A policy in each page allows just its own style and its own script, named by their
//! digests, and no request. Essays reach a page as data alone, which the script shows by
//! `textContent`.

use std::fmt::Write;

use super::{
    Report,
    data::data,
    digest::policy_source,
    figures::drawn,
    sections::{self, Section},
    text::{count, escaped},
};

const STYLE: &str = concat!(include_str!("assets/page.css"), include_str!("assets/cards.css"));
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("assets/page.js"),
    include_str!("assets/state.js"),
    include_str!("assets/cards.js"),
    include_str!("assets/list.js")
);
const CONTROLS: &str = include_str!("assets/controls.html");
const INDEX: &str = "index.html";

/// One of the files that paragraphs are on.
struct Part {
    file: String,
    first: usize,
    end: usize,
}

/// The whole report as one file.
///
/// It opens without a server, asks for nothing, and runs no script but its own. Students'
/// texts are data in it; of a redacted report there are none.
pub fn html(report: &Report) -> String {
    let drawn = drawn(report);
    let mut content = sections_before(report, &drawn);
    content.push(paragraphs(report, 0, report.paragraphs.len(), None));
    content.extend(sections_after(report, &drawn));
    page(report, &report.title, &content, "", Some((0, report.paragraphs.len())))
}

/// The report as files, name and content: `index.html`, and where there are more paragraphs
/// than `per_file` (at least one) the rest of it there and the paragraphs in
/// `paragraphs-001.html` and so on.
pub fn html_pages(report: &Report, per_file: usize) -> Vec<(String, String)> {
    let per_file = per_file.max(1);
    let n = report.paragraphs.len();
    if n <= per_file {
        return vec![(INDEX.to_owned(), html(report))];
    }
    let parts: Vec<Part> = (0..n.div_ceil(per_file))
        .map(|at| Part {
            file: format!("paragraphs-{:03}.html", at + 1),
            first: at * per_file,
            end: n.min((at + 1) * per_file),
        })
        .collect();
    let drawn = drawn(report);
    let mut content = sections_before(report, &drawn);
    content.push(contents(report, &parts));
    content.extend(sections_after(report, &drawn));
    let mut files = vec![(INDEX.to_owned(), page(report, &report.title, &content, "", None))];
    for (at, part) in parts.iter().enumerate() {
        let links = neighbours(&parts, at);
        let section = paragraphs(report, part.first, part.end, Some(&links));
        let title = format!("{}, paragraphs {} to {}", report.title, part.first + 1, part.end);
        let back = format!("<a href=\"{INDEX}\">Results</a>");
        let range = Some((part.first, part.end));
        files.push((part.file.clone(), page(report, &title, &[section], &back, range)));
    }
    files
}

fn sections_before(report: &Report, drawn: &[super::figures::Drawn]) -> Vec<Section> {
    vec![sections::overview(report, drawn), sections::differences(report, drawn)]
}

fn sections_after(report: &Report, drawn: &[super::figures::Drawn]) -> Vec<Section> {
    vec![sections::scorers(report), sections::coverage(report, drawn), sections::slices(report)]
}

/// The section that cards are drawn in.
fn paragraphs(report: &Report, first: usize, end: usize, links: Option<&str>) -> Section {
    let mut content = String::new();
    if let Some(links) = links {
        let _ = write!(
            content,
            "<p>This file holds paragraphs {} to {} of {}; filters and search see these \
             alone.</p>{links}",
            count(first + 1),
            count(end),
            count(report.paragraphs.len())
        );
    }
    if first == end {
        content.push_str("<p class=\"none\">There are no paragraphs in this report.</p>");
    } else {
        content.push_str(CONTROLS);
    }
    Section { id: "paragraphs", short: "Paragraphs", heading: "Paragraph by paragraph", content }
}

/// The section of the index that leads to the paragraphs.
fn contents(report: &Report, parts: &[Part]) -> Section {
    let id = |at: usize| report.paragraphs.get(at).map_or("", |one| one.id.as_str());
    let mut content = String::from("<ol class=\"files\">");
    for part in parts {
        let _ = write!(
            content,
            "<li><a class=\"file\" href=\"{}\">{} to {}</a> <span class=\"quiet\">{} to {}</span></li>",
            part.file,
            count(part.first + 1),
            count(part.end),
            escaped(id(part.first)),
            escaped(id(part.end - 1))
        );
    }
    content.push_str("</ol>");
    Section { id: "paragraphs", short: "Paragraphs", heading: "Paragraph by paragraph", content }
}

fn neighbours(parts: &[Part], at: usize) -> String {
    let link = |part: Option<&Part>, rel: &str, words: &str| {
        part.map_or_else(String::new, |part| {
            format!("<a class=\"file\" rel=\"{rel}\" href=\"{}\">{words}</a>", part.file)
        })
    };
    format!(
        "<nav class=\"neighbours\" aria-label=\"Files of paragraphs\">{}<span>file {} of {}</span>{}\
         </nav>",
        link(at.checked_sub(1).and_then(|at| parts.get(at)), "prev", "Previous file"),
        at + 1,
        parts.len(),
        link(parts.get(at + 1), "next", "Next file")
    )
}

fn page(
    report: &Report,
    title: &str,
    content: &[Section],
    back: &str,
    range: Option<(usize, usize)>,
) -> String {
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; \
         form-action 'none'",
        policy_source(STYLE),
        policy_source(SCRIPT)
    );
    let title = escaped(title);
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
         <header class=\"bar\"><nav aria-label=\"Sections\">{back}"
    );
    for section in content {
        let _ = write!(text, "<a href=\"#{}\">{}</a>", section.id, section.short);
    }
    let _ = write!(
        text,
        "</nav><button type=\"button\" id=\"theme\" hidden>Theme: system</button></header>\n\
         <main id=\"main\" tabindex=\"-1\">\n<div class=\"masthead\"><p class=\"quiet\">{}</p>\
         <h1>{title}</h1></div>\n{}\n",
        escaped(&report.program),
        sections::notes(report)
    );
    for Section { id, heading, content, .. } in content {
        let _ = write!(
            text,
            "<section id=\"{id}\" aria-labelledby=\"{id}-head\"><h2 id=\"{id}-head\">{heading}</h2>\n\
             {content}</section>\n"
        );
    }
    let shown = range.and_then(|(first, end)| Some((first, report.paragraphs.get(first..end)?)));
    let json = shown
        .filter(|(_, paragraphs)| !paragraphs.is_empty())
        .map_or_else(|| "null".to_owned(), |(first, paragraphs)| data(report, first, paragraphs));
    let _ = write!(
        text,
        "</main>\n<footer><p class=\"quiet\">Made by {}.</p></footer>\n\
         <script type=\"application/json\" id=\"data\">{json}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(&report.program)
    );
    text
}
