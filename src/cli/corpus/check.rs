//! `unimatch corpus check`: what is odd about a corpus.

use std::io::{self, Write};

use serde::Serialize;

use super::{CorpusPath, Format, counted, grouped};
use crate::{
    cli::Ending,
    corpus::{Finding, Inspection, inspect},
};

/// List everything odd about a corpus, one line a finding.
///
/// Reads every file, broken ones too, and lists what may disturb work on it: what cannot be
/// loaded, empty comments, marked words that do not occur, misplaced rubrics, characters lost
/// in a conversion, and more. Nothing is changed, and no essay is quoted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Findings are no failure: the exit code is 0, or 3 with --strict.\n\n\
    Examples:\n  \
    unimatch corpus check path/to/SEFORA\n  \
    unimatch corpus check path/to/SEFORA | grep words-not-found\n  \
    unimatch corpus check my_essays --strict -f csv > findings.csv")]
pub(super) struct Args {
    #[command(flatten)]
    corpus: CorpusPath,
    /// How to write the findings.
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,
    /// End with exit code 3 if there is any finding that is more than a note.
    #[arg(long)]
    strict: bool,
}

/// Runs `unimatch corpus check`.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let inspection = inspect(&args.corpus.path)?;
    let mut out = io::stdout().lock();
    match args.format {
        Format::Text => write_text(&inspection, &mut out)?,
        Format::Json => write_json(args.corpus.path.as_str(), &inspection, &mut out)?,
        Format::Csv => write_csv(&inspection, &mut out)?,
    }
    let is_failure = args.strict && inspection.has_irregularities();
    Ok(if is_failure { Ending::Incomplete } else { Ending::Done })
}

fn write_text(inspection: &Inspection, out: &mut impl Write) -> io::Result<()> {
    for Finding { file, field, kind, detail } in &inspection.findings {
        write!(out, "{file}: ")?;
        if !field.is_empty() {
            write!(out, "{field}: ")?;
        }
        write!(out, "{kind}")?;
        if !detail.is_empty() {
            write!(out, ": {detail}")?;
        }
        writeln!(out)?;
    }
    if !inspection.findings.is_empty() {
        writeln!(out)?;
    }
    for (kind, count) in inspection.by_kind() {
        let note = if kind.is_note() { " (a note, not counted)" } else { "" };
        writeln!(out, "{:>6}  {kind:22}  {}{note}", grouped(count), kind.explanation())?;
    }
    let n_notes = inspection.findings.iter().filter(|finding| finding.kind.is_note()).count();
    writeln!(
        out,
        "{:>6}  in all, in {} and {}",
        grouped(inspection.findings.len() - n_notes),
        counted(inspection.n_drafts, "draft"),
        counted(inspection.n_rubrics, "rubric")
    )
}

fn write_json(path: &str, inspection: &Inspection, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Json<'a> {
        format_version: u32,
        path: &'a str,
        n_drafts: usize,
        n_rubrics: usize,
        kinds: serde_json::Map<String, serde_json::Value>,
        findings: Vec<JsonFinding<'a>>,
    }

    #[derive(Serialize)]
    struct JsonFinding<'a> {
        file: &'a str,
        field: &'a str,
        kind: &'a str,
        is_note: bool,
        detail: &'a str,
    }

    let counts = inspection.by_kind();
    let json = Json {
        format_version: 1,
        path,
        n_drafts: inspection.n_drafts,
        n_rubrics: inspection.n_rubrics,
        kinds: counts.iter().map(|(kind, n)| (kind.name().to_owned(), (*n).into())).collect(),
        findings: inspection
            .findings
            .iter()
            .map(|Finding { file, field, kind, detail }| JsonFinding {
                file: file.as_str(),
                field,
                kind: kind.name(),
                is_note: kind.is_note(),
                detail,
            })
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &json)?;
    writeln!(out)
}

fn write_csv(inspection: &Inspection, out: &mut impl Write) -> csv::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["file", "field", "kind", "detail"])?;
    for Finding { file, field, kind, detail } in &inspection.findings {
        csv.write_record([file.as_str(), field, kind.name(), detail])?;
    }
    Ok(csv.flush()?)
}
