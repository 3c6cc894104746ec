//! `unimatch reproduce`: our figures beside those of the paper.

use std::io::Write;

use anyhow::bail;
use camino::Utf8PathBuf;
use serde_json::json;

use super::{Ending, WrongUsage};
use crate::{
    experiment::{
        comparison::Level,
        load_runs,
        published::{Claim, PublishedConfiguration, claims, findings, published, reproduce},
    },
    report::{
        Table, claims_table, effects_table, instruments_table, published_table, render_csv,
        render_markdown, render_text, reproductions_table,
    },
};

const EXAMPLES: &str = "\
Examples:
  unimatch reproduce --published               does the paper's table give what the paper states?
  unimatch reproduce runs/paper/*/              every run beside its published configuration
  unimatch reproduce runs/mine --as Llama      a run of a model with another name

Exit codes: 0 done; 1 failed; 2 wrong usage; 4 a statement does not come out of the table.";

/// Set runs beside the 74 configurations that the paper publishes.
///
/// Each run is set beside the configuration of its model and condition, with the difference, our
/// interval over students (none is published), and what differs in the instrument: corpus, scorer,
/// segmenter, prompts, preset. With --published, every aggregate that the paper states is computed
/// again from its table.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Run directories
    #[arg(value_name = "RUN", required_unless_present = "published")]
    runs: Vec<Utf8PathBuf>,

    /// The published table alone: the statements of the paper, computed again from it
    #[arg(long, conflicts_with = "runs")]
    published: bool,

    /// The published model that the runs are set beside: `Llama`, `Mistral`, `DeepSeek`, `Qwen`
    /// or `GPT` [default: the one that the generator's name tells of]
    #[arg(long = "as", value_name = "MODEL")]
    model: Option<String>,

    /// What is drawn whole in intervals: paragraph, draft, student or class
    #[arg(long, value_name = "LEVEL", default_value_t = Level::Student)]
    level: Level,

    /// How to print: text, json, csv or md
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Tables to read.
    Text,
    /// Every figure.
    Json,
    /// The first table.
    Csv,
    /// Tables for a paper.
    Md,
}

/// The share that intervals hold.
const CONFIDENCE: f64 = 0.95;

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let configurations = published()?;
    if args.published {
        return args.print_published(&configurations);
    }
    if let Some(model) = &args.model
        && !configurations.iter().any(|found| found.model == *model)
    {
        let error =
            anyhow::anyhow!("--as: `{model}` is none of Llama, Mistral, DeepSeek, Qwen and GPT");
        return Err(WrongUsage(error).into());
    }
    let runs = load_runs(&args.runs)?;
    let reproductions = runs
        .iter()
        .map(|run| reproduce(run, &configurations, args.model.as_deref(), args.level, CONFIDENCE))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let findings = findings(&runs, &reproductions, &configurations);
    let table = reproductions_table(&reproductions);
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Csv => write!(out, "{}", render_csv(&table)?)?,
        Format::Json => {
            let value = json!({
                "level": args.level.name(),
                "runs": reproductions,
                "findings": findings,
            });
            writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        }
        Format::Text | Format::Md => {
            let render = args.render();
            writeln!(out, "{}", render(&table))?;
            writeln!(
                out,
                "What measures is not the same, so that a difference is not of the models alone:\n\n{}",
                render(&instruments_table(&reproductions))
            )?;
            let n_unknown = reproductions.iter().filter(|found| found.model.is_none()).count();
            if 0 < n_unknown {
                writeln!(
                    out,
                    "{n_unknown} runs are of a model that the paper does not have: --as names one \
                     to set them beside\n"
                )?;
            }
            if !findings.effects.is_empty() {
                writeln!(out, "Gains over pairs of runs that differ in one factor alone:\n")?;
                writeln!(out, "{}", render(&effects_table(&findings)))?;
            }
            if let Some(agreement) = findings.rank_agreement {
                writeln!(
                    out,
                    "Spearman's correlation of our F1 and the published: {agreement:.3} over {} \
                     configurations",
                    findings.n_configurations
                )?;
            }
            for (threshold, agreement) in &findings.soft_and_threshold {
                if let Some(agreement) = agreement {
                    writeln!(
                        out,
                        "Spearman's correlation of soft F1 and F1 at threshold {threshold}: \
                         {agreement:.3} over {} runs",
                        runs.len()
                    )?;
                }
            }
        }
    }
    Ok(Ending::Done)
}

impl Args {
    fn render(&self) -> fn(&Table) -> String {
        if self.format == Format::Md { render_markdown } else { render_text }
    }

    fn print_published(&self, configurations: &[PublishedConfiguration]) -> anyhow::Result<Ending> {
        if self.model.is_some() {
            bail!("--as names a model for runs, and --published has none");
        }
        let claims = claims(configurations);
        let mut out = std::io::stdout().lock();
        match self.format {
            Format::Csv => write!(out, "{}", render_csv(&claims_table(&claims))?)?,
            Format::Json => {
                let claims: Vec<_> = claims
                    .iter()
                    .map(|claim| {
                        json!({
                            "finding": claim.finding,
                            "figure": claim.figure,
                            "stated": claim.stated,
                            "computed": claim.computed,
                            "agrees": claim.agrees(),
                        })
                    })
                    .collect();
                let value = json!({ "configurations": configurations, "claims": claims });
                writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
            }
            Format::Text | Format::Md => {
                let render = self.render();
                writeln!(
                    out,
                    "Table 4 of arXiv 2607.00274: micro soft figures, 74 configurations\n\n{}",
                    render(&published_table(configurations))
                )?;
                writeln!(
                    out,
                    "What the paper states, and what its table gives (units and F1 of the full \
                     corpus):\n\n{}",
                    render(&claims_table(&claims))
                )?;
            }
        }
        Ok(if claims.iter().all(Claim::agrees) { Ending::Done } else { Ending::Missed })
    }
}
