//! Number types and rare instructions, as NVRTC emits them, against the same computation in Rust.

use crate::common::Argument::{Read, Write};
use crate::common::random::Random;
use crate::common::{Gpu, download, launch, value};
use graph_emulator::{Launch, Memory, Module, Options};
use half::{bf16, f16};

fn gpu() -> Gpu {
    Gpu::new(include_str!("../kernels/types.ptx"))
}

/// Numbers of all magnitudes.
fn numbers(count: u32, seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| random.below(1 << 32) as i32 as f32 * 2f32.powi(-(random.below(32) as i32)))
        .collect()
}

#[test]
fn half_precision() {
    let gpu = gpu();
    let half = |i: usize, scale: f32| f16::from_f32((i as f32 - 30.0) * scale);
    let a: Vec<f16> = (0..64).map(|i| half(i, 0.37)).collect();
    let b: Vec<f16> = (0..64).map(|i| half(i, -1.9)).collect();
    let pack = |halves: &[f16]| -> Vec<u32> {
        halves
            .chunks(2)
            .map(|pair| u32::from(pair[0].to_bits()) | u32::from(pair[1].to_bits()) << 16)
            .collect()
    };
    let da = gpu.upload("a", &pack(&a));
    let db = gpu.upload("b", &pack(&b));
    let out = gpu.upload("out", &[0u32; 32]);
    gpu.run("halves", 1, 32, &[Read(&da), Read(&db), Write(&out), value(32i32)]);
    let expected: Vec<f16> = a
        .iter()
        .zip(&b)
        .map(|(a, b)| {
            let fused = f16::from_f32(a.to_f32() * b.to_f32() + a.to_f32());
            let product = f16::from_f32(a.to_f32() * f16::from_f32(0.1).to_f32());
            f16::from_f32(fused.to_f32() + product.to_f32())
        })
        .collect();
    assert_eq!(download::<u32>(&out), pack(&expected));
}

#[test]
fn brain_floats() {
    let gpu = gpu();
    let a: Vec<f32> = (0..32).map(|i| (i as f32 - 9.0) * 0.7).collect();
    let (da, out) = (gpu.upload("a", &a), gpu.upload("out", &[0f32; 32]));
    gpu.run("brains", 1, 32, &[Read(&da), Write(&out), value(32i32)]);
    let expected: Vec<f32> = a
        .iter()
        .map(|&a| {
            let x = bf16::from_f32(a).to_f32();
            bf16::from_f32(x * x + x).to_f32() + x.max(0.5)
        })
        .collect();
    assert_eq!(download::<f32>(&out), expected);
}

#[test]
fn conversions_saturate_and_round() {
    let gpu = gpu();
    let mut a = numbers(26, 5);
    a.extend([0.0, -0.0, f32::NAN, f32::INFINITY, -2.5, 3.5]);
    let (da, out) = (gpu.upload("a", &a), gpu.upload("out", &[0i32; 512]));
    gpu.run("conversions", 1, 32, &[Read(&da), Write(&out)]);
    let nan_or = |x: f32| if x.is_nan() { 0x7fff_ffff } else { x.to_bits() as i32 };
    for (i, (x, got)) in a.iter().copied().zip(download::<i32>(&out).chunks(16)).enumerate() {
        let wide = if x.is_nan() { i64::MIN } else { x as i64 };
        let unsigned = if x.is_nan() { 1 << 63 } else { x as u64 };
        let half = if x.is_nan() {
            0x7fff
        } else {
            i32::from(f16::from_f32(x).to_bits())
        };
        let expected = [
            x as i32,
            x as u32 as i32,
            x.round_ties_even() as i32,
            x.ceil() as i32,
            x.floor() as i32,
            i32::from(x as i32 as i8),
            wide as i32,
            (unsigned >> 7) as i32,
            nan_or(x.round_ties_even()),
            nan_or(x.floor()),
            nan_or(x * 0.5),
            half,
            i32::from((f64::from(x) * 3.0) as i32 as i16),
            (if x > 0.0 { x.min(1.0) } else { 0.0 }).to_bits() as i32,
            ((i as u32).wrapping_mul(0x0123_4567) as f32).to_bits() as i32,
            nan_or(x.trunc()),
        ];
        assert_eq!(got, expected, "{x}");
    }
}

#[test]
fn directed_rounding() {
    let gpu = gpu();
    let (a, b) = (numbers(32, 1), numbers(32, 2));
    let da = gpu.upload("a", &a);
    let db = gpu.upload("b", &b);
    let out = gpu.upload("out", &[0f32; 384]);
    gpu.run("rounding", 1, 32, &[Read(&da), Read(&db), Write(&out)]);
    for ((&a, &b), got) in a.iter().zip(&b).zip(download::<f32>(&out).chunks(12)) {
        let (wide_a, wide_b) = (f64::from(a), f64::from(b));
        let near = |got: f32, exact: f64| (f64::from(got) - exact).abs() <= exact.abs() * 1.3e-7;
        let got64: Vec<f64> = got.iter().map(|&value| f64::from(value)).collect();
        assert!(got64[0].abs() <= (wide_a + wide_b).abs() && near(got[0], wide_a + wide_b));
        assert!(got64[2] <= wide_a + wide_b && wide_a + wide_b <= got64[1]);
        assert!(got64[3].abs() <= (wide_a * wide_b).abs() && wide_a * wide_b <= got64[4]);
        assert!(got64[5] <= wide_a.mul_add(wide_b, wide_a) && near(got[5], wide_a.mul_add(wide_b, wide_a)));
        assert!(got64[6] >= wide_a / wide_b && near(got[6], wide_a / wide_b));
        assert!(got64[7] <= wide_a.abs().sqrt() && near(got[7], wide_a.abs().sqrt()));
        assert!(got64[8].abs() <= (1.0 / wide_b).abs() && near(got[8], 1.0 / wide_b));
        assert!(got64[9] >= wide_a && got64[10] <= wide_a * wide_b && near(got[10], wide_a * wide_b));
    }
}

#[test]
fn carry_chains() {
    let gpu = gpu();
    let a: Vec<u64> = (0..33u64)
        .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32))
        .collect();
    let (da, out) = (gpu.upload("a", &a), gpu.upload("out", &[0u64; 64]));
    gpu.run("wide_integers", 1, 32, &[Read(&da), Write(&out)]);
    let expected: Vec<u64> = a
        .windows(2)
        .flat_map(|pair| {
            let product = u128::from(pair[0]) * u128::from(pair[1]);
            let x = product
                .wrapping_add(u128::from(pair[1]) << 32)
                .wrapping_sub(u128::from(pair[0]));
            [x as u64, (x >> 64) as u64]
        })
        .collect();
    assert_eq!(download::<u64>(&out), expected);
}

#[test]
fn bit_tricks() {
    let gpu = gpu();
    let a: Vec<u32> = (0..32u32).map(|i| i.wrapping_mul(0x9e37_79b9).rotate_left(i)).collect();
    let (da, out) = (gpu.upload("a", &a), gpu.upload("out", &[0u32; 32]));
    gpu.run("bit_tricks", 1, 32, &[Read(&da), Write(&out)]);
    let expected: Vec<u32> = (0..32)
        .map(|i| {
            let (x, y) = (a[i], a[(i + 1) % 32]);
            let bytes = [x.to_le_bytes(), y.to_le_bytes()].concat();
            let perm = u32::from_le_bytes([bytes[5], bytes[7], bytes[1], bytes[3]]);
            let pair = u64::from(y) << 32 | u64::from(x);
            let left = (pair << i >> 32) as u32;
            let right = (pair >> (i + 8).min(32)) as u32;
            let signed = |v: u32, k: usize| i32::from(v.to_le_bytes()[k] as i8);
            let dot = (0..4).fold(7, |sum, k| sum + signed(x, k) * signed(y, k)) as u32;
            let add4 = std::array::from_fn(|k| x.to_le_bytes()[k].wrapping_add(y.to_le_bytes()[k]));
            [
                perm,
                left,
                right,
                dot,
                x.abs_diff(y) + 3,
                x >> 5 & 0x7ff,
                (u64::from(x) * u64::from(y)).count_ones(),
                ((u64::from(x) + u64::from(y)) / 2) as u32,
                u32::from_le_bytes(add4),
            ]
            .into_iter()
            .fold(0, u32::wrapping_add)
        })
        .collect();
    assert_eq!(download::<u32>(&out), expected);
}

#[test]
fn atomics_of_64_bits() {
    let gpu = gpu();
    let (sum, total) = (gpu.upload("sum", &[0u64]), gpu.upload("total", &[0f64]));
    let (best, ring) = (gpu.upload("best", &[0f32]), gpu.upload("ring", &[0u32]));
    let arguments = [Write(&sum), Write(&total), Write(&best), Write(&ring)];
    gpu.run("wide_atomics", 7, 128, &arguments);
    assert_eq!(download::<u64>(&sum), [(0..128).map(|i| 7u64 << (i % 40)).sum::<u64>()]);
    let expected = (vec![448.0], vec![127.0]);
    assert_eq!((download::<f64>(&total), download::<f32>(&best)), expected);
    assert_eq!(download::<u32>(&ring), [896 % 10]);
}

#[test]
fn copies_switches_and_arrays() {
    let gpu = gpu();
    let a: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let (da, out) = (gpu.upload("a", &a), gpu.upload("out", &[0f32; 128]));
    gpu.run("async_copy", 1, 128, &[Read(&da), Write(&out)]);
    assert_eq!(download::<f32>(&out), a.iter().rev().copied().collect::<Vec<_>>());

    let input: Vec<i32> = (0..32).map(|i| i * 5 % 11).collect();
    let (din, out) = (gpu.upload("in", &input), gpu.upload("out", &[0i32; 32]));
    gpu.run("switches", 1, 32, &[Read(&din), Write(&out)]);
    let choose = |(i, &x): (usize, &i32)| {
        let i = i as i32;
        [17, x * x + 5, i, -1, x ^ i, 99 - i, i * 7, 1 << (i & 7)]
            .get(x as usize)
            .copied()
            .unwrap_or(1000)
    };
    let wanted = input.iter().enumerate().map(choose).collect::<Vec<_>>();
    assert_eq!(download::<i32>(&out), wanted);

    gpu.run("local_arrays", 1, 32, &[Read(&din), Write(&out), value(32i32)]);
    let expected: Vec<i32> = (0..32)
        .map(|thread| {
            let mut data: Vec<i32> = (0..16).map(|k| input[(thread + k) % 32]).collect();
            for (k, x) in input.iter().enumerate() {
                let j = (x & 15) as usize;
                data.swap(j, (j * 7 + k) & 15);
            }
            data.iter().fold(0i32, |sum, x| sum.wrapping_mul(31).wrapping_add(*x))
        })
        .collect();
    assert_eq!(download::<i32>(&out), expected);
}

#[test]
fn reductions_at_barriers_and_fast_functions() {
    let gpu = gpu();
    let input: Vec<i32> = (0..64).map(|i| i * 5 % 11).collect();
    let (din, out) = (gpu.upload("in", &input), gpu.upload("out", &[0i32; 64]));
    gpu.run("barrier_reductions", 1, 64, &[Read(&din), Write(&out)]);
    let count = input.iter().filter(|&&x| x > 3).count() as i32;
    let sum = |warp: usize| input[warp * 32..][..32].iter().sum::<i32>();
    assert_eq!(
        download::<i32>(&out),
        (0..64)
            .map(|i| count * 100 + 11 + sum(i / 32) * 1000)
            .collect::<Vec<_>>()
    );

    let a: Vec<f32> = (0..32).map(|i| i as f32 * 0.09 - 1.0).collect();
    let (da, out) = (gpu.upload("a", &a), gpu.upload("out", &[0f32; 32]));
    gpu.run("fast_math", 1, 32, &[Read(&da), Write(&out)]);
    for (x, got) in a.iter().map(|&x| f64::from(x)).zip(download::<f32>(&out)) {
        let expected = x.exp() + (x + 2.0).ln() + x.sin() + x / 3.0 + 1.0 / (x + 2.0).sqrt() + (x + 2.0).sqrt();
        assert!((f64::from(got) - expected).abs() < 1e-5, "{x} {got} {expected}");
    }
}

/// Offsets and shapes at the ends of the numbers that decoders compute in.
#[test]
fn huge_numbers_are_refused_or_fault() {
    let bodies = [
        "st.local.u32 [l+0x7fffffffffffffff], a;",
        "ld.local.u32 a, [l+0x8000000000000000];",
        "st.shared.u32 [s+0x7fffffffffffffff], a;",
        "mov.u64 p, l+0x7fffffffffffffff; st.local.u32 [p], a;",
        "cvta.local.u64 p, l+0x7fffffffffffffff; st.u32 [p], a;",
        "mov.u64 p, dyn+0x7fffffffffffffff; st.shared.u32 [p], a;",
        "cvta.shared.u64 p, dyn+0xffffffffffffffff; st.u32 [p], a;",
        "ld.global.u32 a, [0xfffffffffffffffc];",
        "ld.global.v4.u32 {a, a, a, a}, [0xfffffffffffffff0];",
        "cp.async.ca.shared.global [s+0xfffffffffffffffc], [0xfffffffffffffffc], 4;",
        "call deep, (0x7fffffffffffffff);",
        "mma.sync.aligned.m16n8k18446744073709551615.row.col.s32.s8.s8.s32 {a, a, a, a}, {a, a}, {a}, {a, a, a, a};",
        "mma.sync.aligned.m18446744073709551615n2k9.row.col.f32.f16.f16.f32 {a, a, a, a}, {a, a}, {a}, {a, a, a, a};",
        "wmma.load.a.sync.aligned.row.m4294967296n4294967296k4294967296.f16 {a, a, a, a}, [p];",
    ];
    for body in bodies {
        for module_wide in ["", ".local .b32 l[2];"] {
            let own = if module_wide.is_empty() {
                ".local .b32 l[2];"
            } else {
                ""
            };
            let text = format!(
                ".version 8.4\n.target sm_90\n.address_size 64\n{module_wide}\n.extern .shared .b8 dyn[];\n\
                 .func deep(.reg .u64 x) {{ .local .b32 y[2]; .reg .u64 p; mov.u64 p, y+4294967295; \
                 add.u64 p, p, x; st.local.u32 [p], 1; ret; }}\n\
                 .entry k() {{ {own} .shared .b32 s[2]; .reg .u64 p; .reg .u32 a; {body} ret; }}"
            );
            let memory = Memory::new();
            let module = Module::load(&memory, &text).unwrap();
            let options = Options {
                check_uninitialized: true,
                check_shared_races: true,
                record_footprint: true,
                ..Options::default()
            };
            let launch = launch([1; 3], [32, 1, 1], &[], &[], &options);
            let launch = Launch {
                shared_bytes: 16,
                ..launch
            };
            assert!(module.launch("k", &launch).is_err(), "{body}");
        }
    }
}

/// Forms that the PTX manual has, and `ptxas` only without an ABI.
#[test]
fn local_variables_of_modules_and_predicates_as_parameters() {
    let gpu = Gpu::new(
        ".version 8.4\n.target sm_90\n.address_size 64\n\
         .local .align 8 .b64 first;\n\
         .local .b32 second[2];\n\
         .func (.reg .pred r, .reg .pred s) invert(.reg .pred x, .reg .pred y) { not.pred r, x; not.pred s, y; ret; }\n\
         .func touch(.reg .u32 x) { .local .b32 own; st.local.u32 [own], 0; st.local.u32 [second+4], x; ret; }\n\
         .entry k(.param .u64 out) {\n\
         .local .b32 mine;\n\
         .reg .u64 p, q; .reg .u32 a, b, c, d; .reg .pred odd, r, s;\n\
         ld.param.u64 p, [out]; mov.u32 a, %tid.x; mad.wide.u32 p, a, 16, p;\n\
         and.b32 b, a, 1; setp.ne.u32 odd, b, 0;\n\
         call (r, s), invert, (odd, 0);\n\
         selp.u32 b, 5, 6, r; selp.u32 c, 7, 8, s;\n\
         st.local.u32 [mine], 99; call touch, (a);\n\
         cvta.local.u64 q, second; ld.u32 d, [q+4];\n\
         ld.local.u32 a, [mine];\n\
         st.global.v4.u32 [p], {a, b, c, d}; ret; }",
    );
    let out = gpu.upload("out", &[0_u32; 128]);
    gpu.run("k", 1, 32, &[Write(&out)]);
    for (lane, words) in download::<u32>(&out).chunks(4).enumerate() {
        assert_eq!(words, [99, if lane % 2 == 1 { 6 } else { 5 }, 7, lane as u32], "{lane}");
    }
}
