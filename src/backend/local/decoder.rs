//! A decoder on this machine as a backend.

use std::{
    ops::ControlFlow,
    sync::{Mutex, TryLockError},
};

use camino::Utf8Path;
use rayon::prelude::*;

use super::{LocalError, LocalOptions, opened::Opened, speech::Speech, stop::first_stop};
use crate::{
    backend::{
        Backend, BackendError, Completion, Deliver, FinishReason, Request, Sampling, Scoring, Usage,
    },
    nn::{
        Crew, Decoder, Devices, Generated, GenerationEnd, GenerationError, GenerationJob,
        ModelFile, PrefillCount, PrefixCache, Recipient, SamplingRules, SpecialTokens, Tokenizer,
        WeightType, adapted_name, generate_with, rehearse,
    },
    prompt::{Prompt, TokenCounter},
};

/// A decoder on this machine.
///
/// A reply hangs on its own request alone, bit for bit, and on the model file: on
/// no other request, and on none of the options. On a GPU, other requests may change
/// the rounding of the last bits.
///
/// What prompts begin with alike is read once for all calls, as long as the memory
/// for keys and values holds it.
pub struct LocalBackend {
    id: String,
    pub(super) decoder: Decoder,
    pub(super) speech: Speech,
    end_ids: Vec<u32>,
    options: LocalOptions,
    cache: Mutex<PrefixCache>,
}

impl LocalBackend {
    /// Opens a GGUF file, or a folder of Hugging Face, with a decoder, its tokenizer
    /// and maybe its chat template. The matrices are kept as `dtype`.
    pub fn open(
        path: &Utf8Path,
        dtype: WeightType,
        options: &LocalOptions,
    ) -> Result<Self, LocalError> {
        let file = ModelFile::open(path)?;
        let Opened { speech, end_ids } = Opened::of(&file, path)?;
        let devices = options.device.open()?;
        let decoder = in_pool(options, || match &devices {
            Devices::Kernels => Decoder::open(&file, dtype, options.cpu),
            Devices::Candle(devices) => Decoder::open_on_devices(&file, dtype, devices),
        })?;
        let vocabulary_size = decoder.config().vocabulary_size;
        let n_tokens = speech.tokenizer.n_base_tokens();
        if n_tokens > vocabulary_size {
            return Err(LocalError::Vocabulary {
                file: path.to_owned(),
                n_tokens,
                vocabulary_size,
            });
        }
        let id = format!("local:{}", adapted_name(path));
        let cache = Mutex::new(PrefixCache::new(options.kv_memory_bytes));
        Ok(Self { id, decoder, speech, end_ids, options: options.clone(), cache })
    }

    /// The model's tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.speech.tokenizer
    }

    /// The tokens that a prompt becomes, those at the beginning of a sequence with
    /// them.
    pub fn prompt_tokens(&self, prompt: &Prompt) -> Result<Vec<u32>, BackendError> {
        self.speech.tokens(prompt).map_err(|reason| self.refused(reason))
    }

    /// A prompt as the model gets it, special tokens written out. On failure, why.
    pub fn show_prompt(&self, prompt: &Prompt) -> Result<String, String> {
        self.speech.text(prompt)
    }

    /// What completing some batches of prompts one after another would read, without
    /// work on any, if every reply were as long as it may be. Prompts that would be
    /// refused are left out.
    pub fn rehearse(&self, batches: &[&[Prompt]], max_new_tokens: usize) -> PrefillCount {
        let rules =
            SamplingRules { temperature: 0.0, top_k: None, top_p: 1.0, repetition_penalty: 1.0 };
        let mut cache = PrefixCache::new(self.options.kv_memory_bytes);
        for batch in batches {
            let job = |prompt: &Prompt| {
                let tokens = self.speech.tokens(prompt).ok()?;
                Some(GenerationJob { tokens, max_new_tokens, rules, seed: 0 })
            };
            let jobs: Vec<GenerationJob> =
                in_pool(&self.options, || batch.par_iter().filter_map(job).collect());
            rehearse(self.crew(&mut cache), &jobs);
        }
        cache.count()
    }

    /// What was read since the model was opened.
    pub fn prefill_count(&self) -> PrefillCount {
        self.cache.try_lock().map_or_else(|_| PrefillCount::default(), |cache| cache.count())
    }

    fn crew<'a>(&'a self, cache: &'a mut PrefixCache) -> Crew<'a> {
        Crew { decoder: &self.decoder, max_sequences: self.options.max_sequences, cache }
    }

    /// Does some work with the threads of the options and what is kept from the work
    /// before. Of two calls at the same time, the second begins with nothing kept and
    /// has as much memory again, since to wait for a thread of its own pool would be to
    /// wait for ever.
    pub(super) fn work<T: Send>(&self, work: impl FnOnce(&mut PrefixCache) -> T + Send) -> T {
        let fresh = || PrefixCache::new(self.options.kv_memory_bytes);
        match self.cache.try_lock() {
            Ok(mut guard) => {
                let cache: &mut PrefixCache = &mut guard;
                in_pool(&self.options, || work(cache))
            }
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => {
                in_pool(&self.options, || work(&mut fresh()))
            }
        }
    }

    fn job(&self, request: &Request) -> Result<GenerationJob, BackendError> {
        let Sampling {
            temperature, top_p, top_k, repetition_penalty, max_new_tokens, seed, ..
        } = request.sampling;
        let flaw = if !(temperature.is_finite() && temperature >= 0.0) {
            Some(format!("a temperature of {temperature}, expected a number from 0 on"))
        } else if !(0.0..=1.0).contains(&top_p) {
            Some(format!("a top-p of {top_p}, expected a number from 0 to 1"))
        } else if !(repetition_penalty.is_finite() && repetition_penalty > 0.0) {
            Some(format!("a repetition penalty of {repetition_penalty}, expected one above 0"))
        } else if request.sampling.stop.iter().any(String::is_empty) {
            Some("an empty stop text".to_owned())
        } else {
            None
        };
        match flaw {
            Some(flaw) => Err(self.refused(flaw)),
            None => Ok(GenerationJob {
                tokens: self.prompt_tokens(&request.prompt)?,
                max_new_tokens,
                rules: SamplingRules {
                    temperature,
                    top_k,
                    top_p,
                    repetition_penalty: single_precision(repetition_penalty),
                },
                seed,
            }),
        }
    }

    pub(super) fn refused(&self, reason: String) -> BackendError {
        BackendError::Refused { backend: self.id.clone(), reason }
    }

    fn completion(&self, request: &Request, job: &GenerationJob, reply: &Generated) -> Completion {
        let mut text = self.speech.tokenizer.decode(&reply.tokens);
        if let Some(end) = first_stop(&text, &request.sampling.stop) {
            text.truncate(end);
        }
        Completion {
            text,
            backend: self.id.clone(),
            finish_reason: match reply.end {
                GenerationEnd::EndToken | GenerationEnd::Recipient => FinishReason::Stop,
                GenerationEnd::Limit => FinishReason::Length,
            },
            usage: Usage {
                n_prompt_tokens: job.tokens.len(),
                n_completion_tokens: reply.tokens.len(),
            },
        }
    }
}

impl Backend for LocalBackend {
    fn id(&self) -> &str {
        &self.id
    }

    fn complete(&self, requests: &[Request]) -> Vec<Result<Completion, BackendError>> {
        let mut replies: Vec<Option<Result<Completion, BackendError>>> = Vec::new();
        replies.resize_with(requests.len(), || None);
        let _ = self.complete_each(requests, &mut |index, reply| {
            replies[index] = Some(reply);
            ControlFlow::Continue(())
        });
        let lost = || Err(self.refused("the reply was lost".to_owned()));
        replies.into_iter().map(|reply| reply.unwrap_or_else(lost)).collect()
    }

    fn complete_each(&self, requests: &[Request], deliver: &mut Deliver<'_>) -> ControlFlow<()> {
        self.work(|cache| {
            let prepared: Vec<Result<GenerationJob, BackendError>> =
                requests.par_iter().map(|request| self.job(request)).collect();
            let mut jobs = Vec::new();
            let mut indices = Vec::new();
            for (index, job) in prepared.into_iter().enumerate() {
                match job {
                    Ok(job) => {
                        jobs.push(job);
                        indices.push(index);
                    }
                    Err(error) => deliver(index, Err(error))?,
                }
            }
            let mut desk =
                Desk { backend: self, requests, jobs: &jobs, indices: &indices, deliver };
            generate_with(self.crew(cache), &jobs, &self.end_ids, &mut desk)
        })
    }

    fn scoring(&self) -> Option<&dyn Scoring> {
        Some(self)
    }
}

impl TokenCounter for LocalBackend {
    /// A text that cannot be cut into tokens counts one for each byte, the most that
    /// it could be.
    fn count(&self, text: &str) -> usize {
        let tokens = self.speech.tokenizer.encode(text, SpecialTokens::Plain);
        tokens.map_or(text.len(), |tokens| tokens.len())
    }

    fn context_length(&self) -> usize {
        self.decoder.config().context_length
    }
}

/// Takes replies in and hands completions on.
struct Desk<'a, 'b> {
    backend: &'a LocalBackend,
    requests: &'a [Request],
    jobs: &'a [GenerationJob],
    /// The request of each job.
    indices: &'a [usize],
    deliver: &'a mut Deliver<'b>,
}

impl Recipient for Desk<'_, '_> {
    fn goes_on(&mut self, job: usize, tokens: &[u32]) -> bool {
        let stops = &self.requests[self.indices[job]].sampling.stop;
        // A stop text may begin in any token before; replies are short.
        stops.is_empty()
            || first_stop(&self.backend.speech.tokenizer.decode(tokens), stops).is_none()
    }

    fn finish(
        &mut self,
        job: usize,
        result: Result<Generated, GenerationError>,
    ) -> ControlFlow<()> {
        let index = self.indices[job];
        let reply = result
            .map(|reply| self.backend.completion(&self.requests[index], &self.jobs[job], &reply))
            .map_err(|error| self.backend.refused(error.to_string()));
        (self.deliver)(index, reply)
    }
}

/// Does some work with the threads of the options.
fn in_pool<T: Send>(options: &LocalOptions, work: impl FnOnce() -> T + Send) -> T {
    match &options.pool {
        Some(pool) => pool.install(work),
        None => rayon::scope(|_| work()),
    }
}

/// A penalty in the precision of the logits it is applied to, as Hugging Face has it.
#[expect(clippy::cast_possible_truncation, reason = "logits have single precision")]
fn single_precision(penalty: f64) -> f32 {
    penalty as f32
}
