//! `kernels/math32.cu`. Functions without approximate instructions agree in every bit; the others are within what section 13.1 of the
//! CUDA C++ Programming Guide promises, once for each device.

use crate::bound::Bound;
use crate::data::{f32_arguments, floats};
use crate::trial::Trial;
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/math32.ptx")]
unsafe extern "C" {
    fn trigonometric(input: &[f32], out: &mut [f32], n: u32);
    fn exponential(input: &[f32], out: &mut [f32], n: u32);
    fn two_arguments(a: &[f32], b: &[f32], out: &mut [f32], n: u32);
}

/// Special values, large and huge arguments, moderate ones.
fn arguments(which: usize) -> Vec<f32> {
    let mut all = f32_arguments(which, 320);
    all.extend(floats(191 + which as u64, 160, -10.0, 10.0));
    all.extend([
        1e5,
        -2e5,
        1e10,
        3.4e38,
        -1e30,
        105_615.0,
        1_048_576.0,
        0.999_999_94,
        -0.999_999_94,
        88.7,
        -103.9,
        3.141_592_74,
        1.570_796_37,
    ]);
    all.resize(512, 0.75);
    all
}

#[test]
fn trigonometric_() {
    let mut trial = Trial::new("trigonometric");
    let input = trial.input("in", arguments(1));
    let mut out = trial.rows::<f32>(
        "out",
        512,
        &[
            ("sinf", Bound::Bits),
            ("cosf", Bound::Bits),
            ("tanf", Bound::Bits),
            ("sincosf", Bound::Bits),
            ("sinpif", Bound::Bits),
            ("cospif", Bound::Bits),
            ("asinf", Bound::Bits),
            ("acosf", Bound::Bits),
            ("atanf", Bound::Bits),
        ],
    );
    launch!(trial, trigonometric<<<4, 128>>>(&input, &mut out, 512));
    trial.run();
}

#[test]
fn exponential_() {
    let mut trial = Trial::new("exponential");
    let input = trial.input("in", arguments(1));
    let mut out = trial.rows::<f32>(
        "out",
        512,
        &[
            ("expf", Bound::Ulps(2)),
            ("exp2f", Bound::Ulps(4)),
            ("exp10f", Bound::Ulps(4)),
            ("expm1f", Bound::Ulps(2)),
            ("logf", Bound::Bits),
            ("log2f", Bound::Bits),
            ("log10f", Bound::Bits),
            ("log1pf", Bound::Bits),
            ("sinhf", Bound::Ulps(6)),
            ("coshf", Bound::Ulps(4)),
            ("tanhf", Bound::Ulps(2)),
            ("asinhf", Bound::Ulps(6)),
            ("erff", Bound::Ulps(4)),
            ("erfcf", Bound::Ulps(8)),
            ("tgammaf", Bound::Ulps(10)),
            ("lgammaf", Bound::Ulps(12)),
            ("cbrtf", Bound::Ulps(2)),
            ("normcdff", Bound::Ulps(10)),
            ("j0f", Bound::Absolute(4.4e-6)),
        ],
    );
    launch!(trial, exponential<<<4, 128>>>(&input, &mut out, 512));
    trial.run();
}

#[test]
fn two_arguments_() {
    let mut trial = Trial::new("two_arguments");
    let (a, b) = (trial.input("a", arguments(0)), trial.input("b", arguments(1)));
    let mut out = trial.rows::<f32>(
        "out",
        512,
        &[
            ("powf", Bound::Ulps(8)),
            ("atan2f", Bound::Bits),
            ("hypotf", Bound::Ulps(6)),
            ("fmodf", Bound::Bits),
            ("remainderf", Bound::Bits),
            ("nextafterf", Bound::Bits),
            ("ldexpf", Bound::Bits),
            ("frexpf", Bound::Bits),
            ("modff", Bound::Bits),
            ("ilogbf and logbf", Bound::Bits),
        ],
    );
    launch!(trial, two_arguments<<<4, 128>>>(&a, &b, &mut out, 512));
    trial.run();
}
