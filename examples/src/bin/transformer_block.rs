//! A block of a transformer: layer norm, attention of several heads, layer norm, and two layers with GELU between.
//!
//! The same graph computes in tf32 and in bf16, since its kernels are generic. Queries, keys and values are three
//! branches of an `each`, and all that lies between the input and the result is `scratch`. From compute capability 9.0
//! on, the edges are programmatic: a kernel may load its weights while the one before still runs. It runs on the first
//! CUDA device, or, with fewer tokens and columns, on the CPU emulator. PyTorch has computed what comes out of the same
//! weights (`pytorch/transformer_block.py`).

use examples::bench::{self, Figure};
use examples::block::{check, numbers};
use examples::program::{sized, start};
use graph_runtime::{BoxError, Device, Element, Kernel, cuda_graph, cuda_kernels};
use half::bf16;

/// Columns of a head.
const HEAD: usize = 64;
/// Parts of the long sums, so that enough blocks compute them.
const PARTS: usize = 4;

#[cuda_kernels("kernels/transformer_block.ptx", tuned = ["kernels/transformer_block.sm_90.ptx"])]
unsafe extern "C" {
    /// Each row of `x` with mean 0 and variance 1, times `gain` plus `shift`; a block for each row, a thread for each
    /// four columns
    #[for_each(T = f32 => "norm_f32", bf16 => "norm_bf16")]
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32))]
    #[requires(4 * block.x <= gain.len() && 4 * block.x <= shift.len())]
    #[requires(4 * threads <= x.len() && 4 * threads <= out.len())]
    safe fn norm<T>(x: &[f32], gain: &[f32], shift: &[f32], out: &mut [T]);
    /// `y = parts[0] + parts[1] + .. + bias + residual`; blocks and threads as for `norm`
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32))]
    #[requires(4 * threads * PARTS <= parts.len() && 4 * block.x <= bias.len())]
    #[requires(4 * threads <= residual.len() && 4 * threads <= y.len())]
    safe fn add(parts: &[f32], bias: &[f32], residual: &[f32], y: &mut [f32]);
    /// As `add`, and `out`: the `norm` of `y`
    #[for_each(T = f32 => "add_norm_f32", bf16 => "add_norm_bf16")]
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32))]
    #[requires(4 * threads * PARTS <= parts.len() && 4 * block.x <= bias.len())]
    #[requires(4 * block.x <= gain.len() && 4 * block.x <= shift.len())]
    #[requires(4 * threads <= residual.len() && 4 * threads <= y.len() && 4 * threads <= out.len())]
    safe fn add_norm<T>(
        parts: &[f32],
        bias: &[f32],
        residual: &[f32],
        gain: &[f32],
        shift: &[f32],
        y: &mut [f32],
        out: &mut [T],
    );
    /// `out = x w^T + bias`, and GELU of it, if `gelu` is not 0; a block for each 64 x 48 of it
    #[for_each(T = f32 => "linear_f32", bf16 => "linear_bf16")]
    #[requires(block.x == 256 && block == 256 && shared >= LINEAR && grid.x <= rows.div_ceil(64))]
    #[requires(grid.y * 48 <= n && grid.z == 1 && k.is_multiple_of(32) && rows * k <= x.len() && n * k <= w.len())]
    #[requires(n <= bias.len() && rows * n <= out.len())]
    safe fn linear<T>(x: &[T], w: &[T], bias: &[f32], out: &mut [T], rows: u32, n: u32, k: u32, gelu: u32);
    /// `out[part] = x w^T` for a part of `k` each; blocks as for `linear`, for each part
    #[for_each(T = f32 => "linear_parts_f32", bf16 => "linear_parts_bf16")]
    #[requires(block.x == 256 && block == 256 && shared >= LINEAR && grid.x <= rows.div_ceil(64))]
    #[requires(grid.y * 48 <= n && k.is_multiple_of(32 * grid.z) && rows * k <= x.len() && n * k <= w.len())]
    #[requires(grid.z * rows * n <= out.len())]
    safe fn linear_parts<T>(x: &[T], w: &[T], out: &mut [f32], rows: u32, n: u32, k: u32);
    /// The attention of 16 rows to all, in a head of 64 columns, by each block
    #[for_each(T = f32 => "attention_f32", bf16 => "attention_bf16")]
    #[requires(grid.x * 16 <= rows && rows <= 128 && rows.is_multiple_of(32) && shared >= ATTENTION)]
    #[requires(grid.y * 64 <= width && width.is_multiple_of(8) && block.x == 256 && block == 256)]
    #[requires(rows * width <= q.len() && rows * width <= k.len() && rows * width <= v.len())]
    #[requires(rows * width <= out.len())]
    safe fn attention<T>(q: &[T], k: &[T], v: &[T], out: &mut [T], rows: u32, width: u32);
}

/// Bytes of shared memory. Rows of `x` and `w` come in pieces of 768 bytes, two of them ahead; a piece takes 832, so
/// that its neighbours are in other banks.
const LINEAR: usize = 2 * (64 + 48) * 832;
const ATTENTION: usize = (16 + 128) * 320 + 128 * 288 + 16 * 576;

cuda_graph! {
    graph Block<T: Element>(rows: usize, width: usize)
    where norm<T>: Kernel, add_norm<T>: Kernel, linear<T>: Kernel, linear_parts<T>: Kernel, attention<T>: Kernel
    {
        device  x:      [[f32; width]; rows];
        device  y:      [[f32; width]; rows];
        device  gain1:  [f32; width];
        device  shift1: [f32; width];
        device  w_qkv:  [[[T; width]; width]; 3];
        device  b_qkv:  [[f32; width]; 3];
        device  w_out:  [[T; width]; width];
        device  b_out:  [f32; width];
        device  gain2:  [f32; width];
        device  shift2: [f32; width];
        device  w_up:   [[T; width]; 4 * width];
        device  b_up:   [f32; 4 * width];
        device  w_down: [[T; 4 * width]; width];
        device  b_down: [f32; width];

        scratch normed: [[T; width]; rows];
        scratch qkv:    [[[T; width]; rows]; 3];
        scratch heads:  [[T; width]; rows];
        scratch parts:  [[[f32; width]; rows]; PARTS];
        scratch middle: [[f32; width]; rows];
        scratch again:  [[T; width]; rows];
        scratch hidden: [[T; 4 * width]; rows];
        scratch last:   [[[f32; width]; rows]; PARTS];

        kernel norm1   = norm::<T><<<rows, width / 4>>>(&x, &gain1, &shift1, &mut normed);
        each part in 0..3 {
            kernel branch = linear::<T><<<(rows.div_ceil(64), width / 48), 256, LINEAR>>>(
                &normed, &w_qkv[part], &b_qkv[part], &mut qkv[part], rows, width, width, 0) after programmatic(norm1);
        }
        kernel attend  = attention::<T><<<(rows / 16, width / HEAD), 256, ATTENTION>>>(
            &qkv[0], &qkv[1], &qkv[2], &mut heads, rows, width) after programmatic(branch);
        kernel project = linear_parts::<T><<<(rows.div_ceil(64), width / 48, PARTS), 256, LINEAR>>>(
            &heads, &w_out, &mut parts, rows, width, width) after programmatic(attend);
        kernel norm2   = add_norm::<T><<<rows, width / 4>>>(
            &parts, &b_out, &x, &gain2, &shift2, &mut middle, &mut again) after programmatic(project);
        kernel up      = linear::<T><<<(rows.div_ceil(64), 4 * width / 48), 256, LINEAR>>>(
            &again, &w_up, &b_up, &mut hidden, rows, 4 * width, width, 1) after programmatic(norm2);
        kernel down    = linear_parts::<T><<<(rows.div_ceil(64), width / 48, PARTS), 256, LINEAR>>>(
            &hidden, &w_down, &mut last, rows, width, 4 * width) after programmatic(up);
        kernel result  = add<<<rows, width / 4>>>(&last, &b_down, &middle, &mut y) after programmatic(down);
    }
}

fn main() -> Result<(), BoxError> {
    let device = start(&[Block::<f32>::PLAN])?;
    // The largest differences allowed are those of one rounding, 2^-11 or 2^-8 of the largest result.
    run::<f32>(&device, "tf32", 1e-3, |x| x)?;
    run::<bf16>(&device, "bf16", 8e-3, bf16::from_f32)
}

fn run<T: Element>(device: &Device, name: &str, tolerance: f32, round: fn(f32) -> T) -> Result<(), BoxError>
where
    norm<T>: Kernel,
    add_norm<T>: Kernel,
    linear<T>: Kernel,
    linear_parts<T>: Kernel,
    attention<T>: Kernel,
{
    let (rows, width, size) = sized(device, (32, 384, "reduced"), (128, 768, "full"));
    let mut graph = Block::<T>::build(device, rows, width)?;
    let weights = |seed, count, scale| -> Vec<T> { numbers(seed, count, scale, 0.0).into_iter().map(round).collect() };
    let (inside, outside) = (1.0 / (width as f32).sqrt(), 0.5 / (width as f32).sqrt());
    graph.x_mut()?.copy_from(&numbers(1, rows * width, 3_f32.sqrt(), 0.0))?;
    graph.gain1_mut()?.copy_from(&numbers(2, width, 0.1, 1.0))?;
    graph.shift1_mut()?.copy_from(&numbers(3, width, 0.1, 0.0))?;
    graph.w_qkv_mut()?.copy_from(&weights(4, 3 * width * width, inside))?;
    graph.b_qkv_mut()?.copy_from(&numbers(5, 3 * width, inside, 0.0))?;
    graph.w_out_mut()?.copy_from(&weights(6, width * width, inside))?;
    graph.b_out_mut()?.copy_from(&numbers(7, width, inside, 0.0))?;
    graph.gain2_mut()?.copy_from(&numbers(8, width, 0.1, 1.0))?;
    graph.shift2_mut()?.copy_from(&numbers(9, width, 0.1, 0.0))?;
    graph.w_up_mut()?.copy_from(&weights(10, 4 * width * width, inside))?;
    graph.b_up_mut()?.copy_from(&numbers(11, 4 * width, inside, 0.0))?;
    graph
        .w_down_mut()?
        .copy_from(&weights(12, 4 * width * width, outside))?;
    graph.b_down_mut()?.copy_from(&numbers(13, width, outside, 0.0))?;

    graph.launch()?;
    check(name, size, rows, &graph.y()?.read_vec()?, tolerance)?;
    if bench::is_wanted(device) {
        Figure::new(&format!("transformer_block {name}"), 50, 200).graph(&mut graph)?;
    }
    Ok(())
}
