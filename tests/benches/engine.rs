//! One measurement of the engine, as one line of JSON. `scripts/bench/engine.sh` runs
//! it in turns with other engines; run by hand, it is
//! `cargo bench --bench engine -- prefill --model FILE --n-tokens 512`.

#![expect(clippy::print_stdout, reason = "the result goes to whoever runs this")]

#[path = "../it/likelihood.rs"]
mod likelihood;
#[path = "engine/model.rs"]
mod model;
#[path = "../it/requantised.rs"]
mod requantised;
#[path = "engine/work.rs"]
mod work;

use std::time::Instant;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Parser, Subcommand};
use serde_json::{Value, json};

use likelihood::surprisals;
use model::{Model, ModelOptions};
use requantised::{Recipe, requantise};
use work::Essay;

/// Measures one kind of work once.
#[derive(Parser)]
#[command(name = "engine")]
struct Cli {
    #[command(subcommand)]
    work: Work,
    /// What `cargo bench` passes on; without meaning here.
    #[arg(long, global = true, hide = true)]
    bench: bool,
}

#[derive(Subcommand)]
enum Work {
    /// Read a prompt.
    Prefill {
        #[command(flatten)]
        model: ModelOptions,
        /// The tokens of the prompt; of several lengths, one after the other.
        #[arg(long, value_delimiter = ',', required = true)]
        n_tokens: Vec<usize>,
        /// Read nothing before the clock starts: for models so large that it takes long.
        #[arg(long)]
        cold: bool,
    },
    /// Draw tokens one after the other, for several sequences behind one beginning.
    Decode {
        #[command(flatten)]
        model: ModelOptions,
        /// The tokens that are read before the clock starts.
        #[arg(long, default_value_t = 1)]
        n_prefix: usize,
        /// The sequences that go on from there side by side.
        #[arg(long, default_value_t = 1)]
        n_sequences: usize,
        /// The tokens of each.
        #[arg(long)]
        n_tokens: usize,
    },
    /// Reply to the prompts of one essay, as a run does.
    Essay {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        essay: EssayOptions,
    },
    /// Predict one token for each of many pairs behind one guideline.
    Rate {
        #[command(flatten)]
        model: ModelOptions,
        /// The tokens of the guideline, which are read before the clock starts.
        #[arg(long, default_value_t = 2_000)]
        n_prefix: usize,
        /// The tokens of each pair.
        #[arg(long, default_value_t = 60)]
        n_own: usize,
        /// The pairs.
        #[arg(long)]
        n_pairs: usize,
    },
    /// Open the file and predict one token.
    FirstToken {
        #[command(flatten)]
        model: ModelOptions,
        /// What the token follows.
        #[arg(long, default_value = "Once upon a time")]
        prompt: String,
    },
    /// How likely a text is.
    Perplexity {
        #[command(flatten)]
        model: ModelOptions,
        /// A file with the text.
        #[arg(long)]
        text: Utf8PathBuf,
    },
    /// Write a model file anew in another format.
    Requantise {
        /// The file to read.
        #[arg(long)]
        model: Utf8PathBuf,
        /// `f32`, `q4_0`, `q8_0` or `q4_k_m`.
        #[arg(long)]
        to: Recipe,
        /// The file to write.
        #[arg(long)]
        out: Utf8PathBuf,
    },
}

#[expect(clippy::struct_field_names, reason = "counts are named so")]
#[derive(Args)]
struct EssayOptions {
    /// The tokens with which all prompts begin.
    #[arg(long, default_value_t = 1_500)]
    n_prefix: usize,
    /// The tokens of each prompt after those.
    #[arg(long, default_value_t = 100)]
    n_own: usize,
    /// The prompts.
    #[arg(long, default_value_t = 6)]
    n_paragraphs: usize,
    /// The tokens of each reply.
    #[arg(long, default_value_t = 64)]
    n_new: usize,
}

fn main() -> anyhow::Result<()> {
    let result = match Cli::parse().work {
        Work::Prefill { model, n_tokens, cold } => {
            let model = Model::open(&model)?;
            let mut results = Vec::new();
            for n_tokens in n_tokens {
                if !cold {
                    work::prefill(&model, n_tokens)?;
                }
                results.push(rate(n_tokens, work::prefill(&model, n_tokens)?));
            }
            Value::Array(results)
        }
        Work::Decode { model, n_prefix, n_sequences, n_tokens } => {
            let model = Model::open(&model)?;
            rate(n_sequences * n_tokens, work::decode(&model, n_prefix, n_sequences, n_tokens)?)
        }
        Work::Essay { model, essay } => {
            let model = Model::open(&model)?;
            let EssayOptions { n_prefix, n_own, n_paragraphs, n_new } = essay;
            let essay = Essay { n_prefix, n_own, n_paragraphs, n_new };
            work::reply(&model, &Essay { n_prefix: 64, n_own: 8, n_paragraphs: 2, n_new: 4 })?;
            let (seconds, n_read) = work::reply(&model, &essay)?;
            let mut result = rate(n_paragraphs * n_new, seconds);
            result["n_prefill_tokens"] = json!(n_read);
            result
        }
        Work::Rate { model, n_prefix, n_own, n_pairs } => {
            let model = Model::open(&model)?;
            rate(n_pairs, work::predict(&model, n_prefix, n_own, n_pairs)?)
        }
        Work::FirstToken { model, prompt } => first_token(&model, &prompt)?,
        Work::Perplexity { model, text } => perplexity(&model, &text)?,
        Work::Requantise { model, to, out } => {
            requantise(&model, to, &out)?;
            json!({ "blake3": blake3::hash(&fs_err::read(&out)?).to_hex().as_str() })
        }
    };
    println!("{result}");
    Ok(())
}

/// So much work in so much time.
fn rate(n: usize, seconds: f64) -> Value {
    json!({ "n": n, "seconds": seconds, "per_second": n as f64 / seconds })
}

fn first_token(options: &ModelOptions, prompt: &str) -> anyhow::Result<Value> {
    let start = Instant::now();
    let model = Model::open(options)?;
    let tokens = model.encode(prompt)?;
    let (token, kv_bytes) = work::first_token(&model, &tokens)?;
    Ok(json!({
        "seconds": start.elapsed().as_secs_f64(),
        "token": token,
        "kv_bytes": kv_bytes,
        "file_bytes": model.size_bytes(),
    }))
}

fn perplexity(options: &ModelOptions, text: &Utf8Path) -> anyhow::Result<Value> {
    let model = Model::open(options)?;
    let tokens = model.encode(&fs_err::read_to_string(text)?)?;
    let start = Instant::now();
    let all = model.in_pool(|| surprisals(&model.decoder, &tokens)).context("reading the text")?;
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let mut result = rate(tokens.len(), start.elapsed().as_secs_f64());
    result["perplexity"] = json!(mean.exp());
    result["mean"] = json!(mean);
    Ok(result)
}
