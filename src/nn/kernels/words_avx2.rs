//! Products of sixteen-bit integers, for AVX2.

#![expect(unsafe_code, reason = "instructions that only some processors have")]
#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use std::{
    arch::x86_64::{
        __m256, __m256i, _mm256_add_epi32, _mm256_cvtepi32_ps, _mm256_fmadd_ps, _mm256_madd_epi16,
        _mm256_mul_ps, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_si256,
    },
    mem::transmute,
};

use super::{
    codes::HALF,
    simd::Lanes,
    simd_avx2::Avx2,
    words::{EMPTY, WordBlock, WordInputs},
};

/// As [`word_tile`](super::word_tile). All rows have as many blocks as the tile,
/// and there are as many totals as rows.
pub(super) fn tile(simd: Avx2, tile: &[WordBlock], rows: &[&[WordInputs]], totals: &mut [Lanes]) {
    for (rows, totals) in rows.chunks(AT_ONCE).zip(totals.chunks_mut(AT_ONCE)) {
        few(simd, tile, rows, totals);
    }
}

/// The rows whose sums fit into twelve registers.
const AT_ONCE: usize = 6;

fn few(simd: Avx2, tile: &[WordBlock], rows: &[&[WordInputs]], totals: &mut [Lanes]) {
    // SAFETY: an `Avx2` is only made where the processor has AVX2, FMA and F16C.
    unsafe {
        match rows.len() {
            0 => (),
            1 => tile_rows::<1>(simd, tile, rows, totals),
            2 => tile_rows::<2>(simd, tile, rows, totals),
            3 => tile_rows::<3>(simd, tile, rows, totals),
            4 => tile_rows::<4>(simd, tile, rows, totals),
            5 => tile_rows::<5>(simd, tile, rows, totals),
            _ => tile_rows::<6>(simd, tile, rows, totals),
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn tile_rows<const R: usize>(
    simd: Avx2,
    tile: &[WordBlock],
    rows: &[&[WordInputs]],
    totals: &mut [Lanes],
) {
    // No closures here: they would not be compiled for these instructions.
    let mut all: [&[WordInputs]; R] = [&[]; R];
    for (row, blocks) in all.iter_mut().zip(rows) {
        *row = &blocks[..tile.len()];
    }
    let totals = &mut totals[..R];
    let mut inputs = [&EMPTY; R];
    for (index, weights) in tile.iter().enumerate() {
        for row in 0..R {
            inputs[row] = &all[row][index];
        }
        let mut sums = [[_mm256_setzero_si256(); 2]; R];
        for (step, codes) in weights.codes.iter().enumerate() {
            let codes = [integers(simd, &codes[0]), integers(simd, &codes[1])];
            for row in 0..R {
                let pair = _mm256_set1_epi32(inputs[row].pairs[step]);
                for half in 0..2 {
                    // No code is the least of sixteen bits, so that no pair of
                    // products overflows.
                    let products = _mm256_madd_epi16(codes[half], pair);
                    sums[row][half] = _mm256_add_epi32(sums[row][half], products);
                }
            }
        }
        let scales = singles(simd, &weights.scales);
        for row in 0..R {
            let input_scale = _mm256_set1_ps(inputs[row].scale);
            let mut total = singles(simd, &totals[row]);
            for half in 0..2 {
                let scale = _mm256_mul_ps(scales[half], input_scale);
                let sum = _mm256_cvtepi32_ps(sums[row][half]);
                total[half] = _mm256_fmadd_ps(sum, scale, total[half]);
            }
            // SAFETY: both are sixteen numbers.
            totals[row] = unsafe { transmute::<[__m256; 2], Lanes>(total) };
        }
    }
}

/// Two codes of each of eight outputs.
#[inline(always)]
fn integers(_simd: Avx2, codes: &[i16; 2 * HALF]) -> __m256i {
    // SAFETY: both are 32 bytes, of which every bit pattern is valid.
    unsafe { transmute::<[i16; 2 * HALF], __m256i>(*codes) }
}

#[inline(always)]
fn singles(_simd: Avx2, values: &Lanes) -> [__m256; 2] {
    // SAFETY: both are sixteen numbers, of which every bit pattern is valid.
    unsafe { transmute::<Lanes, [__m256; 2]>(*values) }
}
