//! Matrix products against scalar references.

use std::sync::Arc;

use candle_core::{
    Device, Tensor,
    quantized::{GgmlDType, QTensor},
};
use proptest::prelude::*;

use super::*;
use crate::nn::{Bytes, CpuLevel};

const DTYPES: [GgmlDType; 11] = [
    GgmlDType::F32,
    GgmlDType::F16,
    GgmlDType::BF16,
    GgmlDType::Q4_0,
    GgmlDType::Q4_1,
    GgmlDType::Q5_0,
    GgmlDType::Q5_1,
    GgmlDType::Q8_0,
    GgmlDType::Q4K,
    GgmlDType::Q5K,
    GgmlDType::Q6K,
];

/// Numbers between -1 and 1 that a seed gives.
fn numbers(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

fn raw(dtype: GgmlDType, n_outputs: usize, n_inputs: usize, seed: u32) -> (RawTensor, Vec<f32>) {
    let weights = numbers(seed, n_outputs * n_inputs);
    let weights = Tensor::from_vec(weights, (n_outputs, n_inputs), &Device::Cpu).unwrap();
    let quantized = QTensor::quantize(&weights, dtype).unwrap();
    let weights = quantized.dequantize(&Device::Cpu).unwrap().flatten_all().unwrap();
    let bytes = Bytes::Owned(Arc::new(quantized.data().unwrap().to_vec()));
    (RawTensor { dtype, shape: vec![n_outputs, n_inputs], bytes }, weights.to_vec1().unwrap())
}

fn product(cpu: Cpu, matrices: &[&Linear], rows: &[f32], n_rows: usize) -> Vec<f32> {
    let width: usize = matrices.iter().map(|matrix| matrix.n_outputs).sum();
    let mut out = vec![f32::NAN; n_rows * width];
    multiply(cpu, matrices, &Inputs::new(cpu, rows, matrices), &mut out, Mode::Store);
    out
}

/// What the inputs are to a kernel: to integer ones, rounded by blocks, in single
/// precision as the kernels do, so that a code on the border rounds the same way.
fn rounded(rows: &[f32]) -> Vec<f64> {
    rows.chunks(DEPTH)
        .flat_map(|block| {
            let greatest = block.iter().fold(0.0_f32, |greatest, x| greatest.max(x.abs()));
            let (scale, inverse) = (f64::from(greatest) / 127.0, 127.0 / greatest);
            block.iter().map(move |&x| f64::from((x * inverse).round_ties_even()) * scale)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_format_multiplies_as_its_numbers_say_and_alike_on_every_processor(
        index in 0..DTYPES.len(), n_outputs in 1usize..70, n_blocks in 1usize..4,
        n_rows in 1usize..10, seed: u32
    ) {
        let dtype = DTYPES[index];
        let n_inputs = n_blocks * if dtype.block_size() == 256 { 256 } else { 32 };
        let (tensor, weights) = raw(dtype, n_outputs, n_inputs, seed);
        let matrix = Linear::pack(&tensor).unwrap();
        let rows = numbers(!seed, n_rows * n_inputs);
        let exact: Vec<f64> = if matrix.is_quantized() {
            rounded(&rows)
        } else {
            rows.iter().copied().map(f64::from).collect()
        };
        let cpus = CpuLevel::ALL.into_iter().filter_map(|level| Cpu::with_level(level).ok());
        let results: Vec<Vec<f32>> =
            cpus.map(|cpu| product(cpu, &[&matrix], &rows, n_rows)).collect();
        for result in &results {
            prop_assert_eq!(result, &results[0]);
        }
        for row in 0..n_rows {
            for output in 0..n_outputs {
                let terms = (0..n_inputs).map(|input| {
                    exact[row * n_inputs + input] * f64::from(weights[output * n_inputs + input])
                });
                let size: f64 = terms.clone().map(f64::abs).sum();
                let error = terms.sum::<f64>() - f64::from(results[0][row * n_outputs + output]);
                prop_assert!(error.abs() <= 2e-4 * size, "{dtype:?} {row} {output}: {error}");
            }
        }
        for row in 0..n_rows {
            let alone = &rows[row * n_inputs..][..n_inputs];
            prop_assert_eq!(
                product(Cpu::detect(), &[&matrix], alone, 1),
                &results[0][row * n_outputs..][..n_outputs]
            );
        }
    }
}

#[test]
fn matrices_side_by_side_give_what_each_gives_alone() {
    let (n_inputs, n_rows) = (256, 150);
    let formats = [(GgmlDType::Q6K, 33), (GgmlDType::Q4_1, 400), (GgmlDType::Q8_0, 16)];
    let matrices: Vec<Linear> = formats
        .iter()
        .map(|&(dtype, n_outputs)| Linear::pack(&raw(dtype, n_outputs, n_inputs, 7).0).unwrap())
        .collect();
    let matrices: Vec<&Linear> = matrices.iter().collect();
    let rows = numbers(3, n_rows * n_inputs);
    let together = product(Cpu::detect(), &matrices, &rows, n_rows);
    let mut first = 0;
    for matrix in &matrices {
        let alone = product(Cpu::detect(), &[matrix], &rows, n_rows);
        for (row, alone) in alone.chunks(matrix.n_outputs).enumerate() {
            assert_eq!(alone, &together[row * 449 + first..][..matrix.n_outputs]);
        }
        first += matrix.n_outputs;
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (tensor, _) = raw(GgmlDType::Q4_1, 530, 256, 5);
    let matrix = Linear::pack(&tensor).unwrap();
    let rows = numbers(11, 130 * 256);
    let with_threads = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| product(Cpu::detect(), &[&matrix], &rows, 130))
    };
    assert_eq!(with_threads(1), with_threads(3));
}

#[test]
fn the_greatest_weights_and_inputs_do_not_overflow() {
    // All codes at their ends: the sums in sixteen bits come as close as they can.
    let inputs: Vec<f32> = (0..64).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    for dtype in
        [GgmlDType::Q4_0, GgmlDType::Q4_1, GgmlDType::Q5_0, GgmlDType::Q5_1, GgmlDType::Q8_0]
    {
        for pattern in [[1.0_f32, 1.0], [1.0, -1.0], [-1.0, 1.0]] {
            let rows = [vec![1.0; 64], inputs.clone()].concat();
            let weights: Vec<f32> = (0..20 * 64).map(|i| pattern[i % 2]).collect();
            let weights = Tensor::from_vec(weights, (20, 64), &Device::Cpu).unwrap();
            let quantized = QTensor::quantize(&weights, dtype).unwrap();
            let bytes = Bytes::Owned(Arc::new(quantized.data().unwrap().to_vec()));
            let tensor = RawTensor { dtype, shape: vec![20, 64], bytes };
            let matrix = Linear::pack(&tensor).unwrap();
            let dense = quantized.dequantize(&Device::Cpu).unwrap().to_vec2::<f32>().unwrap();
            let results = product(Cpu::detect(), &[&matrix], &rows, 2);
            for (row, results) in rows.chunks(64).zip(results.chunks(20)) {
                for (weights, result) in dense.iter().zip(results) {
                    let expected: f32 = weights.iter().zip(row).map(|(w, x)| w * x).sum();
                    assert!((expected - result).abs() < 1e-3, "{dtype:?}: {expected}, {result}");
                }
            }
        }
    }
}
