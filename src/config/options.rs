//! The settings of a run as people write them: each may be missing.

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::text::line_at;

/// Every setting of a run. The same names serve as flags (`--max-new-tokens`),
/// as variables (`UNIMATCH_MAX_NEW_TOKENS`) and in a file (`max-new-tokens = 250`).
/// A flag goes before a variable, a variable before the file, the file before
/// the default.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RunOptions {
    /// Folder of annotated drafts in the SEFORA layout, nested or flat
    #[arg(value_name = "CORPUS", env = "UNIMATCH_CORPUS")]
    pub corpus: Option<Utf8PathBuf>,

    /// Run directory; a run that is there already is continued
    /// [default: runs/CONDITION-GENERATOR]
    #[arg(long, short, value_name = "DIR", env = "UNIMATCH_OUT")]
    pub out: Option<Utf8PathBuf>,

    /// Model that writes the feedback: local:FILE.gguf, local:FOLDER of Hugging Face, or
    /// scripted:FILE.jsonl for a rehearsal
    #[arg(long, value_name = "MODEL", env = "UNIMATCH_GENERATOR", help_heading = "Models")]
    pub generator: Option<String>,

    /// Who cleans the feedback: none, rules, or judge:MODEL (rules first, then a model)
    /// [default: rules]
    #[arg(long, value_name = "WHO", env = "UNIMATCH_CLEANER", help_heading = "Models")]
    pub cleaner: Option<String>,

    /// Who cuts feedback into units: distilled (the model in this program), sentence,
    /// classifier:FOLDER, distilled:FOLDER, or judge:MODEL [default: distilled, or sentence in a
    /// program without it]
    #[arg(long, value_name = "WHO", env = "UNIMATCH_SEGMENTER", help_heading = "Models")]
    pub segmenter: Option<String>,

    /// Who rates pairs of units from 0 to 4: distilled (the model in this program),
    /// embedding:FOLDER, classifier:FOLDER, distilled:FOLDER, `bertscore:FOLDER[@LAYER]`,
    /// lexical:chrf, lexical:bleu, or judge:MODEL [default: distilled, or lexical:chrf in a
    /// program without it]
    #[arg(long, value_name = "WHO", env = "UNIMATCH_SCORER", help_heading = "Models")]
    pub scorer: Option<String>,

    /// Type that the matrices of local models are kept as: auto (that of the file), f32, f16,
    /// bf16, `q8_0`, `q4_0`, `q4_1`, `q5_0` or `q5_1` [default: auto]
    #[arg(long, value_name = "TYPE", env = "UNIMATCH_DTYPE", help_heading = "Models")]
    pub dtype: Option<String>,

    /// What the prompt shows: v1, v2 or cot, then any of +guided, +rubric, +few [default: v2]
    #[arg(long, value_name = "NAME", env = "UNIMATCH_CONDITION", help_heading = "Prompt")]
    pub condition: Option<String>,

    /// Where context budget, prompt format and sampling come from: paper, ref-script or
    /// ref-notebook [default: paper]
    #[arg(long, value_name = "NAME", env = "UNIMATCH_PRESET", help_heading = "Prompt")]
    pub preset: Option<String>,

    /// Folder of templates to use instead of the built-in ones (see `unimatch prompts`)
    #[arg(long, value_name = "DIR", env = "UNIMATCH_PROMPTS", help_heading = "Prompt")]
    pub prompts: Option<Utf8PathBuf>,

    /// How the model is shown the prompt: chat, raw or chat-twice [default: the preset's]
    #[arg(long, value_name = "FORMAT", env = "UNIMATCH_FORMAT", help_heading = "Prompt")]
    pub format: Option<String>,

    /// What becomes of a constrained (v2) reply in its format: one (it is one unit) or segment
    /// (the segmenter cuts it, as in the paper) [default: one]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_CONSTRAINED_UNITS", help_heading = "Prompt")]
    pub constrained_units: Option<String>,

    /// Take only the first N drafts
    #[arg(long, value_name = "N", env = "UNIMATCH_LIMIT", help_heading = "Selection")]
    pub limit: Option<usize>,

    /// Take only these drafts, by name; may be given several times
    #[arg(
        long,
        value_name = "DRAFT",
        env = "UNIMATCH_SAMPLE_ID",
        value_delimiter = ',',
        help_heading = "Selection"
    )]
    pub sample_id: Option<Vec<String>>,

    /// Take only the drafts named in this file, a name a line
    #[arg(long, value_name = "FILE", env = "UNIMATCH_SUBSET", help_heading = "Selection")]
    pub subset: Option<Utf8PathBuf>,

    /// Seed of all random draws [default: the preset's, 42]
    #[arg(long, value_name = "N", env = "UNIMATCH_SEED", help_heading = "Sampling")]
    pub seed: Option<u64>,

    /// Temperature; 0 takes the likeliest token [default: the preset's, 0.1]
    #[arg(long, value_name = "T", env = "UNIMATCH_TEMPERATURE", help_heading = "Sampling")]
    pub temperature: Option<f64>,

    /// Mass of the nucleus to draw from [default: the preset's, 1]
    #[arg(long, value_name = "P", env = "UNIMATCH_TOP_P", help_heading = "Sampling")]
    pub top_p: Option<f64>,

    /// Most candidates to draw from; 0 for all [default: 0]
    #[arg(long, value_name = "K", env = "UNIMATCH_TOP_K", help_heading = "Sampling")]
    pub top_k: Option<usize>,

    /// Hugging Face's repetition penalty over prompt and reply; 1 is off
    /// [default: the preset's, 1.2]
    #[arg(long, value_name = "X", env = "UNIMATCH_REPETITION_PENALTY", help_heading = "Sampling")]
    pub repetition_penalty: Option<f64>,

    /// Most tokens of a reply [default: the preset's, 250]
    #[arg(long, value_name = "N", env = "UNIMATCH_MAX_NEW_TOKENS", help_heading = "Sampling")]
    pub max_new_tokens: Option<usize>,

    /// Pairs that a judge rates in one request [default: 50]
    #[arg(long, value_name = "N", env = "UNIMATCH_JUDGE_BATCH_SIZE", help_heading = "Judging")]
    pub judge_batch_size: Option<usize>,

    /// How often a judge is asked again after a reply that cannot be read [default: 2]
    #[arg(long, value_name = "N", env = "UNIMATCH_JUDGE_RETRIES", help_heading = "Judging")]
    pub judge_retries: Option<usize>,

    /// How a judge rates pairs: batch (many in a prompt, the reply is read, as in the paper) or
    /// logits (each by itself, the probabilities of 0 to 4 are weighed and kept)
    /// [default: logits for a local judge, else batch]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_JUDGE_MODE", help_heading = "Judging")]
    pub judge_mode: Option<String>,

    /// What the probabilities of 0 to 4 come to: argmax or expectation [default: argmax]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_JUDGE_RATING", help_heading = "Judging")]
    pub judge_rating: Option<String>,

    /// How a judge cuts feedback: copy (it copies the text with delimiters, as in the paper) or
    /// scoring (it is led along the text and only chooses where units end)
    /// [default: scoring for a local judge, else copy]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_SEGMENT_MODE", help_heading = "Judging")]
    pub segment_mode: Option<String>,

    /// Whether an empty answer costs recall: count, or skip as the public release does
    /// [default: count]
    #[arg(long, value_name = "HOW", env = "UNIMATCH_EMPTY", help_heading = "Judging")]
    pub empty: Option<String>,

    /// Threads [default: the cores this process may use]
    #[arg(long, short = 'j', value_name = "N", env = "UNIMATCH_THREADS", help_heading = "Machine")]
    pub threads: Option<usize>,

    /// Memory for keys and values of a local model, in MiB: those of prompts in work and, as
    /// far as these leave room, of beginnings that were shared. A prompt waits until its own fit,
    /// for the longest reply it may get; one that alone does not fit fails [default: 2048]
    #[arg(long, value_name = "MIB", env = "UNIMATCH_KV_MEMORY", help_heading = "Machine")]
    pub kv_memory: Option<usize>,

    /// Items that a stage is given at once [default: 256]
    #[arg(long, value_name = "N", env = "UNIMATCH_BATCH_SIZE", help_heading = "Machine")]
    pub batch_size: Option<usize>,

    /// Where local models run: cpu, cuda (the first GPU), cuda:0,cuda:1 (layers spread over
    /// several), or auto: a GPU if there is one [default: auto]
    #[arg(long, value_name = "DEVICE", env = "UNIMATCH_DEVICE", help_heading = "Machine")]
    pub device: Option<String>,

    /// Instructions of the processor to use: auto, portable, avx2 or avx512 [default: auto]
    #[arg(long, value_name = "LEVEL", env = "UNIMATCH_CPU", help_heading = "Machine")]
    pub cpu: Option<String>,
}

impl RunOptions {
    /// Reads a configuration file.
    pub fn load(path: &Utf8Path) -> anyhow::Result<Self> {
        let text = fs_err::read_to_string(path)?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(0, |span| line_at(text.as_bytes(), span.start));
            anyhow::anyhow!("{path}, line {line}: {}", error.message().trim_end())
        })
    }

    /// These options, and where they are missing those of `below`.
    pub fn over(&self, below: &Self) -> anyhow::Result<Self> {
        let mut table = toml::Table::try_from(below)?;
        table.extend(toml::Table::try_from(self)?);
        Ok(table.try_into()?)
    }

    /// The options as the text of a configuration file.
    pub fn render(&self) -> anyhow::Result<String> {
        Ok(toml::to_string(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_goes_before_the_file_and_the_file_before_nothing() {
        let file = RunOptions { seed: Some(1), limit: Some(9), ..RunOptions::default() };
        let flags = RunOptions { seed: Some(2), ..RunOptions::default() };
        let both = flags.over(&file).unwrap();
        assert_eq!((both.seed, both.limit, both.top_p), (Some(2), Some(9), None));
    }

    #[test]
    fn what_is_rendered_is_read_back() {
        let options = RunOptions {
            corpus: Some("a b".into()),
            temperature: Some(0.1),
            repetition_penalty: Some(1.2),
            sample_id: Some(vec!["x".to_owned(), "y".to_owned()]),
            ..RunOptions::default()
        };
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("run.toml")).unwrap();
        fs_err::write(&path, options.render().unwrap()).unwrap();
        assert_eq!(RunOptions::load(&path).unwrap(), options);
    }

    #[test]
    fn an_unknown_setting_is_named_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("run.toml")).unwrap();
        fs_err::write(&path, "seed = 1\ntemprature = 0.1\n").unwrap();
        let error = RunOptions::load(&path).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("temprature"), "{error}");
    }
}
