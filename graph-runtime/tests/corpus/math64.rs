//! `kernels/math64.cu`. They are made of IEEE operations, and of gross approximations that Newton's method refines
//! until nothing is left of their errors; but for `rsqrt`, which is within 1 ulp (CUDA C++ Programming Guide, section
//! 13.1). Payloads of NaNs PTX leaves open.

use crate::bound::{Bound, grouped};
use crate::data::{f64_arguments, many};
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/math64.ptx")]
unsafe extern "C" {
    fn functions_f64(input: &[f64], out: &mut [f64], n: u32);
    fn two_arguments_f64(a: &[f64], b: &[f64], out: &mut [f64], n: u32);
}

const N: usize = 384;

fn arguments(which: usize) -> Vec<f64> {
    let mut all = f64_arguments(which, 288);
    all.extend(many(201 + which as u64, 90, |random| random.f64(-10.0, 10.0)));
    all.extend([1e15, -1e22, 1e300, 710.0, -745.0, 0.999_999_999_999_999_9]);
    all
}

#[test]
fn functions_f64() {
    let rows = grouped(&[
        (
            "sin | cos | tan | exp | log | log2 | expm1 | log1p | tanh | erf | atan | asin | cbrt",
            Bound::Number,
        ),
        ("rsqrt", Bound::Ulps(1)),
        ("exp2 | sqrt | lgamma", Bound::Number),
    ]);
    trial!(functions_f64<<<3, 128>>>(input: arguments(1) => out: rows::<f64>(N, &rows); N as u32));
}

#[test]
fn two_arguments_f64() {
    let names = "pow | atan2 | hypot | fmod | remainder | division | fma | ldexp | frexp";
    let rows = grouped(&[(names, Bound::Number)]);
    trial!(two_arguments_f64<<<3, 128>>>(a: arguments(0), b: arguments(1) => out: rows::<f64>(N, &rows); N as u32));
}
