//! Compile-fail and compile-pass tests of `cuda_graph!` and `#[cuda_kernels]`, and the kernels that they share.
//!
//! Each case of `cases/` shows one rule broken once, with its messages; those with words of rustc are files of
//! `tests/ui/`. The programs of `src/bin/right/` show what is right.

use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::{Atomic, Mapped, Surfel, Texel, cuda_kernels};
use std::mem::MaybeUninit;

/// A struct that a kernel takes by value.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Params {
    /// The factor.
    pub a: f32,
    /// The summand.
    pub b: f32,
    /// How many elements there are.
    pub n: u32,
}

// SAFETY: all zeroes is a value of each field.
unsafe impl Zeroable for Params {}
// SAFETY: `repr(C)`, three fields of four bytes each that are `Pod`, so without padding.
unsafe impl Pod for Params {}

#[cuda_kernels("kernels/ui.ptx")]
unsafe extern "C" {
    /// `out[i] = 1`
    #[requires(threads <= out.len())]
    pub safe fn write(out: &mut [f32]);

    /// `out[i] = input[i]`
    #[requires(threads <= input.len() && threads <= out.len())]
    pub safe fn read(input: &[f32], out: &mut [f32]);

    /// `out[i] = 1`, of another element type
    #[requires(threads <= out.len())]
    pub safe fn write_f64(out: &mut [f64]);

    /// `data[i] *= factor` for the first `n`
    #[requires(n <= data.len())]
    pub safe fn scaled(data: &mut [f32], factor: f32, n: u32);

    /// `data[i] = data[i] * p.a + p.b` for the first `p.n`: a contract cannot read `p.n`, so it is up to the caller
    pub fn with_struct(data: &mut [f32], p: Params);

    /// `data[y][x] = 1`
    #[requires(block.x <= 16 && block.y <= 16)]
    pub safe fn tile(data: &mut [[f32; 16]; 16]);

    /// `data[i] = 1`, in blocks of at most 128 threads
    #[requires(threads <= data.len())]
    pub safe fn bounded(data: &mut [f32]);

    /// `first[i] = 1` and `second[i] = 2`
    #[requires(threads <= first.len() && threads <= second.len())]
    pub safe fn two_out(first: &mut [f32], second: &mut [f32]);

    /// `data[i] *= factor`, for each element type
    #[for_each(T = f32 => "scale_f32", f64 => "scale_f64")]
    #[requires(threads <= data.len())]
    pub safe fn scale<T>(data: &mut [T], factor: T);

    /// `data[i]` plus something between 0 and 1, which depends on the state of a generator
    #[requires(threads <= data.len() && rng.len() >= 1)]
    pub safe fn noisy(rng: &[graph_runtime::Philox], data: &mut [f32]);

    /// `table[i][0] = 1`, where `table` holds addresses
    pub fn indirect(table: &mut [u64]);
}

#[cuda_kernels("kernels/required.ptx")]
unsafe extern "C" {
    /// `data[i] = 1`, in blocks of exactly 64 threads
    #[requires(threads <= data.len())]
    pub safe fn required(data: &mut [f32]);
}

#[cuda_kernels("kernels/hopper.ptx")]
unsafe extern "C" {
    /// `data[i] = 1`, in clusters of two blocks
    #[requires(threads <= data.len())]
    pub safe fn clustered(data: &mut [f32]);

    /// `out[i] = input[i]`; right after a programmatic edge, and before one
    #[requires(threads <= input.len() && threads <= out.len())]
    pub safe fn chained(input: &[f32], out: &mut [f32]);

    /// As `chained`; reads before it has waited for the kernel before
    #[requires(threads <= input.len() && threads <= out.len())]
    pub safe fn eager(input: &[f32], out: &mut [f32]);

    /// As `chained`; threads from `n` on end without having waited
    #[requires(n <= input.len() && n <= out.len())]
    pub safe fn hasty(input: &[f32], out: &mut [f32], n: u32);

    /// As `chained`; loads with `ld.global.nc`
    #[requires(threads <= input.len() && threads <= out.len())]
    pub safe fn stale(input: &[f32], out: &mut [f32]);
}

#[cuda_kernels("kernels/constants.ptx")]
unsafe extern "C" {
    /// `data[i] *= table[i % 4]`, where `table` is a variable of the module
    #[requires(threads <= data.len())]
    pub safe fn weigh(data: &mut [f32]);

    /// `totals[i % 2] += 1`, where `totals` is a variable of the module
    pub safe fn count_up();
}

#[cuda_kernels("kernels/twin.ptx")]
unsafe extern "C" {
    /// `data[i] += table[i % 4]`, where `table` is a variable of another module
    #[requires(threads <= data.len())]
    pub safe fn shift(data: &mut [f32]);
}

/// The examples of `docs/diagnostics.md`: the first of each rule fails to compile or warns, the second compiles.
#[cfg(doctest)]
#[doc = include_str!("../../docs/diagnostics.md")]
struct Diagnostics;

#[cuda_kernels("kernels/arrays.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    /// A step of a blur.
    pub safe fn soften(from: &[[Texel<f32>; 8]], to: &mut [[Surfel<f32>; 8]]);
    /// Looks into a volume.
    pub safe fn look_into(volume: &[[[Texel<f32>; 8]; 8]], out: &mut [f32]);
}

#[cuda_kernels("kernels/mapped.ptx")]
unsafe extern "C" {
    /// `news[i] = value`, which the host may see at once
    #[requires(threads <= news.len())]
    pub safe fn announce(news: &[Mapped<u32>], value: u32);
}

#[cuda_kernels("kernels/atomic.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    /// `bins[i] += 1`, atomically
    #[requires(threads <= bins.len())]
    pub safe fn count(bins: &[Atomic<u32>]);

    /// `bins[i] += 1`, atomically, where `where[i]` is not 0
    #[requires(threads <= bins.len() && threads <= chosen.len())]
    pub safe fn count_where(bins: &[Atomic<u32>], chosen: &[u32]);

    /// `out[i] = bins[i]`
    #[requires(threads <= bins.len() && threads <= out.len())]
    pub safe fn look(bins: &[u32], out: &mut [u32]);

    /// Writes `tmp`, then reads it, and writes `out`.
    #[requires(threads <= tmp.len() && threads <= out.len())]
    pub safe fn through(tmp: &mut [MaybeUninit<f32>], out: &mut [f32]);
}
