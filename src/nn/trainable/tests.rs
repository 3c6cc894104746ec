//! The fused operations against the same put together from candle's: values and slopes.

use std::{ops::Range, sync::Arc};

use candle_core::{D, DType, Device, Result, Tensor, Var};
use candle_nn::ops::softmax;

use super::{Noise, attend, gelu, layer_norm, linear};

/// Numbers around zero.
fn drawn(shape: &[usize], noise: &mut Noise) -> Var {
    let count = shape.iter().product();
    let numbers: Vec<f64> = (0..count).map(|_| noise.uniform() * 4.0 - 2.0).collect();
    let numbers = Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap();
    Var::from_tensor(&numbers.to_dtype(DType::F32).unwrap()).unwrap()
}

/// The same values, and the same slopes of a sum with weights along every input.
fn check(
    inputs: &[Var],
    fused: impl Fn(&[Var]) -> Result<Tensor>,
    plain: impl Fn(&[Var]) -> Result<Tensor>,
) {
    let (ours, theirs) = (fused(inputs).unwrap(), plain(inputs).unwrap());
    let weights = drawn(ours.dims(), &mut Noise::new(99, 0));
    let slopes = |out: &Tensor| (out * weights.as_tensor())?.sum_all()?.backward();
    let (our_slopes, their_slopes) = (slopes(&ours).unwrap(), slopes(&theirs).unwrap());
    close(&ours, &theirs);
    for input in inputs {
        close(our_slopes.get(input).unwrap(), their_slopes.get(input).unwrap());
    }
}

fn close(ours: &Tensor, theirs: &Tensor) {
    assert_eq!(ours.dims(), theirs.dims());
    let numbers = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    let (ours, theirs) = (numbers(ours), numbers(theirs));
    let largest = theirs.iter().fold(1.0_f32, |largest, number| largest.max(number.abs()));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!((ours - theirs).abs() <= 2e-5 * largest, "{ours} and {theirs} of {largest}");
    }
}

#[test]
fn a_product_has_the_slopes_of_candle() {
    let noise = &mut Noise::new(1, 0);
    let inputs = [drawn(&[37, 24], noise), drawn(&[40, 24], noise), drawn(&[40], noise)];
    check(
        &inputs,
        |x| linear(&x[0], &x[1], &x[2]),
        |x| x[0].matmul(&x[1].t()?)?.broadcast_add(&x[2]),
    );
}

#[test]
fn a_norm_has_the_slopes_of_candle() {
    let noise = &mut Noise::new(2, 0);
    let inputs = [drawn(&[29, 48], noise), drawn(&[48], noise), drawn(&[48], noise)];
    check(
        &inputs,
        |x| layer_norm(&x[0], &x[1], &x[2], 1e-5),
        |x| {
            let apart = x[0].broadcast_sub(&x[0].mean_keepdim(D::Minus1)?)?;
            let variance = apart.sqr()?.mean_keepdim(D::Minus1)?;
            let normed = apart.broadcast_div(&(variance + 1e-5)?.sqrt()?)?;
            normed.broadcast_mul(&x[1])?.broadcast_add(&x[2])
        },
    );
}

#[test]
fn an_activation_has_the_slopes_of_candle() {
    let inputs = [drawn(&[5, 301], &mut Noise::new(3, 0))];
    check(&inputs, |x| gelu(&x[0]), |x| x[0].gelu_erf());
}

#[test]
fn attention_within_each_of_several_texts_has_the_slopes_of_candle() {
    let noise = &mut Noise::new(4, 0);
    let texts: Arc<Vec<Range<usize>>> = Arc::new(vec![0..7, 7..8, 8..25]);
    let (n_heads, size) = (3, 16);
    let inputs = [(); 3].map(|()| drawn(&[25, n_heads * size], noise));
    let plain = |x: &[Var]| {
        let of_text = |text: &Range<usize>| {
            let part = |x: &Var| {
                let rows = x.narrow(0, text.start, text.len())?;
                rows.reshape((text.len(), n_heads, size))?.transpose(0, 1)?.contiguous()
            };
            let (queries, keys, values) = (part(&x[0])?, part(&x[1])?, part(&x[2])?);
            let scores = (queries.matmul(&keys.transpose(1, 2)?)? / (size as f64).sqrt())?;
            let attended = softmax(&scores, D::Minus1)?.matmul(&values)?;
            attended.transpose(0, 1)?.reshape((text.len(), n_heads * size))
        };
        Tensor::cat(&texts.iter().map(of_text).collect::<Result<Vec<_>>>()?, 0)
    };
    let fused =
        |x: &[Var]| attend([&x[0], &x[1], &x[2]].map(|x| &**x), n_heads, &texts, (0.0, None));
    check(&inputs, fused, plain);
}
