//! `kernels/science.cu`

use crate::bound::Bound;
use crate::data::floats;
use crate::trial::Trial;
use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::cuda_kernels;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Market {
    rate: f32,
    volatility: f32,
}

#[cuda_kernels("tests/corpus/kernels/science.ptx")]
unsafe extern "C" {
    fn nbody(bodies: &[f32], acceleration: &mut [f32], n: i32, softening: f32);
    fn black_scholes(
        price: &[f32],
        strike: &[f32],
        years: &[f32],
        call: &mut [f32],
        put: &mut [f32],
        market: Market,
        n: i32,
    );
    fn mandelbrot(steps: &mut [u16], width: i32, left: f64, top: f64, pixel: f64);
    fn cells(positions: &[f32], cell: &mut [i32], wrapped: &mut [f32], edge: f32, n: i32);
    fn monte_carlo(seed: u64, mean: &mut [f64], inside: &mut [u32], steps: i32);
}

#[test]
fn nbody() {
    let n = 128;
    // `rsqrt.approx.f32` has a relative error of 2^-22.9 (PTX ISA, rsqrt), cubed 2^-21.3; the terms are below
    // softening^-1.5 / 2.6 = 12, and 128 of them may cancel in part.
    trial!(nbody<<<2, 64, 1024>>>(
        bodies: floats(71, n * 4, 0.0, 1.0)
        => acceleration: output::<f32>(n * 3, Bound::Absolute(128.0 * 12.0 * 3.9e-7)); n as i32, 0.1
    ));
}

#[test]
fn black_scholes() {
    let n = 300;
    let market = Market {
        rate: 0.02,
        volatility: 0.3,
    };
    // Prices up to 100 are differences of products with `expf`, within 1 ulp (CUDA C++ Programming Guide, section
    // 13.1), in two factors: 2 ulps of 2^-24 x 100. `logf` has no approximate instruction in it.
    let bound = Bound::Absolute(2.0 * 100.0 * 6e-8);
    trial!(black_scholes<<<2, 64>>>(
        price: floats(72, n, 5.0, 30.0), strike: floats(73, n, 1.0, 100.0), years: floats(74, n, 0.25, 10.0)
        => call: output::<f32>(n, bound), put: output::<f32>(n, bound); market, n as i32
    ));
}

#[test]
fn mandelbrot() {
    let (width, height) = (48usize, 32usize);
    let (left, top, pixel) = (-2.0, 1.0, 0.0625);
    trial!(mandelbrot<<<(3, 4), (16, 8)>>>(
        => out: output::<u16>(width * height, Bound::Bits); width as i32, left, top, pixel
    ));
}

#[test]
fn cells() {
    let n = 100;
    let mut positions = floats(75, n * 3, -20.0, 20.0);
    positions[..9].copy_from_slice(&[f32::NAN, 1e30, -1e30, -0.0, f32::INFINITY, 1e-40, 2.5, 3.75, -2.5]);
    trial!(cells<<<1, 128>>>(
        positions: positions
        => cell: output::<i32>(n * 3, Bound::Bits), wrapped: output::<f32>(n * 3, Bound::Number); 2.5, n as i32
    ));
}

#[test]
fn monte_carlo() {
    let mut trial = Trial::new("monte_carlo");
    let mut mean = trial.output::<f64>("mean", 64, Bound::Bits);
    let mut inside = trial.output::<u32>("inside", 1, Bound::Bits);
    launch!(trial, monte_carlo<<<2, 32>>>(0x1234_5678_9abc_def1_u64, &mut mean, &mut inside, 50));
    trial.run();
}
