//! The training loop that everyone is shown: a linear layer, the sum of squared errors, gradient descent, and a new
//! batch for each step. A step is one kernel, so that a graph of it is one node.
//!
//! `Epoch` takes its batches from page-locked memory: while a step runs, batches of the next ones are copied. The
//! losses are compared with PyTorch's, from the same weights on the same batches (`pytorch/train_linear.py`).
//! `train_linear --bench` times `Step`, on a batch that lies on the device, and `Epoch`.
//!
//! It runs on the first CUDA device or, smaller, on the CPU emulator if there is none.

use examples::linear::{BATCH, RATE, Sizes, batch, losses, weights};
use examples::{bench, log};
use graph_runtime::{Atomic, Device, DeviceBuffer, SharedHost, Table, cuda_graph, cuda_kernels};
use std::error::Error;
use std::mem::MaybeUninit;

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

    /// A step for each batch. Four buffers take turns, so that copies are ahead of the steps.
    graph Epoch(
        s: Sizes,
        exact: bool,
        batches: host [[f32; s.batch()]; s.batches],
        w: mut device [f32; s.inputs * s.outputs],
        bias: mut device [f32; s.outputs],
    ) {
        device  ring:   [[f32; s.batch()]; 4];
        device  count:  u32;
        device  sums:   [[f32; 4]; s.batches / 4];
        host    loss:   [[f32; 4]; s.batches / 4];
        scratch losses: [f32; 128];

        each i in 0..s.batches / 4 {
            each j in 0..4 {
                memcpy up    = batches[4 * i + j] -> ring[j] after train(i - 1, j);
                kernel train = step<<<s.grid, 288, s.shared>>>(
                    &ring[j][..BATCH * s.inputs], &ring[j][BATCH * s.inputs..], &mut w, &mut bias,
                    &mut losses, &count, &mut sums[i][j], s.inputs, s.outputs, RATE, u32::from(exact),
                ) after up, train(i, j - 1), train(i - 1, j + 3);
            }
        }
        memcpy report = sums -> loss after train;
    }
}

/// The losses of the first steps in PyTorch, one a line.
const REFERENCE: &str = include_str!("../../pytorch/train_linear.losses");

/// A layer that has not learned yet, and the batches.
struct Layer {
    s: Sizes,
    w: DeviceBuffer<[f32]>,
    bias: DeviceBuffer<[f32]>,
    batches: SharedHost<Table<f32, 2>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let s = sizes(&device)?;
    let expected: Vec<f32> = match device.is_emulator() {
        true => losses(s),
        false => REFERENCE.lines().map(str::parse).collect::<Result<_, _>>()?,
    };
    let mut layer = Layer::new(&device, s)?;
    // With `exact` off, numbers have fewer digits, and the loss falls to a small part of what it was.
    for (name, exact, tolerance) in [("f32", true, 1e-3), ("tf32", false, 2e-2)] {
        layer.forget()?;
        layer.train(&device, name, exact, &expected, tolerance)?;
    }
    if std::env::args().any(|argument| argument == "--bench") && !device.is_emulator() {
        layer.time(&device, "train_linear f32", true)?;
        layer.time(&device, "train_linear tf32", false)?;
    }
    Ok(())
}

/// The sizes for a device. Where the kernel has clusters and tensor cores, 15 clusters of 8 blocks fill an H200.
/// Elsewhere the work of a cluster is one block's.
fn sizes(device: &Device) -> Result<Sizes, Box<dyn Error>> {
    let Some(context) = device.context() else {
        return Ok(Sizes {
            inputs: 128,
            outputs: 32,
            batches: 20,
            grid: (1, 2),
            shared: 0,
        });
    };
    let (grid, shared) = match context.compute_capability()? {
        (9.., _) => ((8, 15), 111_872),
        _ => ((1, 128), 0),
    };
    Ok(Sizes {
        inputs: 1024,
        outputs: 1024,
        batches: 100,
        grid,
        shared,
    })
}

impl Layer {
    fn new(device: &Device, s: Sizes) -> Result<Self, Box<dyn Error>> {
        let mut batches = device.alloc_host_table([s.batches, s.batch()])?;
        for (number, row) in batches.view_mut().rows_mut().enumerate() {
            row.copy_from_slice(&batch(s, number));
        }
        let (w, bias) = (
            device.alloc_slice(s.inputs * s.outputs)?,
            device.alloc_slice(s.outputs)?,
        );
        Ok(Self {
            s,
            w,
            bias,
            batches: batches.share(),
        })
    }

    /// Sets the weights to what they were in the beginning.
    fn forget(&mut self) -> graph_runtime::Result<()> {
        let (w, bias) = weights(self.s);
        self.w.copy_from(&w)?;
        self.bias.copy_from(&bias)
    }

    /// Trains for some epochs, and compares the losses of the first one.
    fn train(
        &self,
        device: &Device,
        name: &str,
        exact: bool,
        expected: &[f32],
        tolerance: f32,
    ) -> Result<(), Box<dyn Error>> {
        let s = self.s;
        let mut epoch = Epoch::build(device, s, exact, &self.batches, &self.w, &self.bias)?;
        epoch.launch()?;
        let first = epoch.loss()?.as_flattened().to_vec();
        let off = |(loss, expected): (&f32, &f32)| (loss / expected - 1.0).abs();
        let off: Vec<f32> = first.iter().zip(expected).map(off).collect();
        if off.len() != s.batches || !off.iter().all(|off| *off <= tolerance) {
            return Err(format!("{name}: losses are {first:?}, and not within {tolerance} of {expected:?}").into());
        }
        let worst = off.into_iter().fold(0.0, f32::max);
        let epochs = if device.is_emulator() { 1 } else { 10 };
        for _ in 1..epochs {
            epoch.launch()?;
        }
        let (steps, last) = (
            epochs * s.batches,
            epoch.loss()?.as_flattened().last().copied().unwrap_or_default(),
        );
        println!(
            "check:   {name}, {} x {}: {steps} steps, loss {:.1} to {last:.1e}; the first {} as the reference, within {worst:.1e}",
            s.inputs, s.outputs, first[0], s.batches
        );
        Ok(())
    }

    /// Prints the time of a step: on a batch on the device, and on batches of the host.
    fn time(&self, device: &Device, row: &str, exact: bool) -> graph_runtime::Result<()> {
        let mut step = Step::build(device, self.s, exact, &self.w, &self.bias)?;
        step.batch_mut()?.copy_from(&batch(self.s, 0))?;
        let times = bench::time(row, 50, 500, &mut step, Step::launch, |step| step.synchronize())?;
        println!("{times}");
        let mut epoch = Epoch::build(device, self.s, exact, &self.batches, &self.w, &self.bias)?;
        let row = format!("{row}, inputs from the host");
        let mut times = bench::time(&row, 20, 1, &mut epoch, Epoch::launch, |epoch| epoch.synchronize())?;
        for time in [&mut times.low, &mut times.median, &mut times.high] {
            *time /= self.s.batches as f64;
        }
        println!("{times}");
        Ok(())
    }
}
