//! Where a training stands, so that it goes on after it was killed.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::{DistillError, Figures};
use crate::{
    nn::{
        TensorFile,
        trainable::{AdamW, Parameters},
    },
    run::write_atomically,
};

/// Where a training stands, without its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Standing {
    /// What is trained on what and how: another training does not go on from here.
    pub(super) fingerprint: String,
    /// The epoch that is gone through.
    pub(super) epoch: usize,
    /// The batches of it that were learnt from.
    pub(super) batch: usize,
    /// Steps taken.
    pub(super) n_steps: u64,
    /// The loss of each step.
    pub(super) losses: Vec<f64>,
    /// The figures on dev after each epoch.
    pub(super) figures: Vec<Figures>,
    /// The epoch with the best.
    pub(super) best: Option<usize>,
}

/// The values of the best epoch.
pub(super) type Best = BTreeMap<String, Vec<f32>>;

/// The file of a training.
pub(super) struct Checkpoint {
    pub(super) path: Utf8PathBuf,
}

impl Checkpoint {
    /// Writes where a training stands: there as a whole or not at all.
    pub(super) fn write(
        &self,
        standing: &Standing,
        optimizer: &AdamW,
        best: &Best,
    ) -> Result<(), DistillError> {
        let description = serde_json::to_string(standing)
            .map_err(|error| DistillError::Settings(error.to_string()))?;
        let mut file = TensorFile::new(description);
        optimizer.save(&mut file);
        for (name, numbers) in best {
            file.insert(&format!("best/{name}"), &[numbers.len()], numbers.clone());
        }
        Ok(write_atomically(&self.path, &file.render()?)?)
    }

    /// Takes up a training where its file is there.
    pub(super) fn resume(
        &self,
        fingerprint: &str,
        parameters: &Parameters,
        optimizer: &mut AdamW,
    ) -> Result<Option<(Standing, Best)>, DistillError> {
        if !self.path.exists() {
            return Ok(None);
        }
        let file = TensorFile::parse(&self.path, &fs_err::read(&self.path)?)?;
        let wrong = |reason: String| DistillError::File { path: self.path.clone(), reason };
        let standing: Standing =
            serde_json::from_str(&file.description).map_err(|error| wrong(error.to_string()))?;
        if standing.fingerprint != fingerprint {
            return Err(wrong(
                "it is of a training with other settings or data: take those again to go on with \
                 it, choose another --out, or remove it to begin anew"
                    .to_owned(),
            ));
        }
        optimizer.restore(parameters, &file, standing.n_steps).map_err(wrong)?;
        let mut best = Best::new();
        if standing.best.is_some() {
            for (name, _) in parameters.iter() {
                if let Some((_, numbers)) = file.numbers(&format!("best/{name}")) {
                    best.insert(name.to_owned(), numbers);
                }
            }
        }
        Ok(Some((standing, best)))
    }

    /// Removes the file of a training that came to its end.
    pub(super) fn remove(path: &Utf8Path) -> Result<(), DistillError> {
        match fs_err::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}
