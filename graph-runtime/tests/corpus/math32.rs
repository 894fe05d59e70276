//! `kernels/math32.cu`. Functions without approximate instructions agree in every bit. For the others, section 13.1 of
//! the CUDA C++ Programming Guide says how far they may be from the true value: no farther the devices may be from one
//! another.

use crate::bound::{Bound, grouped};
use crate::data::{f32_arguments, floats};
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
    let rows = grouped(&[
        ("sinf | cosf", Bound::Bits),
        ("tanf", Bound::Ulps(4)),
        ("sincosf | sinpif | cospif", Bound::Bits),
        ("asinf | acosf | atanf", Bound::Ulps(2)),
    ]);
    trial!(trigonometric<<<4, 128>>>(input: arguments(1) => out: rows::<f32>(512, &rows); 512));
}

#[test]
fn exponential() {
    let rows = grouped(&[
        ("expf", Bound::Ulps(1)),
        ("exp2f | exp10f", Bound::Ulps(2)),
        ("expm1f", Bound::Ulps(1)),
        ("logf | log2f | log10f | log1pf", Bound::Bits),
        ("sinhf", Bound::Ulps(3)),
        ("coshf | tanhf", Bound::Ulps(2)),
        ("asinhf", Bound::Ulps(3)),
        ("erff", Bound::Ulps(2)),
        ("erfcf", Bound::Ulps(4)),
        ("tgammaf", Bound::Ulps(5)),
        ("lgammaf", Bound::Ulps(6)),
        ("cbrtf", Bound::Ulps(1)),
        ("normcdff", Bound::Ulps(5)),
        ("j0f", Bound::Absolute(2.2e-6)),
    ]);
    trial!(exponential<<<4, 128>>>(input: arguments(1) => out: rows::<f32>(512, &rows); 512));
}

#[test]
fn two_arguments() {
    let rows = grouped(&[
        ("powf", Bound::Ulps(4)),
        ("atan2f | hypotf", Bound::Ulps(3)),
        (
            "fmodf | remainderf | nextafterf | ldexpf | frexpf | modff | ilogbf and logbf",
            Bound::Bits,
        ),
    ]);
    trial!(two_arguments<<<4, 128>>>(a: arguments(0), b: arguments(1) => out: rows::<f32>(512, &rows); 512));
}
