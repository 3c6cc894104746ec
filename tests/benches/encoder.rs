//! The time that a sentence encoder takes; `scripts/bench/encoder.py` drives it.
//!
//!     cargo bench --bench encoder -- FOLDER SENTENCES PRECISION
//!
//! Reads a sentence from each line of a file, loads the encoder, and then encodes
//! all sentences for each line of standard input, with one thread. Answers `ready`
//! once and after each round the seconds of processor time it took, and the vectors
//! as one line of JSON for the line `vectors`.

use std::io::Write;

use anyhow::{Context, bail};
use camino::Utf8Path;
use unimatch::nn::{Cpu, EncoderPrecision, SentenceEncoder};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [folder, sentences, precision] = &arguments[..] else {
        // As `cargo test --benches` and `cargo bench` without a name call it.
        return Ok(());
    };
    let precision = EncoderPrecision::ALL
        .into_iter()
        .find(|known| known.to_string() == *precision)
        .with_context(|| format!("there is no precision {precision:?}"))?;
    let encoder = SentenceEncoder::load(Utf8Path::new(folder), precision, Cpu::detect())?;
    let text = fs_err::read_to_string(sentences)?;
    let sentences: Vec<&str> = text.lines().collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "ready")?;
    out.flush()?;
    for command in std::io::stdin().lines() {
        let before = processor_time_s()?;
        let embeddings = pool.install(|| encoder.encode(&sentences));
        let time_s = processor_time_s()? - before;
        let embeddings: Vec<_> = embeddings.into_iter().collect::<Result<_, _>>()?;
        match command?.as_str() {
            "time" => writeln!(out, "{time_s}")?,
            "vectors" => {
                let vectors: Vec<_> = embeddings.into_iter().map(|found| found.vector).collect();
                serde_json::to_writer(&mut out, &vectors)?;
                writeln!(out)?;
            }
            other => bail!("there is no command {other:?}"),
        }
        out.flush()?;
    }
    Ok(())
}

/// The time that all threads of this process have run.
fn processor_time_s() -> anyhow::Result<f64> {
    let mut total = 0.0;
    for task in fs_err::read_dir("/proc/self/task").context("this bench runs on Linux")? {
        let path = task?.path().join("schedstat");
        let text = fs_err::read_to_string(path)?;
        let nanoseconds = text.split_whitespace().next().context("an empty schedstat")?;
        total += nanoseconds.parse::<f64>()? / 1e9;
    }
    Ok(total)
}
