//! `unimatch corpus show`: one draft with its annotations in place.

use std::io::{self, IsTerminal, Write};

use anyhow::bail;
use camino::{Utf8Path, Utf8PathBuf};

use super::{
    counted, load,
    marks::mark,
    page::{Marked, Page, Style},
};
use crate::{
    cli::Ending,
    corpus::{Annotation, Assessment, Draft, Grade, Place},
};

/// Print a draft with its annotations in place.
///
/// What an instructor marked is numbered in the text, and the comments stand below each
/// paragraph. On a terminal highlights have their colours; elsewhere, or with `NO_COLOR` set, they
/// stand in brackets: [1 highlighted words], [2 ~struck out~], and [3] for a note.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    unimatch corpus show path/to/draft.json\n  \
    unimatch corpus show Class_1_Essay_2_Final_ID0003 --corpus path/to/SEFORA\n  \
    unimatch corpus show ID0003 --corpus path/to/SEFORA/Batch_1/Course_2")]
pub(super) struct Args {
    /// The draft: its file, its name, or a part of its name that no other draft shares.
    draft: String,
    /// The corpus that a draft given by name belongs to.
    #[arg(short, long, value_name = "PATH", env = "UNIMATCH_CORPUS")]
    corpus: Option<Utf8PathBuf>,
}

/// Runs `unimatch corpus show`.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (path, name) = match &args.corpus {
        _ if is_file(&args.draft) => (Utf8Path::new(&args.draft), ""),
        Some(corpus) => (corpus.as_path(), args.draft.as_str()),
        None => bail!(
            "{}: no such file: name a draft's file, or say with --corpus PATH where the draft is",
            args.draft
        ),
    };
    let corpus = load(path)?;
    let draft = corpus.find(name)?;
    let stdout = io::stdout();
    let has_color =
        stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let page = Page { width: width(), has_color };
    let mut out = stdout.lock();
    for line in set_draft(draft, page) {
        writeln!(out, "{line}")?;
    }
    Ok(Ending::Done)
}

fn is_file(name: &str) -> bool {
    Utf8Path::new(name).extension() == Some("json") && Utf8Path::new(name).exists()
}

/// The columns to fill: those of the terminal, and not so many that reading tires.
fn width() -> usize {
    const WIDEST: u16 = 100;
    const NO_TERMINAL: u16 = 80;
    let columns =
        console::Term::stdout().size_checked().map_or(NO_TERMINAL, |(_, columns)| columns);
    columns.min(WIDEST).into()
}

/// All lines of a draft.
fn set_draft(draft: &Draft, page: Page) -> Vec<String> {
    let mut lines = head(draft, page);
    for (index, paragraph) in draft.paragraphs.iter().enumerate() {
        lines.push(String::new());
        let places: Vec<_> = paragraph
            .annotations
            .iter()
            .map(|annotation| annotation.locate(&paragraph.text))
            .collect();
        let text = mark(paragraph, &places, page.has_color);
        lines.extend(page.set(&format!("{:4}", format!("#{index}")), &text));
        for (number, (annotation, place)) in (1..).zip(paragraph.annotations.iter().zip(&places)) {
            let comment = comment_line(annotation, place.as_ref());
            lines.extend(page.set(&format!("    {:4} ", format!("[{number}]")), &comment));
        }
    }
    if let Some(assessment) = &draft.assessment {
        lines.extend(set_assessment(assessment, page));
    }
    lines
}

fn head(draft: &Draft, page: Page) -> Vec<String> {
    let mut lines = vec![page.line(draft.id.as_str(), Style::Bold)];
    let mut add = |text: &str| {
        let mut marked = Marked::default();
        marked.push(text, Style::Dim);
        lines.extend(page.set("", &marked));
    };
    if let Some(parts) = draft.id.parts() {
        add(&format!(
            "{}, essay {}, stage {}, student {}",
            parts.class, parts.essay, parts.stage, parts.student
        ));
    }
    add(&match &draft.rubric {
        Some(rubric) => format!("rubric of the {}: {}", rubric.level(), rubric.path),
        None => "no rubric".to_owned(),
    });
    let n_annotations: usize =
        draft.paragraphs.iter().map(|paragraph| paragraph.annotations.len()).sum();
    add(&format!(
        "{}, {} annotated; {}",
        counted(draft.paragraphs.len(), "paragraph"),
        draft.targets().count(),
        counted(n_annotations, "annotation")
    ));
    lines
}

/// What an annotation is and says, and whether its place is in doubt.
fn comment_line(annotation: &Annotation, place: Option<&Place>) -> Marked {
    let mut line = Marked::default();
    match annotation.color() {
        Some(color) => line.push(color.name(), Style::Highlight(color)),
        None => line.push(annotation.kind(), Style::Dim),
    }
    let doubt = match (place, annotation.text()) {
        (Some(place), _) if place.is_unique => None,
        (Some(_), _) => Some(" (several places fit, the first is marked)".to_owned()),
        (None, None | Some("")) => Some(" (nothing places it in the paragraph)".to_owned()),
        (None, Some(words)) => Some(format!(" (not in the paragraph: “{words}”)")),
    };
    line.push(doubt.unwrap_or_default(), Style::Dim);
    match annotation.comment.trim() {
        "" => line.push(" (no comment)", Style::Dim),
        comment => line.push(format!(": {comment}"), Style::Plain),
    }
    line
}

fn set_assessment(assessment: &Assessment, page: Page) -> Vec<String> {
    let mut lines = vec![String::new(), page.line("Assessment", Style::Bold)];
    let mut add = |lead: &str, text: &str| {
        let mut marked = Marked::default();
        marked.push(text, Style::Plain);
        lines.extend(page.set(lead, &marked));
    };
    for (name, grade) in &assessment.grades {
        let grade = match grade {
            Grade::NotGiven => "-".to_owned(),
            grade => grade.to_string(),
        };
        add(&format!("    {grade:>5}  "), name);
    }
    if !assessment.comment.trim().is_empty() {
        add("    ", &assessment.comment);
    }
    if !assessment.peer_comment.trim().is_empty() {
        add("    ", &format!("A fellow student: {}", assessment.peer_comment.trim()));
    }
    lines
}
