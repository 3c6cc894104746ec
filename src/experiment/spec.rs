//! All that a run's records depend on, as data that can be compared.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use serde_json::{Value, json};

use super::{CleanerName, Judging, ModelName, Plan, ScorerName, SegmenterName};
use crate::{
    agreement::Standing,
    corpus::Corpus,
    distilled::{DistilledSource, Kind},
    nn::{
        DeviceChoice, EncoderPrecision, GgufFile, ModelFolder, WeightType, adapted_name,
        adapter_files, base_and_adapter, encoder_files,
    },
    prompt::{Library, Purpose},
    run::Manifest,
    similarity::{Calibration, JudgeMode},
};

/// A file that records depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct FileIdentity {
    /// Its name without the folder, since a moved file is the same file.
    name: String,
    /// BLAKE3 of its bytes.
    digest: String,
}

/// The specification of a plan: what `run.json` compares.
///
/// Threads, memory, batch size and the place of files are not in it, since no
/// record depends on them. Where local models run is in it where that is not the
/// processor, of several GPUs only that they are GPUs. Model files are read whole to
/// digest them.
pub fn specification(plan: &Plan, corpus: &Corpus, library: &Library) -> anyhow::Result<Value> {
    let mut identities = Identities { dtype: plan.dtype, known: BTreeMap::new() };
    let settings = &plan.settings;
    let roles = Roles { judging: plan.judging, dtype: plan.dtype, library };
    let judges = matches!(plan.segmenter, SegmenterName::Judge(_))
        || matches!(plan.scorer, ScorerName::Judge(_))
        || matches!(plan.cleaner, CleanerName::Judge(_));
    let mut spec = json!({
        "corpus": {
            "digest": corpus.digest().to_hex().as_str(),
            "n_drafts": corpus.drafts().len(),
            "n_paragraphs": corpus.scorable_targets().count(),
        },
        "condition": plan.condition.to_string(),
        "preset": plan.preset.to_string(),
        "format": plan.format,
        "prompt_digest": library.digest(Purpose::Feedback(plan.condition))?,
        "generator": identities.of_model(&plan.generator)?,
        "sampling": settings,
        "cleaner": match &plan.cleaner {
            CleanerName::None => json!("none"),
            CleanerName::Rules => json!("rules"),
            CleanerName::Judge(model) => json!({
                "judge": identities.of_model(model)?,
                "prompt_digest": library.digest(Purpose::Cleaning)?,
            }),
        },
        "constrained_units": plan.constrained_units,
        "segmenter": of_segmenter(&plan.segmenter, &roles, &mut identities)?,
        "scorer": of_scorer(&plan.scorer, &roles, &mut identities)?,
        "judge_retries": judges.then_some(plan.judging.n_retries),
        "empty_answers": plan.empty_answers,
    });
    if plan.device.kind() != DeviceChoice::Cpu.kind() && runs_local_models(plan) {
        spec["device"] = json!(plan.device.kind());
    }
    Ok(spec)
}

/// What the ratings of a scorer and the cuts of a segmenter depend on besides its name.
#[derive(Clone, Copy)]
pub struct Roles<'a> {
    /// How judges are asked.
    pub judging: Judging,
    /// What the matrices of local models are kept as.
    pub dtype: WeightType,
    /// The templates.
    pub library: &'a Library,
}

/// All that the ratings of a scorer depend on: what `run.json` has under `scorer`. Model
/// files are read whole to digest them.
pub fn scorer_specification(name: &ScorerName, roles: &Roles<'_>) -> anyhow::Result<Value> {
    of_scorer(name, roles, &mut Identities { dtype: roles.dtype, known: BTreeMap::new() })
}

/// The same of the cuts of a segmenter.
pub fn segmenter_specification(name: &SegmenterName, roles: &Roles<'_>) -> anyhow::Result<Value> {
    of_segmenter(name, roles, &mut Identities { dtype: roles.dtype, known: BTreeMap::new() })
}

fn of_segmenter(
    name: &SegmenterName,
    roles: &Roles<'_>,
    identities: &mut Identities,
) -> anyhow::Result<Value> {
    Ok(match name {
        SegmenterName::Sentence => json!("sentence"),
        SegmenterName::Classifier(folder) => identities.of_classifier(folder)?,
        SegmenterName::Distilled(source) => of_distilled(source, Kind::Segmenter)?,
        SegmenterName::Judge(model) => json!({
            "judge": identities.of_model(model)?,
            "prompt_digest": roles.library.digest(Purpose::Segmentation)?,
            "mode": roles.judging.segment_mode_for(model),
        }),
    })
}

fn of_scorer(
    name: &ScorerName,
    roles: &Roles<'_>,
    identities: &mut Identities,
) -> anyhow::Result<Value> {
    Ok(match name {
        ScorerName::Chrf => json!("lexical:chrf"),
        ScorerName::Bleu => json!("lexical:bleu"),
        ScorerName::Embedding(folder) => json!({
            "embedding": adapted_name(folder),
            "files": identities.of_encoder(folder)?,
            "precision": EncoderPrecision::default().to_string(),
            "calibration": Calibration::source_digest(folder, None)?.to_hex().as_str(),
        }),
        ScorerName::Classifier(folder) => identities.of_classifier(folder)?,
        ScorerName::Distilled(source) => of_distilled(source, Kind::Scorer)?,
        ScorerName::BertScore { folder, layer } => json!({
            "bertscore": adapted_name(folder),
            "layer": layer,
            "files": identities.of_encoder(folder)?,
            "precision": EncoderPrecision::default().to_string(),
            "calibration": Calibration::source_digest(folder, *layer)?.to_hex().as_str(),
        }),
        ScorerName::Judge(model) => {
            let mode = roles.judging.mode_for(model);
            let (purpose, rating, hint) = match mode {
                JudgeMode::Batch => {
                    let hint = "no prompt for many pairs: see --judge-mode logits";
                    (Purpose::Similarity, None, hint)
                }
                JudgeMode::Logits => {
                    let hint = "no prompt for a single pair: see --judge-mode batch";
                    (Purpose::Rating, Some(roles.judging.rating), hint)
                }
            };
            json!({
                "judge": identities.of_model(model)?,
                "prompt_digest": roles.library.digest(purpose).context(hint)?,
                "batch_size": roles.judging.batch_size,
                "mode": mode,
                "rating": rating,
            })
        }
    })
}

fn of_distilled(source: &DistilledSource, kind: Kind) -> anyhow::Result<Value> {
    // The same weights are the same model, whatever folder they lie in.
    let digest = source.open(kind)?.digest();
    Ok(json!({
        "distilled": digest[..8],
        "files": digest,
        "precision": EncoderPrecision::default().to_string(),
    }))
}

/// Whether any text model of a plan runs on this machine.
fn runs_local_models(plan: &Plan) -> bool {
    let judges = [
        match &plan.cleaner {
            CleanerName::Judge(model) => Some(model),
            CleanerName::None | CleanerName::Rules => None,
        },
        match &plan.segmenter {
            SegmenterName::Judge(model) => Some(model),
            SegmenterName::Sentence
            | SegmenterName::Classifier(_)
            | SegmenterName::Distilled(_) => None,
        },
        match &plan.scorer {
            ScorerName::Judge(model) => Some(model),
            ScorerName::Chrf
            | ScorerName::Bleu
            | ScorerName::Embedding(_)
            | ScorerName::Classifier(_)
            | ScorerName::Distilled(_)
            | ScorerName::BertScore { .. } => None,
        },
    ];
    let mut models = judges.into_iter().flatten().chain([&plan.generator]);
    models.any(|model| matches!(model, ModelName::Local(_)))
}

/// A file as it was when it was digested: its place, size in bytes and last change.
type FileState = (Utf8PathBuf, u64, SystemTime);

/// The digests that this process has taken: the runs of an experiment share large models,
/// and a file that did not change need not be read again.
static DIGESTS: Mutex<BTreeMap<FileState, String>> = Mutex::new(BTreeMap::new());

fn digest(path: &Utf8Path) -> std::io::Result<String> {
    let found = fs_err::metadata(path)?;
    let state = (path.to_owned(), found.len(), found.modified()?);
    let known = || DIGESTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(digest) = known().get(&state) {
        return Ok(digest.clone());
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_mmap_rayon(path)?;
    let digest = hasher.finalize().to_hex().to_string();
    known().insert(state, digest.clone());
    Ok(digest)
}

/// Digests of files, each taken once.
struct Identities {
    dtype: WeightType,
    known: BTreeMap<Utf8PathBuf, FileIdentity>,
}

impl Identities {
    fn of_model(&mut self, model: &ModelName) -> anyhow::Result<Value> {
        match model {
            ModelName::Local(path) => {
                let (base, adapter) = base_and_adapter(path);
                let mut identity = if let Some(adapter) = adapter {
                    json!({
                        "local": self.of_model_folder(&base)?,
                        "adapter": self.of_adapter(&adapter)?,
                    })
                } else if path.is_dir() {
                    json!({ "local": self.of_model_folder(path)? })
                } else {
                    let file = GgufFile::open(path)?;
                    let digest = |prefix| file.metadata_digest(prefix).to_hex().to_string();
                    json!({
                        "local": self.of_file(path)?,
                        "tokenizer_digest": digest("tokenizer.ggml."),
                        "template_digest": digest("tokenizer.chat_template"),
                    })
                };
                if self.dtype != WeightType::Auto {
                    identity["dtype"] = json!(self.dtype.name());
                }
                Ok(identity)
            }
            ModelName::Scripted(path) => Ok(json!({ "scripted": self.of_file(path)? })),
        }
    }

    fn of_file(&mut self, path: &Utf8Path) -> anyhow::Result<FileIdentity> {
        if let Some(known) = self.known.get(path) {
            return Ok(known.clone());
        }
        let name = path.file_name().with_context(|| format!("{path} is not a file"))?.to_owned();
        let digest = digest(path).with_context(|| format!("cannot read {path}"))?;
        let identity = FileIdentity { name, digest };
        self.known.insert(path.to_owned(), identity.clone());
        Ok(identity)
    }

    /// A folder with a decoder by all its files that are read: their names and digests
    /// together.
    fn of_model_folder(&mut self, folder: &Utf8Path) -> anyhow::Result<FileIdentity> {
        let name = folder.file_name().unwrap_or(folder.as_str()).to_owned();
        let mut hasher = blake3::Hasher::new();
        for file in ModelFolder::files(folder)? {
            let FileIdentity { name, digest } = self.of_file(&file)?;
            hasher.update(format!("{name}={digest}\n").as_bytes());
        }
        Ok(FileIdentity { name, digest: hasher.finalize().to_hex().to_string() })
    }

    /// The files of an adapter.
    fn of_adapter(&mut self, folder: &Utf8Path) -> anyhow::Result<Vec<FileIdentity>> {
        adapter_files(folder).iter().map(|file| self.of_file(file)).collect()
    }

    /// The files of an encoder.
    fn of_encoder(&mut self, folder: &Utf8Path) -> anyhow::Result<Vec<FileIdentity>> {
        encoder_files(folder)?.iter().map(|file| self.of_file(file)).collect()
    }

    /// A fine-tuned classifier.
    fn of_classifier(&mut self, folder: &Utf8Path) -> anyhow::Result<Value> {
        Ok(json!({
            "classifier": adapted_name(folder),
            "files": self.of_encoder(folder)?,
            "precision": EncoderPrecision::default().to_string(),
        }))
    }
}

/// One line that says what was run, to stand under a table.
pub(super) fn signature(manifest: &Manifest, validation: &Standing) -> String {
    let spec = &manifest.spec;
    let text = |path: &str| match spec.pointer(path) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "?".to_owned(),
    };
    let short = |path: &str| text(path).chars().take(8).collect::<String>();
    format!(
        "unimatch {} | corpus {} ({} drafts, {} paragraphs) | {} | {} | {} | seed {} | cleaner {} \
         | segmenter {} | scorer {} ({}) | empty answers {} | run {}",
        env!("CARGO_PKG_VERSION"),
        short("/corpus/digest"),
        text("/corpus/n_drafts"),
        text("/corpus/n_paragraphs"),
        who(spec.pointer("/generator")),
        text("/condition"),
        text("/preset"),
        text("/sampling/seed"),
        who(spec.pointer("/cleaner")),
        who(spec.pointer("/segmenter")),
        who(spec.pointer("/scorer")),
        validation.in_words(),
        text("/empty_answers"),
        manifest.fingerprint.short(),
    )
}

/// A role of the specification in a few words, as `judge SmolLM2.gguf#1a2b3c4d`.
pub(super) fn who(role: Option<&Value>) -> String {
    match role {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Object(role)) => match role.iter().next() {
            Some((kind, Value::Object(file))) if file.contains_key("digest") => {
                let field = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or("?");
                let digest: String = field("digest").chars().take(8).collect();
                format!("{kind}:{}#{digest}", field("name"))
            }
            Some((kind, Value::Object(inner))) => {
                format!("{kind}:{}", who(Some(&Value::Object(inner.clone()))))
            }
            Some((kind, Value::String(name))) => format!("{kind}:{name}"),
            _ => "?".to_owned(),
        },
        _ => "?".to_owned(),
    }
}
