//! `unimatch parse`: annotated documents to drafts of a corpus.

use std::{collections::BTreeMap, io::Write};

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;
use serde_json::Value;

use super::{Ending, WrongUsage, progress::bar};
use crate::{
    corpus::{Assessment, natural_order},
    parse::{
        ParsedDocument,
        assessments::Assessments,
        docx::{DocxOptions, Tracked, parse_docx},
        pdf::{PdfOptions, parse_pdf},
        written::DEFAULT_CONTEXT_CHARS,
    },
    report,
    run::write_atomically,
};

const EXAMPLES: &str = "\
Examples:
  unimatch parse essays/ --out corpus              every PDF and DOCX file in a folder
  unimatch parse essay.docx --out corpus --tracked reject
  unimatch corpus check corpus                     then: is anything irregular in it?
  unimatch run corpus --generator local:MODEL.gguf

A file NAME.pdf becomes corpus/NAME.json. What that format has no place for (text that was taken for
a header or a name block, with the reason; colours; answers to comments; what is doubtful) becomes
corpus-side/NAME.json, so that nothing is lost. Look at both before you trust them.

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 some files could not be read, and the others were.";

/// Turn annotated PDF and DOCX files into drafts of a corpus.
///
/// Paragraphs are found by what the eye goes by, marks are anchored by their place on the page and
/// never by searching the text. Authors and dates are dropped unless asked for. Names in the text
/// stay: a corpus made of students' essays is not anonymous.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// PDF and DOCX files, and folders of them
    #[arg(value_name = "FILE_OR_FOLDER", required = true)]
    paths: Vec<Utf8PathBuf>,

    /// Folder for the drafts, as JSON
    #[arg(long, short, value_name = "DIR", required_unless_present = "preview")]
    out: Option<Utf8PathBuf>,

    /// Write one file as a page to look at, with its marks and comments in place, and no draft
    #[arg(long, value_name = "FILE.html", conflicts_with = "out")]
    preview: Option<Utf8PathBuf>,

    /// Table of grades or overall comments (CSV): a column `draft` with the documents' names
    /// without their endings, `comment` and `peer_comment`, and any other column a grade. May be
    /// given several times
    #[arg(long, value_name = "FILE")]
    assessments: Vec<Utf8PathBuf>,

    /// Folder for the side records [default: DIR-side]
    #[arg(long, value_name = "DIR")]
    side: Option<Utf8PathBuf>,

    /// What becomes of tracked changes in DOCX files
    #[arg(long, value_enum, default_value_t = TrackedChoice::Accept)]
    tracked: TrackedChoice,

    /// Keep headers, footers, page numbers and the block of name and date of PDF files in the text
    #[arg(long)]
    keep_headers: bool,

    /// Characters of the paragraph on each side of a mark
    #[arg(long, value_name = "N", default_value_t = DEFAULT_CONTEXT_CHARS)]
    context: usize,

    /// Keep in the side records who made a mark and when
    #[arg(long)]
    authors: bool,

    /// Replace drafts that are there already and differ
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TrackedChoice {
    /// The text with all changes.
    Accept,
    /// The text before them.
    Reject,
    /// Insertions and deletions both.
    Keep,
}

/// What became of a file.
struct Parsed {
    n_paragraphs: usize,
    n_annotations: usize,
    n_removed: usize,
    warnings: Vec<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let files = documents(&args.paths)?;
    let Some(out) = &args.out else { return args.preview(&files) };
    let mut assessments = Assessments::default();
    for path in &args.assessments {
        assessments.add(path)?;
    }
    let side = if let Some(side) = &args.side {
        side.clone()
    } else {
        let name = out.file_name().context("--out names no folder").map_err(WrongUsage)?;
        out.with_file_name(format!("{name}-side"))
    };
    if side == *out {
        let error = anyhow::anyhow!("--side: drafts and side records need a folder each");
        return Err(WrongUsage(error).into());
    }
    fs_err::create_dir_all(out)?;
    fs_err::create_dir_all(&side)?;
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &files {
        *by_name.entry(file.file_stem().unwrap_or_default()).or_default() += 1;
    }
    // A file that breaks a library is told in a line like any other, and not by a trace.
    std::panic::set_hook(Box::new(|_| ()));
    let progress = bar("parse", files.len());
    let parsed: Vec<anyhow::Result<Parsed>> = files
        .par_iter()
        .map(|file| {
            let name = file.file_stem().unwrap_or_default();
            let parsed = if by_name.get(name).is_some_and(|&n| 1 < n) {
                Err(anyhow::anyhow!(
                    "several files are called {name}, and would be one draft: rename them"
                ))
            } else {
                let draft = out.join(format!("{name}.json"));
                args.parse(file, assessments.of(name), &draft, &side)
            };
            progress.inc(1);
            parsed
        })
        .collect();
    drop(std::panic::take_hook());
    progress.finish_and_clear();
    let unused: Vec<&str> =
        assessments.drafts().filter(|draft| !by_name.contains_key(draft)).collect();
    print(&files, &parsed, &unused, &format!("drafts in {out}, side records in {side}"))
}

fn print(
    files: &[Utf8PathBuf],
    parsed: &[anyhow::Result<Parsed>],
    unused: &[&str],
    places: &str,
) -> anyhow::Result<Ending> {
    let mut out = std::io::stdout().lock();
    for (file, parsed) in files.iter().zip(parsed) {
        match parsed {
            Ok(Parsed { n_paragraphs, n_annotations, n_removed, warnings }) => {
                write!(out, "{file}: {n_paragraphs} paragraphs, {n_annotations} annotations")?;
                if 0 < *n_removed {
                    write!(out, ", {n_removed} pieces of text set aside")?;
                }
                writeln!(out)?;
                for warning in warnings {
                    writeln!(out, "  look at: {warning}")?;
                }
            }
            Err(error) => writeln!(out, "{file}: FAILED: {error:#}")?,
        }
    }
    for draft in unused {
        writeln!(out, "an assessment is given of {draft}, and no file is called so")?;
    }
    let n_failed = parsed.iter().filter(|parsed| parsed.is_err()).count();
    writeln!(out, "{} of {} files: {places}", files.len() - n_failed, files.len())?;
    Ok(if n_failed == 0 && unused.is_empty() { Ending::Done } else { Ending::Incomplete })
}

impl Args {
    /// Writes one file as a page.
    fn preview(&self, files: &[Utf8PathBuf]) -> anyhow::Result<Ending> {
        let (Some(path), [file]) = (&self.preview, files) else {
            let error = anyhow::anyhow!("--preview shows one file, and {} are given", files.len());
            return Err(WrongUsage(error).into());
        };
        let document =
            self.read(file, &fs_err::read(file)?).with_context(|| format!("cannot read {file}"))?;
        let html = report::preview(file.file_name().unwrap_or_default(), &document);
        write_atomically(path, html.as_bytes())?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{path}: {} paragraphs", document.paragraphs.len())?;
        Ok(Ending::Done)
    }

    /// Parses a file and writes what it holds.
    fn parse(
        &self,
        file: &Utf8Path,
        assessment: Option<&Assessment>,
        draft: &Utf8Path,
        side: &Utf8Path,
    ) -> anyhow::Result<Parsed> {
        let bytes = fs_err::read(file)?;
        let document = self.read(file, &bytes)?;
        if document.paragraphs.is_empty() {
            bail!("no paragraph is left of it");
        }
        let text = render(&document.corpus_json(assessment))?;
        let is_other = draft.exists() && fs_err::read(draft)? != text.as_bytes();
        if is_other && !self.force {
            bail!("{draft} is there already and differs: --force replaces it");
        }
        let mut record = document.side_json();
        if !self.authors {
            drop_people(&mut record);
        }
        let name = draft.file_name().unwrap_or_default();
        write_atomically(&side.join(name), render(&record)?.as_bytes())?;
        write_atomically(draft, text.as_bytes())?;
        Ok(Parsed {
            n_paragraphs: document.paragraphs.len(),
            n_annotations: document.paragraphs.iter().map(|own| own.annotations.len()).sum(),
            n_removed: document.removed.len(),
            warnings: document.warnings,
        })
    }

    fn read(&self, file: &Utf8Path, bytes: &[u8]) -> anyhow::Result<ParsedDocument> {
        let tracked = match self.tracked {
            TrackedChoice::Accept => Tracked::Accept,
            TrackedChoice::Reject => Tracked::Reject,
            TrackedChoice::Keep => Tracked::Keep,
        };
        // What a file is, it says itself in its first bytes; its name may be wrong.
        let is_pdf = bytes
            .get(..1024.min(bytes.len()))
            .is_some_and(|head| head.windows(5).any(|window| window == b"%PDF-"));
        if is_pdf || (kind(file) == Some(Kind::Pdf) && !bytes.starts_with(b"PK")) {
            let options = PdfOptions { keep_headers: self.keep_headers, context: self.context };
            Ok(parse_pdf(bytes, &options)?)
        } else {
            Ok(parse_docx(bytes, &DocxOptions { tracked, context: self.context })?)
        }
    }
}

fn render(value: &Value) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Drops who made marks and answers, and when.
fn drop_people(record: &mut Value) {
    match record {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "author" && name != "date");
            fields.values_mut().for_each(drop_people);
        }
        Value::Array(all) => all.iter_mut().for_each(drop_people),
        _ => (),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pdf,
    Docx,
}

/// What a file's name says that it is.
fn kind(path: &Utf8Path) -> Option<Kind> {
    match path.extension()?.to_ascii_lowercase().as_str() {
        "pdf" => Some(Kind::Pdf),
        "docx" => Some(Kind::Docx),
        _ => None,
    }
}

/// The documents that are named, and those in the folders that are, in natural order.
fn documents(paths: &[Utf8PathBuf]) -> anyhow::Result<Vec<Utf8PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let found = fs_err::metadata(path)?;
        if found.is_dir() {
            let before = files.len();
            walk(path, &mut files)?;
            if files.len() == before {
                bail!("{path} holds no PDF and no DOCX file");
            }
        } else if kind(path).is_some() {
            files.push(path.clone());
        } else {
            bail!("{path} is no PDF and no DOCX file by its name: save it as one");
        }
    }
    files.sort_by(|a, b| natural_order(a.as_str(), b.as_str()));
    files.dedup();
    Ok(files)
}

/// Adds the documents in a folder; hidden files and the locks of word processors (`~$`) are
/// passed over.
fn walk(folder: &Utf8Path, files: &mut Vec<Utf8PathBuf>) -> anyhow::Result<()> {
    for entry in folder.read_dir_utf8().with_context(|| format!("cannot read {folder}"))? {
        let entry = entry?;
        if entry.file_name().starts_with(['.', '~']) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            walk(entry.path(), files)?;
        } else if kind(entry.path()).is_some() {
            files.push(entry.into_path());
        }
    }
    Ok(())
}
