//! Where the files of a corpus lie.

use camino::{Utf8Path, Utf8PathBuf};

use super::{CorpusError, Level, natural_order};

/// Folders nested deeper than this are taken for a link that leads back.
const MAX_DEPTH: usize = 16;

/// The files of a corpus, each kind sorted in natural order.
///
/// All paths begin with `base`; what follows it is the place in the corpus.
#[derive(Debug)]
pub(super) struct Layout {
    /// The folder up to which a rubric is looked for: the one that was named,
    /// or, where only a part of a corpus was (`SEFORA/Batch_1/Course_2`, or one
    /// draft), the one that holds the batches.
    pub(super) base: Utf8PathBuf,
    /// The folder or draft that was named.
    pub(super) named: Utf8PathBuf,
    /// Every `.json` under the path that was named.
    pub(super) drafts: Vec<Utf8PathBuf>,
    /// Every `.txt` under that path and in the folders above it up to `base`.
    pub(super) texts: Vec<Utf8PathBuf>,
    /// All other files under that path.
    pub(super) others: Vec<Utf8PathBuf>,
}

impl Layout {
    /// The place of a file in the corpus.
    pub(super) fn place<'a>(&self, file: &'a Utf8Path) -> &'a Utf8Path {
        file.strip_prefix(&self.base).unwrap_or(file)
    }
}

/// Finds the files of a corpus, or of a part of one, at `path`: a folder, nested
/// or flat, or a single draft.
///
/// Hidden files and folders are passed over, and links are followed.
pub(super) fn find_layout(path: &Utf8Path) -> Result<Layout, CorpusError> {
    if path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Err(CorpusError::Absent { path: path.to_owned() });
    }
    let mut files = Vec::new();
    let (base, named) = if fs_err::metadata(path)?.is_dir() {
        let (base, folder) = base_of(path)?;
        walk(&folder, 0, &mut files)?;
        add_texts_above(&folder, &base, &mut files)?;
        (base, folder)
    } else {
        let name = path.file_name().filter(|name| is_draft(Utf8Path::new(name)));
        let name = name.ok_or_else(|| CorpusError::NotADraft { path: path.to_owned() })?;
        let (base, folder) = base_of(folder_of(path))?;
        files.push(folder.join(name));
        files.extend(entries(&folder)?.into_iter().filter(|file| is_text(file)));
        add_texts_above(&folder, &base, &mut files)?;
        (base, folder.join(name))
    };
    files.sort_by(|a, b| natural_order(a.as_str(), b.as_str()));
    let (drafts, rest): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| is_draft(file));
    let (texts, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|file| is_text(file));
    if drafts.is_empty() {
        let n_files = texts.len() + others.len();
        return Err(CorpusError::NoDrafts { path: path.to_owned(), n_files });
    }
    Ok(Layout { base, named, drafts, texts, others })
}

/// The folder that a file lies in.
fn folder_of(file: &Utf8Path) -> &Utf8Path {
    match file.parent() {
        Some(folder) if !folder.as_str().is_empty() => folder,
        _ => Utf8Path::new("."),
    }
}

/// The base of the corpus that a folder belongs to, and the folder as a path
/// that begins with it. Both are as they were named unless that is a part of a
/// corpus.
fn base_of(folder: &Utf8Path) -> Result<(Utf8PathBuf, Utf8PathBuf), CorpusError> {
    let full = fs_err::canonicalize(folder)?;
    let Ok(full) = Utf8PathBuf::try_from(full) else {
        return Ok((folder.to_owned(), folder.to_owned()));
    };
    let depth = Level::of_folder(&full).map_or(0, Level::depth);
    match full.ancestors().nth(depth) {
        Some(base) if 0 < depth => Ok((base.to_owned(), full)),
        _ => Ok((folder.to_owned(), folder.to_owned())),
    }
}

fn add_texts_above(
    folder: &Utf8Path,
    base: &Utf8Path,
    files: &mut Vec<Utf8PathBuf>,
) -> Result<(), CorpusError> {
    for above in folder.ancestors().skip(1).take_while(|above| above.starts_with(base)) {
        if folder != base {
            files.extend(entries(above)?.into_iter().filter(|file| is_text(file)));
        }
    }
    Ok(())
}

fn walk(folder: &Utf8Path, depth: usize, files: &mut Vec<Utf8PathBuf>) -> Result<(), CorpusError> {
    if MAX_DEPTH < depth {
        return Err(CorpusError::TooDeep { path: folder.to_owned() });
    }
    for entry in entries(folder)? {
        // A link that leads nowhere is a file that cannot be read.
        if entry.is_dir() {
            walk(&entry, depth + 1, files)?;
        } else {
            files.push(entry);
        }
    }
    Ok(())
}

/// What lies in a folder and is not hidden, in no order.
fn entries(folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, CorpusError> {
    let mut entries = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = Utf8PathBuf::try_from(entry?.path())
            .map_err(|error| CorpusError::NameNotUtf8 { path: error.into_path_buf() })?;
        if path.file_name().is_some_and(|name| !name.starts_with('.')) {
            entries.push(path);
        }
    }
    Ok(entries)
}

fn is_draft(file: &Utf8Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

fn is_text(file: &Utf8Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("txt"))
}
