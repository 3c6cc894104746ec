//! The sections of a page that need no script: results, scorers, coverage, slices.

use std::fmt::Write;

use super::{
    CardTable, Report, RunSummary, ScorerStanding, Slice,
    digest::base64,
    figures::Drawn,
    grid::{Cell, Grid, Kind, columns, count_or_nothing, counted},
    tables,
    text::{escaped, percent},
};

/// More rows than this are folded away.
const MAX_OPEN: usize = 30;

/// More runs than this stand below each other, not beside.
const MAX_BESIDE: usize = 4;

/// A section: its anchor, what the navigation calls it, its heading and its content.
pub(super) struct Section {
    /// Its anchor.
    pub(super) id: &'static str,
    /// Its name in the navigation.
    pub(super) short: &'static str,
    /// Its heading.
    pub(super) heading: &'static str,
    /// HTML.
    pub(super) content: String,
}

/// What must be known before anything else: notes, and whether words are withheld.
pub(super) fn notes(report: &Report) -> String {
    let mut text = String::new();
    if report.is_redacted {
        text.push_str(
            "<aside class=\"box withheld\" aria-label=\"Redacted\"><p><strong>This report is \
             redacted.</strong> Students\u{2019} and instructors\u{2019} words and the models\u{2019} \
             units are left out; <q>[withheld]</q> stands in their place.</p></aside>",
        );
    }
    if !report.notes.is_empty() {
        text.push_str(
            "<aside class=\"box\" aria-labelledby=\"notes\"><h2 id=\"notes\">Notes</h2><ul>",
        );
        for note in &report.notes {
            let _ = write!(text, "<li>{}</li>", escaped(note));
        }
        text.push_str("</ul></aside>");
    }
    text
}

/// Conditions, the planes and the effects.
pub(super) fn overview(report: &Report, drawn: &[Drawn]) -> Section {
    let mut lead = format!(
        "<p class=\"lead\">{} on {}.",
        plural(report.runs.len(), "run"),
        plural(report.paragraphs.len(), "paragraph")
    );
    if !report.level.is_empty() {
        let _ = write!(
            lead,
            " Intervals hold {} % and are made over whole clusters, by <strong>{}</strong>.",
            percent(report.confidence),
            escaped(&report.level)
        );
    }
    lead.push_str("</p>");
    let shown = ["run", "P", "R", "F1", "units per paragraph", "paragraphs", "scorer", "standing"];
    let mut content = lead + &tables::conditions(report).only(&shown).html();
    content.push_str(&signatures(report));
    content.push_str(&folded("All subsets and measures", &tables::all_figures(report), 0));
    content.push_str("<div class=\"plates\">");
    content.push_str(&figure(drawn, "precision-recall"));
    content.push_str(&figure(drawn, "units-f1"));
    content.push_str("</div>");
    content.push_str(&figure(drawn, "effects"));
    content.push_str(&folded("Effects as a table", &tables::effects(report), 0));
    Section { id: "overview", short: "Overview", heading: "Overview", content }
}

fn plural(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

fn signatures(report: &Report) -> String {
    if report.runs.is_empty() {
        return "<p class=\"none\">There are no runs in this report.</p>".to_owned();
    }
    let mut text = String::from("<h3>Signatures and coverage</h3><dl class=\"signatures\">");
    for run in &report.runs {
        let (name, signature) = (escaped(&run.name), escaped(&run.signature));
        let (coverage, bounds) = (tables::coverage_words(run), tables::bounds_words(run));
        let about = [run.model.as_str(), &run.condition, &coverage, &bounds];
        let about: Vec<&str> = about.into_iter().filter(|words| !words.is_empty()).collect();
        let _ = write!(
            text,
            "<div><dt>{name}</dt><dd><span>{}</span><code>{signature}</code></dd></div>",
            escaped(&about.join(" \u{b7} "))
        );
    }
    text.push_str("</dl>");
    text
}

/// A figure with its caption, if it was drawn.
fn figure(drawn: &[Drawn], name: &str) -> String {
    let Some(found) = drawn.iter().find(|one| one.name == name) else {
        return String::new();
    };
    format!(
        "<figure id=\"figure-{name}\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{caption}\">{svg}</div><figcaption>{caption}</figcaption></figure>",
        caption = escaped(found.caption),
        svg = found.svg.inline()
    )
}

/// A table, folded away where it has more than `most` rows; nothing without rows.
fn folded(summary: &str, grid: &Grid, most: usize) -> String {
    match grid.rows.len() {
        0 => String::new(),
        n if most < n => format!(
            "<details><summary>{} <span class=\"quiet\">({n} rows)</span></summary>{}</details>",
            escaped(summary),
            grid.html()
        ),
        _ => grid.html(),
    }
}

/// Differences to the baseline.
pub(super) fn differences(report: &Report, drawn: &[Drawn]) -> Section {
    let content = if report.comparisons.is_empty() {
        "<p class=\"none\">Nothing was compared.</p>".to_owned()
    } else {
        let table = folded("Differences as a table", &tables::comparisons(report), MAX_OPEN);
        figure(drawn, "forest") + &table
    };
    Section { id: "differences", short: "Differences", heading: "Differences", content }
}

/// What is known of the scorers, each once.
pub(super) fn scorers(report: &Report) -> Section {
    let mut content = String::new();
    let mut shown: Vec<&ScorerStanding> = Vec::new();
    for run in &report.runs {
        if shown.contains(&&run.scorer) {
            continue;
        }
        shown.push(&run.scorer);
        let used: Vec<&str> = report
            .runs
            .iter()
            .filter(|other| other.scorer == run.scorer)
            .map(|other| other.name.as_str())
            .collect();
        content.push_str(&scorer(&run.scorer, &used));
    }
    Section { id: "scorer", short: "Scorer", heading: "What is known of the scorer", content }
}

fn scorer(standing: &ScorerStanding, used: &[&str]) -> String {
    let mut text = format!("<article class=\"card\"><h3>{}</h3>", escaped(&standing.scorer));
    if standing.is_validated {
        let _ = write!(text, "<p>{}</p>", escaped(&standing.words));
    } else {
        let more = if standing.words == "unvalidated" { "" } else { &standing.words };
        let _ = write!(
            text,
            "<p><strong class=\"warn\">unvalidated</strong> {} Nobody has shown that its ratings \
             agree with people\u{2019}s; the figures rest on it all the same.</p>",
            escaped(more)
        );
    }
    let _ = write!(text, "<p class=\"quiet\">Used by {}.</p>", escaped(&used.join(", ")));
    for table in &standing.tables {
        text.push_str(&folded(&table.title, &card_grid(table), MAX_OPEN));
    }
    text.push_str("<div class=\"pictures\">");
    for (title, svg) in &standing.figures {
        // As a picture it can neither run nor fetch anything, nor style the page.
        let _ = write!(
            text,
            "<figure><img alt=\"{title}\" src=\"data:image/svg+xml;base64,{}\">\
             <figcaption>{title}</figcaption></figure>",
            base64(svg.as_bytes()),
            title = escaped(title)
        );
    }
    text.push_str("</div></article>");
    text
}

fn card_grid(table: &CardTable) -> Grid {
    let is_figure = |column: usize| {
        0 < column
            && table.rows.iter().filter_map(|row| row.get(column)).all(|cell| {
                cell.chars().all(|ch| ch.is_ascii_digit() || " .,-–+%/[]<\u{2212}".contains(ch))
            })
    };
    let kind = |column| if is_figure(column) { Kind::Number } else { Kind::Words };
    Grid {
        name: String::new(),
        caption: table.title.clone(),
        columns: table.head.iter().enumerate().map(|(at, head)| (head.clone(), kind(at))).collect(),
        rows: table
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| Cell::words(cell)).collect())
            .collect(),
        notes: Vec::new(),
    }
}

/// Coverage, replies, failures and ratings.
pub(super) fn coverage(report: &Report, drawn: &[Drawn]) -> Section {
    let mut content =
        counts(report, "Paragraphs of the corpus by what became of them.", |run| &run.coverage);
    content.push_str(&counts(report, "What became of replies and prompts.", |run| &run.replies));
    let failures = tables::failures(report);
    if failures.rows.is_empty() {
        content.push_str("<p class=\"none\">Nothing failed.</p>");
    } else {
        content.push_str(&folded("Failures", &failures, MAX_OPEN));
    }
    content.push_str(&figure(drawn, "ratings"));
    Section { id: "coverage", short: "Coverage", heading: "Coverage, failures, ratings", content }
}

fn counts(
    report: &Report,
    caption: &str,
    pick: fn(&RunSummary) -> &Vec<(String, usize)>,
) -> String {
    let runs: Vec<(&str, &[(String, usize)])> =
        report.runs.iter().map(|run| (run.name.as_str(), pick(run).as_slice())).collect();
    let (names, rows) = counted(&runs);
    if names.is_empty() {
        return String::new();
    }
    let mut heads = columns(&[("run", Kind::Words)]);
    heads.extend(names.into_iter().map(|name| (name, Kind::Number)));
    let rows = runs.iter().zip(rows).map(|((run, _), counts)| {
        let counts = counts.into_iter().map(count_or_nothing);
        std::iter::once(Cell::words(run)).chain(counts).collect()
    });
    let grid = Grid {
        name: String::new(),
        caption: caption.to_owned(),
        columns: heads,
        rows: rows.collect(),
        notes: Vec::new(),
    };
    folded(caption, &grid, MAX_OPEN)
}

/// F1 of parts of the corpus, a table for each way to part it.
pub(super) fn slices(report: &Report) -> Section {
    let mut content = String::new();
    let mut kinds: Vec<&str> = Vec::new();
    for slice in &report.slices {
        if !kinds.contains(&slice.by.as_str()) {
            kinds.push(&slice.by);
        }
    }
    for by in kinds {
        content.push_str(&folded(&format!("By {by}"), &slice_grid(report, by), MAX_OPEN));
    }
    if content.is_empty() {
        "<p class=\"none\">The corpus was not parted.</p>".clone_into(&mut content);
    }
    Section { id: "slices", short: "Slices", heading: "Parts of the corpus", content }
}

fn slice_grid(report: &Report, by: &str) -> Grid {
    let caption = format!("Micro soft F1 by {by}; n is the number of paragraphs it rests on.");
    let own: Vec<&Slice> = report.slices.iter().filter(|slice| slice.by == by).collect();
    let mut parts: Vec<&str> = Vec::new();
    let mut runs: Vec<&str> = report.runs.iter().map(|run| run.name.as_str()).collect();
    for slice in &own {
        if !parts.contains(&slice.part.as_str()) {
            parts.push(&slice.part);
        }
        if !runs.contains(&slice.run.as_str()) {
            runs.push(&slice.run);
        }
    }
    if MAX_BESIDE < runs.len() {
        let long = tables::slices(report);
        let is_own = |row: &Vec<Cell>| row.first() == Some(&Cell::words(by));
        let rows = long.rows.iter().filter(|row| is_own(row)).cloned().collect();
        return Grid { caption, rows, ..long }.only(&["part", "run", "F1", "paragraphs"]);
    }
    let rows = parts.iter().map(|part| {
        let cells = runs.iter().flat_map(|run| {
            let found = own.iter().find(|slice| slice.part == *part && slice.run == *run);
            let f1 = found.map(|slice| slice.f1).unwrap_or_default();
            [Cell::Estimate(f1), count_or_nothing(found.map(|slice| slice.n_paragraphs))]
        });
        std::iter::once(Cell::words(part)).chain(cells).collect()
    });
    let rows = rows.collect();
    let mut heads = columns(&[(by, Kind::Words)]);
    for run in runs {
        heads.push((run.to_owned(), Kind::Number));
        heads.push(("n".to_owned(), Kind::Number));
    }
    Grid { name: String::new(), caption, columns: heads, rows, notes: Vec::new() }
}
