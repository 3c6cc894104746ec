//! Why a corpus cannot be loaded.

use std::{io, path::PathBuf};

use camino::Utf8PathBuf;

use super::{DraftFileError, DraftId};

/// Why a corpus, or a choice of its drafts, cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// Nothing lies at the path.
    #[error("{path}: no such file or folder")]
    Absent {
        /// The path that was named.
        path: Utf8PathBuf,
    },
    /// A single file that was named is no draft.
    #[error("{path}: not a draft: name a .json file, or the folder of the corpus")]
    NotADraft {
        /// The path that was named.
        path: Utf8PathBuf,
    },
    /// There is no draft under the path.
    #[error(
        "{path}: no draft in it ({}): drafts are .json files, in folders \
         Batch_*/Course_*/Class_*/Essay_*/<Stage> or all in one folder",
        match n_files {
            0 => "it is empty".to_owned(),
            1 => "only 1 other file".to_owned(),
            n => format!("only {n} other files"),
        }
    )]
    NoDrafts {
        /// The path that was named.
        path: Utf8PathBuf,
        /// How many other files are there.
        n_files: usize,
    },
    /// Folders without end.
    #[error("{path}: nested too deep for a corpus: does a link lead back into itself?")]
    TooDeep {
        /// The folder at which the search was given up.
        path: Utf8PathBuf,
    },
    /// A name that cannot be written down.
    #[error("{}: the name is not UTF-8: rename the file", path.display())]
    NameNotUtf8 {
        /// The file.
        path: PathBuf,
    },
    /// A file or folder that cannot be read; the message names it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A draft's file that is no draft.
    #[error("{path}: {error}")]
    Draft {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        error: DraftFileError,
    },
    /// A rubric or a list of drafts that is not text.
    #[error("{path}: line {line} is not UTF-8: save the file as UTF-8 text")]
    NotUtf8 {
        /// The file.
        path: Utf8PathBuf,
        /// The first line that is not.
        line: usize,
    },
    /// Two drafts of one name.
    #[error("two drafts are called {id}: {first} and {second}: rename or remove one")]
    DuplicateName {
        /// Their name.
        id: DraftId,
        /// The first file, in natural order.
        first: Utf8PathBuf,
        /// The second file.
        second: Utf8PathBuf,
    },
    /// Several files that cannot be loaded.
    #[error(
        "{first}; {n_more} more {} cannot be loaded: `unimatch corpus check` lists them",
        if *n_more == 1 { "file" } else { "files" }
    )]
    Several {
        /// The first one, in natural order.
        first: Box<CorpusError>,
        /// How many others there are.
        n_more: usize,
    },
    /// Names that are not those of drafts.
    #[error(
        "{origin}: no draft is called {}: the names are those of the files, without .json",
        list(names)
    )]
    UnknownNames {
        /// Where the names were read: a file with a line, or an option.
        origin: String,
        /// The names.
        names: Vec<String>,
    },
    /// A part of a name that several drafts share.
    #[error("{part}: {} drafts have this in their name: {}", names.len(), list(names))]
    Ambiguous {
        /// The part.
        part: String,
        /// The names that have it.
        names: Vec<String>,
    },
    /// A choice that leaves nothing.
    #[error("{origin}: it names no draft")]
    NothingChosen {
        /// What left nothing.
        origin: String,
    },
}

/// The first few names, and how many more there are.
fn list(names: &[String]) -> String {
    const MAX_SHOWN: usize = 5;
    let shown = names.iter().take(MAX_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_SHOWN) {
        0 => shown,
        n_more => format!("{shown} and {n_more} others"),
    }
}
