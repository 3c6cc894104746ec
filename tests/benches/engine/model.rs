//! A model, and the threads that work on it.

use camino::Utf8PathBuf;
use clap::Args;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::{ThreadPool, ThreadPoolBuilder};
use unimatch::nn::{Cpu, CpuLevel, Decoder, GgufFile, SpecialTokens, Tokenizer};

#[derive(Args)]
pub(crate) struct ModelOptions {
    /// A GGUF file.
    #[arg(long)]
    model: Utf8PathBuf,
    /// The threads that work.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// The instructions to use; the best there are by default.
    #[arg(long)]
    cpu: Option<CpuLevel>,
}

pub(crate) struct Model {
    pub(crate) decoder: Decoder,
    file: GgufFile,
    pool: ThreadPool,
}

impl Model {
    pub(crate) fn open(options: &ModelOptions) -> anyhow::Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(options.threads).build()?;
        let cpu = options.cpu.map_or_else(|| Ok(Cpu::detect()), Cpu::with_level)?;
        let file = GgufFile::open(&options.model)?;
        let decoder = pool.install(|| Decoder::from_gguf(&file, cpu))?;
        Ok(Self { decoder, file, pool })
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        self.file.size_bytes()
    }

    /// Does some work with the threads.
    pub(crate) fn in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// A text as the model reads it, with the token that a sequence begins with.
    pub(crate) fn encode(&self, text: &str) -> anyhow::Result<Vec<u32>> {
        let tokenizer = Tokenizer::from_gguf(self.file.content())?;
        let mut tokens = Vec::from_iter(tokenizer.bos().filter(|_| tokenizer.adds_bos()));
        tokens.extend(tokenizer.encode(text, SpecialTokens::Plain)?);
        Ok(tokens)
    }

    /// Random tokens, the same for the same seed.
    pub(crate) fn tokens(&self, n_tokens: usize, seed: u64) -> Vec<u32> {
        let vocabulary_size = u32::try_from(self.decoder.config().vocabulary_size).unwrap_or(1);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        (0..n_tokens).map(|_| rng.random_range(0..vocabulary_size)).collect()
    }
}
