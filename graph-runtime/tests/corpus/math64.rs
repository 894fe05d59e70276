//! `kernels/math64.cu`. They are made of IEEE operations, and of gross approximations that Newton's method refines
//! until nothing is left of their errors; but for `rsqrt`, which is within 1 ulp (CUDA C++ Programming Guide, section
//! 13.1). Payloads of NaNs PTX leaves open.

use crate::bound::Bound;
use crate::data::{f64_arguments, many};
use crate::trial::Trial;
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
    let mut trial = Trial::new("functions_f64");
    let input = trial.input("in", arguments(1));
    let mut out = trial.rows::<f64>(
        "out",
        N,
        &[
            ("sin", Bound::Number),
            ("cos", Bound::Number),
            ("tan", Bound::Number),
            ("exp", Bound::Number),
            ("log", Bound::Number),
            ("log2", Bound::Number),
            ("expm1", Bound::Number),
            ("log1p", Bound::Number),
            ("tanh", Bound::Number),
            ("erf", Bound::Number),
            ("atan", Bound::Number),
            ("asin", Bound::Number),
            ("cbrt", Bound::Number),
            ("rsqrt", Bound::Ulps(1)),
            ("exp2", Bound::Number),
            ("sqrt", Bound::Number),
            ("lgamma", Bound::Number),
        ],
    );
    launch!(trial, functions_f64<<<3, 128>>>(&input, &mut out, N as u32));
    trial.run();
}

#[test]
fn two_arguments_f64() {
    let mut trial = Trial::new("two_arguments_f64");
    let (a, b) = (trial.input("a", arguments(0)), trial.input("b", arguments(1)));
    let mut out = trial.rows::<f64>(
        "out",
        N,
        &[
            ("pow", Bound::Number),
            ("atan2", Bound::Number),
            ("hypot", Bound::Number),
            ("fmod", Bound::Number),
            ("remainder", Bound::Number),
            ("division", Bound::Number),
            ("fma", Bound::Number),
            ("ldexp", Bound::Number),
            ("frexp", Bound::Number),
        ],
    );
    launch!(trial, two_arguments_f64<<<3, 128>>>(&a, &b, &mut out, N as u32));
    trial.run();
}
