//! The training loop that everyone is shown: a linear layer, the sum of squared errors, gradient descent, and a new
//! batch for each step. A step is one kernel, so that a graph of it is one node.
//!
//! `Epoch` takes its batches from page-locked memory: while a step runs, the batch of the next one is copied. The
//! losses are compared with PyTorch's, from the same weights on the same batches (`pytorch/train_linear.py`).
//! `train_linear --bench` times `Step`, on a batch that lies on the device, and `Epoch`.
//!
//! It runs on the first CUDA device or, smaller, on the CPU emulator if there is none.

use examples::{bench, log};
use graph_runtime::{Atomic, Device, DeviceBuffer, Result, SharedHost, Table, cuda_graph, cuda_kernels};
use std::mem::MaybeUninit;

/// Samples of a batch.
const BATCH: usize = 64;
/// The rate of the descent.
const RATE: f32 = 1e-3;
/// The losses of the first steps in PyTorch, one a line.
const REFERENCE: &str = include_str!("../../pytorch/train_linear.losses");

#[cuda_kernels("kernels/train_linear.ptx", tuned = ["kernels/train_linear.sm_90.ptx"])]
unsafe extern "C" {
    /// A whole step: `loss` is the sum of `(x w^T + bias - target)^2`, and `w` and `bias` descend by `rate` times its
    /// gradient. `w` has a row for each output. `losses` is space for a number of each block, and `count` is 0. It is as
    /// accurate as 32-bit floats if `exact`; else tensor cores, if there are some, cut fractions to 10 bits (tf32).
    #[requires(block.x == 288 && block == 288 && grid.z == 1 && inputs > 0 && outputs.is_multiple_of(8))]
    #[requires(outputs >= 8 * grid.y && outputs <= 72 * grid.y && grid <= losses.len())]
    #[requires(grid.x == 1 || grid.x == 8 && inputs == 1024 && shared >= 111_872)]
    #[requires(64 * inputs <= x.len() && 64 * outputs <= target.len() && inputs * outputs <= w.len() && outputs <= bias.len())]
    safe fn step(
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

/// The sizes of the layer, and of the launch.
#[derive(Clone, Copy)]
struct Sizes {
    inputs: usize,
    outputs: usize,
    grid: (u32, u32),
    /// Bytes of shared memory of a block.
    shared: u32,
    /// Batches of an epoch.
    batches: usize,
}

impl Sizes {
    /// Numbers of a batch: inputs, and then targets.
    fn batch(self) -> usize {
        BATCH * (self.inputs + self.outputs)
    }
}

cuda_graph! {
    /// One step on a batch that lies on the device.
    graph Step(s: Sizes, exact: bool, w: mut device [f32; s.inputs * s.outputs], bias: mut device [f32; s.outputs]) {
        device  batch:  [f32; s.batch()];
        device  count:  u32;
        device  loss:   f32;
        scratch losses: [f32; 128];

        kernel train = step<<<s.grid, 288, s.shared>>>(
            &batch[..BATCH * s.inputs], &batch[BATCH * s.inputs..], &mut w, &mut bias,
            &mut losses, &count, &mut loss, s.inputs, s.outputs, RATE, u32::from(exact),
        );
    }

    /// A step for each batch. Two buffers take turns: one is filled while a step uses the other.
    graph Epoch(
        s: Sizes,
        exact: bool,
        batches: host [[f32; s.batch()]; s.batches],
        w: mut device [f32; s.inputs * s.outputs],
        bias: mut device [f32; s.outputs],
    ) {
        device  even:   [f32; s.batch()];
        device  odd:    [f32; s.batch()];
        device  count:  u32;
        device  sums:   [f32; s.batches];
        host    loss:   [f32; s.batches];
        scratch losses: [f32; 128];

        each i in 0..s.batches / 2 {
            memcpy up_even = batches[2 * i] -> even      after first(i - 1);
            kernel first   = step<<<s.grid, 288, s.shared>>>(
                &even[..BATCH * s.inputs], &even[BATCH * s.inputs..], &mut w, &mut bias,
                &mut losses, &count, &mut sums[2 * i], s.inputs, s.outputs, RATE, u32::from(exact),
            ) after up_even, second(i - 1);
            memcpy up_odd  = batches[2 * i + 1] -> odd   after second(i - 1);
            kernel second  = step<<<s.grid, 288, s.shared>>>(
                &odd[..BATCH * s.inputs], &odd[BATCH * s.inputs..], &mut w, &mut bias,
                &mut losses, &count, &mut sums[2 * i + 1], s.inputs, s.outputs, RATE, u32::from(exact),
            ) after up_odd, first;
        }
        memcpy report = sums -> loss after second;
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let sizes = sizes(&device)?;
    let batches = batches(&device, sizes)?;
    let expected: Vec<f32> = match device.is_emulator() {
        true => losses_on_the_cpu(sizes),
        false => REFERENCE
            .lines()
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()?,
    };
    train(&device, sizes, true, &batches, &expected, 1e-3)?;
    // These numbers have fewer digits, and the loss falls to a small part of what it was.
    train(&device, sizes, false, &batches, &expected, 2e-2)?;
    if std::env::args().any(|argument| argument == "--bench") && !device.is_emulator() {
        time("train_linear f32", &device, sizes, true, &batches)?;
        time("train_linear tf32", &device, sizes, false, &batches)?;
    }
    Ok(())
}

/// Trains for some epochs, and compares the losses of the first one.
fn train(
    device: &Device,
    s: Sizes,
    exact: bool,
    batches: &Batches,
    expected: &[f32],
    tolerance: f32,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (w, bias) = model(device, s)?;
    let mut epoch = Epoch::build(device, s, exact, batches, &w, &bias)?;
    epoch.launch()?;
    let first = epoch.loss()?.to_vec();
    let worst = first
        .iter()
        .zip(expected)
        .map(|(loss, expected)| (loss / expected - 1.0).abs());
    let worst = worst.fold(0.0, f32::max);
    if expected.len() != s.batches || worst.is_nan() || worst > tolerance {
        return Err(format!("the losses differ by {worst:e} of their size: {first:?} instead of {expected:?}").into());
    }
    let epochs = if device.is_emulator() { 1 } else { 10 };
    for _ in 1..epochs {
        epoch.launch()?;
    }
    let (steps, last) = (epochs * s.batches, epoch.loss()?.last().copied().unwrap_or_default());
    println!(
        "check:   {} steps of {} x {}, loss {:.1} to {last:.3}; the first {} differ from the reference by {worst:.1e} at most",
        steps, s.inputs, s.outputs, first[0], s.batches
    );
    Ok(())
}

/// Prints the time of a step: on a batch on the device, and on batches of the host.
fn time(row: &str, device: &Device, s: Sizes, exact: bool, batches: &Batches) -> Result<()> {
    let (w, bias) = model(device, s)?;
    let mut step = Step::build(device, s, exact, &w, &bias)?;
    step.batch_mut()?.copy_from(&batch(s, 0))?;
    println!(
        "{}",
        bench::time(row, 50, 500, &mut step, Step::launch, |step| step.synchronize())?
    );
    let mut epoch = Epoch::build(device, s, exact, batches, &w, &bias)?;
    let row = format!("{row}, inputs from the host");
    let mut times = bench::time(&row, 50, 1, &mut epoch, Epoch::launch, |epoch| epoch.synchronize())?;
    for time in [&mut times.low, &mut times.median, &mut times.high] {
        *time /= s.batches as f64;
    }
    println!("{times}");
    Ok(())
}

/// The sizes for a device. Where the kernel has tensor cores and clusters, 15 clusters of 8 blocks fill an H100 or
/// H200. Otherwise one block does the work of a cluster.
fn sizes(device: &Device) -> std::result::Result<Sizes, Box<dyn std::error::Error>> {
    let (inputs, outputs, batches) = (1024, 1024, 100);
    Ok(match device.context() {
        None => Sizes {
            inputs: 128,
            outputs: 32,
            grid: (1, 2),
            shared: 0,
            batches: 20,
        },
        Some(context) if context.compute_capability()? >= (9, 0) => Sizes {
            inputs,
            outputs,
            grid: (8, 15),
            shared: 111_872,
            batches,
        },
        Some(_) => Sizes {
            inputs,
            outputs,
            grid: (1, 128),
            shared: 0,
            batches,
        },
    })
}

/// Page-locked memory with a row for each batch.
type Batches = SharedHost<Table<f32, 2>>;

fn batches(device: &Device, s: Sizes) -> Result<Batches> {
    let mut batches = device.alloc_host_table([s.batches, s.batch()])?;
    for (number, row) in batches.view_mut().rows_mut().enumerate() {
        row.copy_from_slice(&batch(s, number));
    }
    Ok(batches.share())
}

/// Inputs, and then targets: half the difference of two neighbours among the inputs.
fn batch(s: Sizes, number: usize) -> Vec<f32> {
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

/// The losses of an epoch in plain Rust.
fn losses_on_the_cpu(s: Sizes) -> Vec<f32> {
    let (mut w, mut bias) = weights(s);
    let step = |number| {
        let batch = batch(s, number);
        let (x, targets) = batch.split_at(BATCH * s.inputs);
        let mut loss = 0.0;
        for (output, (w, bias)) in w.chunks_exact_mut(s.inputs).zip(&mut bias).enumerate() {
            let mut gradient = vec![0.0; s.inputs];
            let mut sum = 0.0;
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
            w.iter_mut()
                .zip(&gradient)
                .for_each(|(w, gradient)| *w -= RATE * gradient);
            *bias -= RATE * sum;
        }
        loss
    };
    (0..s.batches).map(step).collect()
}

/// The weights and the biases to begin with.
fn model(device: &Device, s: Sizes) -> Result<(DeviceBuffer<[f32]>, DeviceBuffer<[f32]>)> {
    let (weights, biases) = weights(s);
    let (w, bias) = (device.alloc_slice(weights.len())?, device.alloc_slice(biases.len())?);
    w.copy_from(&weights)?;
    bias.copy_from(&biases)?;
    Ok((w, bias))
}

fn weights(s: Sizes) -> (Vec<f32>, Vec<f32>) {
    let scaled = |stream, len| numbers(stream, len).map(|number| number / 32.0).collect();
    (scaled(0, s.inputs * s.outputs), scaled(1, s.outputs))
}
