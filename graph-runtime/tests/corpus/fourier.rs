//! `kernels/fourier.cu`

use crate::bound::Bound;
use crate::data::{floats, many};
use graph_runtime::cuda_kernels;

#[cuda_kernels("tests/corpus/kernels/fourier.ptx")]
unsafe extern "C" {
    fn fft_radix2(input: &[f32], out: &mut [f32]);
    fn ntt(input: &[u64], out: &mut [u64], root: u64);
    fn dct_8x8(pixels: &[u8], coefficients: &mut [i16], width: i32);
}

#[test]
fn fft_radix2() {
    let input = floats(91, 2 * 2 * 256, -1.0, 1.0);
    let transform = |signal: &[f32], k: usize| {
        let mut sum = (0f64, 0f64);
        for (n, point) in signal.chunks(2).enumerate() {
            let (sine, cosine) = (-std::f64::consts::TAU * (n * k % 256) as f64 / 256.0).sin_cos();
            let (re, im) = (f64::from(point[0]), f64::from(point[1]));
            sum = (sum.0 + re * cosine - im * sine, sum.1 + re * sine + im * cosine);
        }
        [sum.0 as f32, sum.1 as f32]
    };
    let expected = input
        .chunks(512)
        .flat_map(|signal| (0..256).flat_map(move |k| transform(signal, k)))
        .collect();
    // Against the host's sum in f64: eight stages of roundings of values up to 40.
    trial!(fft_radix2<<<2, 128>>>(input: input => out: expect_within(expected, Bound::Absolute(4e-5), Bound::Bits)));
}

#[test]
fn ntt() {
    const P: u128 = 0xffff_ffff_0000_0001;
    fn power(base: u128, exponent: u64) -> u128 {
        match exponent {
            0 => 1,
            _ => power(base * base % P, exponent / 2) * if exponent % 2 == 1 { base } else { 1 } % P,
        }
    }
    // 7 generates the group.
    let root = power(7, (P as u64 - 1) / 64);
    assert_eq!((power(root, 64), power(root, 32)), (1, P - 1));

    let input = many(92, 8 * 64, |random| (u128::from(random.u64()) % P) as u64);
    let transform = |signal: &[u64], k: u64| {
        let terms = signal
            .iter()
            .enumerate()
            .map(|(n, &x)| u128::from(x) * power(root, n as u64 * k % 64) % P);
        terms.fold(0, |sum, term| (sum + term) % P) as u64
    };
    let expected = input
        .chunks(64)
        .flat_map(|signal| (0..64).map(move |k| transform(signal, k)))
        .collect();
    trial!(ntt<<<2, 128>>>(input: input => out: expect(expected, Bound::Bits); root as u64));
}

#[test]
fn dct_8x8() {
    let (width, height) = (40, 24);
    trial!(dct_8x8<<<(5, 3), (8, 8)>>>(
        pixels: many(93, width * height, |random| random.u32() as u8)
        => out: output::<i16>(width * height, Bound::Bits); width as i32
    ));
}
