//! The training loop that everyone is shown: a linear layer, the sum of squared errors, gradient descent, and a new
//! batch for each step. A step is one kernel.
//!
//! `Step` also copies the next batch from page-locked memory, beside the kernel. Two such graphs take turns: each
//! learns from the batch that the other has copied, and the host writes the one after. `Epoch` has a step for each
//! batch of a table in page-locked memory. It takes 3 us less for each: copies may be several steps ahead, and no
//! launch is between them. The losses of both are compared with PyTorch's, from the same weights on the same batches
//! (`pytorch/train_linear.py`). `Learn` is the step alone, on a batch that lies on the device. `--bench` times all
//! three.
//!
//! `--save FOLDER` writes `Learn` as graph files, with the data, for `pytorch/train_linear_loaded.py`, which runs them
//! on tensors of PyTorch. It runs on the first CUDA device or, smaller, on the CPU emulator if there is none.

use examples::bench::{self, Figure};
use examples::linear::{BATCH, RATE, Sizes, batches, begin, check, expected, save, step};
use examples::program::{argument, sized, start};
use graph_runtime::{AnyGraph, BoxError, cuda_graph};
use std::path::PathBuf;

/// Steps that do not count.
const WARM_UP: usize = 3;

cuda_graph! {
    /// One step on a batch that lies on the device.
    graph Learn(
        s: Sizes, exact: bool, w: mut device [f32; s.inputs * s.outputs], bias: mut device [f32; s.outputs],
        batch: device [f32; s.batch()],
    ) {
        device  count:  u32;
        device  loss:   f32;
        scratch losses: [f32; 128];

        kernel train = step<<<s.grid, 288, s.shared>>>(
            &batch[..BATCH * s.inputs], &batch[BATCH * s.inputs..], &mut w, &mut bias,
            &mut losses, &count, &mut loss, s.inputs, s.outputs, RATE, u32::from(exact),
        );
    }

    /// One step on a batch that lies on the device. Meanwhile, the next one is copied to other memory there.
    graph Step(
        s: Sizes, exact: bool, w: mut device [f32; s.inputs * s.outputs], bias: mut device [f32; s.outputs],
        batch: device [f32; s.batch()], next: mut device [f32; s.batch()],
    ) {
        host    input:  [f32; s.batch()];
        device  count:  u32;
        device  loss:   f32;
        scratch losses: [f32; 128];

        memcpy load  = input -> next;
        kernel train = step<<<s.grid, 288, s.shared>>>(
            &batch[..BATCH * s.inputs], &batch[BATCH * s.inputs..], &mut w, &mut bias,
            &mut losses, &count, &mut loss, s.inputs, s.outputs, RATE, u32::from(exact),
        );
    }

    /// A step for each batch. Four buffers take turns, so that copies are ahead of the steps.
    graph Epoch(
        s: Sizes, exact: bool, w: mut device [f32; s.inputs * s.outputs], bias: mut device [f32; s.outputs],
        batches: host [[f32; s.batch()]; s.batches],
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
    let device = start(&[Learn::PLAN, Step::PLAN, Epoch::PLAN])?;
    let s = Sizes::of(&device)?;
    let (steps, expected) = (sized(&device, s.batches, 1000), expected(&device, s)?);
    let batches = batches(&device, s)?;
    let w = device.alloc_slice(s.inputs * s.outputs)?;
    let bias = device.alloc_slice(s.outputs)?;
    let (even, odd) = (device.alloc_slice(s.batch())?, device.alloc_slice(s.batch())?);
    let folder = argument("--save").map(PathBuf::from);
    if let Some(folder) = &folder {
        save(s, &batches, &expected, folder)?;
    }
    // With `exact` off, numbers have fewer digits, and the loss falls to a small part of what it was.
    for (name, exact, tolerance) in [("f32", true, 1e-3), ("tf32", false, 2e-2)] {
        let build = |batch, next| Step::build(&device, s, exact, &w, &bias, batch, next);
        let mut turns = [build(&even, &odd)?, build(&odd, &even)?];
        (0..WARM_UP).try_for_each(|number| turns[number % 2].launch())?;
        begin(s, &w, &bias)?;
        even.copy_from(&batches.read()?.view()[0])?;
        let mut losses = Vec::new();
        for number in 0..steps {
            let graph = &mut turns[number % 2];
            let input = graph.input_mut()?; // waits for the last launch but one
            input.copy_from_slice(&batches.read()?.view()[(number + 1) % s.batches]);
            graph.launch()?;
            if number < s.batches || number + 1 == steps {
                losses.push(*graph.loss()?.read()?);
            }
        }
        check(&format!("{name}, {steps} launches"), &losses, &expected, tolerance)?;

        begin(s, &w, &bias)?;
        let mut epoch = Epoch::build(&device, s, exact, &w, &bias, &batches)?;
        epoch.launch()?;
        check(
            &format!("{name}, one launch"),
            epoch.loss()?.as_flattened(),
            &expected,
            tolerance,
        )?;
        let mut learn = Learn::build(&device, s, exact, &w, &bias, &even)?;
        learn.launch()?;
        if let Some(folder) = &folder {
            learn.plan().save(folder.join(format!("train_linear_{name}.cugraph")))?;
        }
        if bench::is_wanted(&device) {
            let row = |what: &str| format!("train_linear {name}{what}");
            let host = row(", inputs from the host");
            Figure::new(&host, 20, 1).steps(s.batches).graph(&mut epoch)?;
            let each = row(", inputs from the host, a launch each");
            let launch = |turns: &mut [Step; 2]| turns.iter_mut().try_for_each(Step::launch);
            let wait = |turns: &mut [Step; 2]| turns.iter().try_for_each(AnyGraph::synchronize);
            Figure::new(&each, 50, 150).steps(2).time(&mut turns, launch, wait)?;
            Figure::new(&row(""), 50, 500).graph(&mut learn)?;
        }
    }
    Ok(())
}
