//! `kernels/math32.cu`. Functions without approximate instructions agree in every bit. For the others, section 13.1 of
//! the CUDA C++ Programming Guide says how far they may be from the true value: no farther the devices may be from one
//! another.

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
        std::f32::consts::PI,
        std::f32::consts::FRAC_PI_2,
    ]);
    all.resize(512, 0.75);
    all
}

#[test]
fn trigonometric() {
    let mut trial = Trial::new("trigonometric");
    let input = trial.input("in", arguments(1));
    let mut out = trial.rows::<f32>(
        "out",
        512,
        &[
            ("sinf", Bound::Bits),
            ("cosf", Bound::Bits),
            ("tanf", Bound::Ulps(4)),
            ("sincosf", Bound::Bits),
            ("sinpif", Bound::Bits),
            ("cospif", Bound::Bits),
            ("asinf", Bound::Ulps(2)),
            ("acosf", Bound::Ulps(2)),
            ("atanf", Bound::Ulps(2)),
        ],
    );
    launch!(trial, trigonometric<<<4, 128>>>(&input, &mut out, 512));
    trial.run();
}

#[test]
fn exponential() {
    let mut trial = Trial::new("exponential");
    let input = trial.input("in", arguments(1));
    let mut out = trial.rows::<f32>(
        "out",
        512,
        &[
            ("expf", Bound::Ulps(1)),
            ("exp2f", Bound::Ulps(2)),
            ("exp10f", Bound::Ulps(2)),
            ("expm1f", Bound::Ulps(1)),
            ("logf", Bound::Bits),
            ("log2f", Bound::Bits),
            ("log10f", Bound::Bits),
            ("log1pf", Bound::Bits),
            ("sinhf", Bound::Ulps(3)),
            ("coshf", Bound::Ulps(2)),
            ("tanhf", Bound::Ulps(2)),
            ("asinhf", Bound::Ulps(3)),
            ("erff", Bound::Ulps(2)),
            ("erfcf", Bound::Ulps(4)),
            ("tgammaf", Bound::Ulps(5)),
            ("lgammaf", Bound::Ulps(6)),
            ("cbrtf", Bound::Ulps(1)),
            ("normcdff", Bound::Ulps(5)),
            ("j0f", Bound::Absolute(2.2e-6)),
        ],
    );
    launch!(trial, exponential<<<4, 128>>>(&input, &mut out, 512));
    trial.run();
}

#[test]
fn two_arguments() {
    let mut trial = Trial::new("two_arguments");
    let (a, b) = (trial.input("a", arguments(0)), trial.input("b", arguments(1)));
    let mut out = trial.rows::<f32>(
        "out",
        512,
        &[
            ("powf", Bound::Ulps(4)),
            ("atan2f", Bound::Ulps(3)),
            ("hypotf", Bound::Ulps(3)),
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
