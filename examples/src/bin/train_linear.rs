//! The training loop that everyone is shown: a linear layer, the sum of squared errors, gradient descent, and a new
//! batch for each step. A step is one kernel, so that a graph of it is one node.
//!
//! `Step` is launched once for each batch, which the host copies in before. `Epoch` has a step for each batch, and takes
//! the batches from page-locked memory: while a step runs, those of the next ones are copied. The losses of both are
//! compared with PyTorch's, from the same weights on the same batches (`pytorch/train_linear.py`). `--bench` times
//! `Step`, on a batch that lies on the device, and `Epoch`.
//!
//! It runs on the first CUDA device or, smaller, on the CPU emulator if there is none.

use examples::bench::{self, Figure};
use examples::linear::{BATCH, RATE, Sizes, batch, expected, step, weights};
use examples::program::{close, start};
use graph_runtime::{BoxError, cuda_graph};

/// Launches of `Step` that do not count.
const WARM_UP: usize = 3;

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

fn main() -> Result<(), BoxError> {
    let device = start(&[Step::PLAN, Epoch::PLAN])?;
    let s = Sizes::of(&device)?;
    let (steps, expected) = (
        s.batches * if device.is_emulator() { 1 } else { 10 },
        expected(&device, s)?,
    );
    let mut batches = device.alloc_host_table([s.batches, s.batch()])?;
    for (number, row) in batches.view_mut().rows_mut().enumerate() {
        row.copy_from_slice(&batch(s, number));
    }
    let batches = batches.share();
    let (w, bias) = (
        device.alloc_slice(s.inputs * s.outputs)?,
        device.alloc_slice(s.outputs)?,
    );
    let forget = || -> Result<(), BoxError> {
        let (first_w, first_bias) = weights(s);
        w.copy_from(&first_w)?;
        Ok(bias.copy_from(&first_bias)?)
    };
    // With `exact` off, numbers have fewer digits, and the loss falls to a small part of what it was.
    for (name, exact, tolerance) in [("f32", true, 1e-3), ("tf32", false, 2e-2)] {
        let check = |losses: &[f32]| -> Result<(), BoxError> {
            let ratios: Vec<f32> = losses
                .iter()
                .zip(&expected)
                .map(|(loss, expected)| loss / expected)
                .collect();
            let worst = close(name, &ratios, &vec![1.0; s.batches], tolerance)?;
            let (steps, first, last) = (losses.len(), losses[0], losses[losses.len() - 1]);
            println!(
                "check:   {name}: {steps} steps, loss {first:.1} to {last:.1e}, as the reference within {worst:.1e}"
            );
            Ok(())
        };
        let mut step = Step::build(&device, s, exact, &w, &bias)?;
        (0..WARM_UP).try_for_each(|_| step.launch())?;
        forget()?;
        let mut losses = Vec::new();
        for number in 0..steps {
            step.batch_mut()?
                .copy_from(&batches.read()?.view()[number % s.batches])?;
            step.launch()?;
            losses.push(*step.loss()?.read()?);
        }
        check(&losses)?;

        forget()?;
        let mut epoch = Epoch::build(&device, s, exact, &batches, &w, &bias)?;
        epoch.launch()?;
        check(epoch.loss()?.as_flattened())?;
        if bench::is_wanted(&device) {
            let row = format!("train_linear {name}");
            Figure::new(&row, 50, 500).graph(&mut step)?;
            Figure::new(&format!("{row}, inputs from the host"), 20, 1)
                .steps(s.batches)
                .graph(&mut epoch)?;
        }
    }
    Ok(())
}
