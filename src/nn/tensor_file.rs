//! A safetensors file of our own: a description, numbers as they are, and matrices in
//! few bits.
//!
//! A matrix in few bits lies in three tensors: its codes (`NAME`, bytes) one after the
//! other without gaps, the lowest bit first, and for each group of a row's numbers the
//! least of them (`NAME.least`) and the step from one code to the next (`NAME.steps`),
//! both in half precision: a number is `least + code * step`. The metadata's
//! `unimatch.matrices` says the shape, the bits and the length of a group of each.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use camino::{Utf8Path, Utf8PathBuf};
use candle_core::quantized::GgmlDType;
use half::f16;
use rayon::prelude::*;
use safetensors::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};

use super::weights::{Bytes, ModelError, RawTensor, Weights};

const DESCRIPTION: &str = "unimatch.description";
const MATRICES: &str = "unimatch.matrices";

/// How a matrix is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coding {
    /// The bits of a code, 2 to 8.
    pub bits: u32,
    /// The numbers that share a least one and a step. A row is whole groups.
    pub group: usize,
}

/// What is needed to read a coded matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Layout {
    shape: [usize; 2],
    bits: u32,
    group: usize,
}

/// A matrix in few bits.
#[derive(Clone, Debug, PartialEq)]
struct Coded {
    layout: Layout,
    codes: Vec<u8>,
    least: Vec<f16>,
    steps: Vec<f16>,
}

/// Numbers in single precision.
#[derive(Clone, Debug, PartialEq)]
struct Plain {
    shape: Vec<usize>,
    numbers: Vec<f32>,
}

/// The tensors of a file, and what it says of them.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorFile {
    origin: Utf8PathBuf,
    /// What the tensors are, as a text; JSON where this program writes it.
    pub description: String,
    plain: BTreeMap<String, Plain>,
    coded: BTreeMap<String, Coded>,
}

impl TensorFile {
    /// A file with nothing in it.
    pub fn new(description: String) -> Self {
        let origin = "the weights in memory".into();
        Self { origin, description, plain: BTreeMap::new(), coded: BTreeMap::new() }
    }

    /// Adds numbers as they are.
    pub fn insert(&mut self, name: &str, shape: &[usize], numbers: Vec<f32>) {
        self.plain.insert(name.to_owned(), Plain { shape: shape.to_vec(), numbers });
    }

    /// Adds a matrix in few bits: each number as the nearest that a code can say.
    ///
    /// # Panics
    ///
    /// Unless the coding's bits are 2 to 8, its groups divide a row, and the numbers are
    /// those of the shape.
    pub fn insert_coded(&mut self, name: &str, shape: [usize; 2], numbers: &[f32], coding: Coding) {
        let Coding { bits, group } = coding;
        assert!((2..=8).contains(&bits), "a code of {bits} bits");
        assert!(shape[1].is_multiple_of(group), "a row of {} in groups of {group}", shape[1]);
        assert_eq!(numbers.len(), shape[0] * shape[1], "the numbers of a matrix");
        let top = ((1_u32 << bits) - 1) as f32;
        let (mut least, mut steps) = (Vec::new(), Vec::new());
        let mut codes = vec![0; (numbers.len() * bits as usize).div_ceil(8)];
        let mut at = 0;
        for numbers in numbers.chunks(group) {
            let low = numbers.iter().copied().fold(f32::INFINITY, f32::min);
            let high = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let low = f16::from_f32(low);
            let step = f16::from_f32((high - low.to_f32()) / top);
            least.push(low);
            steps.push(step);
            for number in numbers {
                let place = (number - low.to_f32()) / step.to_f32().max(f32::MIN_POSITIVE);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is moved to what a code can say"
                )]
                let code = place.round().clamp(0.0, top) as u16;
                let bits_before = at % 8;
                let wide = (code << bits_before).to_le_bytes();
                codes[at / 8] |= wide[0];
                if wide[1] != 0 {
                    codes[at / 8 + 1] |= wide[1];
                }
                at += bits as usize;
            }
        }
        let layout = Layout { shape, bits, group };
        self.coded.insert(name.to_owned(), Coded { layout, codes, least, steps });
    }

    /// Reads a file; `origin` is its name in messages.
    pub fn parse(origin: &Utf8Path, bytes: &[u8]) -> Result<Self, ModelError> {
        let damaged = |reason: String| ModelError::Header { file: origin.to_owned(), reason };
        let (_, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|error| damaged(error.to_string()))?;
        let notes = metadata.metadata().clone().unwrap_or_default();
        let note = |key: &str| {
            notes.get(key).ok_or_else(|| damaged(format!("its metadata lacks `{key}`")))
        };
        let layouts: BTreeMap<String, Layout> = serde_json::from_str(note(MATRICES)?)
            .map_err(|error| damaged(format!("`{MATRICES}`: {error}")))?;
        let description = note(DESCRIPTION)?.clone();
        let tensors =
            SafeTensors::deserialize(bytes).map_err(|error| damaged(error.to_string()))?;
        let mut file = Self { origin: origin.to_owned(), ..Self::new(description) };
        for (name, tensor) in tensors.iter() {
            let data = tensor.data();
            if let (Dtype::F32, (numbers, [])) = (tensor.dtype(), data.as_chunks::<4>()) {
                let numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
                file.insert(name, tensor.shape(), numbers);
            }
        }
        for (name, layout) in layouts {
            let bytes_of = |name: &str, dtype: Dtype| {
                let tensor = tensors.tensor(name).map_err(|error| damaged(error.to_string()))?;
                if tensor.dtype() == dtype {
                    Ok(tensor.data())
                } else {
                    Err(damaged(format!("{name} is of another type")))
                }
            };
            let halves = |name: &str| -> Result<Vec<f16>, ModelError> {
                let (halves, _) = bytes_of(name, Dtype::F16)?.as_chunks::<2>();
                Ok(halves.iter().map(|bytes| f16::from_le_bytes(*bytes)).collect())
            };
            let coded = Coded {
                codes: bytes_of(&name, Dtype::U8)?.to_vec(),
                least: halves(&format!("{name}.least"))?,
                steps: halves(&format!("{name}.steps"))?,
                layout,
            };
            coded.check().map_err(|reason| damaged(format!("{name}: {reason}")))?;
            file.coded.insert(name, coded);
        }
        Ok(file)
    }

    /// The bytes of the file. The same tensors give the same bytes.
    pub fn render(&self) -> Result<Vec<u8>, ModelError> {
        let failed = |reason: String| ModelError::Header { file: self.origin.clone(), reason };
        let layouts: BTreeMap<&String, &Layout> =
            self.coded.iter().map(|(name, coded)| (name, &coded.layout)).collect();
        let layouts = serde_json::to_string(&layouts).map_err(|error| failed(error.to_string()))?;
        let mut tensors = Vec::new();
        for (name, Plain { shape, numbers }) in &self.plain {
            let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            tensors.push((name.clone(), Part { dtype: Dtype::F32, shape: shape.clone(), bytes }));
        }
        let halves = |values: &[f16]| Part {
            dtype: Dtype::F16,
            shape: vec![values.len()],
            bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        for (name, Coded { codes, least, steps, .. }) in &self.coded {
            let part =
                Part { dtype: Dtype::U8, shape: vec![codes.len()], bytes: Cow::Borrowed(codes) };
            tensors.push((name.clone(), part));
            tensors.push((format!("{name}.least"), halves(least)));
            tensors.push((format!("{name}.steps"), halves(steps)));
        }
        let notes = HashMap::from([
            (DESCRIPTION.to_owned(), self.description.clone()),
            (MATRICES.to_owned(), layouts),
        ]);
        // The entries of the metadata have no order of their own.
        let bytes =
            safetensors::serialize(tensors, None).map_err(|error| failed(error.to_string()))?;
        with_notes(&bytes, &notes.into_iter().collect()).map_err(failed)
    }

    /// The shape and the numbers of a tensor as they are read back, if it is there.
    pub fn numbers(&self, name: &str) -> Option<(Vec<usize>, Vec<f32>)> {
        if let Some(Plain { shape, numbers }) = self.plain.get(name) {
            return Some((shape.clone(), numbers.clone()));
        }
        let coded = self.coded.get(name)?;
        Some((coded.layout.shape.to_vec(), coded.decode()))
    }

    /// The numbers of a tensor that must be there and have this shape.
    pub fn shaped(&self, name: &str, expected: &[usize]) -> Result<Vec<f32>, ModelError> {
        let (file, tensor) = (self.origin.clone(), name.to_owned());
        match self.numbers(name) {
            None => Err(ModelError::MissingTensor { file, tensor }),
            Some((shape, numbers)) if shape == expected => Ok(numbers),
            Some((found, _)) => {
                Err(ModelError::WrongShape { file, tensor, found, expected: expected.to_vec() })
            }
        }
    }

    /// The names of all tensors, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.plain.keys().chain(self.coded.keys()).map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

/// Puts metadata into the header of a safetensors file that has none, in order of its
/// keys: the crate would write them in any.
fn with_notes(bytes: &[u8], notes: &BTreeMap<String, String>) -> Result<Vec<u8>, String> {
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or("a file without a header")?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|error| error.to_string())?;
    let (header, data) = rest.split_at(length);
    let mut header: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(header).map_err(|error| error.to_string())?;
    let notes = serde_json::to_value(notes).map_err(|error| error.to_string())?;
    header.insert("__metadata__".to_owned(), notes);
    let mut header = serde_json::to_vec(&header).map_err(|error| error.to_string())?;
    header.resize(header.len().next_multiple_of(8), b' ');
    Ok([&(header.len() as u64).to_le_bytes()[..], &header, data].concat())
}

impl Coded {
    fn check(&self) -> Result<(), String> {
        let Layout { shape: [n_rows, width], bits, group } = self.layout;
        let n_numbers = n_rows.checked_mul(width).ok_or("a shape beyond all bounds")?;
        if !(2..=8).contains(&bits) || group == 0 || !width.is_multiple_of(group) {
            return Err(format!("codes of {bits} bits in groups of {group}"));
        }
        let n_groups = n_numbers / group;
        let sizes = (self.codes.len(), self.least.len(), self.steps.len());
        let expected = ((n_numbers * bits as usize).div_ceil(8), n_groups, n_groups);
        if sizes != expected {
            return Err(format!("{sizes:?} codes, least numbers and steps for {expected:?}"));
        }
        Ok(())
    }

    fn decode(&self) -> Vec<f32> {
        let Layout { shape, bits, group } = self.layout;
        let mut numbers = vec![0.0; shape[0] * shape[1]];
        let mask = (1_u16 << bits) - 1;
        let scales = self.least.iter().zip(&self.steps);
        let groups: Vec<_> = numbers.chunks_mut(group).zip(scales).enumerate().collect();
        groups.into_par_iter().for_each(|(index, (numbers, (least, step)))| {
            let mut at = index * group * bits as usize;
            for number in numbers {
                let next = self.codes.get(at / 8 + 1).copied().unwrap_or(0);
                let wide = u16::from_le_bytes([self.codes[at / 8], next]);
                let code = (wide >> (at % 8)) & mask;
                *number = f32::from(code).mul_add(step.to_f32(), least.to_f32());
                at += bits as usize;
            }
        });
        numbers
    }
}

impl Weights for TensorFile {
    fn origin(&self) -> &Utf8Path {
        &self.origin
    }

    fn find(&self, name: &str) -> Result<Option<RawTensor>, ModelError> {
        Ok(self.numbers(name).map(|(shape, numbers)| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            RawTensor { dtype: GgmlDType::F32, shape, bytes: Bytes::Owned(Arc::new(bytes)) }
        }))
    }
}

/// A tensor as it is written.
struct Part<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl View for Part<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_cut_short_is_refused_by_name() {
        let mut file = TensorFile::new("{}".to_owned());
        file.insert("a", &[2], vec![1.0, 2.0]);
        let bytes = file.render().unwrap();
        let path = Utf8Path::new("x.safetensors");
        assert_eq!(TensorFile::parse(path, &bytes).unwrap().numbers("a"), file.numbers("a"));
        for end in [0, 8, bytes.len() - 1] {
            let error = TensorFile::parse(path, &bytes[..end]).unwrap_err().to_string();
            assert!(error.contains("x.safetensors"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn codes_are_read_back_within_half_a_step(
            bits in 2_u32..=8, n_rows in 1_usize..5, n_groups in 1_usize..4,
            group in 1_usize..40, seed: u32
        ) {
            let mut state = seed;
            let width = n_groups * group;
            let numbers: Vec<f32> = (0..n_rows * width)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 8) as f32 / 8_388_608.0 - 1.0
                })
                .collect();
            let mut file = TensorFile::new("what it is".to_owned());
            file.insert_coded("m", [n_rows, width], &numbers, Coding { bits, group });
            let bytes = file.render().unwrap();
            let read = TensorFile::parse(Utf8Path::new("f"), &bytes).unwrap();
            prop_assert_eq!(&read.description, "what it is");
            prop_assert_eq!(read.render().unwrap(), bytes);
            let (shape, decoded) = read.numbers("m").unwrap();
            prop_assert_eq!(shape, vec![n_rows, width]);
            // Half a step, and what half precision takes from the step and the least.
            let tolerance = 1.0 / ((1_u32 << bits) - 1) as f32 + 0.003;
            for (number, decoded) in numbers.iter().zip(decoded) {
                prop_assert!((number - decoded).abs() < tolerance, "{number} {decoded}");
            }
        }
    }
}
