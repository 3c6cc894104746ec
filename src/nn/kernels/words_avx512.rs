//! Products of sixteen-bit integers, for AVX-512 with VNNI.
//!
//! A step is one load of two codes of each of sixteen outputs, and for each row one
//! instruction that multiplies them with a pair of its inputs and adds both products.

#![expect(unsafe_code, reason = "instructions that only some processors have")]
#![expect(
    clippy::inline_always,
    reason = "a function is compiled for the instructions of its caller only where it is inlined"
)]

use std::{
    arch::x86_64::{
        __m512, __m512i, _mm512_cvtepi32_ps, _mm512_dpwssd_epi32, _mm512_fmadd_ps, _mm512_mul_ps,
        _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_si512,
    },
    mem::transmute,
};

use super::{
    simd::Lanes,
    simd_avx512::Avx512,
    words::{EMPTY, MAX_WORD_ROWS, Pairs, WordBlock, WordInputs},
};

/// As [`word_tile`](super::word_tile). All rows have as many blocks as the tile,
/// and there are as many totals as rows.
pub(super) fn tile(simd: Avx512, tile: &[WordBlock], rows: &[&[WordInputs]], totals: &mut [Lanes]) {
    const { assert!(MAX_WORD_ROWS == 12) };
    // SAFETY: an `Avx512` is only made where the processor has these instructions.
    unsafe {
        match rows.len() {
            0 => (),
            1 => tile_rows::<1>(simd, tile, rows, totals),
            2 => tile_rows::<2>(simd, tile, rows, totals),
            3 => tile_rows::<3>(simd, tile, rows, totals),
            4 => tile_rows::<4>(simd, tile, rows, totals),
            5 => tile_rows::<5>(simd, tile, rows, totals),
            6 => tile_rows::<6>(simd, tile, rows, totals),
            7 => tile_rows::<7>(simd, tile, rows, totals),
            8 => tile_rows::<8>(simd, tile, rows, totals),
            9 => tile_rows::<9>(simd, tile, rows, totals),
            10 => tile_rows::<10>(simd, tile, rows, totals),
            11 => tile_rows::<11>(simd, tile, rows, totals),
            _ => tile_rows::<12>(simd, tile, rows, totals),
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn tile_rows<const R: usize>(
    simd: Avx512,
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
    let mut products = [singles(simd, &[0.0; 16]); R];
    for (product, total) in products.iter_mut().zip(&*totals) {
        *product = singles(simd, total);
    }
    let mut inputs = [&EMPTY; R];
    for (index, weights) in tile.iter().enumerate() {
        for row in 0..R {
            inputs[row] = &all[row][index];
        }
        let mut sums = [_mm512_setzero_si512(); R];
        for (step, codes) in weights.codes.iter().enumerate() {
            let codes = integers(simd, codes);
            for row in 0..R {
                // No code is the least of sixteen bits, so that no pair of products
                // overflows.
                let pair = _mm512_set1_epi32(inputs[row].pairs[step]);
                sums[row] = _mm512_dpwssd_epi32(sums[row], codes, pair);
            }
        }
        let scales = singles(simd, &weights.scales);
        for row in 0..R {
            let scale = _mm512_mul_ps(scales, _mm512_set1_ps(inputs[row].scale));
            products[row] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[row]), scale, products[row]);
        }
    }
    for (total, product) in totals.iter_mut().zip(products) {
        // SAFETY: both are sixteen numbers.
        *total = unsafe { transmute::<__m512, Lanes>(product) };
    }
}

/// Two codes of each of sixteen outputs.
#[inline(always)]
fn integers(_simd: Avx512, codes: &[Pairs; 2]) -> __m512i {
    // SAFETY: both are 64 bytes, of which every bit pattern is valid.
    unsafe { transmute::<[Pairs; 2], __m512i>(*codes) }
}

#[inline(always)]
fn singles(_simd: Avx512, values: &Lanes) -> __m512 {
    // SAFETY: both are sixteen numbers, of which every bit pattern is valid.
    unsafe { transmute::<Lanes, __m512>(*values) }
}
