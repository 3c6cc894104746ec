//! `unimatch prompts`: the templates, and what they say.

use std::io::Write;

use anyhow::{Context, bail};
use camino::Utf8PathBuf;
use clap::{Parser, Subcommand};

use super::Ending;
use crate::prompt::{
    Condition, FeedbackSlots, LabelledPair, Library, Prompt, PromptFormat, Role, import,
};

/// Look at the prompts, or take the published ones out of your own checkout.
#[derive(Debug, Parser)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the templates: name, role, version, digest, file.
    List {
        /// A folder of templates instead of the program's own.
        #[arg(long, value_name = "DIR", env = "UNIMATCH_PROMPTS")]
        prompts: Option<Utf8PathBuf>,
    },
    /// Print a prompt with placeholders in it, as a model would get it.
    #[command(after_help = "Examples:\n  unimatch prompts show v2+guided+rubric\n  \
                            unimatch prompts show similarity\n  \
                            unimatch prompts show v1 --source > my-prompts/v1.md")]
    Show(Show),
    /// Write the wording of the public release, out of your own checkout of it.
    ///
    /// Reads the Python files and notebooks under PATH and writes templates that
    /// `--prompts DIR` takes. Nothing is downloaded.
    Import {
        /// The checkout of the public release (ShayanPey/SEFORA).
        #[arg(value_name = "PATH")]
        path: Utf8PathBuf,
        /// Where to write the templates: a new or an empty folder.
        #[arg(long, value_name = "DIR")]
        out: Utf8PathBuf,
    },
}

#[derive(Debug, Parser)]
struct Show {
    /// A condition, as v2+guided+rubric, or the name of a template, as similarity.
    #[arg(value_name = "NAME|CONDITION")]
    name: String,
    /// A folder of templates instead of the program's own.
    #[arg(long, value_name = "DIR", env = "UNIMATCH_PROMPTS")]
    prompts: Option<Utf8PathBuf>,
    /// Print the template file as it is.
    #[arg(long)]
    source: bool,
    /// Print the prompt as one text, as models without a chat template get it.
    #[arg(long, conflicts_with = "source")]
    raw: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.action {
        Action::List { prompts } => list(&library(prompts.as_ref())?)?,
        Action::Show(show) => print_prompt(show)?,
        Action::Import { path, out } => print_import(path, out)?,
    }
    Ok(Ending::Done)
}

fn library(dir: Option<&Utf8PathBuf>) -> anyhow::Result<Library> {
    match dir {
        Some(dir) => Library::load(dir).with_context(|| format!("cannot use the prompts of {dir}")),
        None => Ok(Library::embedded()?),
    }
}

fn list(library: &Library) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<18} {:<13} {:>7}  {:<12}  file", "name", "role", "version", "digest")?;
    for template in library.templates() {
        let header = &template.header;
        writeln!(
            out,
            "{:<18} {:<13} {:>7}  {:<12}  {}",
            header.name,
            header.role.to_string(),
            header.version,
            &template.digest()[..12],
            template.file,
        )?;
    }
    writeln!(out, "{} exemplars for few-shot prompts", library.shots().len())?;
    Ok(())
}

fn print_prompt(show: &Show) -> anyhow::Result<()> {
    let library = library(show.prompts.as_ref())?;
    let mut out = std::io::stdout().lock();
    if show.source {
        let Some(template) = library.named(&show.name) else {
            bail!("no template is named `{}`: there are {}", show.name, names(&library));
        };
        out.write_all(template.text.as_bytes())?;
        return Ok(());
    }
    let format = if show.raw { PromptFormat::Raw } else { PromptFormat::Chat };
    let prompt = with_placeholders(&library, &show.name, format)?;
    if let Some(system) = &prompt.system {
        writeln!(out, "--- system ---\n{system}\n--- user ---")?;
    }
    writeln!(out, "{}", prompt.user)?;
    Ok(())
}

fn names(library: &Library) -> String {
    library.templates().map(|template| template.header.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn with_placeholders(
    library: &Library,
    name: &str,
    format: PromptFormat,
) -> anyhow::Result<Prompt> {
    let role = library.named(name).map(|template| template.header.role);
    let feedback = "[the feedback]";
    let pairs = [
        LabelledPair {
            label: "A".into(),
            generated: "[a unit of the model]",
            gold: "[a unit of the instructor]",
        },
        LabelledPair {
            label: "B".into(),
            generated: "[another unit of the model]",
            gold: "[another unit of the instructor]",
        },
    ];
    Ok(match role {
        Some(Role::Cleaning) => library.cleaning(feedback)?,
        Some(Role::Segmentation) => library.segmentation(feedback)?,
        Some(Role::Similarity) => library.similarity(&pairs)?,
        Some(Role::Rating) => library.rating(pairs[0].generated, pairs[0].gold)?,
        Some(Role::Feedback) | None => {
            let condition: Condition = name.parse().with_context(|| {
                format!("no template is named `{name}`: there are {}", names(library))
            })?;
            let slots = FeedbackSlots {
                context: "[the essay]",
                paragraph: "[the target paragraph]",
                rubric: Some("[the assignment]"),
            };
            library.feedback(condition, &slots, format)?
        }
    })
}

fn print_import(path: &camino::Utf8Path, out: &camino::Utf8Path) -> anyhow::Result<()> {
    let report = import::import(path, out)?;
    let mut stdout = std::io::stdout().lock();
    for line in &report.found {
        writeln!(stdout, "wrote {line}")?;
    }
    for line in &report.notes {
        writeln!(stdout, "note: {line}")?;
    }
    for line in &report.missing {
        writeln!(stdout, "not found: {line}")?;
    }
    writeln!(stdout, "use them with --prompts {out}")?;
    Ok(())
}
