//! The path of GPUs, on candle's CPU device, against this project's own kernels; with
//! the feature `cuda`, on the first GPU besides.

use std::{collections::BTreeMap, ops::ControlFlow, sync::Arc};

use camino::Utf8Path;
use candle_core::{Device, Tensor};
use unimatch::nn::{
    Activation, Cpu, Decoder, DecoderConfig, DecoderError, Generated, GenerationError,
    GenerationJob, GenerationLimits, KvMemory, ModelFile, Recipient, RotationStyle, SamplingRules,
    Step, Wanted, WeightType, generate,
};

use crate::{
    clockwork::Clockwork,
    family,
    program::{fail, text, unimatch},
    tiny::{self, Weights, logits, memory, step, tokens},
};

/// Where the path of GPUs runs here.
pub(crate) fn devices() -> Vec<Device> {
    #[cfg(feature = "cuda")]
    if unimatch::nn::DeviceChoice::Auto.decided().kind() == "cuda" {
        return vec![Device::Cpu, Device::new_cuda_with_stream(0).unwrap()];
    }
    vec![Device::Cpu]
}

/// What company may change: the rounding of the last bits, more of them where a GPU
/// chooses other kernels for other shapes.
fn rounding(device: &Device) -> f32 {
    if device.is_cpu() { 1e-5 } else { 1e-4 }
}

/// A model of some family: its make and its weights by the names of GGUF files.
struct Model {
    name: &'static str,
    config: DecoderConfig,
    tensors: BTreeMap<String, Tensor>,
}

impl Model {
    fn new(name: &'static str, config: DecoderConfig, weights: &Weights) -> Self {
        Self { name, config, tensors: weights.renamed() }
    }

    fn on_processor(&self) -> Decoder {
        Decoder::load(self.config.clone(), &self.tensors, Cpu::detect()).unwrap()
    }

    fn on(&self, devices: &[Device]) -> Decoder {
        Decoder::on_devices(self.config.clone(), &self.tensors, devices).unwrap()
    }
}

/// All that families do, each of it in one model at least.
fn models() -> Vec<Model> {
    let config = tiny::config;
    let plain = Model::new("llama", config(), &Weights::new(&config()));
    let mut pairs = config();
    pairs.layers = tiny::layers(2, RotationStyle::Pairs, 500.0);
    for layer in &mut pairs.layers {
        layer.rotation.factor = 2.0;
        layer.rotation.divisors = Some(Arc::from([1.0, 1.5, 4.0, 8.0]));
    }
    let pairs = Model::new("llama 3, pairs", pairs.clone(), &Weights::new(&pairs));
    let biases = Model::new("qwen2", config(), &Weights::new(&config()).with_biases());
    let head_norms = Model::new("qwen3", config(), &Weights::new(&config()).with_head_norms());
    let mut windows = config();
    windows.layers[0].window = Some(7);
    let windows = Model::new("mistral", windows.clone(), &Weights::new(&windows));
    vec![plain, pairs, biases, head_norms, windows, gemma()]
}

/// Each model with each device.
fn models_on_devices() -> Vec<(Model, Device)> {
    devices()
        .into_iter()
        .flat_map(|device| models().into_iter().map(move |model| (model, device.clone())))
        .collect()
}

/// Norms before and after each part, windows and rotations by layer, GELU, a scaled
/// embedding that is the head too, and queries scaled otherwise than by their size.
fn gemma() -> Model {
    let mut config = tiny::config();
    config.layers = tiny::layers(3, RotationStyle::Halves, 10_000.0);
    for layer in &mut config.layers[..2] {
        layer.window = Some(16);
        layer.rotation.base = 100.0;
    }
    config.activation = Activation::GeluTanh;
    config.embedding_scale = Some(48.0_f32.sqrt());
    config.query_scale = 0.25;
    let weights = Weights::new(&config).with_head_norms();
    let mut model = Model::new("gemma 3", config, &weights);
    model.tensors.remove("output.weight");
    let norm = model.tensors["output_norm.weight"].clone();
    for layer in 0..3 {
        for part in ["post_attention_norm", "post_ffw_norm"] {
            let norm = norm.roll(1 + layer, 0).unwrap();
            model.tensors.insert(format!("blk.{layer}.{part}.weight"), norm);
        }
    }
    model
}

/// The greatest difference of two tables of logits, which must not be all alike.
#[track_caller]
pub(crate) fn difference(ours: &[Vec<f32>], theirs: &[Vec<f32>]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    let spread = theirs.iter().flatten().fold(0.0_f32, |greatest, x| greatest.max(x.abs()));
    assert!(spread > 0.5, "logits that are all alike show nothing");
    let pairs = ours.iter().flatten().zip(theirs.iter().flatten());
    let difference = pairs.fold(0.0_f32, |greatest, (a, b)| greatest.max((a - b).abs()));
    assert!(!ours.iter().flatten().any(|number| number.is_nan()));
    difference
}

#[test]
fn every_family_predicts_as_on_the_processor() {
    let all = tokens(150, 1);
    for device in devices() {
        for model in models() {
            let theirs = logits(&model.on_processor(), &all);
            let ours = logits(&model.on(std::slice::from_ref(&device)), &all);
            let difference = difference(&ours, &theirs);
            report(&format!("{} on {device:?}: {difference:.1e}", model.name));
            assert!(difference < 1e-4, "{}: {difference}", model.name);
        }
    }
}

#[test]
fn every_family_predicts_as_transformers_does() {
    for case in family::cases() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        case.write_folder(folder, &case.settings);
        let file = ModelFile::open(folder).unwrap();
        for device in devices() {
            let devices = std::slice::from_ref(&device);
            let decoder = Decoder::open_on_devices(&file, WeightType::Auto, devices).unwrap();
            let ours = logits(&decoder, &family::tokens(70));
            let (ours, theirs): (Vec<Vec<f32>>, Vec<Vec<f32>>) = case
                .logits
                .iter()
                .map(|(&position, theirs)| (ours[position].clone(), theirs.clone()))
                .unzip();
            let difference = difference(&ours, &theirs);
            report(&format!("{} on {device:?}, transformers: {difference:.1e}", case.name));
            assert!(difference < 1e-4, "{}: {difference}", case.name);
        }
    }
}

#[test]
fn how_a_sequence_is_cut_into_steps_and_segments_changes_no_more_than_rounding() {
    let all = tokens(90, 4);
    let memory = memory();
    for (model, device) in models_on_devices() {
        let decoder = model.on(std::slice::from_ref(&device));
        let at_once = logits(&decoder, &all);
        for length in [1, 5, 16, 37] {
            let mut prefix = None;
            let mut parts = Vec::new();
            for part in all.chunks(length) {
                let mut sequence = decoder.sequence(prefix.take(), length + 3, &memory).unwrap();
                let (first, second) = part.split_at(part.len() / 2);
                for part in [first, second] {
                    let logits = step(&decoder, &mut sequence, part, Wanted::Every);
                    parts.extend(logits.rows().map(<[f32]>::to_vec));
                }
                prefix = Some(sequence.freeze());
            }
            let difference = difference(&parts, &at_once);
            let limit = rounding(&device);
            assert!(difference < limit, "{}, in steps of {length}: {difference}", model.name);
        }
    }
}

#[test]
fn neighbours_and_shared_beginnings_change_no_more_than_rounding() {
    let memory = memory();
    let (root, branch) = (tokens(40, 1), tokens(25, 2));
    // Each continues nothing, the root, or the root and the branch.
    let tails: Vec<(usize, Vec<u32>)> =
        [(1, 3), (2, 40), (2, 1), (0, 17), (1, 1), (2, 2), (1, 64), (2, 1)]
            .iter()
            .map(|&(depth, length)| (depth, tokens(length, 100 + length as u64)))
            .collect();
    for (model, device) in models_on_devices() {
        let decoder = model.on(std::slice::from_ref(&device));
        let read = |prefix, tokens: &[u32]| {
            let mut sequence = decoder.sequence(prefix, tokens.len(), &memory).unwrap();
            step(&decoder, &mut sequence, tokens, Wanted::Nothing);
            sequence.freeze()
        };
        let first = read(None, &root);
        let second = read(Some(Arc::clone(&first)), &branch);
        let prefixes = [None, Some(first), Some(second)];
        let mut open: Vec<_> = tails
            .iter()
            .map(|(depth, tail)| {
                decoder.sequence(prefixes[*depth].clone(), tail.len() + 5, &memory).unwrap()
            })
            .collect();
        let mut together: Vec<Vec<Vec<f32>>> = vec![Vec::new(); tails.len()];
        let next = [5];
        for round in 0..3 {
            let mut steps: Vec<Step<'_>> = open
                .iter_mut()
                .zip(&tails)
                .map(|(sequence, (_, tail))| {
                    let tokens = if round == 0 { &tail[..] } else { &next };
                    Step { sequence, tokens, wanted: Wanted::Last }
                })
                .collect();
            let logits = decoder.forward(&mut steps).unwrap();
            for (rows, row) in together.iter_mut().zip(logits.rows()) {
                rows.push(row.to_vec());
            }
        }
        for ((depth, tail), rows) in tails.iter().zip(&together) {
            let before: &[&[u32]] = &[&root, &branch];
            let all = [&before[..*depth].concat()[..], tail, &next, &next].concat();
            let alone = logits(&decoder, &all);
            let difference = difference(rows, &alone[all.len() - 3..]);
            assert!(difference < rounding(&device), "{}: {difference}", model.name);
        }
    }
}

#[test]
fn layers_on_two_devices_give_the_bits_of_one() {
    let all = tokens(60, 3);
    for model in models() {
        let one = logits(&model.on(&[Device::Cpu]), &all);
        assert_eq!(logits(&model.on(&[Device::Cpu, Device::Cpu]), &all), one, "{}", model.name);
    }
}

/// Keeps replies.
struct Replies(Vec<Option<Vec<u32>>>);

impl Recipient for Replies {
    fn goes_on(&mut self, _job: usize, _tokens: &[u32]) -> bool {
        true
    }

    fn finish(
        &mut self,
        job: usize,
        result: Result<Generated, GenerationError>,
    ) -> ControlFlow<()> {
        self.0[job] = Some(result.unwrap().tokens);
        ControlFlow::Continue(())
    }
}

#[test]
fn greedy_replies_are_those_of_the_processor() {
    let (root, branch) = (tokens(70, 1), tokens(40, 2));
    let prompts = [
        [&root[..], &branch].concat(),
        root.clone(),
        [&root[..], &tokens(300, 3)].concat(),
        vec![5],
        [&root[..], &branch, &[9]].concat(),
    ];
    let rules =
        SamplingRules { temperature: 0.0, top_k: None, top_p: 1.0, repetition_penalty: 1.2 };
    let jobs: Vec<GenerationJob> = prompts
        .into_iter()
        .map(|tokens| GenerationJob { tokens, max_new_tokens: 25, rules, seed: 0 })
        .collect();
    for model in models() {
        let replies = |decoder: &Decoder| {
            // Memory for some of them at a time only.
            let kv_memory_bytes = decoder.sequence_bytes(600);
            let limits = GenerationLimits { max_sequences: 3, kv_memory_bytes };
            let mut replies = Replies(vec![None; jobs.len()]);
            assert!(generate(decoder, &jobs, &[], limits, &mut replies).is_continue());
            replies.0
        };
        let theirs = replies(&model.on_processor());
        for device in devices() {
            assert_eq!(replies(&model.on(&[device])), theirs, "{}", model.name);
        }
    }
}

#[test]
fn memory_is_counted_as_it_is_taken() {
    let memory = KvMemory::new(1 << 20);
    let decoder = models()[0].on(&[Device::Cpu]);
    // Two layers, two heads, a key and a value of eight numbers in single precision.
    assert_eq!(decoder.sequence_bytes(20), 2 * 2 * 2 * 20 * 8 * 4);
    let mut sequence = decoder.sequence(None, 20, &memory).unwrap();
    assert_eq!(memory.used_bytes(), decoder.sequence_bytes(20));
    step(&decoder, &mut sequence, &[1, 2], Wanted::Nothing);
    let prefix = sequence.freeze();
    let error = decoder.sequence(Some(Arc::clone(&prefix)), 1 << 20, &memory).unwrap_err();
    assert_eq!(error.used_bytes, decoder.sequence_bytes(20));
    drop(prefix);
    assert_eq!(memory.used_bytes(), 0);
}

#[test]
fn a_step_that_cannot_be_taken_changes_nothing() {
    let decoder = models()[0].on(&[Device::Cpu]);
    let mut sequence = decoder.sequence(None, 4, &memory()).unwrap();
    let before = step(&decoder, &mut sequence, &[1, 2], Wanted::Last);
    let mut attempt = |tokens: &[u32]| {
        let step = Step { sequence: &mut sequence, tokens, wanted: Wanted::Last };
        decoder.forward(&mut [step]).unwrap_err()
    };
    assert_eq!(attempt(&[1, 77]), DecoderError::UnknownToken { token: 77, vocabulary_size: 77 });
    assert_eq!(attempt(&[1; 3]), DecoderError::Room { n_tokens: 3, n_free: 2 });
    // Nor does one whose sequence is of another decoder.
    let mut foreign = models()[0].on_processor().sequence(None, 4, &memory()).unwrap();
    let step = Step { sequence: &mut foreign, tokens: &[1], wanted: Wanted::Last };
    let error = decoder.forward(&mut [step]).unwrap_err().to_string();
    assert!(error.contains("another decoder"), "{error}");
    assert_eq!((sequence.n_tokens(), foreign.n_tokens()), (2, 0));
    assert!(before.rows().next().unwrap().iter().all(|number| number.is_finite()));
}

#[cfg(not(feature = "cuda"))]
#[test]
fn a_program_without_gpus_says_how_to_build_one_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(folder.path()).unwrap();
    let model = format!("local:{}", Clockwork::new(&[]).write(folder));
    let message = fail(unimatch().args(["run", "tests/fixtures/corpus", "--dry-run"]).args([
        "--generator",
        &model,
        "--device",
        "cuda:0,cuda:1",
    ]));
    assert!(message.contains("--features cuda"), "{message}");
}

#[test]
fn a_run_goes_on_only_on_the_kind_of_device_that_it_began_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(folder.path()).unwrap();
    let model = format!("local:{}", Clockwork::new(&[]).write(folder));
    let out = folder.join("run");
    let run = |device: &str| {
        let mut command = unimatch();
        command.args(["run", "tests/fixtures/corpus", "--limit", "1", "--max-new-tokens", "1"]);
        command.args(["--generator", &model, "--out", out.as_str(), "--device", device]);
        command
    };
    // What the model says is of no matter.
    run("candle-cpu").output().unwrap();
    let manifest = fs_err::read_to_string(out.join("run.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["spec"]["device"], "candle-cpu");
    let message = fail(&mut run("cpu"));
    assert!(message.contains("device: \"candle-cpu\" in the run"), "{message}");
    // Another number of devices is the same kind.
    let again = text(&run("candle-cpu,candle-cpu").output().unwrap().stderr);
    assert!(!again.contains("in the run"), "{again}");
}

#[expect(clippy::print_stderr, reason = "figures for whoever runs the tests by hand")]
pub(crate) fn report(message: &str) {
    eprintln!("{message}");
}
