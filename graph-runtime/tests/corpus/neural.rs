//! `kernels/neural.cu`

use crate::bound::{Bound, grouped};
use crate::data::floats;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/neural.ptx")]
unsafe extern "C" {
    fn softmax_rows(input: &[f32], out: &mut [f32], rows: i32, columns: i32);
    fn layer_norm(
        input: &[f32],
        gain: &[f32],
        bias: &[f32],
        out: &mut [f32],
        kept: &mut [f32],
        columns: i32,
        epsilon: f32,
    );
    fn attention(query: &[f32], key: &[f32], value: &[f32], out: &mut [f32], tokens: i32);
    fn activations(input: &[f32], out: &mut [f32], n: i32);
    fn convolve(image: &[f32], filters: &[f32], out: &mut [f32], height: i32, width: i32);
}

/// `expf` is within 1 ulp (CUDA C++ Programming Guide, section 13.1), a relative error of up to 2^-23, on both sides of
/// the quotient; sum and quotient are rounded, 2^-24 in all, and subnormal quotients to the next 2^-149.
const OF_EXPF: Bound = Bound::Either(1.5e-45, 2.5 * 1.2e-7);

#[test]
fn softmax_rows() {
    let (rows, columns) = (10, 77);
    let mut input = floats(11, rows * columns, -8.0, 8.0);
    input[5] = f32::NEG_INFINITY; // masked out
    input[columns * 3..columns * 4].fill(2.0);
    input[columns * 4 + 7] = 88.0;
    trial!(softmax_rows<<<3, (32, 4)>>>(
        input: input => out: output::<f32>(rows * columns, OF_EXPF); rows as i32, columns as i32
    ));
}

#[test]
fn layer_norm() {
    let (rows, columns) = (6, 200);
    trial!(layer_norm<<<6, 96>>>(
        input: floats(12, rows * columns, -3.0, 5.0), gain: floats(13, columns, 0.5, 2.0),
        bias: floats(14, columns, -1.0, 1.0)
        => out: output::<f32>(rows * columns, Bound::Bits), kept: output::<f32>(rows * 2, Bound::Bits);
        columns as i32, 1e-5
    ));
}

#[test]
fn attention() {
    let (tokens, width) = (50, 32);
    // Weighted means of values up to 1. `__expf(x)` is within 2 + floor(|1.173 x|) ulps (CUDA C++ Programming Guide,
    // section 13.2), |x| at most 45 here: 55 ulps of 2^-24 for each weight, on both sides of the quotient, 2^-17.2 in
    // all.
    trial!(attention<<<2, 32>>>(
        query: floats(15, tokens * width, -2.0, 2.0), key: floats(16, tokens * width, -2.0, 2.0),
        value: floats(17, tokens * width, -1.0, 1.0)
        => out: output::<f32>(tokens * width, Bound::Absolute(6.6e-6)); tokens as i32
    ));
}

#[test]
fn activations() {
    let n = 128;
    let mut input = floats(18, n, -6.0, 6.0);
    input[..6].copy_from_slice(&[0.0, -0.0, 100.0, -100.0, f32::INFINITY, f32::NEG_INFINITY]);
    // The bounds of `expf` 1 ulp, `erff` 2, `tanhf` 1, `__expf` 2 + floor(|1.173 x|), `log1pf` 1 (CUDA C++ Programming
    // Guide, sections 13.1 and 13.2), and a rounding or two.
    let rows = grouped(&[
        ("relu | leaky relu", Bound::Bits),
        ("sigmoid", Bound::Ulps(2)),
        ("gelu", Bound::Either(3.0 * 2.0 * 6e-8, 3.0 * 1.2e-7)),
        ("tanh", Bound::Ulps(1)),
        ("swish", Bound::Ulps(11)),
        ("softplus", Bound::Ulps(3)),
        ("hard sigmoid", Bound::Bits),
    ]);
    trial!(activations<<<2, 64>>>(input: input => out: rows::<f32>(n, &rows); n as i32));
}

#[test]
fn convolve() {
    let (height, width, planes) = (18, 21, 4);
    trial!(convolve<<<(2, 3, 4), (16, 8)>>>(
        image: floats(19, 3 * height * width, -1.0, 1.0), filters: floats(20, planes * 27, -1.0, 1.0)
        => out: output::<f32>(planes * height * width, Bound::Bits); height as i32, width as i32
    ));
}
