//! A choice of drafts.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Corpus, CorpusError, Draft, DraftId, draft_file::parse_text};

/// Which drafts of a corpus are wanted; all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// These drafts by name, in addition to those of the list.
    pub names: Vec<String>,
    /// The drafts named in a file, one a line. A name may carry the ending
    /// `.json`; blank lines and lines that begin with `#` say nothing.
    pub list: Option<Utf8PathBuf>,
    /// Of the drafts chosen so far, the first so many in natural order.
    pub limit: Option<usize>,
}

impl Corpus {
    /// The draft of this name, or the only one with this in its name.
    ///
    /// # Errors
    ///
    /// If there is none, or if several have it in their name and none is called
    /// so.
    pub fn find(&self, part: &str) -> Result<&Draft, CorpusError> {
        let part = bare_name(part);
        if let Some(draft) = self.draft(&DraftId::new(part)) {
            return Ok(draft);
        }
        let drafts: Vec<_> =
            self.drafts().iter().filter(|draft| draft.id.as_str().contains(part)).collect();
        match drafts.as_slice() {
            [draft] => Ok(draft),
            [] => Err(CorpusError::UnknownNames {
                origin: "the corpus".to_owned(),
                names: vec![part.to_owned()],
            }),
            several => Err(CorpusError::Ambiguous {
                part: part.to_owned(),
                names: several.iter().map(|draft| draft.id.to_string()).collect(),
            }),
        }
    }

    /// The corpus with only the chosen drafts, in natural order still.
    ///
    /// # Errors
    ///
    /// If the list cannot be read, if a name is not that of a draft, or if
    /// nothing is left.
    pub fn select(mut self, selection: &Selection) -> Result<Self, CorpusError> {
        let mut wanted = BTreeSet::new();
        if let Some(list) = &selection.list {
            self.check_names(&mut wanted, read_list(list)?, list.as_str())?;
            if wanted.is_empty() {
                return Err(CorpusError::NothingChosen { origin: list.to_string() });
            }
        }
        let names = selection.names.iter().map(|name| (None, bare_name(name).to_owned()));
        self.check_names(&mut wanted, names.collect(), "the choice of drafts")?;
        if !wanted.is_empty() {
            self.drafts.retain(|draft| wanted.contains(&draft.id));
        }
        if let Some(limit) = selection.limit {
            self.drafts.truncate(limit);
        }
        if self.drafts.is_empty() {
            return Err(CorpusError::NothingChosen { origin: "a limit of 0 drafts".to_owned() });
        }
        Ok(self)
    }

    /// Adds names, each with the line it stands in if it was read from a file,
    /// to those wanted.
    fn check_names(
        &self,
        wanted: &mut BTreeSet<DraftId>,
        names: Vec<(Option<usize>, String)>,
        origin: &str,
    ) -> Result<(), CorpusError> {
        let mut unknown = Vec::new();
        for (line, name) in names {
            let id = DraftId::new(name.as_str());
            if self.draft(&id).is_some() {
                wanted.insert(id);
            } else {
                unknown.push(match line {
                    Some(line) => format!("{name} (line {line})"),
                    None => name,
                });
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        Err(CorpusError::UnknownNames { origin: origin.to_owned(), names: unknown })
    }
}

/// The names in a list with their line numbers.
fn read_list(list: &Utf8Path) -> Result<Vec<(Option<usize>, String)>, CorpusError> {
    let bytes = fs_err::read(list)?;
    let text =
        parse_text(&bytes).map_err(|line| CorpusError::NotUtf8 { path: list.to_owned(), line })?;
    Ok((1..)
        .zip(text.lines())
        .map(|(line, text)| (line, text.trim()))
        .filter(|(_, text)| !text.is_empty() && !text.starts_with('#'))
        .map(|(line, name)| (Some(line), bare_name(name).to_owned()))
        .collect())
}

fn bare_name(name: &str) -> &str {
    name.strip_suffix(".json").unwrap_or(name)
}
