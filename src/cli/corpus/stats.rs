//! `unimatch corpus stats`: what a corpus holds, counted.

use std::io::{self, Write};

use serde::Serialize;

use super::{CorpusPath, Format, grouped, load};
use crate::{
    cli::Ending,
    corpus::{Amount, Corpus, Figure, PaperFigure},
};

/// Count drafts, essays, annotations, words, rubrics.
///
/// A word is a run of characters without white space; a usable comment has at least 3
/// characters. The public release of SEFORA is recognised by the digest of its drafts, and
/// the paper's figures are then shown where they differ from those counted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    unimatch corpus stats path/to/SEFORA\n  \
    unimatch corpus stats path/to/SEFORA/Batch_1/Course_2 -f csv\n  \
    unimatch corpus stats path/to/SEFORA -f json | jq .figures")]
pub(super) struct Args {
    #[command(flatten)]
    corpus: CorpusPath,
    /// How to write the figures.
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,
    /// Show the paper's figures beside those of any corpus, such as another release.
    #[arg(long)]
    paper: bool,
}

/// Runs `unimatch corpus stats`.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let corpus = load(&args.corpus.path)?;
    let counts = Counts {
        path: args.corpus.path.as_str(),
        is_sefora: corpus.is_sefora(),
        shows_paper: corpus.is_sefora() || args.paper,
        figures: corpus.statistics().figures(),
    };
    let mut out = io::stdout().lock();
    match args.format {
        Format::Text => counts.write_text(&mut out)?,
        Format::Json => counts.write_json(&corpus, &mut out)?,
        Format::Csv => counts.write_csv(&mut out)?,
    }
    Ok(Ending::Done)
}

struct Counts<'a> {
    path: &'a str,
    is_sefora: bool,
    shows_paper: bool,
    figures: Vec<Figure>,
}

impl Counts<'_> {
    fn paper(&self, figure: &Figure) -> Option<&'static PaperFigure> {
        PaperFigure::of(&figure.key).filter(|_| self.shows_paper)
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let release = if self.is_sefora { ": the public release of SEFORA" } else { "" };
        writeln!(out, "{}{release}\n", self.path)?;
        let width = self.figures.iter().map(|figure| 2 + figure.label.chars().count()).max();
        let width = width.unwrap_or_default();
        if self.shows_paper {
            writeln!(out, "{:width$}  {:>9}  {:>9}", "", "counted", "paper")?;
        }
        let mut group = None;
        for figure in &self.figures {
            let is_head = group != Some(figure.group());
            if is_head && group.is_some() {
                writeln!(out)?;
            }
            group = Some(figure.group());
            let label = format!("{}{}", if is_head { "" } else { "  " }, figure.label);
            write!(out, "{label:width$}  {:>9}", readable(figure.amount))?;
            match self.paper(figure).filter(|paper| !paper.agrees_with(figure.amount)) {
                Some(paper) => writeln!(out, "  {:>9}", paper.stated)?,
                None => writeln!(out)?,
            }
        }
        if self.shows_paper {
            let stated =
                self.figures.iter().filter_map(|figure| Some((figure, self.paper(figure)?)));
            let (agreeing, others): (Vec<_>, Vec<_>) =
                stated.partition(|(figure, paper)| paper.agrees_with(figure.amount));
            writeln!(
                out,
                "\nOf the figures that the paper states, {} agree with these and are not repeated, \
                 {} do not.",
                agreeing.len(),
                others.len()
            )?;
        }
        Ok(())
    }

    fn write_json(&self, corpus: &Corpus, out: &mut impl Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Json<'a> {
            format_version: u32,
            path: &'a str,
            digest: String,
            drafts_digest: String,
            is_sefora: bool,
            figures: serde_json::Map<String, serde_json::Value>,
            paper: Option<serde_json::Map<String, serde_json::Value>>,
        }

        let paper = self.figures.iter().filter_map(|figure| {
            Some((figure.key.clone(), json_number(self.paper(figure)?.amount)))
        });
        let json = Json {
            format_version: 1,
            path: self.path,
            digest: corpus.digest().to_hex().to_string(),
            drafts_digest: corpus.drafts_digest().to_hex().to_string(),
            is_sefora: self.is_sefora,
            figures: self
                .figures
                .iter()
                .map(|figure| (figure.key.clone(), json_number(figure.amount)))
                .collect(),
            paper: self.shows_paper.then(|| paper.collect()),
        };
        serde_json::to_writer_pretty(&mut *out, &json)?;
        writeln!(out)
    }

    fn write_csv(&self, out: &mut impl Write) -> csv::Result<()> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(["figure", "value", "paper"])?;
        for figure in &self.figures {
            let paper = self.paper(figure).map(|paper| exact(paper.amount)).unwrap_or_default();
            csv.write_record([&figure.key, &exact(figure.amount), &paper])?;
        }
        Ok(csv.flush()?)
    }
}

fn readable(amount: Amount) -> String {
    match amount {
        Amount::Count(count) => grouped(count),
        Amount::Mean(mean) => {
            let tenths = format!("{mean:.1}");
            match tenths.split_once('.').and_then(|(whole, rest)| Some((whole.parse().ok()?, rest)))
            {
                Some((whole, rest)) => format!("{}.{rest}", grouped(whole)),
                None => tenths,
            }
        }
    }
}

fn exact(amount: Amount) -> String {
    match amount {
        Amount::Count(count) => count.to_string(),
        Amount::Mean(mean) => mean.to_string(),
    }
}

fn json_number(amount: Amount) -> serde_json::Value {
    match amount {
        Amount::Count(count) => count.into(),
        Amount::Mean(mean) => mean.into(),
    }
}
