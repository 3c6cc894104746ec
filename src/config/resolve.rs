//! From settings as written to a plan without gaps.

use std::str::FromStr;

use anyhow::{Context, bail};

use super::{
    RunOptions,
    judging::{self, JudgingNames},
};
use crate::{
    corpus::Selection,
    experiment::{ConstrainedUnits, Judging, Machine, ModelName, Plan, ScorerName, SegmenterName},
    metrics::EmptyAnswers,
    nn::{Cpu, CpuLevel, DeviceChoice, WeightType},
    prompt::{Condition, GenerationSettings, Preset, PromptFormat},
};

const DEFAULT_KV_MEMORY_MIB: usize = 2048;
const DEFAULT_BATCH_SIZE: usize = 256;
const MAX_THREADS: usize = 1024;

/// The plan that some options make, the defaults filled in.
///
/// # Errors
///
/// Where something that has no default is missing, or a value is none of those
/// that exist; the message names the option.
pub fn plan(options: &RunOptions) -> anyhow::Result<Plan> {
    let corpus = options.corpus.clone().context(
        "no corpus is given: name a folder of drafts, as in `unimatch run CORPUS --generator ...`",
    )?;
    let generator = options
        .generator
        .as_deref()
        .context("no generator is given: name a model, as in --generator local:models/NAME.gguf")?;
    let preset: Preset = value("preset", options.preset.as_deref(), Preset::default())?;
    let settings = settings(options, preset)?;
    let segmenter = value("segmenter", options.segmenter.as_deref(), SegmenterName::default())?;
    let scorer = value("scorer", options.scorer.as_deref(), ScorerName::default())?;
    let asked = Judging {
        seed: settings.seed,
        batch_size: positive(
            "judge-batch-size",
            options.judge_batch_size,
            Judging::default().batch_size,
        )?,
        n_retries: options.judge_retries.unwrap_or(Judging::default().n_retries),
        ..Judging::default()
    };
    Ok(Plan {
        corpus,
        selection: Selection {
            names: options.sample_id.clone().unwrap_or_default(),
            list: options.subset.clone(),
            limit: options.limit,
        },
        generator: parse("generator", generator)?,
        dtype: dtype(options)?,
        condition: value("condition", options.condition.as_deref(), Condition::default())?,
        preset,
        format: format(options.format.as_deref(), preset)?,
        prompts: options.prompts.clone(),
        cleaner: parse("cleaner", options.cleaner.as_deref().unwrap_or("rules"))?,
        constrained_units: match options.constrained_units.as_deref() {
            None | Some("one") => ConstrainedUnits::One,
            Some("segment") => ConstrainedUnits::Segment,
            Some(other) => bail!("--constrained-units: `{other}` is neither one nor segment"),
        },
        judging: judging::judging(asked, JudgingNames::of(options), &segmenter, &scorer)?,
        segmenter,
        scorer,
        empty_answers: empty_answers(options.empty.as_deref())?,
        device: device(options)?,
        settings,
    })
}

/// What the options say of the machine; `n_cores` is what this process may use.
pub fn machine(options: &RunOptions, n_cores: usize) -> anyhow::Result<Machine> {
    let n_threads = positive("threads", options.threads, n_cores)?;
    if MAX_THREADS < n_threads {
        bail!("--threads: {n_threads} is more than {MAX_THREADS}");
    }
    let kv_memory_mib = positive("kv-memory", options.kv_memory, DEFAULT_KV_MEMORY_MIB)?;
    Ok(Machine {
        n_threads,
        kv_memory_bytes: kv_memory_mib
            .checked_mul(1 << 20)
            .context("--kv-memory is more than any machine has")?,
        batch_size: positive("batch-size", options.batch_size, DEFAULT_BATCH_SIZE)?,
        cpu: cpu(options.cpu.as_deref())?,
    })
}

/// Where local models run, decided for this machine.
pub fn device(options: &RunOptions) -> anyhow::Result<DeviceChoice> {
    let choice = value("device", options.device.as_deref(), DeviceChoice::default())?;
    Ok(choice.decided())
}

/// What the matrices of local models are kept as.
pub fn dtype(options: &RunOptions) -> anyhow::Result<WeightType> {
    value("dtype", options.dtype.as_deref(), WeightType::default())
}

/// The processor's instructions by their name.
fn cpu(name: Option<&str>) -> anyhow::Result<Cpu> {
    let level = match name {
        None | Some("auto") => return Ok(Cpu::detect()),
        Some(name) => name.parse::<CpuLevel>().context("--cpu")?,
    };
    Cpu::with_level(level).context("--cpu")
}

/// Whether an empty answer counts, by its name.
pub fn empty_answers(name: Option<&str>) -> anyhow::Result<EmptyAnswers> {
    match name {
        None | Some("count") => Ok(EmptyAnswers::Count),
        Some("skip") => Ok(EmptyAnswers::Skip),
        Some(other) => bail!("--empty: `{other}` is neither count nor skip"),
    }
}

/// The options that give a plan and its machine again, none left to a default.
pub fn options(plan: &Plan, run_dir: &camino::Utf8Path, machine: &Machine) -> RunOptions {
    let settings = &plan.settings;
    let names = &plan.selection.names;
    let judging = judging::names(&plan.judging);
    RunOptions {
        corpus: Some(plan.corpus.clone()),
        out: Some(run_dir.to_owned()),
        generator: Some(plan.generator.to_string()),
        cleaner: Some(plan.cleaner.to_string()),
        segmenter: Some(plan.segmenter.to_string()),
        scorer: Some(plan.scorer.to_string()),
        dtype: Some(plan.dtype.to_string()),
        condition: Some(plan.condition.to_string()),
        preset: Some(plan.preset.to_string()),
        prompts: plan.prompts.clone(),
        format: Some(format_name(plan.format).to_owned()),
        constrained_units: Some(
            match plan.constrained_units {
                ConstrainedUnits::One => "one",
                ConstrainedUnits::Segment => "segment",
            }
            .to_owned(),
        ),
        limit: plan.selection.limit,
        sample_id: (!names.is_empty()).then(|| names.clone()),
        subset: plan.selection.list.clone(),
        seed: Some(settings.seed),
        temperature: Some(settings.temperature),
        top_p: Some(settings.top_p),
        top_k: Some(settings.top_k.unwrap_or_default()),
        repetition_penalty: Some(settings.repetition_penalty),
        max_new_tokens: Some(settings.max_new_tokens),
        judge_batch_size: Some(plan.judging.batch_size),
        judge_retries: Some(plan.judging.n_retries),
        judge_mode: judging.judge_mode.map(str::to_owned),
        judge_rating: judging.judge_rating.map(str::to_owned),
        segment_mode: judging.segment_mode.map(str::to_owned),
        empty: Some(
            match plan.empty_answers {
                EmptyAnswers::Count => "count",
                EmptyAnswers::Skip => "skip",
            }
            .to_owned(),
        ),
        threads: None,
        kv_memory: Some(machine.kv_memory_bytes >> 20),
        batch_size: Some(machine.batch_size),
        device: Some(plan.device.to_string()),
        cpu: None,
    }
}

/// The run directory where none is given: condition and generator.
pub fn default_out(plan: &Plan) -> camino::Utf8PathBuf {
    let (ModelName::Local(path) | ModelName::Scripted(path)) = &plan.generator;
    format!("runs/{}-{}", plan.condition, path.file_stem().unwrap_or("model")).into()
}

fn settings(options: &RunOptions, preset: Preset) -> anyhow::Result<GenerationSettings> {
    let given = preset.settings();
    let settings = GenerationSettings {
        max_new_tokens: positive("max-new-tokens", options.max_new_tokens, given.max_new_tokens)?,
        temperature: options.temperature.unwrap_or(given.temperature),
        top_p: options.top_p.unwrap_or(given.top_p),
        top_k: match options.top_k {
            None => given.top_k,
            Some(0) => None,
            some => some,
        },
        repetition_penalty: options.repetition_penalty.unwrap_or(given.repetition_penalty),
        seed: options.seed.unwrap_or(given.seed),
    };
    if !(0.0..=100.0).contains(&settings.temperature) {
        bail!("--temperature: {} is not from 0 to 100", settings.temperature);
    }
    if !(settings.top_p > 0.0 && settings.top_p <= 1.0) {
        bail!("--top-p: {} is not above 0 and at most 1", settings.top_p);
    }
    if !(settings.repetition_penalty > 0.0 && settings.repetition_penalty.is_finite()) {
        bail!("--repetition-penalty: {} is not a number above 0", settings.repetition_penalty);
    }
    Ok(settings)
}

fn format(name: Option<&str>, preset: Preset) -> anyhow::Result<PromptFormat> {
    match name {
        None => Ok(preset.format()),
        Some("chat") => Ok(PromptFormat::Chat),
        Some("raw") => Ok(PromptFormat::Raw),
        Some("chat-twice") => Ok(PromptFormat::ChatTwice),
        Some(other) => bail!("--format: `{other}` is none of chat, raw and chat-twice"),
    }
}

/// How a format is named.
pub fn format_name(format: PromptFormat) -> &'static str {
    match format {
        PromptFormat::Chat => "chat",
        PromptFormat::Raw => "raw",
        PromptFormat::ChatTwice => "chat-twice",
    }
}

fn positive(name: &str, given: Option<usize>, default: usize) -> anyhow::Result<usize> {
    match given {
        Some(0) => bail!("--{name}: 0 is not above 0"),
        Some(value) => Ok(value),
        None => Ok(default),
    }
}

fn parse<T>(name: &str, text: &str) -> anyhow::Result<T>
where
    T: FromStr,
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error| anyhow::anyhow!("--{name}: {error}"))
}

fn value<T>(name: &str, text: Option<&str>, default: T) -> anyhow::Result<T>
where
    T: FromStr,
    T::Err: std::fmt::Display,
{
    text.map_or(Ok(default), |text| parse(name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least() -> RunOptions {
        RunOptions {
            corpus: Some("essays".into()),
            generator: Some("local:m.gguf".to_owned()),
            ..RunOptions::default()
        }
    }

    #[test]
    fn a_plan_gives_the_options_that_give_the_plan() {
        let mut given = least();
        given.condition = Some("v1+guided+few".to_owned());
        given.preset = Some("ref-script".to_owned());
        given.dtype = Some("q8_0".to_owned());
        given.scorer = Some("judge:local:j.gguf".to_owned());
        given.device = Some("cuda:1,cuda:0".to_owned());
        let first = plan(&given).unwrap();
        let machine = machine(&given, 3).unwrap();
        let again = options(&first, "runs/x".into(), &machine);
        assert_eq!(plan(&again).unwrap(), first);
        assert_eq!(super::machine(&again, 3).unwrap(), machine);
    }

    #[test]
    fn a_value_out_of_range_is_named_with_its_option() {
        let expectation = RunOptions {
            judge_rating: Some("expectation".to_owned()),
            scorer: Some("judge:scripted:j.jsonl".to_owned()),
            ..least()
        };
        let cases: [(RunOptions, &str); 11] = [
            (expectation, "--judge-rating"),
            (RunOptions { judge_mode: Some("odds".to_owned()), ..least() }, "--judge-mode"),
            (RunOptions { segment_mode: Some("cut".to_owned()), ..least() }, "--segment-mode"),
            (RunOptions { dtype: Some("int4".to_owned()), ..least() }, "--dtype"),
            (RunOptions { top_p: Some(0.0), ..least() }, "--top-p"),
            (RunOptions { temperature: Some(f64::NAN), ..least() }, "--temperature"),
            (RunOptions { max_new_tokens: Some(0), ..least() }, "--max-new-tokens"),
            (RunOptions { empty: Some("zero".to_owned()), ..least() }, "--empty"),
            (RunOptions { condition: Some("v3".to_owned()), ..least() }, "--condition"),
            (RunOptions { scorer: Some("chrf".to_owned()), ..least() }, "--scorer"),
            (RunOptions { device: Some("gpu".to_owned()), ..least() }, "--device"),
        ];
        for (given, name) in cases {
            let error = plan(&given).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }
}
