//! What a training reads, and the folder that it writes.

use std::borrow::Cow;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::{
    DistillError, Report, Settings,
    base::{Base, insert},
    checkpoint::Checkpoint,
    curve,
    training::Course,
};
use crate::{
    distilled::{BASE, DistilledFiles, FORMAT_VERSION, Kind, OwnDescription, TOKENIZER},
    nn::{Coding, TensorFile, trainable::Parameters},
    run::write_atomically,
};

/// The paths that are needed.
pub(super) struct Paths<'a> {
    pub(super) base: &'a Utf8Path,
    pub(super) train: &'a Utf8Path,
    pub(super) dev: Option<&'a Utf8Path>,
    pub(super) students: Option<&'a Utf8Path>,
    out: Option<&'a Utf8Path>,
}

impl<'a> Paths<'a> {
    pub(super) fn of<H: serde::de::DeserializeOwned + Serialize + Default>(
        settings: &'a Settings<H>,
        n_folds: usize,
    ) -> Result<Self, DistillError> {
        settings.check()?;
        if n_folds == 1 {
            return Err(DistillError::Settings("--folds: one fold leaves nothing to learn".into()));
        }
        let out = if n_folds == 0 {
            Some(Settings::<H>::needed(settings.out.as_ref(), "out")?)
        } else {
            settings.out.as_deref()
        };
        Ok(Self {
            base: Settings::<H>::needed(settings.base.as_ref(), "base")?,
            train: Settings::<H>::needed(settings.train.as_ref(), "train")?,
            dev: settings.dev.as_deref(),
            students: settings.students.as_deref(),
            out,
        })
    }

    /// Of what a training depends on: settings and data.
    pub(super) fn fingerprint(&self, settings: &str) -> Result<String, DistillError> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(settings.as_bytes());
        for digest in self.digests()? {
            hasher.update(digest.as_bytes());
        }
        hasher.update(&fs_err::read(self.base.join("model.safetensors"))?);
        Ok(hasher.finalize().to_hex().to_string())
    }

    pub(super) fn digests(&self) -> Result<Vec<String>, DistillError> {
        let paths = [Some(self.train), self.dev, self.students].into_iter().flatten();
        paths.map(|path| Ok(blake3::hash(&fs_err::read(path)?).to_hex().to_string())).collect()
    }
}

pub(super) fn settings_error(error: &serde_json::Error) -> DistillError {
    DistillError::Settings(error.to_string())
}

/// The file of what is a model's own.
pub(super) fn render(
    parameters: &Parameters,
    base: &Base,
    (kind, n_layers, head, coding): (Kind, usize, serde_json::Value, Coding),
) -> Result<Vec<u8>, DistillError> {
    let description = OwnDescription {
        format_version: FORMAT_VERSION,
        kind,
        base: blake3::hash(&base.bytes).to_hex().to_string(),
        n_layers,
        head,
    };
    let description =
        serde_json::to_string(&description).map_err(|error| settings_error(&error))?;
    let mut file = TensorFile::new(description);
    for (name, parameter) in parameters.iter() {
        insert(&mut file, name, parameter.var.as_tensor(), coding)?;
    }
    Ok(file.render()?)
}

/// The folder that a model is written to.
pub(super) struct Out {
    folder: Utf8PathBuf,
    kind: Kind,
}

impl Out {
    /// Checks that nothing is lost there.
    pub(super) fn new(paths: &Paths<'_>, kind: Kind, base: &Base) -> Result<Self, DistillError> {
        let folder = paths.out.map(Utf8Path::to_owned).unwrap_or_default();
        fs_err::create_dir_all(&folder)?;
        let out = Self { folder, kind };
        let own = out.folder.join(kind.file_name());
        if own.exists() {
            let reason = format!("there is a {kind} already: choose another --out, or remove it");
            return Err(DistillError::File { path: own, reason });
        }
        for (name, bytes) in [(BASE, &base.bytes), (TOKENIZER, &base.tokenizer)] {
            let path = out.folder.join(name);
            if path.exists() && fs_err::read(&path)? != *bytes {
                let reason = "it is of a model with another base: scorer and segmenter of one \
                              folder share it, so train both with the same `base`, `frozen`, \
                              `embeddings` and `matrices`, or choose another --out"
                    .to_owned();
                return Err(DistillError::File { path, reason });
            }
        }
        Ok(out)
    }

    pub(super) fn checkpoint(&self) -> Utf8PathBuf {
        self.folder.join(format!("{}.checkpoint", self.kind))
    }

    pub(super) fn files(&self, base: &Base, own: &[u8]) -> DistilledFiles {
        let bytes = [base.tokenizer.clone(), base.bytes.clone(), own.to_vec()];
        DistilledFiles::of_bytes(&self.folder, self.kind, bytes.map(Cow::Owned))
    }

    /// Writes the model, its settings, its curve and its report; its own file comes last
    /// but for the checkpoint's removal.
    pub(super) fn finish(
        &self,
        (base, own): (&Base, &[u8]),
        course: &Course,
        report: &Report,
        settings: &str,
    ) -> Result<(), DistillError> {
        let kind = self.kind;
        let mut text =
            serde_json::to_string_pretty(report).map_err(|error| settings_error(&error))?;
        text.push('\n');
        let write = |name: &str, bytes: &[u8]| write_atomically(&self.folder.join(name), bytes);
        write(BASE, &base.bytes)?;
        write(TOKENIZER, &base.tokenizer)?;
        write(&format!("{kind}.toml"), settings.as_bytes())?;
        write(&format!("{kind}.csv"), curve::csv(course).as_bytes())?;
        write(&format!("{kind}.svg"), curve::svg(course, &kind.to_string()).as_bytes())?;
        write(&format!("{kind}.json"), text.as_bytes())?;
        write(kind.file_name(), own)?;
        Checkpoint::remove(&self.checkpoint())
    }
}
