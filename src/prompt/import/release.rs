//! Templates made of what a checkout of the public release says.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::{
    checkout::{self, Checkout, Found},
    placeholder::{Piece, escaped, holes, pieces, template},
    shots::shot_loop,
};
use crate::prompt::{
    Category, Condition, FeedbackTemplate, Library, PromptError, ReplyForm, Role, Shots, embedded,
    template::Header,
};

/// What an import found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// A line for each template that was written: file, and where it was found.
    pub found: Vec<String>,
    /// A line for each thing to know about it.
    pub notes: Vec<String>,
    /// A line for each template that the release has and the checkout does not.
    pub missing: Vec<String>,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The folder to write to is in use.
    #[error("{dir} is not empty: give --out a new folder")]
    NotEmpty {
        /// The folder.
        dir: Utf8PathBuf,
    },
    /// There is nothing to import.
    #[error(
        "no prompt was found under {dir}: give the root of a checkout of the public release, \
         with its folder of Python files and notebooks"
    )]
    Nothing {
        /// The folder that was searched.
        dir: Utf8PathBuf,
    },
    /// A header cannot be written.
    #[error("cannot write the header of {file}")]
    Header {
        /// The file.
        file: Utf8PathBuf,
        /// Why not.
        #[source]
        source: toml::ser::Error,
    },
    /// What was written is not a set of templates.
    #[error("the prompts found under {dir} make no templates")]
    Unusable {
        /// The folder that was searched.
        dir: Utf8PathBuf,
        /// What is wrong.
        #[source]
        source: PromptError,
    },
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Reads the wording of the public release from a checkout and writes it as
/// templates, which [`Library::load`] takes, to a new or empty folder.
///
/// Scripts come before notebooks, and files in the order of their paths: where
/// two constants make the same template, the first counts, and the report says
/// so if they differ. The release's samples were withheld from the public, so
/// the program's own exemplars are written in their place.
pub fn import(path: &Utf8Path, out: &Utf8Path) -> Result<ImportReport, ImportError> {
    if out.exists() && out.read_dir_utf8()?.next().is_some() {
        return Err(ImportError::NotEmpty { dir: out.to_owned() });
    }
    let checkout = checkout::read(path)?;
    let mut report = ImportReport { notes: checkout.notes.clone(), ..ImportReport::default() };
    let mut made: BTreeMap<String, Made> = BTreeMap::new();
    for found in &checkout.constants {
        let Some(new) = make(found, &checkout, &mut report.notes) else { continue };
        match made.get(&new.header.name) {
            Some(first) if first.user != new.user => report.notes.push(format!(
                "{} differs from the {} taken from {}",
                found.place(),
                new.header.name,
                first.place
            )),
            Some(_) => (),
            None => drop(made.insert(new.header.name.clone(), new)),
        }
    }
    report.notes.dedup();
    if made.is_empty() {
        return Err(ImportError::Nothing { dir: path.to_owned() });
    }
    report.missing =
        EXPECTED.into_iter().filter(|name| !made.contains_key(*name)).map(str::to_owned).collect();
    write(out, &made, &mut report)?;
    match Library::load(out) {
        Ok(_) => Ok(report),
        Err(source) => Err(ImportError::Unusable { dir: path.to_owned(), source }),
    }
}

/// The templates that the release has. Those named V2 and chain of thought in
/// the paper are shown there as pictures only.
const EXPECTED: [&str; 7] =
    ["cleaning", "segmentation", "similarity", "v1", "v1+few", "v1+few+guided", "v1+guided"];

struct Made {
    header: Header,
    system: Option<String>,
    user: String,
    place: String,
}

fn write(
    out: &Utf8Path,
    made: &BTreeMap<String, Made>,
    report: &mut ImportReport,
) -> Result<(), ImportError> {
    fs_err::create_dir_all(out)?;
    for (name, made) in made {
        let file = out.join(format!("{name}.md"));
        let header = toml::to_string(&made.header)
            .map_err(|source| ImportError::Header { file: file.clone(), source })?;
        let system = match &made.system {
            Some(system) => format!("<!-- system -->\n{system}\n"),
            None => String::new(),
        };
        let text = format!("+++\n{header}+++\n{system}<!-- user -->\n{}", made.user);
        fs_err::write(&file, text)?;
        report.found.push(format!("{file}, from {}", made.place));
    }
    if made.values().any(|made| made.header.variables.iter().any(|name| name == "shots")) {
        fs_err::write(out.join(embedded::SHOTS_FILE), embedded::SHOTS)?;
        report.notes.push(format!(
            "the release withholds its samples: {} holds the program's own",
            embedded::SHOTS_FILE
        ));
    }
    report.notes.push("the release has no text of v2 and cot: the paper shows pictures".into());
    Ok(())
}

/// Makes a template of a constant, if that is a prompt.
fn make(found: &Found, checkout: &Checkout, notes: &mut Vec<String>) -> Option<Made> {
    let constant = &found.constant;
    let whole = pieces(&constant.text).ok()?;
    let names = holes(&whole);
    let has = |name: &str| names.contains(&name);
    let (name, role) = if has("pairs_block") {
        ("similarity".to_owned(), Role::Similarity)
    } else if has("context") && has("paragraph") {
        (condition(found, has("rubric")).to_string(), Role::Feedback)
    } else if has("llm_feedback") && found.name.contains("SEGMENT") {
        ("segmentation".to_owned(), Role::Segmentation)
    } else if has("llm_feedback") {
        ("cleaning".to_owned(), Role::Cleaning)
    } else {
        if has("feedback1") && has("feedback2") {
            notes.push(format!("{} rates one pair a request: not used", found.place()));
        }
        return None;
    };
    let shots = constant
        .filled
        .get("samples")
        .and_then(|samples| Some((constant.text.split_once(samples)?, shot_loop(samples)?)));
    let fill = |name: &str| fill(name, checkout);
    let user = match &shots {
        None => template(&whole, fill),
        Some(((before, after), shots)) => pieces(before)
            .and_then(|before| Ok((before, pieces(after)?)))
            .map_err(str::to_owned)
            .and_then(|(before, after)| {
                Ok(template(&before, fill)? + shots + &template(&after, fill)?)
            }),
    };
    let user = match user {
        Ok(user) => user,
        Err(hole) => {
            notes.push(format!("{} is left out: nothing is known of `{hole}`", found.place()));
            return None;
        }
    };
    let mut variables: Vec<String> =
        names.iter().filter_map(|name| variable(name)).map(str::to_owned).collect();
    variables.extend(shots.map(|_| "shots".to_owned()));
    Some(Made {
        header: Header {
            name,
            version: 1,
            role,
            reply: ReplyForm::Free,
            variables,
            exact: true,
            source: Some(found.place()),
        },
        system: checkout.system.as_deref().filter(|_| role == Role::Feedback).map(escaped),
        user,
        place: found.place(),
    })
}

/// The condition that a feedback prompt is for. Guided is one that names most
/// of the categories.
fn condition(found: &Found, rubric: bool) -> Condition {
    let text = &found.constant.text;
    let n_categories =
        Category::ALL.iter().filter(|category| text.contains(category.name())).count();
    let is_few = found.constant.filled.contains_key("samples");
    Condition {
        template: FeedbackTemplate::V1,
        guided: 5 <= n_categories,
        rubric,
        shots: if is_few { Shots::Few } else { Shots::Zero },
    }
}

/// The variable of ours that a placeholder of the release stands for.
fn variable(hole: &str) -> Option<&'static str> {
    match hole {
        "context" => Some("context"),
        "paragraph" => Some("paragraph"),
        "rubric" => Some("rubric"),
        "llm_feedback" => Some("feedback"),
        "pairs_block" => Some("pairs"),
        _ => None,
    }
}

/// What stands for a placeholder in a template.
fn fill(hole: &str, checkout: &Checkout) -> Option<String> {
    let variable = variable(hole)?;
    if variable != "pairs" {
        return Some(format!("{{{{ {variable} }}}}"));
    }
    let (layout, separator) = checkout.pair.as_ref()?;
    let layout = pieces(layout).ok()?;
    let mut order: Vec<&str> = Vec::new();
    for piece in &layout {
        match piece {
            Piece::Hole(name) if !order.contains(&name.as_str()) => order.push(name),
            _ => (),
        }
    }
    // The layout names the label first, then the two units in their order.
    let [label, generated, gold] = order[..] else { return None };
    let pair = template(&layout, |name| {
        let ours = BTreeMap::from([(label, "label"), (generated, "generated"), (gold, "gold")]);
        ours.get(name).map(|field| format!("{{{{ pair.{field} }}}}"))
    });
    Some(format!(
        "{{%+ for pair in pairs +%}}{}{{%+ if not loop.last +%}}{}{{%+ endif +%}}{{%+ endfor +%}}",
        pair.ok()?,
        escaped(separator)
    ))
}
