//! The templates of one place: those of the program, or a folder's.

use std::{collections::BTreeMap, fmt};

use camino::Utf8Path;
use minijinja::Environment;

use super::{
    Condition, PromptError, ReplyForm, Role, Shot, Shots, Template, embedded, rendering, shot,
};

/// What a prompt is for, which picks the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To get feedback, under a condition.
    Feedback(Condition),
    /// To have feedback freed from everything else.
    Cleaning,
    /// To have feedback cut into units.
    Segmentation,
    /// To have pairs of units rated, many in one request.
    Similarity,
    /// To have one pair of units rated.
    Rating,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feedback(condition) => write!(f, "feedback under condition {condition}"),
            Self::Cleaning => Role::Cleaning.fmt(f),
            Self::Segmentation => Role::Segmentation.fmt(f),
            Self::Similarity => Role::Similarity.fmt(f),
            Self::Rating => Role::Rating.fmt(f),
        }
    }
}

/// Templates that were found whole: each declares just the variables that it
/// uses, and each renders.
#[derive(Debug)]
pub struct Library {
    /// What errors call it.
    origin: String,
    pub(super) templates: BTreeMap<String, Template>,
    pub(super) shots: Vec<Shot>,
    shots_text: String,
    pub(super) environment: Environment<'static>,
}

impl Library {
    /// The templates of the program.
    pub fn embedded() -> Result<Self, PromptError> {
        let files = embedded::TEMPLATES.map(|(file, text)| (file.to_owned(), text.to_owned()));
        Self::new("the program", files.to_vec(), Some(embedded::SHOTS.to_owned()))
    }

    /// The templates of a folder: its `*.md` files, and its `shots.toml` if
    /// there is one. Nothing is taken from the program in place of what is
    /// missing there: asking for it is an error.
    pub fn load(dir: &Utf8Path) -> Result<Self, PromptError> {
        let mut files = Vec::new();
        let mut shots = None;
        for entry in fs_err::read_dir(dir)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if path.extension().is_some_and(|extension| extension == "md") {
                files.push((path.to_string_lossy().into_owned(), fs_err::read_to_string(&path)?));
            } else if name == Some(embedded::SHOTS_FILE) {
                shots = Some(fs_err::read_to_string(&path)?);
            }
        }
        files.sort();
        if files.is_empty() {
            return Err(PromptError::Malformed {
                file: dir.to_string(),
                reason: "the folder holds no *.md file".into(),
            });
        }
        Self::new(dir.as_str(), files, shots)
    }

    fn new(
        origin: &str,
        files: Vec<(String, String)>,
        shots_text: Option<String>,
    ) -> Result<Self, PromptError> {
        let shots_text = shots_text.unwrap_or_default();
        let shots = shot::parse(&shots_text, &format!("{origin}/{}", embedded::SHOTS_FILE))?;
        let environment = rendering::environment()
            .map_err(|source| PromptError::Render { file: origin.to_owned(), source })?;
        let mut library = Self {
            origin: origin.to_owned(),
            templates: BTreeMap::new(),
            shots,
            shots_text,
            environment,
        };
        for (file, text) in files {
            library.add(Template::parse(&text, &file)?)?;
        }
        for template in library.templates.values() {
            library.probe(template)?;
        }
        Ok(library)
    }

    /// What the library is called in messages: its folder, or the program.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Every template, by name.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        self.templates.values()
    }

    /// The template of this name.
    pub fn named(&self, name: &str) -> Option<&Template> {
        self.templates.get(name)
    }

    /// The exemplars.
    pub fn shots(&self) -> &[Shot] {
        &self.shots
    }

    /// The template that serves a purpose.
    ///
    /// A condition is served by the template of its full short name if there is
    /// one, otherwise by the template named `v1`, `v2` or `cot` if that uses
    /// the variables of all factors that are on: `categories` (guided),
    /// `rubric` and `shots` (few). A factor is never left out in silence.
    pub fn template(&self, purpose: Purpose) -> Result<&Template, PromptError> {
        let Purpose::Feedback(condition) = purpose else {
            let role = match purpose {
                Purpose::Cleaning => Role::Cleaning,
                Purpose::Segmentation => Role::Segmentation,
                Purpose::Rating => Role::Rating,
                _ => Role::Similarity,
            };
            return self
                .templates
                .values()
                .find(|template| template.header.role == role)
                .ok_or_else(|| self.missing(purpose));
        };
        if let Some(template) = self.templates.get(&condition.to_string()) {
            return Ok(template);
        }
        let template =
            self.templates.get(condition.template.name()).ok_or_else(|| self.missing(purpose))?;
        let factors = [
            (condition.shots == Shots::Few, "shots"),
            (condition.guided, "categories"),
            (condition.rubric, "rubric"),
        ];
        for (is_on, variable) in factors {
            if is_on && !template.header.variables.iter().any(|name| name == variable) {
                let file = template.file.clone();
                return Err(PromptError::Unsupported { file, variable, condition });
            }
        }
        Ok(template)
    }

    fn missing(&self, purpose: Purpose) -> PromptError {
        PromptError::Missing {
            origin: self.origin.clone(),
            purpose: purpose.to_string(),
            known: self.templates.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        }
    }

    /// How the reply to a condition's prompt is laid out.
    pub fn reply_form(&self, condition: Condition) -> Result<ReplyForm, PromptError> {
        Ok(self.template(Purpose::Feedback(condition))?.header.reply)
    }

    /// The BLAKE3 hash, in hexadecimal, of the files that a purpose draws on:
    /// its template and, with few shots, the exemplars.
    pub fn digest(&self, purpose: Purpose) -> Result<String, PromptError> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.template(purpose)?.text.as_bytes());
        if matches!(purpose, Purpose::Feedback(condition) if condition.shots == Shots::Few) {
            hasher.update(b"\0");
            hasher.update(self.shots_text.as_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}
