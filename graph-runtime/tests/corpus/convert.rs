//! `kernels/convert.cu`

use crate::bound::{Bound, alike};
use crate::data::{f32_arguments, f64_arguments, u32_arguments};
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/convert.ptx")]
unsafe extern "C" {
    fn float_to_integer(input: &[f32], out: &mut [u32], wide: &mut [u64]);
    fn double_to_integer(input: &[f64], out: &mut [u32], wide: &mut [u64]);
    fn integer_to_float(input: &[u32], out: &mut [f32], wide: &mut [f64]);
    fn between_floats(input: &[f32], wide_input: &[f64], out: &mut [f32], wide: &mut [f64]);
    fn between_integers(input: &[u32], out: &mut [u32], wide: &mut [u64]);
}

const N: usize = 384;

/// Halves and the ends of the ranges of integers, in place of the first of some arguments.
fn edges() -> Vec<f64> {
    let ends = [7, 8, 15, 16, 31, 32, 63, 64].map(|bits| 2f64.powi(bits));
    let near = ends
        .iter()
        .flat_map(|&end| [end, -end, end.next_down(), end - 0.5, -end - 0.5, end - 1.0, -end - 1.0]);
    near.chain([
        0.5, 1.5, 2.5, -0.5, -1.5, 0.49999, -0.49999, 0.99999, -0.99999, 254.5, 255.5,
    ])
    .collect()
}

fn f32s() -> Vec<f32> {
    edges()
        .into_iter()
        .map(|edge| edge as f32)
        .chain(f32_arguments(1, N))
        .collect()
}

fn f64s() -> Vec<f64> {
    edges().into_iter().chain(f64_arguments(1, N)).collect()
}

#[test]
fn float_to_integer() {
    let n = f32s().len();
    trial!(float_to_integer<<<n, 1>>>(
        input: f32s()
        => out: rows::<u32>(n, &alike(13, Bound::Bits)), wide: rows::<u64>(n, &alike(8, Bound::Bits))
    ));
}

#[test]
fn double_to_integer() {
    let n = f64s().len();
    trial!(double_to_integer<<<n, 1>>>(
        input: f64s()
        => out: rows::<u32>(n, &alike(14, Bound::Bits)), wide: rows::<u64>(n, &alike(8, Bound::Bits))
    ));
}

trials! {
    integer_to_float<<<3, 128>>>(
        input: u32_arguments(1, N)
        => out: rows::<f32>(N, &alike(19, Bound::Bits)), wide: rows::<f64>(N, &alike(10, Bound::Bits))
    );
    between_integers<<<3, 128>>>(
        input: u32_arguments(1, N)
        => out: rows::<u32>(N, &alike(18, Bound::Bits)), wide: rows::<u64>(N, &alike(3, Bound::Bits))
    );
}

#[test]
fn between_floats() {
    let n = f32s().len();
    // PTX does not say what becomes of the payload of a NaN in f64.
    let mut bounds = alike(14, Bound::Bits);
    for row in [0, 1, 2, 3, 12] {
        bounds[row].1 = Bound::Number;
    }
    trial!(between_floats<<<n, 1>>>(
        input: f32s(), wide_input: f64s()
        => out: rows::<f32>(n, &bounds), wide: rows::<f64>(n, &alike(6, Bound::Number))
    ));
}
