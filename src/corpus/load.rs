//! The corpus, from its files to its drafts.

use std::{collections::BTreeMap, fmt};

use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;

use super::{
    CorpusError, Draft, DraftId, Rubric,
    draft_file::{DraftFile, parse_draft_file, parse_text},
    layout::{Layout, find_layout},
    rubric::Rubrics,
};

/// All drafts of a corpus, or of a part of it, in the natural order of their
/// names.
#[derive(Clone, Debug)]
pub struct Corpus {
    pub(super) drafts: Vec<Draft>,
    pub(super) files: BTreeMap<DraftId, Utf8PathBuf>,
    pub(super) rubrics: Vec<Rubric>,
    pub(super) unknown_fields: Vec<UnknownField>,
}

/// A field that the drafts hold and nothing reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// Its place, the indices left out: `paragraphs[].annotations[].author`.
    pub field: String,
    /// How often it stands in the corpus.
    pub n_times: usize,
    /// The first file that has it, in natural order.
    pub first_file: Utf8PathBuf,
}

impl Corpus {
    /// Loads a corpus from a folder in the layout of SEFORA
    /// (`Batch_*/Course_*/Class_*/Essay_*/<Stage>/*.json`) or with all files in
    /// one folder, a part of it, or a single draft.
    ///
    /// The name of a draft is the stem of its file. The rubric of a draft is the
    /// nearest `.txt` going up from its folder; for a part of a corpus, up to
    /// the folder that holds the batches. Where one folder has several, and
    /// where all files lie in one folder, the names of the `.txt` files decide:
    /// the longest that is the beginning of the draft's name holds.
    ///
    /// # Errors
    ///
    /// If there is no draft, if a file cannot be read or is no draft, or if two
    /// drafts have one name. Unknown fields are no error: see
    /// [`unknown_fields`](Self::unknown_fields).
    pub fn load(path: &Utf8Path) -> Result<Self, CorpusError> {
        let Reading { layout, drafts, rubrics, rubric_errors } = read(path)?;
        let mut errors: Vec<CorpusError> = rubric_errors.into_iter().map(|(_, e)| e).collect();
        let mut loaded = Vec::with_capacity(drafts.len());
        for (file, outcome) in drafts {
            match outcome {
                Ok(draft_file) => loaded.push((file, draft_file)),
                Err(error) => errors.push(error),
            }
        }
        first_of(errors).map_or(Ok(()), Err)?;
        Self::assemble(&layout, loaded, &rubrics)
    }

    fn assemble(
        layout: &Layout,
        loaded: Vec<(Utf8PathBuf, DraftFile)>,
        rubrics: &Rubrics,
    ) -> Result<Self, CorpusError> {
        let mut drafts = Vec::with_capacity(loaded.len());
        let mut files = BTreeMap::new();
        let mut unknown = BTreeMap::new();
        for (file, DraftFile { content, unknown_fields }) in loaded {
            let id = draft_id(&file);
            let place = layout.place(&file);
            for (field, n) in unknown_fields {
                let entry = unknown.entry(field.clone()).or_insert_with(|| UnknownField {
                    field,
                    n_times: 0,
                    first_file: file.clone(),
                });
                entry.n_times += n;
            }
            drafts.push(Draft {
                rubric: rubrics.find(place, &id).cloned(),
                id: id.clone(),
                paragraphs: content.paragraphs,
                assessment: content.assessment,
            });
            if let Some(first) = files.insert(id.clone(), file.clone()) {
                return Err(CorpusError::DuplicateName { id, first, second: file });
            }
        }
        drafts.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Self {
            drafts,
            files,
            rubrics: rubrics.iter().cloned().collect(),
            unknown_fields: unknown.into_values().collect(),
        })
    }

    /// The drafts, in the natural order of their names.
    pub fn drafts(&self) -> &[Draft] {
        &self.drafts
    }

    /// The draft of this name.
    pub fn draft(&self, id: &DraftId) -> Option<&Draft> {
        let index = self.drafts.binary_search_by(|draft| draft.id.cmp(id)).ok()?;
        self.drafts.get(index)
    }

    /// The file that a draft was read from.
    pub fn file(&self, id: &DraftId) -> Option<&Utf8Path> {
        self.files.get(id).map(Utf8PathBuf::as_path)
    }

    /// All rubrics and assignment texts, whether a draft has them or not, by
    /// folder.
    pub fn rubrics(&self) -> &[Rubric] {
        &self.rubrics
    }

    /// The fields that were not understood, each once, sorted. Whoever loads a
    /// corpus for a person should show them as warnings.
    pub fn unknown_fields(&self) -> &[UnknownField] {
        &self.unknown_fields
    }
}

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, n_times, first_file } = self;
        let times = if *n_times == 1 { "time" } else { "times" };
        write!(f, "{first_file}: unknown field {field} ({n_times} {times} in the corpus), ignored")
    }
}

/// Every file of a corpus, read, whether it could be understood or not.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) layout: Layout,
    /// In the natural order of the paths.
    pub(super) drafts: Vec<(Utf8PathBuf, Result<DraftFile, CorpusError>)>,
    pub(super) rubrics: Rubrics,
    pub(super) rubric_errors: Vec<(Utf8PathBuf, CorpusError)>,
}

/// Reads all files of a corpus, in parallel.
pub(super) fn read(path: &Utf8Path) -> Result<Reading, CorpusError> {
    let layout = find_layout(path)?;
    let drafts: Vec<_> =
        layout.drafts.par_iter().map(|file| (file.clone(), read_draft(file))).collect();
    let mut texts = Vec::with_capacity(layout.texts.len());
    let mut rubric_errors = Vec::new();
    for file in &layout.texts {
        match read_rubric(file) {
            Ok(text) => texts.push((layout.place(file).to_owned(), text)),
            Err(error) => rubric_errors.push((file.clone(), error)),
        }
    }
    Ok(Reading { rubrics: Rubrics::new(texts), layout, drafts, rubric_errors })
}

/// The name of the draft in a file.
pub(super) fn draft_id(file: &Utf8Path) -> DraftId {
    DraftId::new(file.file_stem().unwrap_or_default())
}

fn read_draft(file: &Utf8Path) -> Result<DraftFile, CorpusError> {
    let bytes = fs_err::read(file)?;
    parse_draft_file(&bytes).map_err(|error| CorpusError::Draft { path: file.to_owned(), error })
}

fn read_rubric(file: &Utf8Path) -> Result<String, CorpusError> {
    let bytes = fs_err::read(file)?;
    let text =
        parse_text(&bytes).map_err(|line| CorpusError::NotUtf8 { path: file.to_owned(), line })?;
    Ok(text.to_owned())
}

/// The first error, saying how many more there are.
fn first_of(errors: Vec<CorpusError>) -> Option<CorpusError> {
    let n_more = errors.len().checked_sub(1)?;
    let first = errors.into_iter().next()?;
    Some(match n_more {
        0 => first,
        n_more => CorpusError::Several { first: Box::new(first), n_more },
    })
}
