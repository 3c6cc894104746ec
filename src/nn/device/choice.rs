//! Where decoders run, as people name it.

use std::{fmt, str::FromStr};

use candle_core::Device;

/// Where decoders run, as people name it: `auto`, `cpu`, `cuda`, `cuda:0,cuda:1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU where this program was built for GPUs and there is one, else the
    /// processor.
    #[default]
    Auto,
    /// The processor, with this project's own kernels.
    Cpu,
    /// GPUs by number, each with a part of the layers in this order.
    Cuda(Vec<usize>),
    /// The path of GPUs on the processor, as so many devices: `candle-cpu`. Slow, and
    /// meant for tests of that path where there is no GPU.
    CandleCpu(usize),
}

/// Where decoders run, the devices open.
#[derive(Clone, Debug)]
pub enum Devices {
    /// The processor, with this project's own kernels.
    Kernels,
    /// Devices of candle's, each with a part of the layers in this order.
    Candle(Vec<Device>),
}

/// Why a device cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// Nothing goes by this name.
    #[error("`{found}` names no device; there are auto, cpu, cuda, and cuda:0,cuda:1 and so on")]
    Unknown {
        /// The name.
        found: String,
    },
    /// The same device is named twice.
    #[error("{name} is named twice")]
    Twice {
        /// The device.
        name: String,
    },
    /// This program was built without GPUs.
    #[error(
        "this program was built without GPUs: build it with `cargo build --release --features cuda` where the CUDA toolkit is, or choose cpu"
    )]
    NotBuilt,
    /// A GPU cannot be opened.
    #[error("cuda:{ordinal} cannot be used ({reason}): see `nvidia-smi`, or choose cpu")]
    NotThere {
        /// Its number.
        ordinal: usize,
        /// Why.
        reason: String,
    },
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let unknown = || DeviceError::Unknown { found: text.to_owned() };
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        match names[..] {
            ["auto"] => return Ok(Self::Auto),
            ["cpu"] => return Ok(Self::Cpu),
            ["cuda"] => return Ok(Self::Cuda(vec![0])),
            _ if names.iter().all(|name| *name == "candle-cpu") => {
                return Ok(Self::CandleCpu(names.len()));
            }
            _ => (),
        }
        let mut ordinals = Vec::new();
        for name in names {
            let ordinal = name.strip_prefix("cuda:").and_then(|number| number.parse().ok());
            let ordinal = ordinal.ok_or_else(unknown)?;
            if ordinals.contains(&ordinal) {
                return Err(DeviceError::Twice { name: name.to_owned() });
            }
            ordinals.push(ordinal);
        }
        Ok(Self::Cuda(ordinals))
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = match self {
            Self::Auto => vec!["auto".to_owned()],
            Self::Cpu => vec!["cpu".to_owned()],
            Self::Cuda(ordinals) => ordinals.iter().map(|n| format!("cuda:{n}")).collect(),
            Self::CandleCpu(count) => vec!["candle-cpu".to_owned(); *count],
        };
        f.write_str(&names.join(","))
    }
}

impl DeviceChoice {
    /// The same, `auto` decided for this machine.
    #[must_use]
    pub fn decided(self) -> Self {
        match self {
            Self::Auto if n_gpus() > 0 => Self::Cuda(vec![0]),
            Self::Auto => Self::Cpu,
            other => other,
        }
    }

    /// What of it changes numbers: `cpu`, `cuda` or `candle-cpu`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda(_) => "cuda",
            Self::CandleCpu(_) => "candle-cpu",
        }
    }

    /// Opens the devices.
    pub fn open(&self) -> Result<Devices, DeviceError> {
        match self.clone().decided() {
            Self::Auto | Self::Cpu => Ok(Devices::Kernels),
            Self::CandleCpu(count) => Ok(Devices::Candle(vec![Device::Cpu; count])),
            Self::Cuda(_) if !cfg!(feature = "cuda") => Err(DeviceError::NotBuilt),
            Self::Cuda(ordinals) => {
                let open = |&ordinal: &usize| {
                    // A stream of its own: that of `new_cuda` is another one for each
                    // thread, and steps come from any thread of a pool.
                    Device::new_cuda_with_stream(ordinal).map_err(|source| {
                        let reason = source.to_string().lines().next().unwrap_or("").to_owned();
                        DeviceError::NotThere { ordinal, reason }
                    })
                };
                ordinals.iter().map(open).collect::<Result<_, _>>().map(Devices::Candle)
            }
        }
    }
}

/// The GPUs of this machine that this program can use.
#[cfg(feature = "cuda")]
fn n_gpus() -> usize {
    let count = candle_core::cuda_backend::cudarc::driver::CudaContext::device_count();
    count.ok().and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
}

/// The GPUs of this machine that this program can use.
#[cfg(not(feature = "cuda"))]
fn n_gpus() -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_written_as_it_is_read() {
        for name in ["auto", "cpu", "cuda:0", "cuda:1,cuda:0", "candle-cpu,candle-cpu"] {
            assert_eq!(name.parse::<DeviceChoice>().unwrap().to_string(), name);
        }
        assert_eq!("cuda".parse(), Ok(DeviceChoice::Cuda(vec![0])));
        assert_eq!("cuda:2, cuda:0".parse(), Ok(DeviceChoice::Cuda(vec![2, 0])));
    }

    #[test]
    fn what_is_no_device_is_named() {
        for name in ["", "gpu", "cuda:x", "cpu,cuda:0", "cuda:0,", "cuda,cuda:1"] {
            let error = name.parse::<DeviceChoice>().unwrap_err();
            assert_eq!(error, DeviceError::Unknown { found: name.to_owned() });
        }
        let error = "cuda:1,cuda:1".parse::<DeviceChoice>().unwrap_err();
        assert_eq!(error.to_string(), "cuda:1 is named twice");
    }

    #[cfg(not(feature = "cuda"))]
    #[test]
    fn without_gpus_built_in_there_are_none_and_the_error_says_how_to_build_them() {
        assert_eq!(DeviceChoice::Auto.decided(), DeviceChoice::Cpu);
        let error = DeviceChoice::Cuda(vec![0]).open().unwrap_err();
        assert!(error.to_string().contains("--features cuda"), "{error}");
    }
}
