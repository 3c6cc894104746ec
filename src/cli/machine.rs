//! What `eval`, `rate` and `validate` may use of the machine.

use crate::config::RunOptions;

/// The options on the machine that `run` has too.
#[derive(Debug, clap::Args)]
pub(super) struct MachineArgs {
    /// Threads [default: the cores this process may use]
    #[arg(long, short = 'j', value_name = "N", env = "UNIMATCH_THREADS", help_heading = "Machine")]
    threads: Option<usize>,

    /// Type that the matrices of local judges are kept as: auto (that of the file), f32, f16,
    /// bf16, `q8_0`, `q4_0`, `q4_1`, `q5_0` or `q5_1` [default: auto]
    #[arg(long, value_name = "TYPE", env = "UNIMATCH_DTYPE", help_heading = "Machine")]
    dtype: Option<String>,

    /// Where local judges run: cpu, cuda (the first GPU), cuda:0,cuda:1 (layers spread over
    /// several), or auto: a GPU if there is one [default: auto]
    #[arg(long, value_name = "DEVICE", env = "UNIMATCH_DEVICE", help_heading = "Machine")]
    device: Option<String>,

    /// Memory for keys and values of a local judge, in MiB [default: 2048]
    #[arg(long, value_name = "MIB", env = "UNIMATCH_KV_MEMORY", help_heading = "Machine")]
    kv_memory: Option<usize>,

    /// Instructions of the processor to use: auto, portable, avx2 or avx512 [default: auto]
    #[arg(long, value_name = "LEVEL", env = "UNIMATCH_CPU", help_heading = "Machine")]
    cpu: Option<String>,
}

impl MachineArgs {
    /// The same as options of a run that sets nothing else.
    pub(super) fn options(&self) -> RunOptions {
        RunOptions {
            threads: self.threads,
            dtype: self.dtype.clone(),
            device: self.device.clone(),
            kv_memory: self.kv_memory,
            cpu: self.cpu.clone(),
            ..RunOptions::default()
        }
    }
}
