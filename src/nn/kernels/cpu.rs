//! Which instructions the kernels may use.

use std::{fmt, str::FromStr};

/// A set of instructions that the kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CpuLevel {
    /// What every processor has.
    Portable,
    /// x86-64 with AVX2, FMA and F16C.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL and VNNI besides.
    Avx512Vnni,
}

impl CpuLevel {
    /// All levels, the slowest first.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512Vnni];

    /// Whether this machine has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512Vnni => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512Vnni => "avx512",
        }
    }
}

impl fmt::Display for CpuLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CpuLevel {
    type Err = CpuError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|level| level.name() == text)
            .ok_or_else(|| CpuError::Unknown { name: text.to_owned() })
    }
}

/// A set of instructions that this machine was seen to have. The levels differ
/// in speed alone: all give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu(CpuLevel);

impl Cpu {
    /// The fastest level of this machine.
    pub fn detect() -> Self {
        let available = |level: &CpuLevel| level.is_available();
        Self(CpuLevel::ALL.into_iter().rev().find(available).unwrap_or(CpuLevel::Portable))
    }

    /// A given level.
    ///
    /// # Errors
    ///
    /// If this machine does not have its instructions.
    pub fn with_level(level: CpuLevel) -> Result<Self, CpuError> {
        if level.is_available() {
            Ok(Self(level))
        } else {
            Err(CpuError::Absent { level, best: Self::detect().0 })
        }
    }

    /// The level.
    pub fn level(self) -> CpuLevel {
        self.0
    }
}

/// Why a level cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CpuError {
    /// There is no level of this name.
    #[error("there is no instruction set {name:?}: it is `portable`, `avx2` or `avx512`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The machine lacks the instructions.
    #[error("this processor has no {level}: the best it has is {best}, which `auto` chooses")]
    Absent {
        /// The level asked for.
        level: CpuLevel,
        /// The fastest level of this machine.
        best: CpuLevel,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_known_by_its_name() {
        for level in CpuLevel::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        let error = "sse9".parse::<CpuLevel>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no instruction set \"sse9\": it is `portable`, `avx2` or `avx512`"
        );
    }

    #[test]
    fn the_portable_level_is_everywhere_and_the_detected_one_is_the_best() {
        let portable = Cpu::with_level(CpuLevel::Portable).unwrap();
        assert!(Cpu::detect().level() >= portable.level());
        assert!(Cpu::detect().level().is_available());
    }
}
