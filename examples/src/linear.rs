//! The kernel of `train_linear`, its data, the same as in `pytorch/train_linear.py`, and the losses to expect.

use crate::compare::close;
use crate::tensors::{self, Tensor};
use graph_runtime::{Atomic, BoxError, Device, DeviceBuffer, Result, SharedHost, Table, cuda_kernels};
use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;

#[cuda_kernels("kernels/train_linear.ptx", tuned = ["kernels/train_linear.sm_90.ptx"])]
unsafe extern "C" {
    /// A whole step: `loss` is the sum of `(x w^T + bias - target)^2`, and `w` and `bias` descend by `rate` times its
    /// gradient. `w` has a row for each output. `losses` is space for a number of each block, and `count` is 0. The
    /// step is as accurate as 32-bit floats if `exact` is 1; else tensor cores, if there are some, cut fractions to 10
    /// bits (tf32).
    #[requires(block.x == 288 && block == 288 && grid.y <= 1024 && grid.z == 1 && outputs.is_multiple_of(8))]
    #[requires(0 < inputs && inputs <= 65_536 && 8 * grid.y <= outputs && outputs <= 72 * grid.y && grid <= losses.len())]
    #[requires(grid.x == 1 || grid.x == 8 && inputs == 1024 && shared >= 111_872)]
    #[requires(64 * inputs <= x.len() && 64 * outputs <= target.len() && inputs * outputs <= w.len() && outputs <= bias.len())]
    pub safe fn step(
        x: &[f32],
        target: &[f32],
        w: &mut [f32],
        bias: &mut [f32],
        losses: &mut [MaybeUninit<f32>],
        count: &Atomic<u32>,
        loss: &mut f32,
        inputs: u32,
        outputs: u32,
        rate: f32,
        exact: u32,
    );
}

/// The losses of the first steps in PyTorch, one a line.
const PYTORCH: &str = include_str!("../pytorch/train_linear.losses");

/// Samples of a batch.
pub const BATCH: usize = 64;
/// The rate of the descent.
pub const RATE: f32 = 1e-3;

/// The sizes of the layer, of the data, and of the launch.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Numbers of a sample.
    pub inputs: usize,
    /// Numbers that the layer makes of a sample.
    pub outputs: usize,
    /// The number of batches, after which the first one comes again.
    pub batches: usize,
    /// Blocks of the grid, x and y.
    pub grid: (u32, u32),
    /// Bytes of shared memory of a block.
    pub shared: u32,
}

impl Sizes {
    /// The sizes for a device. Where the kernel has clusters and tensor cores, 15 clusters of 8 blocks fill an H200.
    /// Elsewhere the work of a cluster is one block's.
    ///
    /// # Errors
    /// If CUDA does not say what the device is.
    pub fn of(device: &Device) -> Result<Self, BoxError> {
        let (size, batches, grid, shared) = match device.context().map(|it| it.compute_capability()).transpose()? {
            Some((9.., _)) => (1024, 100, (8, 15), 111_872),
            Some(_) => (1024, 100, (1, 128), 0),
            None => (128, 20, (1, 2), 0),
        };
        let outputs = if device.is_emulator() { 32 } else { size };
        Ok(Self {
            inputs: size,
            outputs,
            batches,
            grid,
            shared,
        })
    }

    /// Numbers of a batch: inputs, and then targets.
    pub fn batch(self) -> usize {
        BATCH * (self.inputs + self.outputs)
    }
}

/// Sets the weights, a row for each output, and the biases to what they are in the beginning.
///
/// # Errors
/// If a graph that writes them has failed.
pub fn begin(s: Sizes, w: &DeviceBuffer<[f32]>, bias: &DeviceBuffer<[f32]>) -> Result<()> {
    let (first_w, first_bias) = weights(s);
    w.copy_from(&first_w)?;
    bias.copy_from(&first_bias)
}

/// Writes the weights as they are in the beginning, all batches, and the losses to expect, as a file of safetensors in
/// a folder.
///
/// # Errors
/// If the file cannot be written.
pub fn save(s: Sizes, batches: &SharedHost<Table<f32, 2>>, expected: &[f32], folder: &Path) -> Result<(), BoxError> {
    fs::create_dir_all(folder)?;
    let (w, bias) = weights(s);
    let batches = batches.read()?.as_flattened().to_vec();
    let tensors = [
        ("w", w),
        ("bias", bias),
        ("batches", batches),
        ("losses", expected.to_vec()),
    ];
    let tensors = tensors.map(|(name, numbers)| Tensor::list(name, numbers));
    tensors::write(&folder.join("train_linear.safetensors"), &tensors)
}

/// The weights in the beginning, a row for each output, and the biases.
#[must_use]
pub fn weights(s: Sizes) -> (Vec<f32>, Vec<f32>) {
    let scaled = |stream, len| numbers(stream, len).map(|number| number / 32.0).collect();
    (scaled(0, s.inputs * s.outputs), scaled(1, s.outputs))
}

/// All batches, in page-locked memory.
///
/// # Errors
/// If there is too little of it.
pub fn batches(device: &Device, s: Sizes) -> Result<SharedHost<Table<f32, 2>>> {
    let mut batches = device.alloc_host_table([s.batches, s.batch()])?;
    for (number, row) in batches.view_mut().rows_mut().enumerate() {
        row.copy_from_slice(&batch(s, number));
    }
    Ok(batches.share())
}

/// Inputs, and then targets: half the difference of two neighbours among the inputs.
#[must_use]
pub fn batch(s: Sizes, number: usize) -> Vec<f32> {
    let mut batch: Vec<f32> = numbers(2 + number as u32, BATCH * s.inputs).collect();
    for sample in 0..BATCH {
        let input = |output: usize| batch[sample * s.inputs + output % s.inputs];
        let targets: Vec<f32> = (0..s.outputs)
            .map(|output| (input(output) - input(output + 1)) / 2.0)
            .collect();
        batch.extend(targets);
    }
    batch
}

/// Numbers from -1 to 1 that look random, the same as in `pytorch/train_linear.py`.
fn numbers(stream: u32, len: usize) -> impl Iterator<Item = f32> {
    (0..len as u32).map(move |index| {
        let mut bits = index
            .wrapping_mul(0x9E37_79B9)
            .wrapping_add(stream.wrapping_mul(0x85EB_CA6B));
        bits = (bits ^ bits >> 16).wrapping_mul(0x21F0_AAAD);
        bits = (bits ^ bits >> 15).wrapping_mul(0x735A_2D97);
        ((bits ^ bits >> 15) >> 8) as f32 / (1 << 23) as f32 - 1.0
    })
}

/// Returns the losses of a step on each batch: those of PyTorch, or of a smaller layer those of plain Rust.
///
/// # Errors
/// If the file of PyTorch's has a line that is no number.
pub fn expected(device: &Device, s: Sizes) -> Result<Vec<f32>, BoxError> {
    match device.is_emulator() {
        true => Ok(learn(s, 1, s.batches).losses),
        false => Ok(PYTORCH.lines().map(str::parse).collect::<Result<_, _>>()?),
    }
}

/// Compares the first losses with the expected ones, which may differ by `tolerance` of them.
///
/// # Errors
/// If one differs more.
pub fn check(name: &str, losses: &[f32], expected: &[f32], tolerance: f32) -> Result<(), String> {
    let ratios: Vec<f32> = losses
        .iter()
        .zip(expected)
        .map(|(loss, expected)| loss / expected)
        .collect();
    let worst = close(name, &ratios, &vec![1.0; expected.len()], tolerance)?;
    let (first, last) = (ratios[0] * expected[0], losses[losses.len() - 1]);
    println!("check:   {name}: loss {first:.1} to {last:.1e}, as the reference within {worst:.1e}");
    Ok(())
}

/// The weights and losses that plain Rust learns.
#[derive(Clone, Debug)]
pub struct Learnt {
    /// The loss of each step, over all samples.
    pub losses: Vec<f32>,
    /// The weights at last, a row for each output.
    pub w: Vec<f32>,
    /// The biases at last.
    pub bias: Vec<f32>,
}

/// Learns in plain Rust. In step `i`, the joint batch is that of `ranks` ranks, of which each has a batch of its own,
/// `ranks * i + rank`; the gradient is the mean of theirs.
#[must_use]
pub fn learn(s: Sizes, ranks: usize, steps: usize) -> Learnt {
    let (mut w, mut bias) = weights(s);
    let rate = RATE / ranks as f32;
    let step = |number| {
        let batches: Vec<Vec<f32>> = (0..ranks).map(|rank| batch(s, ranks * number + rank)).collect();
        let mut loss = 0.0;
        for (output, (w, bias)) in w.chunks_exact_mut(s.inputs).zip(&mut bias).enumerate() {
            let mut gradient = vec![0.0; s.inputs];
            let mut sum = 0.0;
            for batch in &batches {
                let (x, targets) = batch.split_at(BATCH * s.inputs);
                for (x, target) in x.chunks_exact(s.inputs).zip(targets.chunks_exact(s.outputs)) {
                    let y: f32 = x.iter().zip(&*w).map(|(x, w)| x * w).sum();
                    let error = y + *bias - target[output];
                    loss += error * error;
                    sum += 2.0 * error;
                    gradient
                        .iter_mut()
                        .zip(x)
                        .for_each(|(gradient, x)| *gradient += 2.0 * error * x);
                }
            }
            w.iter_mut()
                .zip(&gradient)
                .for_each(|(w, gradient)| *w -= rate * gradient);
            *bias -= rate * sum;
        }
        loss
    };
    let losses = (0..steps).map(step).collect();
    Learnt { losses, w, bias }
}
