//! How a local model is run. Of this only the kind of device changes a reply.

use std::sync::Arc;

use rayon::ThreadPool;

use crate::nn::{Cpu, DeviceChoice};

/// How a local model is run. Of this only the kind of device changes a reply.
#[derive(Clone, Debug)]
pub struct LocalOptions {
    /// Where the model runs.
    pub device: DeviceChoice,
    /// The instructions of the processor to use.
    pub cpu: Cpu,
    /// The threads that do the work; `None` for the global ones of `rayon`.
    pub pool: Option<Arc<ThreadPool>>,
    /// The most memory for keys and values, in bytes. Requests wait for room; one
    /// that alone needs more is refused.
    pub kv_memory_bytes: usize,
    /// The most replies that grow at the same time.
    pub max_sequences: usize,
}

/// The replies that grow at the same time on a GPU, where one more costs a step little.
const MAX_SEQUENCES_ON_GPU: usize = 64;

impl LocalOptions {
    /// The defaults for a device: on GPUs more replies at the same time.
    pub fn on(device: DeviceChoice) -> Self {
        let mut options = Self::default();
        if matches!(device, DeviceChoice::Cuda(_)) {
            options.max_sequences = MAX_SEQUENCES_ON_GPU;
        }
        Self { device, ..options }
    }
}

impl Default for LocalOptions {
    /// The processor, its best instructions, the global threads, 4 GiB and 8
    /// replies: with more the processor gains nothing, and a kill loses more of them.
    fn default() -> Self {
        Self {
            device: DeviceChoice::Cpu,
            cpu: Cpu::detect(),
            pool: None,
            kv_memory_bytes: 4 << 30,
            max_sequences: 8,
        }
    }
}
