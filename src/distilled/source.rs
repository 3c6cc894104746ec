//! Where the files of a distilled model come from.

use std::{borrow::Cow, fmt};

use camino::{Utf8Path, Utf8PathBuf};

use super::{BaseDescription, DistilledError, OwnDescription, embedded};
use crate::nn::TensorFile;

/// The version of the files that are written and read.
pub const FORMAT_VERSION: u32 = 1;

/// The file with what scorer and segmenter share.
pub const BASE: &str = "base.safetensors";

/// The file with the tokenizer.
pub const TOKENIZER: &str = "tokenizer.json";

/// What a distilled model does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It rates pairs of units.
    Scorer,
    /// It cuts feedback into units.
    Segmenter,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scorer => "scorer",
            Self::Segmenter => "segmenter",
        })
    }
}

impl Kind {
    /// The file with what is its own.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Scorer => "scorer.safetensors",
            Self::Segmenter => "segmenter.safetensors",
        }
    }
}

/// Where the files of distilled models lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DistilledSource {
    /// In the program itself.
    Embedded,
    /// In a folder that `unimatch distill` wrote.
    Folder(Utf8PathBuf),
}

impl DistilledSource {
    /// Reads the files of a scorer or a segmenter.
    pub fn open(&self, kind: Kind) -> Result<DistilledFiles, DistilledError> {
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Embedded => {
                let files = embedded::files(kind).ok_or(DistilledError::NotEmbedded)?;
                let folder = "the embedded model".into();
                return Ok(DistilledFiles::of_bytes(folder, kind, files.map(Cow::Borrowed)));
            }
        };
        if !folder.is_dir() {
            return Err(DistilledError::NoFolder(folder.clone()));
        }
        let read = |file: &str| {
            let path = folder.join(file);
            fs_err::read(&path)
                .map(Cow::Owned)
                .map_err(|error| DistilledError::File { path, reason: error.to_string() })
        };
        let files = [read(TOKENIZER)?, read(BASE)?, read(kind.file_name())?];
        Ok(DistilledFiles::of_bytes(folder, kind, files))
    }
}

/// The bytes of a distilled model.
#[derive(Clone, Debug)]
pub struct DistilledFiles {
    /// Where they lie, for messages.
    folder: Utf8PathBuf,
    kind: Kind,
    tokenizer: Cow<'static, [u8]>,
    base: Cow<'static, [u8]>,
    own: Cow<'static, [u8]>,
}

impl DistilledFiles {
    /// Those of a model that is in memory; `folder` is for messages.
    pub fn of_bytes(
        folder: &Utf8Path,
        kind: Kind,
        [tokenizer, base, own]: [Cow<'static, [u8]>; 3],
    ) -> Self {
        Self { folder: folder.to_owned(), kind, tokenizer, base, own }
    }

    /// The bytes of the tokenizer's file.
    pub fn tokenizer(&self) -> &[u8] {
        &self.tokenizer
    }

    /// Where a file lies, for messages.
    pub fn path(&self, file: &str) -> Utf8PathBuf {
        self.folder.join(file)
    }

    /// BLAKE3 of all of them together, in hexadecimal.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for bytes in [&self.tokenizer, &self.base, &self.own] {
            hasher.update(blake3::hash(bytes).as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The base and what is its own, checked to belong together.
    pub fn parse(&self) -> Result<Parsed, DistilledError> {
        let path = self.path(BASE);
        let base = TensorFile::parse(&path, &self.base)?;
        let base_description: BaseDescription = description(&path, &base)?;
        let path = self.path(self.kind.file_name());
        let own = TensorFile::parse(&path, &self.own)?;
        let own_description: OwnDescription = description(&path, &own)?;
        let refuse = |reason: String| Err(DistilledError::File { path: path.clone(), reason });
        let OwnDescription { format_version, kind, n_layers, .. } = own_description;
        if [format_version, base_description.format_version] != [FORMAT_VERSION; 2] {
            return refuse(format!("it is not of format {FORMAT_VERSION}, which is read here"));
        }
        if kind != self.kind {
            return refuse(format!("it holds a {kind}"));
        }
        if n_layers < base_description.n_layers {
            return refuse(format!(
                "it says that there are {n_layers} layers, and the base has more"
            ));
        }
        if own_description.base != blake3::hash(&self.base).to_hex().as_str() {
            return Err(DistilledError::OtherBase { path });
        }
        Ok(Parsed { base, base_description, own, own_description })
    }
}

/// The files of a model, read.
#[derive(Debug)]
pub struct Parsed {
    /// What scorer and segmenter share.
    pub base: TensorFile,
    /// What the base says of itself.
    pub base_description: BaseDescription,
    /// What is the model's own.
    pub own: TensorFile,
    /// What that says of itself.
    pub own_description: OwnDescription,
}

fn description<T: serde::de::DeserializeOwned>(
    path: &Utf8Path,
    file: &TensorFile,
) -> Result<T, DistilledError> {
    serde_json::from_str(&file.description).map_err(|error| DistilledError::File {
        path: path.to_owned(),
        reason: format!("its description: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_its_files_is_an_error_that_names_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(dir.path()).unwrap().to_owned();
        let error =
            DistilledSource::Folder(folder.clone()).open(Kind::Scorer).unwrap_err().to_string();
        assert!(error.contains(folder.join("tokenizer.json").as_str()), "{error}");
        let nowhere = DistilledSource::Folder(folder.join("nowhere"));
        let error = nowhere.open(Kind::Scorer).unwrap_err().to_string();
        assert!(error.contains("there is no folder") && error.contains("nowhere"), "{error}");
    }
}
