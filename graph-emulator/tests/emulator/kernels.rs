//! Everyday kernels, compiled by NVRTC, against the same computation in Rust.

use crate::common::Argument::{Bytes, Read, Write};
use crate::common::random::Random;
use crate::common::{Gpu, download, value};
use graph_emulator::Options;

fn gpu() -> Gpu {
    Gpu::new(include_str!("../kernels/basic.ptx"))
}

fn ramp(count: usize, f: impl Fn(usize) -> f32) -> Vec<f32> {
    (0..count).map(f).collect()
}

#[test]
fn saxpy_of_odd_lengths() {
    let gpu = gpu();
    for n in [1, 31, 32, 33, 1000, 4096] {
        let x = gpu.upload("x", &ramp(n, |i| i as f32));
        let y = gpu.upload("y", &ramp(n, |i| 0.5 * i as f32));
        let grid = [(n as u32).div_ceil(128), 1, 1];
        gpu.launch(
            "saxpy",
            grid,
            [128, 1, 1],
            &[value(3f32), Read(&x), Write(&y), value(n as i32)],
        )
        .unwrap();
        assert_eq!(download::<f32>(&y), ramp(n, |i| 3.5 * i as f32));
    }
}

#[test]
fn structs_by_value_and_constant_tables() {
    let gpu = gpu();
    let input: Vec<i32> = (0..100).collect();
    let (input, out) = (gpu.upload("in", &input), gpu.upload("out", &[0f32; 100]));
    let pair = [0.5f32.to_le_bytes(), (-7i32).to_le_bytes()].concat();
    gpu.run(
        "by_value",
        1,
        128,
        &[Bytes(pair), Read(&input), Write(&out), value(100u32)],
    );
    let table = [1.0, 2.0, 4.0, 8.0];
    let expected = ramp(100, |i| 0.5 * (i as f32 - 7.0) + table[i % 4]);
    assert_eq!(download::<f32>(&out), expected);
}

#[test]
fn tiled_matmul() {
    let gpu = gpu();
    for (kernel, tile) in [("matmul", 16), ("matmul32", 32)] {
        let n = 64;
        let a = ramp(n * n, |i| (i % 7) as f32 - 3.0);
        let b = ramp(n * n, |i| (i % 5) as f32 * 0.25);
        let da = gpu.upload("a", &a);
        let db = gpu.upload("b", &b);
        let dc = gpu.upload("c", &vec![0f32; n * n]);
        let blocks = n as u32 / tile;
        let arguments = [Read(&da), Read(&db), Write(&dc), value(n as i32)];
        gpu.launch(kernel, [blocks, blocks, 1], [tile, tile, 1], &arguments)
            .unwrap();
        let expected = ramp(n * n, |i| {
            (0..n).fold(0f32, |sum, k| a[i / n * n + k].mul_add(b[k * n + i % n], sum))
        });
        assert_eq!(download::<f32>(&dc), expected);
    }
}

#[test]
fn reductions() {
    let gpu = gpu();
    let values: Vec<f32> = ramp(10_000, |i| (i % 10) as f32);
    let (input, out) = (gpu.upload("in", &values), gpu.upload("out", &[0f32]));
    let arguments = [Read(&input), Write(&out), value(10_000i32)];
    gpu.run("reduce_shuffle", 8, 256, &arguments);
    assert_eq!(download::<f32>(&out), [45_000.0]);

    let values: Vec<i32> = (0..1024).map(|i| i * i - 1000).collect();
    let (input, out) = (gpu.upload("in", &values), gpu.upload("out", &[0i32; 4]));
    let options = Options::default();
    gpu.launch_with(
        "reduce_shared",
        [4, 1, 1],
        [256, 1, 1],
        1024,
        &[Read(&input), Write(&out)],
        &options,
    )
    .unwrap();
    let expected: Vec<i32> = values.chunks(256).map(|chunk| chunk.iter().sum()).collect();
    assert_eq!(download::<i32>(&out), expected);
}

#[test]
fn histogram_with_shared_atomics() {
    let gpu = gpu();
    let values: Vec<u8> = (0..50_000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let (input, bins) = (gpu.upload("in", &values), gpu.upload("bins", &[0u32; 256]));
    let arguments = [Read(&input), Write(&bins), value(50_000i32)];
    gpu.run("histogram", 16, 256, &arguments);
    let mut expected = [0u32; 256];
    values.iter().for_each(|&value| expected[usize::from(value)] += 1);
    assert_eq!(download::<u32>(&bins), expected);
}

#[test]
fn scan_and_softmax() {
    let gpu = gpu();
    let values: Vec<i32> = (0..256).map(|i| i * 31 % 17 - 5).collect();
    let (input, out) = (gpu.upload("in", &values), gpu.upload("out", &[0i32; 256]));
    gpu.run("scan", 1, 256, &[Read(&input), Write(&out)]);
    let sums: Vec<i32> = values
        .iter()
        .scan(0, |sum, value| {
            *sum += value;
            Some(*sum)
        })
        .collect();
    assert_eq!(download::<i32>(&out), sums);

    let values = ramp(4 * 300, |i| (i as f32 * 0.37).sin() * 4.0);
    let (input, out) = (gpu.upload("in", &values), gpu.upload("out", &[0f32; 1200]));
    gpu.run("softmax", 4, 128, &[Read(&input), Write(&out), value(300i32)]);
    for (row, result) in values.chunks(300).zip(download::<f32>(&out).chunks(300)) {
        let total: f64 = row.iter().map(|&value| f64::from(value).exp()).sum();
        for (value, result) in row.iter().zip(result) {
            let expected = f64::from(*value).exp() / total;
            assert!((f64::from(*result) / expected - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn spin_lock_between_lanes_warps_and_blocks() {
    let gpu = gpu();
    let (lock, count) = (gpu.upload("lock", &[0i32]), gpu.upload("count", &[0i32]));
    let options = Options {
        step_limit: Some(50_000_000),
        ..Options::default()
    };
    gpu.launch_with(
        "spin_lock",
        [3, 1, 1],
        [96, 1, 1],
        0,
        &[Write(&lock), Write(&count)],
        &options,
    )
    .unwrap();
    assert_eq!(download::<i32>(&count), [288]);
}

#[test]
fn recursion_and_function_pointers() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0i32; 64]);
    gpu.run("recursion", 1, 64, &[Write(&out)]);
    let fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
    let expected: Vec<i32> = (0..64).map(|i| fibonacci[i % 12]).collect();
    assert_eq!(download::<i32>(&out), expected);
    gpu.run("indirect", 1, 64, &[Write(&out)]);
    let expected: Vec<i32> = (0..64).map(|i| if i % 2 == 0 { 2 * i } else { i * i }).collect();
    assert_eq!(download::<i32>(&out), expected);
}

#[test]
fn module_variables_keep_their_values() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0i32]);
    for launches in 1..4 {
        gpu.run("count_launches", 1, 32, &[Write(&out)]);
        assert_eq!(download::<i32>(&out), [launches]);
    }
    let mut bytes = [0; 4];
    gpu.module.variable("counter").unwrap().read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [3, 0, 0, 0]);
}

#[test]
fn votes_matches_and_divergent_shuffles() {
    let gpu = gpu();
    let out = gpu.upload("out", &[0u32; 32]);
    gpu.run("votes", 1, 32, &[Write(&out)]);
    let ballot = (0..32)
        .filter(|lane| lane % 3 == 0)
        .fold(0u32, |all, lane| all | 1 << lane);
    let expected: Vec<u32> = (0..32u32)
        .map(|lane| {
            let divergent = if lane & 1 != 0 { 31 } else { 0u32 };
            let matching = 0xfu32 << (lane / 4 * 4);
            ballot
                .wrapping_add(matching.wrapping_mul(3))
                .wrapping_add(divergent * 5)
                .wrapping_add(u32::MAX)
                .wrapping_add(1)
        })
        .collect();
    assert_eq!(download::<u32>(&out), expected);
}

#[test]
fn library_functions() {
    let gpu = gpu();
    let values = ramp(256, |i| i as f32 * 0.173 - 20.0);
    let (input, out) = (gpu.upload("in", &values), gpu.upload("out", &[0f32; 256]));
    gpu.run("trigonometry", 2, 128, &[Read(&input), Write(&out), value(256i32)]);
    for (x, result) in values.iter().zip(download::<f32>(&out)) {
        let large = f64::from(x * 1e6);
        let x = f64::from(*x);
        let expected = x.sin() + large.cos() + (x.abs() + 1.0).ln() + x.tanh() + x.abs().powf(f64::from(0.3f32));
        assert!((f64::from(result) - expected).abs() < 3e-6, "{x} {result} {expected}");
    }
    let values: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
    let (input, out) = (gpu.upload("in", &values), gpu.upload("out", &[0f64; 256]));
    gpu.run("doubles", 2, 128, &[Read(&input), Write(&out), value(256i32)]);
    for (x, result) in values.iter().zip(download::<f64>(&out)) {
        let expected = x.sin() * x.exp() / (x * x + 1.0).sqrt();
        assert!(
            (result - expected).abs() <= expected.abs() * 1e-14,
            "{x} {result} {expected}"
        );
    }
}

#[test]
fn integer_functions() {
    let gpu = gpu();
    let mut random = Random(1);
    let mut numbers = || -> Vec<i32> { (0..1000).map(|_| random.below(1 << 32) as i32).collect() };
    let (a, b) = (numbers(), numbers());
    let da = gpu.upload("a", &a);
    let db = gpu.upload("b", &b);
    let out = gpu.upload("out", &[0i64; 1000]);
    let arguments = [Read(&da), Read(&db), Write(&out), value(1000i32)];
    gpu.run("integers", 8, 128, &arguments);
    let expected: Vec<i64> = a
        .iter()
        .zip(&b)
        .map(|(&a, &b)| {
            let x = i64::from(a).wrapping_mul(1_000_003).wrapping_add(i64::from(b));
            let high = (i64::from(a) * i64::from(b)) >> 32;
            let first = if b == 0 { 0 } else { i64::from(b.trailing_zeros()) + 1 };
            (x / i64::from(b | 1) + x % 97)
                .wrapping_add((x as u64 >> (a & 63)) as i64)
                .wrapping_add(i64::from(a.count_ones()) + i64::from(b.leading_zeros()))
                .wrapping_add(i64::from(a.reverse_bits() as u32) + high + first)
        })
        .collect();
    assert_eq!(download::<i64>(&out), expected);
}

#[test]
fn printing() {
    gpu().launch("print", [1, 1, 1], [3, 1, 1], &[value(3i32)]).unwrap();
}
