//! What a run was asked for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The file name of the manifest.
pub const MANIFEST: &str = "run.json";

/// A hash of all that a run's records depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Hashes a specification.
    ///
    /// Pass only what changes the records: not the number of threads, the size
    /// of a batch, nor how often to try again.
    pub fn of(spec: &Value) -> Self {
        Self(blake3::hash(spec.to_string().as_bytes()).to_hex().to_string())
    }

    /// The first eight characters, to be shown to people.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

/// What `run.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the layout of the run directory.
    pub format_version: u32,
    /// The hash of `spec`.
    pub fingerprint: Fingerprint,
    /// All that the records depend on.
    pub spec: Value,
    /// What else it takes to repeat the run: versions, the command as typed,
    /// the digests of single files. Nothing here is compared.
    pub provenance: Value,
}

impl Manifest {
    /// The layout that this program reads and writes.
    pub const FORMAT_VERSION: u32 = 1;

    /// The manifest of a new run.
    pub fn new(spec: Value, provenance: Value) -> Self {
        let fingerprint = Fingerprint::of(&spec);
        Self { format_version: Self::FORMAT_VERSION, fingerprint, spec, provenance }
    }
}
